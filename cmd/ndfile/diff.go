package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// diffJSON is the result of "diff --json".
type diffJSON struct {
	Equal       bool             `json:"equal"`
	Differences []differenceJSON `json:"differences"`
}

// differenceJSON is a difference in diffJSON. A is what the first file has, B the
// second.
type differenceJSON struct {
	Array *text         `json:"array"`
	What  text          `json:"what"`
	Key   *text         `json:"key"`
	A     value         `json:"a" null:"where there is nothing"`
	B     value         `json:"b" null:"where there is nothing"`
	Count *int64        `json:"count"`
	Total *int64        `json:"total"`
	First []elementJSON `json:"first" null:"unless what is values"`
}

// elementJSON is an element that differs.
type elementJSON struct {
	Index []int64 `json:"index"`
	A     value   `json:"a" null:"missing"`
	B     value   `json:"b" null:"missing"`
}

func newDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff FILE[:NAME][SLICE] FILE[:NAME][SLICE]",
		Short: "compare two files, of any formats",
		Long: "diff compares names, dtypes (but for byte order), shapes, names of axes, attributes and\n" +
			"values, and prints what differs, of values their number and the first few. Elements differ\n" +
			"when they would be printed differently: NaNs are equal, 0 and -0 are not. Where dtypes\n" +
			"differ, values are compared if one type widens to the other exactly, or both are texts.\n" +
			"If either side names an array, one array of each is compared.\n\n" +
			"Exit status: 0 equal, 1 different.",
		Example: "  ndfile diff x.ds x.bcolz\n  ndfile diff 'x.ds:temp[0]' y.ra --first 10",
		Annotations: map[string]string{
			schemaKey: schema(diffJSON{})[schemaKey] + "\n\nwhat is kind, array (one of the files has none of that name; a and b are its dtype),\n" +
				"dtype, shape, dims, attribute (key is its name), data (whether there is any) or values\n" +
				"(count of total elements differ). array is null for what belongs to the file.",
		},
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			first, _ := cmd.Flags().GetInt("first")
			d := differ{ctx: cmd.Context(), first: max(0, first), found: []differenceJSON{}}
			if err := d.files(args[0], args[1]); err != nil {
				return err
			}
			if asJSON(cmd) {
				if err := emit(cmd, diffJSON{len(d.found) == 0, d.found}); err != nil {
					return err
				}
			} else {
				for i := range d.found {
					d.found[i].print(cmd.OutOrStdout())
				}
			}
			if len(d.found) > 0 {
				return errDiffers
			}
			return nil
		},
	}
	cmd.Flags().Int("first", 3, "how many elements that differ are printed for each array")
	return cmd
}

// differ is one comparison.
type differ struct {
	ctx   context.Context
	first int
	found []differenceJSON
}

// note adds a difference, and gives it for what else there is to say.
func (d *differ) note(array *text, what string, a, b value) *differenceJSON {
	d.found = append(d.found, differenceJSON{Array: array, What: text(what), A: a, B: b})
	return &d.found[len(d.found)-1]
}

func (d *differ) files(argA, argB string) error {
	a, err := one(argA)
	if err != nil {
		return err
	}
	b, err := one(argB)
	if err != nil {
		return err
	}
	fa, _, err := a.open(d.ctx)
	if err != nil {
		return err
	}
	defer fa.Abort()
	fb, _, err := b.open(d.ctx)
	if err != nil {
		return err
	}
	defer fb.Abort()
	if a.named || b.named || a.index != nil || b.index != nil {
		return d.only(&a, &b, fa, fb)
	}
	if fa.Kind() != fb.Kind() {
		d.note(nil, "kind", toJSON(fa.Kind().String()), toJSON(fb.Kind().String()))
	}
	own := func(f ndfile.File) bool { // not also those of its array
		if f.Kind() != ndfile.Single || len(f.Names()) != 1 {
			return true
		}
		x, err := f.Array(f.Names()[0])
		return err != nil || x.Attrs() != f.Attrs()
	}
	if own(fa) || own(fb) {
		d.attrs(nil, fa.Attrs(), fb.Attrs())
	}
	names := slices.Clone(fa.Names())
	for _, name := range fb.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		title := text(name)
		x, err := has(fa, &a, name)
		if err != nil {
			return err
		}
		y, err := has(fb, &b, name)
		if err != nil {
			return err
		}
		if x == nil || y == nil {
			d.note(&title, "array", dtypeOf(x), dtypeOf(y))
			continue
		}
		if err := d.arrays(&title, x, y, a.path, b.path); err != nil {
			return err
		}
	}
	return nil
}

// only compares one array of each file.
func (d *differ) only(a, b *target, fa, fb ndfile.File) error {
	x, name, err := a.only(fa)
	if err != nil {
		return err
	}
	y, _, err := b.only(fb)
	if err != nil {
		return err
	}
	title := text(name)
	return d.arrays(&title, x, y, a.path, b.path)
}

// has gives an array of the file; nil if it has none of that name.
func has(f ndfile.File, t *target, name string) (ndfile.Array, error) {
	if !slices.Contains(f.Names(), name) {
		return nil, nil
	}
	return t.array(f, name)
}

func dtypeOf(a ndfile.Array) value {
	if a == nil {
		return nil
	}
	return toJSON(a.Spec().DType.String())
}

// toJSON spells a value that always has a spelling.
func toJSON(v any) value {
	if s, ok := v.(string); ok {
		return ndfile.AppendJSONString(nil, s)
	}
	b, _ := json.Marshal(v)
	return b
}

// attrs compares attributes, whatever their order.
func (d *differ) attrs(array *text, a, b *ndfile.Attrs) {
	note := func(key string, x, y value) {
		name := text(key)
		d.note(array, "attribute", x, y).Key = &name
	}
	for i := range a.Len() {
		key, v := a.At(i)
		x := value(appendStrict(nil, v))
		if w, ok := b.Get(key); !ok {
			note(key, x, nil)
		} else if y := appendStrict(nil, w); !bytes.Equal(x, y) {
			note(key, x, y)
		}
	}
	for i := range b.Len() {
		key, w := b.At(i)
		if _, ok := a.Get(key); !ok {
			note(key, nil, appendStrict(nil, w))
		}
	}
}

// arrays compares all of two arrays.
func (d *differ) arrays(title *text, a, b ndfile.Array, pathA, pathB string) error {
	s, t := a.Spec(), b.Spec()
	if !s.DType.Native().Equal(t.DType.Native()) {
		d.note(title, "dtype", toJSON(s.DType.String()), toJSON(t.DType.String()))
	}
	d.attrs(title, a.Attrs(), b.Attrs())
	if !slices.Equal(s.Dims, t.Dims) {
		d.note(title, "dims", toJSON(texts(s.Dims)), toJSON(texts(t.Dims)))
	}
	switch {
	case s.NoData && t.NoData:
		return nil
	case s.NoData != t.NoData:
		d.note(title, "data", toJSON(!s.NoData), toJSON(!t.NoData))
		return nil
	case !slices.Equal(s.Shape, t.Shape):
		d.note(title, "shape", toJSON(s.Shape), toJSON(t.Shape))
		return nil
	}
	asA, asB, ok := commonTypes(s.DType, t.DType)
	if !ok {
		return nil
	}
	total, err := ndarray.Count(s.Shape)
	if err != nil {
		return err
	}
	var count int64
	var first []elementJSON
	for box := range ndfile.RowBlocks(s.Shape, max(asA.Size, asB.Size), blockBytes) {
		x, err := readBlock(d.ctx, a, box, asA)
		if err != nil {
			return ndfile.Locate(err, pathA, string(*title), *title != "")
		}
		y, err := readBlock(d.ctx, b, box, asB)
		if err != nil {
			return ndfile.Locate(err, pathB, string(*title), *title != "")
		}
		if x.same(&y) {
			continue
		}
		for i := range x.n {
			p, q := x.json(i, asA), y.json(i, asB)
			if bytes.Equal(p, q) {
				continue
			}
			if count++; count <= int64(d.first) {
				first = append(first, elementJSON{position(box, i), p, q})
			}
		}
	}
	if count > 0 {
		n := d.note(title, "values", nil, nil)
		n.Count, n.Total, n.First = &count, &total, first
		if first == nil {
			n.First = []elementJSON{}
		}
	}
	return nil
}

// commonTypes are the types in which elements of two types are compared.
func commonTypes(a, b ndarray.DType) (asA, asB ndarray.DType, ok bool) {
	isText := func(fixed, variable ndarray.Kind) bool {
		return (a.Kind == fixed || a.Kind == variable) && (b.Kind == fixed || b.Kind == variable)
	}
	switch {
	case isText(ndarray.Bytes, ndarray.VarBytes), isText(ndarray.Unicode, ndarray.VarString), a.IsVar() && a.Equal(b):
		return a.Native(), b.Native(), true
	case ndarray.CanConvert(a, b):
		return b.Native(), b.Native(), true
	case ndarray.CanConvert(b, a):
		return a.Native(), a.Native(), true
	}
	return a, b, false
}

// same reports that blocks are equal byte by byte, which is quick to find out.
func (b *block) same(c *block) bool {
	return b.texts == nil && c.texts == nil && bytes.Equal(b.data, c.data) && b.size == c.size && b.complete() && c.complete()
}

// complete reports that nothing is missing.
func (b *block) complete() bool { return !slices.Contains(b.mask, 1) }

// json spells an element; nil if it is missing.
func (b *block) json(i int64, d ndarray.DType) value {
	if b.missing(i) {
		return nil
	}
	return appendElement(nil, d, b.element(i), true)
}

// position is the place in the array of element i of a box without steps.
func position(box ndarray.Box, i int64) []int64 {
	at := unravel(i, box.Count)
	for axis := range at {
		at[axis] += box.Start[axis]
	}
	return at
}

func (d *differenceJSON) print(w io.Writer) {
	subject := "file"
	if d.Array != nil {
		subject = strings.TrimSpace("array " + either(*d.Array == "", "", printable(string(*d.Array))))
	}
	switch d.What {
	case "values":
		fmt.Fprintf(w, "%s: %d of %d elements differ\n", subject, *d.Count, *d.Total)
		for _, e := range d.First {
			index := strings.ReplaceAll(strings.Trim(shapeText(e.Index), "()"), " ", "")
			fmt.Fprintf(w, "  [%s]: %s | %s\n", index, orElse(e.A, "--"), orElse(e.B, "--"))
		}
		return
	case "array":
		fmt.Fprintf(w, "%s: only in the %s file\n", subject, either(d.B == nil, "first", "second"))
		return
	case "attribute":
		subject += ": attribute " + printable(string(*d.Key))
	default:
		subject += ": " + string(d.What)
	}
	a, b := orElse(d.A, "absent"), orElse(d.B, "absent")
	if d.What == "dtype" || d.What == "kind" {
		a, b = strings.Trim(a, `"`), strings.Trim(b, `"`)
	}
	fmt.Fprintf(w, "%s: %s | %s\n", subject, a, b)
}

func orElse(v value, absent string) string {
	if v == nil {
		return absent
	}
	return string(v)
}
