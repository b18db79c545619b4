package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func newCat() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cat FILE[:NAME][SLICE] [NAME...]",
		Short: "print the values of arrays: all, or those named",
		Long: "cat prints values, a row (the last axis) on a line, missing ones as --. They are what the\n" +
			"attributes say: scale_factor, add_offset, _FillValue, missing_value, valid_range and times\n" +
			"such as \"days since 2026-01-01\" are applied; --raw prints what is stored.\n\n" +
			"Datetimes are ISO 8601 in UTC, timedeltas numbers of their unit, records lists in\n" +
			"parentheses, and bytes without a meaning hexadecimal digits.\n\n" +
			"With --json, complex numbers are [real, imaginary], records are objects, missing values\n" +
			"are null, NaN and the infinities are strings, bytes that are not UTF-8 are\n" +
			"{\"base64\": string}, an array without elements is [], one without data null. The array of\n" +
			"a single-array file has the name \"\".",
		Example: "  ndfile cat x.ds temp time\n  ndfile cat 'x.ds:temp[0:3, ::-1]'\n  ndfile cat --json x.ra",
		Annotations: map[string]string{
			schemaKey: "{NAME: nested lists of values, ...}",
		},
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := one(args[0])
			if err != nil {
				return err
			}
			t.decode = decodes(cmd)
			w := bufio.NewWriter(cmd.OutOrStdout())
			err = catFile(cmd.Context(), w, t, args[1:], asJSON(cmd))
			return errors.Join(err, w.Flush())
		},
	}
	addDecode(cmd)
	return cmd
}

func catFile(ctx context.Context, w *bufio.Writer, t target, more []string, json bool) error {
	f, _, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer f.Abort()
	names, err := t.names(f, more)
	if err != nil {
		return err
	}
	arrays := make([]ndfile.Array, len(names))
	for i, name := range names {
		if arrays[i], err = t.array(f, name); err != nil {
			return err
		}
	}
	titles := len(names) != 1 && f.Kind() != ndfile.Single
	p := printer{w: w, json: json}
	p.text(either(json, "{", ""))
	for i, name := range names {
		if json {
			p.text(either(i == 0, "", ",\n "))
			w.Write(append(ndfile.AppendJSONString(nil, name), ": "...))
		} else if titles {
			units := ""
			if t.decode {
				units = unitsOf(arrays[i])
			}
			p.text(printable(name) + either(units == "", "", " ["+units+"]") + ":\n")
		}
		if err := p.array(ctx, arrays[i]); err != nil {
			return ndfile.Locate(err, t.path, name, f.Kind() != ndfile.Single)
		}
	}
	p.text(either(json, "}\n", ""))
	return nil
}

// printer prints arrays block by block.
type printer struct {
	w    *bufio.Writer
	json bool
	buf  []byte
}

func (p *printer) text(s string) { p.w.WriteString(s) }

// array prints one array.
func (p *printer) array(ctx context.Context, a ndfile.Array) error {
	s := a.Spec()
	if s.NoData {
		p.text(either(p.json, "null", "no data\n"))
		return nil
	}
	count, err := ndarray.Count(s.Shape)
	if err != nil {
		return err
	}
	if count == 0 {
		p.text(either(p.json, "[]", "\n"))
		return nil
	}
	for box := range ndfile.RowBlocks(s.Shape, s.DType.Size, blockBytes) {
		b, err := readBlock(ctx, a, box, s.DType)
		if err != nil {
			return err
		}
		first := int64(0)
		if len(box.Start) > 0 {
			first = box.Start[0] * (b.n / box.Count[0])
		}
		for i := range b.n {
			p.open(s.Shape, first+i)
			if b.missing(i) {
				p.text(either(p.json, "null", "--"))
			} else {
				p.buf = appendElement(p.buf[:0], s.DType, b.element(i), p.json)
				p.w.Write(p.buf)
			}
			p.close(s.Shape, first+i)
		}
	}
	return nil
}

// open prints what comes before the element at flat index i: brackets in JSON,
// a blank between the values of a row in text.
func (p *printer) open(shape []int64, i int64) {
	if !p.json {
		if len(shape) > 0 && shape[len(shape)-1] > 0 && i%shape[len(shape)-1] != 0 {
			p.text(" ")
		}
		return
	}
	if i > 0 {
		p.text(", ")
	}
	for range edges(shape, i) {
		p.text("[")
	}
}

// close prints what comes after the element at flat index i.
func (p *printer) close(shape []int64, i int64) {
	n := edges(shape, i+1)
	if p.json {
		for range n {
			p.text("]")
		}
		return
	}
	if n > 0 || len(shape) == 0 {
		p.text("\n")
	}
	if n > 1 && n < len(shape) {
		p.text("\n") // between planes
	}
}

// edges counts the axes that begin (or, for the index after an element, end)
// at flat index i.
func edges(shape []int64, i int64) int {
	n := 0
	for axis := len(shape) - 1; axis >= 0; axis-- {
		if shape[axis] > 0 && i%shape[axis] != 0 {
			break
		}
		n++
		if shape[axis] > 0 {
			i /= shape[axis]
		}
	}
	return n
}
