package main

import (
	"context"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// editLong ends the help of the commands that edit.
const editLong = "\n\nThe result goes to a new file, --out, or takes the place of FILE, --in-place: whole or not at\n" +
	"all, and compared with what it comes from. What the new file cannot hold is refused without\n" +
	"--allow-loss."

// change is what a command that edits does.
type change struct {
	edit edit // to what is read
	// store does it to a store that is open for changes; nil where only a copy can
	// be edited.
	store func(ctx context.Context, f ndfile.File) error
	// node is OLD=NEW where only one array or group is renamed, which stores with
	// groups do directly.
	node string
}

// editCommand is a command that writes an edited file. plan reads the arguments
// behind FILE.
func editCommand(cmd *cobra.Command, plan func(cmd *cobra.Command, t target, args []string) (change, error)) *cobra.Command {
	cmd.Long += editLong
	cmd.Annotations = schema([]convertJSON{})
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := one(args[0])
		if err != nil {
			return err
		}
		ch, err := plan(cmd, t, args[1:])
		if err != nil {
			return err
		}
		return writeEdited(cmd, t.path, ch)
	}
	addConvertFlags(cmd)
	cmd.Flags().StringP("out", "o", "", "the new file")
	cmd.Flags().Bool("in-place", false, "replace FILE by the result")
	return cmd
}

// writeEdited writes the file at path, edited, to where the flags say.
func writeEdited(cmd *cobra.Command, path string, ch change) error {
	inPlace, out := flag(cmd, "in-place"), word(cmd, "out")
	if inPlace == (out != "") {
		return usage("give either --out or --in-place").On(path)
	}
	j := job{src: path, dst: out, to: word(cmd, "to"), edit: ch.edit}
	do := j.run
	if inPlace {
		do = func(cmd *cobra.Command) (convertJSON, error) { return j.replace(cmd, ch) }
	}
	done, err := do(cmd)
	if asJSON(cmd) {
		return joined(joined(nil, err), emit(cmd, []convertJSON{done}))
	}
	return err
}

// replace edits a file in place: a store that can be changed directly, any other by
// writing the result beside it, which is checked before the format puts it in the
// place of the source.
func (j *job) replace(cmd *cobra.Command, ch change) (convertJSON, error) {
	result := convertJSON{Source: text(j.src), Destination: text(j.src), Losses: []lossJSON{}}
	if j.to != "" {
		return result, usage("a file that is edited in place keeps its format").On(j.src)
	}
	f, format, err := ndfile.OpenAs(cmd.Context(), all.Formats, j.src, ndfile.OpenOptions{})
	if err != nil {
		return result, err
	}
	f.Abort()
	if from, to, ok := strings.Cut(ch.node, "="); ok && format.Caps()&ndfile.CapGroups != 0 {
		ch.store = func(ctx context.Context, f ndfile.File) error {
			t, ok := f.(ndfile.Tree)
			if !ok {
				return ndfile.NewError(ndfile.ErrName, "").In(from)
			}
			return t.Rename(ctx, from, to)
		}
	}
	if ch.store != nil && format.Caps()&ndfile.CapUpdate != 0 {
		err := updateStore(cmd.Context(), j.src, ch.store)
		result.Done = err == nil
		return result, err
	}
	temporary := *j
	temporary.dst, temporary.to = ndfile.OS.TempName(j.src), format.Name()
	defer os.RemoveAll(temporary.dst) // all of it is ours
	if result, err = temporary.run(cmd); err != nil {
		return result, err
	}
	result.Destination = text(j.src)
	opt := ndfile.ConvertOptions{From: temporary.to, To: temporary.to, Overwrite: true, NoCheck: true,
		Progress: func(int64, int64) bool { return cmd.Context().Err() == nil }}
	_, err = ndfile.Convert(cmd.Context(), all.Formats, temporary.dst, j.src, opt)
	result.Done = err == nil
	return result, err
}

// updateStore changes a store directly.
func updateStore(ctx context.Context, path string, store func(context.Context, ndfile.File) error) error {
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{Mode: ndfile.Update})
	if err != nil {
		return err
	}
	if err := store(ctx, f); err != nil {
		f.Abort()
		return ndfile.Locate(err, path, "", false)
	}
	return ndfile.Locate(f.Close(ctx), path, "", false)
}

func newSelect() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "select FILE [NAME...]",
		Short: "write a file with some of the arrays, or parts of them",
		Long: "select takes the arrays that are named, by names or glob patterns, or all. Of each it takes\n" +
			"what --dim says along an axis, in all arrays that have it: an index, which drops the axis,\n" +
			"or a slice. The axis has a name, or a number from 0 in arrays without names of axes.",
		Example: "  ndfile select x.ds temp 'wind_*' --dim time=0:10 --dim station=-1 --out y.ds",
	}
	cmd.Flags().StringArrayP("dim", "d", nil, "DIM=INDEX: what to take along an axis; may be repeated")
	return editCommand(cmd, func(cmd *cobra.Command, t target, args []string) (change, error) {
		if t.index != nil {
			return change{}, usage("slices are given by --dim").On(t.path)
		}
		if t.named {
			args = slices.Concat([]string{t.name}, args)
		}
		dims, err := dimSubscripts(words(cmd, "dim"))
		return change{edit: func(_ context.Context, c *contents) error { return selectArrays(c, args, dims) }}, err
	})
}

// dimSubscript is what is taken along an axis.
type dimSubscript struct {
	dim string
	by  subscript
}

func dimSubscripts(args []string) (list []dimSubscript, err error) {
	for _, arg := range args {
		dim, word, ok := strings.Cut(arg, "=")
		by, err := parseSubscript(word)
		if !ok || err != nil || by.kind == ellipsis {
			return nil, usage("--dim " + strconv.Quote(arg) + ": expected DIM=INDEX as in time=3 or time=0:10:2")
		}
		list = append(list, dimSubscript{dim, by})
	}
	return list, nil
}

// axisOf finds an axis by name, or by number in arrays without names of axes; -1 if
// there is none.
func axisOf(s *ndfile.Spec, dim string) int {
	if s.NoData {
		return -1
	}
	if s.Dims != nil {
		return slices.Index(s.Dims, dim)
	}
	if n, err := strconv.Atoi(dim); err == nil && n >= 0 && n < len(s.Shape) {
		return n
	}
	return -1
}

func selectArrays(c *contents, patterns []string, dims []dimSubscript) error {
	if len(patterns) > 0 {
		names, err := match(c.names, patterns)
		if err != nil {
			return err
		}
		c.names = names
	}
	for _, d := range dims {
		if !slices.ContainsFunc(c.names, func(name string) bool {
			s := c.arrays[name].Spec()
			return axisOf(&s, d.dim) >= 0
		}) {
			return usage("no array has an axis " + strconv.Quote(d.dim))
		}
	}
	for _, name := range c.names {
		a, err := selectDims(c.arrays[name], dims)
		if err != nil {
			return ndfile.Locate(err, "", name, c.kind != ndfile.Single)
		}
		c.arrays[name] = a
	}
	return nil
}

// selectDims is the view of an array that the dims leave.
func selectDims(a ndfile.Array, dims []dimSubscript) (ndfile.Array, error) {
	s := a.Spec()
	sel := slices.Clone(whole(a).sel)
	changed := false
	for _, d := range dims {
		axis := axisOf(&s, d.dim)
		if axis < 0 {
			continue
		}
		var err error
		if sel[axis], err = d.by.on(s.Shape[axis]); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return a, nil
	}
	return selected(a, sel), nil
}

// match lists those of the names that are given, or that patterns find, in their
// order.
func match(names, patterns []string) ([]string, error) {
	found := map[string]bool{}
	for _, p := range patterns {
		if slices.Contains(names, p) {
			found[p] = true
			continue
		}
		any := false
		for _, name := range names {
			if ok, _ := path.Match(p, name); ok {
				found[name], any = true, true
			}
		}
		if !any {
			return nil, ndfile.NewError(ndfile.ErrName, "").In(p)
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !found[name] }), nil
}

func newRename() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rename FILE OLD=NEW...",
		Short: "rename arrays and axes",
		Long: "rename gives arrays new names, all at once: a=b b=a exchanges two. With --dim it renames\n" +
			"axes, in all arrays that have them. In place, a group is renamed with all that is in it.",
		Example: "  ndfile rename x.ds t=temp --dim x=lon --in-place\n  ndfile rename x.zarr air=atmosphere --in-place",
	}
	cmd.Flags().StringArrayP("dim", "d", nil, "OLD=NEW: a new name for an axis; may be repeated")
	return editCommand(cmd, func(cmd *cobra.Command, t target, args []string) (change, error) {
		if t.named || t.index != nil {
			return change{}, usage("expected FILE and OLD=NEW").On(t.path)
		}
		names, err := renames(args)
		if err != nil {
			return change{}, err
		}
		dims, err := renames(words(cmd, "dim"))
		if len(names)+len(dims) == 0 {
			err = usage("nothing to rename: expected OLD=NEW")
		}
		ch := change{edit: func(_ context.Context, c *contents) error {
			if err := renameArrays(c, names); err != nil {
				return err
			}
			return renameDims(c, dims)
		}}
		if len(names) == 1 && len(dims) == 0 {
			ch.node = args[0]
		}
		return ch, err
	})
}

// renames reads OLD=NEW.
func renames(args []string) (map[string]string, error) {
	m := map[string]string{}
	for _, arg := range args {
		from, to, ok := strings.Cut(arg, "=")
		if _, twice := m[from]; !ok || twice {
			return nil, usage(strconv.Quote(arg) + ": expected OLD=NEW, each OLD once")
		}
		m[from] = to
	}
	return m, nil
}

func renameArrays(c *contents, m map[string]string) error {
	for from := range m {
		if _, ok := c.arrays[from]; !ok {
			return ndfile.NewError(ndfile.ErrName, "").In(from)
		}
	}
	arrays := make(map[string]ndfile.Array, len(c.arrays))
	for i, name := range c.names {
		a := c.arrays[name]
		if to, ok := m[name]; ok {
			c.names[i] = to
		}
		if _, twice := arrays[c.names[i]]; twice {
			return ndfile.NewError(ndfile.ErrNameExists, "").In(c.names[i])
		}
		arrays[c.names[i]] = a
	}
	c.arrays = arrays
	return nil
}

func renameDims(c *contents, m map[string]string) error {
	found := map[string]bool{}
	for _, name := range c.names {
		a := c.arrays[name]
		v := whole(a)
		v.spec.Dims = slices.Clone(v.spec.Dims)
		changed := false
		for i, dim := range v.spec.Dims {
			if to, ok := m[dim]; ok {
				v.spec.Dims[i], found[dim], changed = to, true, true
			}
		}
		if changed {
			c.arrays[name] = v
		}
	}
	for from := range m {
		if !found[from] {
			return usage("no array has an axis " + strconv.Quote(from))
		}
	}
	return nil
}

func newRm() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rm FILE NAME...",
		Short:   "remove arrays and groups",
		Long:    "rm leaves out arrays, by names or glob patterns; in place also groups, with all that is in\nthem. Attributes are removed by set --unset.",
		Example: "  ndfile rm x.ds temp 'tmp_*' --out y.ds",
	}
	return editCommand(cmd, func(_ *cobra.Command, t target, args []string) (change, error) {
		if len(args) == 0 || t.named || t.index != nil {
			return change{}, usage("expected FILE and names of arrays to remove").On(t.path)
		}
		leaveOut := func(_ context.Context, c *contents) error {
			gone, err := match(c.names, args)
			c.names = without(c.names, gone)
			return err
		}
		return change{edit: leaveOut, store: func(ctx context.Context, f ndfile.File) error { return removeArrays(ctx, f, args) }}, nil
	})
}

// without gives the names that are not gone.
func without(names, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(gone, name) })
}

// removeArrays removes arrays from a store, each at once.
func removeArrays(ctx context.Context, f ndfile.File, patterns []string) error {
	r, ok := f.(ndfile.Remover)
	if !ok {
		return ndfile.NewError(ndfile.ErrNotSupported, "the only array of a store cannot be removed")
	}
	names := slices.Clone(f.Names())
	if t, ok := f.(ndfile.Tree); ok {
		names = slices.Concat(t.Groups(), names)
	}
	gone, err := match(names, patterns)
	last := ""
	for _, name := range gone {
		if last != "" && strings.HasPrefix(name, last+"/") {
			continue // it went with its group
		}
		if last = name; err == nil {
			err = ndfile.Locate(r.Remove(ctx, name), "", name, true)
		}
	}
	return err
}

func newSet() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set FILE[:NAME] [KEY=VALUE...]",
		Short: "set attributes of a file or an array, and names of axes",
		Long: "set changes attributes: of the array NAME (in place also of a group), or else of the file.\n" +
			"VALUE is JSON; what is not is a text.",
		Example: "  ndfile set x.ds title='two stations' version=3 --in-place\n  ndfile set x.ds:temp units=K --dims station,time --out y.ds",
	}
	cmd.Flags().StringArray("unset", nil, "KEY: remove an attribute; may be repeated")
	cmd.Flags().StringSlice("dims", nil, "names for the axes of NAME, separated by commas")
	return editCommand(cmd, func(cmd *cobra.Command, t target, args []string) (change, error) {
		e := attrsEdit{target: t, set: ndfile.NewAttrs(), unset: words(cmd, "unset")}
		e.dims, _ = cmd.Flags().GetStringSlice("dims")
		for _, arg := range args {
			key, word, ok := strings.Cut(arg, "=")
			if !ok || key == "" {
				return change{}, usage(strconv.Quote(arg) + ": expected KEY=VALUE")
			}
			v, err := ndfile.ParseValue([]byte(word))
			if err != nil {
				v = ndfile.StringValue(word)
			}
			e.set.Set(key, v)
		}
		if len(args)+len(e.unset)+len(e.dims) == 0 {
			return change{}, usage("nothing to set: expected KEY=VALUE, --unset or --dims").On(t.path)
		}
		if t.index != nil {
			return change{}, usage("attributes belong to whole arrays").On(t.path)
		}
		if len(e.dims) > 0 {
			return change{edit: e.contents}, nil
		}
		return change{edit: e.contents, store: e.store}, nil
	})
}

// attrsEdit sets attributes of an array or of the file, and names of axes.
type attrsEdit struct {
	target
	set         *ndfile.Attrs
	unset, dims []string
}

// apply changes attributes.
func (e *attrsEdit) apply(attrs *ndfile.Attrs) error {
	for _, key := range e.unset {
		if !attrs.Delete(key) {
			return usage("there is no attribute " + strconv.Quote(key))
		}
	}
	for i := range e.set.Len() {
		attrs.Set(e.set.At(i))
	}
	return nil
}

// store changes the attributes of a store that is open for changes.
func (e *attrsEdit) store(ctx context.Context, f ndfile.File) error {
	attrs := f.Attrs()
	if e.named {
		a, err := f.Array(e.name)
		if t, ok := f.(ndfile.Tree); ok && ndfile.KindOf(err) == ndfile.ErrName && slices.Contains(t.Groups(), e.name) {
			attrs, err = t.GroupAttrs(ctx, e.name)
		} else if err == nil {
			attrs = a.Attrs()
		}
		if err != nil {
			return err
		}
	}
	if attrs == nil {
		return ndfile.NewError(ndfile.ErrNotSupported, "the format has no attributes here")
	}
	return e.apply(attrs)
}

// contents changes what is read. A single array and its file may have the same
// attributes.
func (e *attrsEdit) contents(_ context.Context, c *contents) error {
	inArray := e.named || len(e.dims) > 0
	if inArray && !e.named && c.kind != ndfile.Single {
		return usage("names of axes belong to an array: FILE:NAME")
	}
	old := c.attrs
	if inArray {
		a, err := c.Array(e.name)
		if err != nil {
			return err
		}
		old = a.Attrs()
	}
	attrs := ndfile.NewAttrs()
	if old != nil {
		attrs = old.Clone()
	}
	if err := e.apply(attrs); err != nil {
		return err
	}
	for _, name := range c.names {
		this := inArray && name == e.name
		if !this && (old == nil || c.arrays[name].Attrs() != old) {
			continue
		}
		v := whole(c.arrays[name])
		v.attrs = attrs
		if this && len(e.dims) > 0 {
			if len(e.dims) != len(v.spec.Shape) {
				return usage(strconv.Itoa(len(e.dims)) + " names for " + strconv.Itoa(len(v.spec.Shape)) + " axes")
			}
			v.spec.Dims = e.dims
		}
		c.arrays[name] = v
	}
	if !inArray || old != nil && c.attrs == old {
		c.attrs = attrs
	}
	return nil
}
