package columnar

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// column is a column as Arrow has it.
type column struct {
	name  string
	array ndfile.Array
	dtype ndarray.DType // in native byte order
	inner []int64       // shape of a row
	elementType
	scratch []byte // elements before they are converted
}

func newColumn(a ndfile.Array, name string) (c column, spec ndfile.Spec, err error) {
	spec = a.Spec()
	if strings.ContainsRune(name, 0) {
		return c, spec, ndfile.NewError(ndfile.ErrNotSupported, "Arrow has no names with a NUL")
	}
	if len(spec.Shape) == 0 {
		return c, spec, ndfile.NewError(ndfile.ErrCorrupt, "a column without rows")
	}
	c = column{name: strings.Clone(name), array: a, dtype: spec.DType.Native(), inner: slices.Clone(spec.Shape[1:])}
	c.elementType, err = typeOf(spec.DType)
	if spec.Masked {
		err = ndfile.NewError(ndfile.ErrNotSupported, "columns with missing elements cannot go to Arrow")
	}
	return c, spec, err
}

// schema is the field of a column.
func (c *column) schema() Field {
	f := Field{Name: c.name}
	in := &f
	for _, n := range c.inner {
		in.Format, in.Children = "+w:"+strconv.FormatInt(n, 10), []Field{{Name: "item"}}
		in = &in.Children[0]
	}
	in.Format = c.format
	return f
}

// read makes the column's part of a batch: a list for each inner axis, and the values.
func (c *column) read(ctx context.Context, out Memory, at, rows int64) error {
	n := rows
	for _, extent := range c.inner {
		if err := out.Begin(n, 1, 1); err != nil {
			return err
		}
		out, n = out.Child(0), n*extent // the bytes of a batch are bounded
	}
	return c.fill(ctx, c, out, at, rows, n)
}

// elements reads rows into dst.
func (c *column) elements(ctx context.Context, dst []byte, at, rows int64) error {
	box := ndarray.Box{Start: make([]int64, 1+len(c.inner)), Count: append([]int64{rows}, c.inner...)}
	box.Start[0] = at
	return c.array.ReadBox(ctx, box, ndarray.Buffer{DType: c.dtype, Shape: box.Count, Data: dst})
}

// scratched reads n elements that are to be converted.
func (c *column) scratched(ctx context.Context, at, rows, n int64) ([]byte, error) {
	size := int(n) * c.dtype.Size
	if cap(c.scratch) < size {
		var err error
		if c.scratch, err = ndfile.NewBytes(size); err != nil {
			return nil, err
		}
	}
	raw := c.scratch[:size]
	return raw, c.elements(ctx, raw, at, rows)
}
