package main

import (
	"context"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// view is an array seen through a selection, with names of axes and attributes of
// its own. It can only be read.
type view struct {
	inner ndfile.Array
	sel   []along // along each axis of inner
	lead  bool    // an axis of extent 1 comes before those of inner
	spec  ndfile.Spec
	attrs *ndfile.Attrs
}

// whole is the view of an array as it is.
func whole(a ndfile.Array) *view {
	spec := a.Spec()
	v := &view{inner: a, spec: spec, attrs: a.Attrs()}
	for _, n := range spec.Shape {
		v.sel = append(v.sel, along{count: n, step: 1})
	}
	return v
}

// sliced is the view that subscripts select.
func sliced(a ndfile.Array, list []subscript) (ndfile.Array, error) {
	if a.Spec().NoData {
		return nil, ndfile.NewError(ndfile.ErrNoData, "")
	}
	sel, err := resolve(list, a.Spec().Shape)
	if err != nil {
		return nil, err
	}
	return selected(a, sel), nil
}

// selected is the view of a selection.
func selected(a ndfile.Array, sel []along) *view {
	v := whole(a)
	v.sel = sel
	inner := v.spec
	v.spec.Shape, v.spec.Dims, v.spec.Chunks = []int64{}, nil, nil
	for axis, s := range sel {
		if s.drop {
			continue
		}
		v.spec.Shape = append(v.spec.Shape, s.count)
		if inner.Dims != nil {
			v.spec.Dims = append(v.spec.Dims, inner.Dims[axis])
		}
		if inner.Chunks != nil {
			v.spec.Chunks = append(v.spec.Chunks, inner.Chunks[axis])
		}
	}
	return v
}

// stacked is the view with a new first axis.
func stacked(a ndfile.Array, dim string) *view {
	v := whole(a)
	v.lead = true
	v.spec.Shape = slices.Concat([]int64{1}, v.spec.Shape)
	if v.spec.Chunks != nil {
		v.spec.Chunks = slices.Concat([]int64{1}, v.spec.Chunks)
	}
	if v.spec.Dims != nil || len(v.spec.Shape) == 1 {
		v.spec.Dims = slices.Concat([]string{dim}, v.spec.Dims)
	}
	return v
}

func (v *view) Spec() ndfile.Spec    { return v.spec }
func (v *view) Attrs() *ndfile.Attrs { return v.attrs }

// inside turns a box of the view into one of the inner array. Axes along which the
// order is the opposite are flipped.
func (v *view) inside(box ndarray.Box) (in ndarray.Box, flipped []bool, err error) {
	if err := box.Check(v.spec.Shape); err != nil {
		return in, nil, err
	}
	n := len(v.sel)
	in = ndarray.Box{Start: make([]int64, n), Count: make([]int64, n), Step: make([]int64, n)}
	flipped = make([]bool, n)
	outer := 0
	if v.lead {
		outer = 1
	}
	for axis, s := range v.sel {
		first, count, step := int64(0), int64(1), int64(1)
		if !s.drop {
			first, count = box.Start[outer], box.Count[outer]
			if box.Step != nil {
				step = box.Step[outer]
			}
			outer++
		}
		if in.Step[axis] = 1; count == 0 {
			continue
		}
		in.Start[axis], in.Count[axis] = s.start+first*s.step, count
		if count > 1 {
			// between elements of the array: no overflow
			if step *= s.step; step < 0 {
				in.Start[axis] += (count - 1) * step
				step, flipped[axis] = -step, true
			}
			in.Step[axis] = step
		}
	}
	return in, flipped, nil
}

// buffer is memory for the box of the view as that of the inner array.
func (v *view) buffer(b ndarray.Buffer, count []int64, flipped []bool) (ndarray.Buffer, error) {
	strides := b.Strides
	if strides == nil {
		var err error
		if strides, err = ndarray.AppendStrides(nil, b.Shape, b.DType.Size); err != nil {
			return b, err
		}
	}
	if v.lead {
		strides = strides[1:]
	}
	b.Shape, b.Strides = count, make([]int64, len(count))
	for axis, s := range v.sel {
		if s.drop {
			continue
		}
		b.Strides[axis], strides = strides[0], strides[1:]
		if flipped[axis] {
			b.Offset += (count[axis] - 1) * b.Strides[axis]
			b.Strides[axis] = -b.Strides[axis]
		}
	}
	return b, nil
}

func (v *view) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return v.read(ctx, box, dst, nil)
}

// ReadMasked implements [ndfile.Masked].
func (v *view) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	return v.read(ctx, box, dst, mask)
}

func (v *view) read(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	in, flipped, err := v.inside(box)
	if err != nil {
		return err
	}
	if !slices.Equal(dst.Shape, box.Count) {
		return ndfile.NewError(ndfile.ErrShape, "the buffer has another shape than the box")
	}
	if slices.Contains(box.Count, 0) {
		return nil
	}
	if dst, err = v.buffer(dst, in.Count, flipped); err != nil {
		return err
	}
	m, ok := v.inner.(ndfile.Masked)
	if mask == nil || !ok {
		clear(mask)
		return v.inner.ReadBox(ctx, in, dst)
	}
	if err := m.ReadMasked(ctx, in, dst, mask); err != nil {
		return err
	}
	copy(mask, turned(mask, in.Count, flipped))
	return nil
}

// ReadStrings implements [ndfile.Strings].
func (v *view) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) (int64, error) {
	in, flipped, err := v.inside(box)
	if err != nil {
		return 0, err
	}
	inner, ok := v.inner.(ndfile.Strings)
	switch {
	case !ok:
		return 0, ndfile.NewError(ndfile.ErrDType, "the elements are not of variable length")
	case slices.Contains(box.Count, 0):
		clear(offsets)
		return 0, nil
	case !slices.Contains(flipped, true):
		return inner.ReadStrings(ctx, in, offsets, data, mask)
	}
	texts, err := readTexts(ctx, v.inner, in, mask)
	if err != nil {
		return 0, err
	}
	copy(mask, turned(mask, in.Count, flipped))
	return putTexts(turned(texts, in.Count, flipped), offsets, data)
}

// turned gives the elements of a row-major array of that shape in the opposite
// order along the flipped axes.
func turned[T any](elements []T, shape []int64, flipped []bool) []T {
	if !slices.Contains(flipped, true) {
		return elements
	}
	out := make([]T, len(elements))
	for i := range out {
		from, stride, rest := int64(0), int64(1), int64(i)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			at := rest % shape[axis]
			if flipped[axis] {
				at = shape[axis] - 1 - at
			}
			from, stride, rest = from+at*stride, stride*shape[axis], rest/shape[axis]
		}
		out[i] = elements[from]
	}
	return out
}

func (v *view) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error { return readOnly() }

// WriteMasked implements [ndfile.Masked].
func (v *view) WriteMasked(context.Context, ndarray.Box, ndarray.Buffer, []byte) error {
	return readOnly()
}

// WriteStrings implements [ndfile.Strings].
func (v *view) WriteStrings(context.Context, ndarray.Box, []int64, []byte, []byte) error {
	return readOnly()
}

func readOnly() error { return ndfile.NewError(ndfile.ErrReadOnly, "") }

// readTexts reads the elements of variable length in a box.
func readTexts(ctx context.Context, a ndfile.Array, box ndarray.Box, mask []byte) ([][]byte, error) {
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return nil, err
	}
	offsets := make([]int64, n+1)
	data, err := ndfile.ReadAllStrings(ctx, a, box, offsets, mask)
	if err != nil {
		return nil, err
	}
	texts := make([][]byte, n)
	for i := range texts {
		texts[i] = data[offsets[i]:offsets[i+1]]
	}
	return texts, nil
}

// putTexts lays texts out as [ndfile.Strings] gives them.
func putTexts(texts [][]byte, offsets []int64, data []byte) (need int64, err error) {
	offsets[0] = 0
	for i, t := range texts {
		need += int64(len(t))
		offsets[i+1] = need
	}
	if need > int64(len(data)) {
		return need, ndfile.NewError(ndfile.ErrBuffer, strconv.FormatInt(need, 10)+" bytes are needed")
	}
	for i, t := range texts {
		copy(data[offsets[i]:], t)
	}
	return need, nil
}
