package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// infoJSON is a file in "info --json".
type infoJSON struct {
	Path   text        `json:"path"`
	Format text        `json:"format"`
	Kind   text        `json:"kind"`
	Attrs  attrsJSON   `json:"attrs"`
	Extra  *attrsJSON  `json:"extra"`
	Groups []groupJSON `json:"groups"`
	Arrays []arrayJSON `json:"arrays"`
}

// groupJSON is a group in infoJSON.
type groupJSON struct {
	Name  text      `json:"name"`
	Attrs attrsJSON `json:"attrs"`
}

// arrayJSON is an array in infoJSON.
type arrayJSON struct {
	Name        text             `json:"name"`
	DType       text             `json:"dtype"`
	Shape       []int64          `json:"shape" null:"without data"`
	Dims        []text           `json:"dims" null:"without names of axes"`
	Masked      bool             `json:"masked"`
	Chunks      []int64          `json:"chunks" null:"not stored in chunks"`
	Shards      []int64          `json:"shards" null:"each chunk has a file"`
	Compression *compressionJSON `json:"compression"`
	Codecs      value            `json:"codecs" null:"not stored in chunks"`
	Fill        value            `json:"fill" null:"none, or not one value"`
	Bytes       *int64           `json:"bytes"`
	Attrs       attrsJSON        `json:"attrs"`
	Extra       *attrsJSON       `json:"extra"`
	codecs      string           // as text, "" where Compression says it
}

// compressionJSON says how chunks are compressed.
type compressionJSON struct {
	Codec   text `json:"codec"`
	Level   int  `json:"level"`
	Shuffle int  `json:"shuffle"`
}

func newInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE[:NAME]...",
		Short: "show what is in files, without reading the data",
		Long: "info shows formats, attributes, and of each array its name, dtype, shape and attributes.\n\n" +
			"dtypes are NumPy's typestrings, or bfloat16, bytes and str; shapes have the axis that\n" +
			"varies fastest last. masked says that elements can be missing. In parentheses below an array\n" +
			"stands what its format says of it besides: chunks and compression of NetCDF, axes that are\n" +
			"unlimited.\n\n" +
			"With --json, bytes are those of the elements in memory, null for texts of any length; extra\n" +
			"are metadata in the format's own terms, null where it has none.",
		Example:     "  ndfile info x.ds y.ra\n  ndfile info 'store.bcolz:price'\n  ndfile info --json '*.ds'",
		Annotations: schema([]infoJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listEach(cmd, args, func(t target, tell func(infoJSON)) error {
				info, err := describe(cmd, t)
				if err == nil {
					tell(info)
				}
				return err
			}, func(i infoJSON) { i.print(cmd.OutOrStdout()) })
		},
	}
}

// describe opens a file and lists what it holds.
func describe(cmd *cobra.Command, t target) (infoJSON, error) {
	f, format, err := t.open(cmd.Context())
	if err != nil {
		return infoJSON{}, err
	}
	defer f.Abort()
	names, err := t.names(f, nil)
	if err != nil {
		return infoJSON{}, err
	}
	info := infoJSON{Path: text(t.path), Format: text(format.Name()), Kind: text(f.Kind().String()),
		Attrs: attrsJSON{f.Attrs()}, Groups: []groupJSON{}, Arrays: []arrayJSON{}}
	if tree, ok := f.(ndfile.Tree); ok && !t.named {
		for _, name := range tree.Groups() {
			attrs, err := tree.GroupAttrs(cmd.Context(), name)
			if err != nil {
				return info, ndfile.Locate(err, t.path, name, true)
			}
			info.Groups = append(info.Groups, groupJSON{text(name), attrsJSON{attrs}})
		}
	}
	own, terse := f.(ndfile.FileExtra) // others keep all of their metadata there
	if terse {
		info.Extra = extraJSON(own.FileExtra())
	}
	for _, name := range names {
		a, err := t.array(f, name)
		if err != nil {
			return info, err
		}
		j := describeArray(name, a)
		if terse {
			j.Extra = extraJSON(a.Spec().Extra)
		}
		info.Arrays = append(info.Arrays, j)
	}
	return info, nil
}

func extraJSON(a *ndfile.Attrs) *attrsJSON {
	if a.Len() == 0 {
		return nil
	}
	return &attrsJSON{a}
}

func describeArray(name string, a ndfile.Array) arrayJSON {
	s := a.Spec()
	j := arrayJSON{Name: text(name), DType: text(s.DType.String()), Dims: texts(s.Dims), Masked: s.Masked,
		Chunks: s.Chunks, Shards: s.Shards, Codecs: ndfile.AppendCodecs(nil, &s), Attrs: attrsJSON{a.Attrs()}}
	if !s.NoData {
		j.Shape = append([]int64{}, s.Shape...)
		if n, err := ndarray.NBytes(s.Shape, s.DType.Size); err == nil && !s.DType.IsVar() {
			j.Bytes = &n
		}
	}
	if s.Fill != nil && len(s.Fill) == s.DType.Size && !s.DType.IsVar() {
		one := ndarray.Buffer{DType: s.DType, Shape: []int64{}, Data: s.Fill}
		if native, err := ndarray.NewBuffer(s.DType.Native(), []int64{}); err == nil && ndarray.Copy(native, one) == nil {
			j.Fill = appendElement(nil, s.DType.Native(), native.Data, true)
		}
	}
	if s.Codecs != nil {
		j.codecs = codecsText(s.Codecs)
	}
	if c, ok := s.Compression(); ok {
		j.codecs = ""
		j.Compression = &compressionJSON{text(c.Codec), c.Level, c.Shuffle}
	}
	return j
}

func (i *infoJSON) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s %s", printablePath(string(i.Path)), i.Format, i.Kind)
	if i.Kind != text(ndfile.Single.String()) {
		fmt.Fprintf(w, ", %d array%s", len(i.Arrays), plural(len(i.Arrays)))
	}
	fmt.Fprintln(w)
	shared := len(i.Arrays) == 1 && i.Arrays[0].Attrs.Attrs == i.Attrs.Attrs
	writeExtra(w, "  ", i.Extra, false)
	if !shared {
		writeAttrs(w, "  ", i.Attrs.Attrs)
	}
	for _, g := range i.Groups {
		fmt.Fprintf(w, "  %s/\n", printable(string(g.Name)))
		writeAttrs(w, "    ", g.Attrs.Attrs)
	}
	for _, a := range i.Arrays {
		fmt.Fprintf(w, "  %s %s %s%s", printable(string(a.Name)), a.DType, a.axes(), either(a.Masked, " masked", ""))
		if a.Chunks != nil {
			fmt.Fprintf(w, " chunks %s", shapeText(a.Chunks))
		}
		if a.Shards != nil {
			fmt.Fprintf(w, " shards %s", shapeText(a.Shards))
		}
		if c := a.Compression; c != nil {
			fmt.Fprintf(w, " %s-%d", c.Codec, c.Level)
		} else if a.codecs != "" {
			fmt.Fprintf(w, " %s", a.codecs)
		}
		if a.Fill != nil && !slices.Contains(usualFills, string(a.Fill)) {
			fmt.Fprintf(w, " fill %s", a.Fill)
		}
		fmt.Fprintln(w)
		writeExtra(w, "    ", a.Extra, true)
		writeAttrs(w, "    ", a.Attrs.Attrs)
	}
}

// usualFills are the values of elements never written that need no words.
var usualFills = []string{"0", "0.0", "false", `""`}

// codecsText names codecs with their levels: shuffle, zstd-5. The order of bytes is
// the dtype's.
func codecsText(list []codec.Spec) string {
	var names []string
	for _, c := range list {
		if c.Name == "bytes" {
			continue
		}
		names = append(names, c.Name)
		for _, key := range []string{"level", "clevel"} {
			if v, ok := c.Conf.Get(key); ok {
				names[len(names)-1] += "-" + string(ndfile.AppendJSONValue(nil, v))
			}
		}
	}
	return either(names == nil, "plain", strings.Join(names, ", "))
}

// writeExtra shows metadata in the format's own terms on a line, (model "NETCDF3"),
// of an array without the data model, which the file has.
func writeExtra(w io.Writer, indent string, a *attrsJSON, ofArray bool) {
	if a == nil {
		return
	}
	var parts []string
	for i := range a.Len() {
		k, v := a.At(i)
		if ofArray && k == "model" {
			continue
		}
		parts = append(parts, k+" "+string(ndfile.AppendJSONValue(nil, v)))
	}
	if parts != nil {
		fmt.Fprintf(w, "%s(%s)\n", indent, strings.Join(parts, ", "))
	}
}

// axes shows a shape with the names of its axes: (time 4, 3).
func (a *arrayJSON) axes() string {
	if a.Shape == nil {
		return "no data"
	}
	parts := make([]string, len(a.Shape))
	for i, n := range a.Shape {
		parts[i] = strconv.FormatInt(n, 10)
		if i < len(a.Dims) {
			parts[i] = printable(string(a.Dims[i])) + " " + parts[i]
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// shapeText shows a shape: (4, 3).
func shapeText(shape []int64) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func writeAttrs(w io.Writer, indent string, a *ndfile.Attrs) {
	for i := range a.Len() {
		k, v := a.At(i)
		fmt.Fprintf(w, "%s%s: %s\n", indent, printable(k), ndfile.AppendJSONValue(nil, v))
	}
}
