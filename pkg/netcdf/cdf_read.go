package netcdf

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxRecord is the size in bytes of the largest piece of a record that is read
// together with those of other records.
const maxRecord = 64 << 10

// maxRecords is how many bytes of records are read at a time.
const maxRecords = 1 << 20

// openCDF describes a classic file of size bytes, which in reads.
func (f *file) openCDF(ctx context.Context, in vfs.File, size int64, limits ndfile.Limits) error {
	h, err := parseCDF(ctx, in, size, limits)
	if err != nil {
		return err
	}
	f.model = h.model
	for i := range h.dims {
		d := &h.dims[i]
		if d.unlimited {
			f.unlimited, d.length = append(f.unlimited, d.name), h.records
		}
		f.dims.Set(d.name, pyjson.Int(d.length))
	}
	f.describe("", h.atts)
	f.names = make([]string, 0, len(h.vars))
	for i := range h.vars {
		v := &h.vars[i]
		if f.arrays[v.name] != nil {
			return ndfile.NewError(ndfile.ErrCorrupt, "two variables have the name "+strconv.Quote(v.name))
		}
		a := &array{file: f, name: v.name, filled: true}
		for _, id := range v.dims {
			d := &h.dims[id]
			if d.unlimited {
				a.unlimited = append(a.unlimited, d.name)
			}
			a.spec.Dims = append(a.spec.Dims, d.name)
			a.spec.Shape = append(a.spec.Shape, d.length)
		}
		data := &cdfData{file: f, in: in, begin: v.begin, record: v.record, bytes: v.bytes, stride: h.stride, shape: slices.Clone(a.spec.Shape)}
		data.dtype = ndarray.DType{Kind: ndarray.Raw, Size: 1} // characters
		if d, ok := dtypeOf(v.typ); ok {
			data.dtype = d.WithOrder(ndarray.Big)
		}
		a.from = data
		a.describe(v.typ, v.atts, nil)
		f.add(a)
	}
	f.in = in
	return nil
}

// cdfData are the elements of a variable of a classic file: one block, or one of
// each record. Characters are Raw elements of one byte.
type cdfData struct {
	file   *file
	in     vfs.File
	dtype  ndarray.DType
	shape  []int64
	begin  int64
	record bool
	bytes  int64 // of one record
	stride int64 // from a record to the next
}

// get implements source.
func (c *cdfData) get(ctx context.Context, start, count []int64, p []byte) error {
	if c.dtype.Kind == ndarray.Raw {
		return c.read(ctx, ndarray.Box{Start: start, Count: count}, ndarray.Buffer{DType: c.dtype, Shape: count, Data: p})
	}
	return c.read(ctx, ndarray.Box{Start: start, Count: count}, ndarray.Buffer{DType: c.dtype.Native(), Shape: count, Data: p})
}

// read reads a checked box.
func (c *cdfData) read(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if c.file.closed.Load() {
		return ndfile.ErrClosed()
	}
	if !c.record {
		l := flat.Block{File: c.in, Offset: c.begin, DType: c.dtype, Shape: c.shape}
		return l.ReadBox(ctx, box, dst)
	}
	if n, err := ndarray.Count(box.Count); n == 0 || err != nil {
		return err
	}
	first, last := c.span(box)
	if last-first > maxRecord {
		return c.recordByRecord(ctx, box, dst)
	}
	return c.records(ctx, box, dst, first, last)
}

// span is the part of a record that a box touches, in bytes from its begin.
func (c *cdfData) span(box ndarray.Box) (first, last int64) {
	size := int64(c.dtype.Size)
	at := size
	first, last = 0, size
	for axis := len(c.shape) - 1; axis > 0; axis-- {
		first += box.Start[axis] * at
		last += (box.Start[axis] + (box.Count[axis]-1)*step(box, axis)) * at
		at *= c.shape[axis]
	}
	return first, last
}

// recordByRecord reads a box of large records: each is a layout of its own.
func (c *cdfData) recordByRecord(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	one := slices.Clone(c.shape)
	one[0] = 1
	inner := ndarray.Box{Start: slices.Clone(box.Start), Count: slices.Clone(box.Count), Step: box.Step}
	inner.Start[0], inner.Count[0] = 0, 1
	part := ndarray.Full(inner.Count)
	for i := range box.Count[0] {
		part.Start[0] = i
		sub, err := dst.Sub(part)
		if err != nil {
			return err
		}
		r := box.Start[0] + i*step(box, 0)
		l := flat.Block{File: c.in, Offset: c.begin + r*c.stride, DType: c.dtype, Shape: one}
		if err := l.ReadBox(ctx, inner, sub); err != nil {
			return err
		}
	}
	return nil
}

// records reads the bytes from first to last of many records at once, and copies
// the elements of the box out of them.
func (c *cdfData) records(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, first, last int64) error {
	width := last - first
	total := box.Count[0]
	most := max(1, maxRecords/width)
	scratch := make([]byte, min(most, total)*width)
	bytes := flat.Block{File: c.in, Offset: c.begin + first, DType: maskType, Shape: []int64{c.shape[0], c.stride}}
	if c.stride < width { // records without padding may overlap nothing
		return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("records of %d bytes, %d apart", width, c.stride))
	}
	strides := make([]int64, len(c.shape))
	strides[0] = width
	at := int64(c.dtype.Size)
	for axis := len(c.shape) - 1; axis > 0; axis-- {
		strides[axis] = at * step(box, axis)
		at *= c.shape[axis]
	}
	for done := int64(0); done < total; done += most {
		n := min(most, total-done)
		rows := ndarray.Box{Start: []int64{box.Start[0] + done*step(box, 0), 0}, Count: []int64{n, width}, Step: []int64{step(box, 0), 1}}
		p := ndarray.Buffer{DType: maskType, Shape: rows.Count, Data: scratch[:n*width]}
		if err := bytes.ReadBox(ctx, rows, p); err != nil {
			return err
		}
		part := ndarray.Full(box.Count)
		part.Start[0], part.Count[0] = done, n
		to, err := dst.Sub(part)
		if err != nil {
			return err
		}
		from := ndarray.Buffer{DType: c.dtype, Shape: part.Count, Strides: strides, Data: p.Data}
		if err := ndarray.Copy(to, from); err != nil {
			return err
		}
	}
	return nil
}

// small is a file whose beginning, or all of it, is in memory.
type small struct {
	vfs.File // nil where that is all
	head     []byte
}

func (s *small) ReadAt(p []byte, off int64) (int, error) {
	if s.File != nil && off+int64(len(p)) > int64(len(s.head)) {
		return s.File.ReadAt(p, off)
	}
	if off > int64(len(s.head)) {
		return 0, io.EOF
	}
	n := copy(p, s.head[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s *small) Close() error {
	if s.File == nil {
		return nil
	}
	return s.File.Close()
}

func (s *small) Size() (int64, error) {
	if s.File == nil {
		return int64(len(s.head)), nil
	}
	return s.File.Size()
}

// FileExtra implements [ndfile.FileExtra]: the data model, the dimensions without
// limit, and types of attributes.
func (f *file) FileExtra() *ndfile.Attrs {
	o := ndfile.NewAttrs()
	o.Set(keyModel, pyjson.String(f.model.String()))
	if len(f.unlimited) > 0 {
		o.Set(keyUnlimited, stringValues(f.unlimited))
	}
	if f.dims.Len() > 0 {
		o.Set(keyDims, pyjson.ObjectValue(f.dims))
	}
	if f.types.Len() > 0 {
		o.Set(keyTypes, pyjson.ObjectValue(f.types))
	}
	return o
}

// Refused implements [ndfile.FileExtra]: variables of types that there is no dtype for.
func (f *file) Refused() (all []ndfile.Loss) {
	for _, a := range f.refused {
		all = append(all, ndfile.Loss{Array: a.name, What: "data", Why: a.refused.Error()})
	}
	return all
}

// Peculiar implements [ndfile.FileExtra].
func (f *file) Peculiar() []ndfile.Loss {
	var all []ndfile.Loss
	if f.model != hdf5 {
		all = append(all, ndfile.Loss{What: "data model", Why: f.model.String()})
	}
	if len(f.unlimited) > 0 {
		all = append(all, ndfile.Loss{What: "unlimited dimensions", Why: string(ndfile.AppendJSONValue(nil, stringValues(f.unlimited)))})
	}
	return all
}

// as is the same data with elements of another dtype of the same size.
func (c *cdfData) as(d ndarray.DType) *cdfData {
	k := *c
	k.dtype = d
	return &k
}
