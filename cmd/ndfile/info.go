package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

func newInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE...",
		Short: "show what is in files, without reading the data",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			var out []byte
			for i, path := range paths {
				text, err := describe(cmd.Context(), path, asJSON(cmd))
				if err != nil {
					return err
				}
				if asJSON(cmd) && len(paths) > 1 {
					// several files are a list, one is an object
					out = append(out, either(i == 0, "[", ",\n ")...)
				}
				out = append(out, text...)
			}
			if asJSON(cmd) {
				if len(paths) > 1 {
					out = append(out, ']')
				}
				out = append(out, '\n')
			}
			_, err := cmd.OutOrStdout().Write(out)
			return err
		},
	}
}

// describe opens a file and puts what it holds into text or a JSON object.
func describe(ctx context.Context, path string, json bool) ([]byte, error) {
	f, format, err := ndfile.OpenAs(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	if json {
		return describeJSON(path, format.Name(), f)
	}
	var b strings.Builder
	err = describeText(&b, path, format.Name(), f)
	return []byte(b.String()), err
}

func describeText(w io.Writer, path, format string, f ndfile.File) error {
	names := f.Names()
	fmt.Fprintf(w, "%s: %s %s", path, format, f.Kind())
	if f.Kind() != ndfile.Single {
		fmt.Fprintf(w, ", %d array%s", len(names), plural(len(names)))
	}
	fmt.Fprintln(w)
	writeAttrs(w, "  ", f.Attrs())
	for _, name := range names {
		a, err := f.Array(name)
		if err != nil {
			return err
		}
		s := a.Spec()
		fmt.Fprintf(w, "  %s %s %s", printable(name), s.DType, axes(s))
		if s.Masked {
			fmt.Fprint(w, " masked")
		}
		fmt.Fprintln(w)
		writeAttrs(w, "    ", a.Attrs())
	}
	return nil
}

// axes shows a shape with the names of its axes: (time 4, 3).
func axes(s ndfile.Spec) string {
	if s.NoData {
		return "no data"
	}
	parts := make([]string, len(s.Shape))
	for i, n := range s.Shape {
		parts[i] = strconv.FormatInt(n, 10)
		if i < len(s.Dims) {
			parts[i] = printable(s.Dims[i]) + " " + parts[i]
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// printable quotes a name that could be mistaken for something else.
func printable(name string) string {
	if q := strconv.Quote(name); name == "" || len(q) != len(name)+2 || strings.ContainsAny(name, " ,()") {
		return q
	}
	return name
}

func writeAttrs(w io.Writer, indent string, a *ndfile.Attrs) {
	for i := 0; a != nil && i < a.Len(); i++ {
		k, v := a.At(i)
		fmt.Fprintf(w, "%s%s: %s\n", indent, printable(k), ndfile.AppendJSONValue(nil, v))
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// describeJSON gives {"path", "format", "kind", "attrs", "arrays": [{"name",
// "dtype", "shape", "dims", "masked", "attrs"}]}; shape is null without data,
// dims is null where the axes have no names.
func describeJSON(path, format string, f ndfile.File) ([]byte, error) {
	b := ndfile.AppendJSONString([]byte(`{"path": `), path)
	b = ndfile.AppendJSONString(append(b, `, "format": `...), format)
	b = ndfile.AppendJSONString(append(b, `, "kind": `...), f.Kind().String())
	b = appendStrictAttrs(append(b, `, "attrs": `...), f.Attrs())
	b = append(b, `, "arrays": [`...)
	for i, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		s := a.Spec()
		b = ndfile.AppendJSONString(append(b, `{"name": `...), name)
		b = ndfile.AppendJSONString(append(b, `, "dtype": `...), s.DType.String())
		b = append(b, `, "shape": `...)
		if s.NoData {
			b = append(b, "null"...)
		} else {
			b = append(b, '[')
			for j, n := range s.Shape {
				if j > 0 {
					b = append(b, ", "...)
				}
				b = strconv.AppendInt(b, n, 10)
			}
			b = append(b, ']')
		}
		b = append(b, `, "dims": `...)
		b = ndfile.AppendDimsJSON(b, s.Dims)
		b = strconv.AppendBool(append(b, `, "masked": `...), s.Masked)
		b = appendStrictAttrs(append(b, `, "attrs": `...), a.Attrs())
		b = append(b, '}')
	}
	return append(b, "]}"...), nil
}
