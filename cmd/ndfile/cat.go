package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

func newCat() *cobra.Command {
	return &cobra.Command{
		Use:   "cat FILE [NAME...]",
		Short: "print the values of arrays: all, or those named",
		Long: "cat prints values, a row (the last axis) on a line, missing ones as --.\n\n" +
			"With --json: an object of name to nested lists. Missing values are null, NaN and the\n" +
			"infinities are strings, bytes that are not UTF-8 are {\"base64\": ...}, an array without\n" +
			"elements is []. The array of a single-array file has the name \"\".",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := bufio.NewWriter(cmd.OutOrStdout())
			err := catFile(cmd.Context(), w, args[0], args[1:], asJSON(cmd))
			return errors.Join(err, w.Flush())
		},
	}
}

func catFile(ctx context.Context, w *bufio.Writer, path string, names []string, json bool) error {
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		return err
	}
	defer f.Abort()
	titles := len(names) != 1 && f.Kind() != ndfile.Single
	if len(names) == 0 {
		names = f.Names()
	}
	p := printer{w: w, json: json}
	for i, name := range names {
		a, err := f.Array(name)
		if err != nil {
			return ndfile.Locate(err, path, name, true)
		}
		if json {
			p.text(either(i == 0, "{", ",\n "))
			w.Write(append(ndfile.AppendJSONString(nil, name), ": "...))
		} else if titles {
			p.text(printable(name) + ":\n")
		}
		if err := p.array(ctx, a); err != nil {
			return ndfile.Locate(err, path, name, f.Kind() != ndfile.Single)
		}
	}
	if json {
		if len(names) == 0 {
			p.text("{")
		}
		p.text("}\n")
	}
	return nil
}

// blockBytes bounds the memory that cat takes for one block of rows, unless a
// single row is larger.
const blockBytes = 1 << 20

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
	for blk := range ndfile.RowBlocks(s.Shape, s.DType.Size, blockBytes) {
		if err := p.block(ctx, a, s, blk); err != nil {
			return err
		}
	}
	return nil
}

// block reads one block of rows and prints its elements.
func (p *printer) block(ctx context.Context, a ndfile.Array, s ndfile.Spec, box ndarray.Box) error {
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	var mask []byte
	if s.Masked {
		mask = make([]byte, n)
	}
	var element func(i int64) []byte
	if s.DType.IsVar() {
		offsets := make([]int64, n+1)
		data, err := ndfile.ReadAllStrings(ctx, a, box, offsets, mask)
		if err != nil {
			return err
		}
		element = func(i int64) []byte { return data[offsets[i]:offsets[i+1]] }
	} else {
		dst, err := ndarray.NewBuffer(s.DType.Native(), box.Count)
		if err != nil {
			return err
		}
		if s.Masked {
			err = a.(ndfile.Masked).ReadMasked(ctx, box, dst, mask)
		} else {
			err = a.ReadBox(ctx, box, dst)
		}
		if err != nil {
			return err
		}
		size := int64(s.DType.Size)
		element = func(i int64) []byte { return dst.Data[i*size : (i+1)*size] }
	}
	first := int64(0)
	if len(box.Start) > 0 {
		first = box.Start[0] * (n / box.Count[0])
	}
	for i := range n {
		p.open(s.Shape, first+i)
		switch {
		case mask != nil && mask[i] != 0:
			p.text(either(p.json, "null", "--"))
		default:
			p.buf = appendElement(p.buf[:0], s.DType, element(i), p.json)
			p.w.Write(p.buf)
		}
		p.close(s.Shape, first+i)
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
