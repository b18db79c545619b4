package netcdf

import (
	"context"
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxBlock is the most that one call of libnetcdf reads or writes, in bytes; a
// string counts as the size of a pointer.
const maxBlock = 16 << 20

// sparse is how many times larger than what it asks for the surroundings of a box
// with steps may be. Reading these is faster than libnetcdf's reading with steps.
const sparse = 16

// array is a variable of a file open for reading.
type array struct {
	file      *file
	name      string
	from      source
	unlimited []string // of its dimensions
	storage   storage
	spec      ndfile.Spec
	attrs     *ndfile.Attrs
	fills     *fills
	filled    bool      // elements can have NetCDF's default value for never having been written
	user      *userType // of an enumeration or a compound
	text      int64     // bytes of an element of characters
	lastText  bool      // and they are an axis of the variable
	refused   error
}

// source is where the elements of a variable lie. Characters are elements of one
// byte here, and their last axis is one of the variable.
type source interface {
	// get reads elements without steps between them into packed memory, in the
	// machine's order.
	get(ctx context.Context, start, count []int64, p []byte) error
}

// stringSource is a source of strings.
type stringSource interface {
	strings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte) (need int64, err error)
}

// typed is the array with the methods that its dtype has.
func (a *array) typed() ndfile.Array {
	switch {
	case a.spec.DType.IsVar():
		return &stringArray{a}
	case a.spec.DType.Kind == ndarray.Bytes:
		return a
	}
	return &maskedArray{a}
}

func (a *array) Spec() ndfile.Spec       { return a.spec }
func (a *array) Attrs() *ndfile.Attrs    { return a.attrs }
func (a *array) located(err error) error { return ndfile.Locate(err, a.file.path, a.name, true) }

func (a *array) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return a.located(a.file.check(true))
}

// ReadBox is as [ndfile.Array] has it. It takes 16 MiB at most, beyond dst.
func (a *array) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return a.located(a.read(ctx, box, dst, nil))
}

// maskedArray is an array of numbers, some of which can mean missing.
type maskedArray struct{ *array }

// ReadMasked implements [ndfile.Masked].
func (a *maskedArray) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	if err := a.file.check(false); err != nil {
		return a.located(err)
	}
	n, err := ndarray.Count(box.Count)
	if err == nil && int64(len(mask)) != n {
		err = ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("the mask has %d bytes, the box %d elements", len(mask), n))
	}
	if err != nil {
		return a.located(err)
	}
	return a.located(a.read(ctx, box, dst, mask))
}

func (a *maskedArray) WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, _ []byte) error {
	return a.WriteBox(ctx, box, src)
}

// read reads a box, and checks it. A nil mask makes a missing element ErrMasked.
func (a *array) read(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	d := a.spec.DType
	if err := a.file.check(false); err != nil {
		return err
	}
	if err := box.Check(a.spec.Shape); err != nil {
		return err
	}
	if !slices.Equal(box.Count, dst.Shape) {
		return fmt.Errorf("%w: the buffer has shape %v, the box %v", ndarray.ErrShape, dst.Shape, box.Count)
	}
	if err := dst.Check(); err != nil {
		return err
	}
	if d.IsVar() || !ndarray.CanConvert(d, dst.DType) {
		return fmt.Errorf("%w: no exact conversion from %s to %s", ndarray.ErrDType, d, dst.DType)
	}
	if a.fills == nil {
		clear(mask)
		mask = nil
		if c, ok := a.from.(*cdfData); ok && d.Kind != ndarray.Bytes {
			if d.Kind == ndarray.Bool {
				c = c.as(d)
			}
			return c.read(ctx, box, dst)
		}
	}
	r := reader{a: a, ctx: ctx}
	masks := ndarray.Buffer{DType: maskType, Shape: box.Count, Data: mask}
	return r.box(box, dst, masks)
}

var maskType = ndarray.MustParse("|u1")

// reader is one call of ReadBox.
type reader struct {
	a       *array
	ctx     context.Context
	scratch []byte
	mask    []byte
}

// box reads a checked box: cut in halves until libnetcdf can read it, with what
// lies between its elements, in one call.
func (r *reader) box(box ndarray.Box, dst, mask ndarray.Buffer) error {
	axis, err := cut(box, r.a.spec.DType.Size, sparse)
	if err != nil || axis == done {
		return err
	}
	if axis < 0 {
		return r.block(box, dst, mask)
	}
	return halves(box, axis, func(half, part ndarray.Box) error {
		d, err := dst.Sub(part)
		if err != nil {
			return err
		}
		m := mask
		if mask.Data != nil {
			if m, err = mask.Sub(part); err != nil {
				return err
			}
		}
		return r.box(half, d, m)
	})
}

const (
	whole = -1 // a box need not be cut
	done  = -2 // it is empty
)

// cut chooses the axis to cut a box on: the one with the largest step if too little
// of what lies around the elements is asked for, else the first if it is larger
// than a block.
func cut(box ndarray.Box, size int, sparse int64) (axis int, err error) {
	n, err := ndarray.Count(box.Count)
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return done, nil
	}
	extents := hull(box)
	around, err := ndarray.NBytes(extents, max(1, size))
	if err == nil && around <= maxBlock && around/int64(max(1, size))/sparse <= n {
		return whole, nil
	}
	axis = whole
	for i, c := range box.Count {
		if c > 1 && (axis < 0 || step(box, i) > step(box, axis)) {
			axis = i
		}
	}
	return axis, nil
}

func step(box ndarray.Box, axis int) int64 {
	if box.Step == nil {
		return 1
	}
	return box.Step[axis]
}

// hull is the shape of the smallest box without steps around one that is not empty.
func hull(box ndarray.Box) []int64 {
	h := make([]int64, len(box.Count))
	for i, c := range box.Count {
		h[i] = (c-1)*step(box, i) + 1
	}
	return h
}

// halves calls f with both halves of a box, and with the box that each is in its
// own buffer.
func halves(box ndarray.Box, axis int, f func(half, part ndarray.Box) error) error {
	first := box.Count[axis] / 2
	for _, at := range [2][2]int64{{0, first}, {first, box.Count[axis] - first}} {
		half := ndarray.Box{Start: slices.Clone(box.Start), Count: slices.Clone(box.Count), Step: box.Step}
		half.Start[axis] += at[0] * step(box, axis)
		half.Count[axis] = at[1]
		part := ndarray.Full(half.Count)
		part.Start[axis] = at[0]
		if err := f(half, part); err != nil {
			return err
		}
	}
	return nil
}

// block reads a box whose surroundings are no larger than a block.
func (r *reader) block(box ndarray.Box, dst, mask ndarray.Buffer) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	d, extents := r.a.spec.DType, hull(box)
	if dst.DType.Equal(d) && slices.Equal(extents, box.Count) && r.a.fills == nil {
		if p := dst.Bytes(); p != nil {
			return r.a.get(r.ctx, box.Start, extents, p)
		}
	}
	n, err := ndarray.NBytes(extents, d.Size)
	if err != nil {
		return err
	}
	r.scratch = sized(r.scratch, n)
	if err := r.a.get(r.ctx, box.Start, extents, r.scratch); err != nil {
		return err
	}
	around := ndarray.Buffer{DType: d, Shape: extents, Data: r.scratch}
	src, err := around.Sub(ndarray.Box{Start: make([]int64, len(extents)), Count: box.Count, Step: box.Step})
	if err != nil {
		return err
	}
	if r.a.fills == nil {
		return ndarray.Copy(dst, src)
	}
	return r.masked(box, dst, mask, src)
}

// masked copies a block and finds what is missing in it.
func (r *reader) masked(box ndarray.Box, dst, mask, src ndarray.Buffer) error {
	d := r.a.spec.DType
	packed, err := ndarray.NewBuffer(d, box.Count)
	if err != nil {
		return err
	}
	if err := ndarray.Copy(packed, src); err != nil {
		return err
	}
	r.mask = sized(r.mask, int64(len(packed.Data)/d.Size))
	first := r.a.fills.mark(numbersOf(d), packed.Data, r.mask)
	if first >= 0 && mask.Data == nil {
		return ndfile.NewError(ndfile.ErrMasked, "")
	}
	if first >= 0 {
		for i, m := range r.mask {
			if m != 0 {
				clear(packed.Data[i*d.Size : (i+1)*d.Size])
			}
		}
	}
	if mask.Data != nil {
		if err := ndarray.Copy(mask, ndarray.Buffer{DType: maskType, Shape: box.Count, Data: r.mask}); err != nil {
			return err
		}
	}
	return ndarray.Copy(dst, packed)
}

// numbersOf is the dtype of the numbers in the file.
func numbersOf(d ndarray.DType) ndarray.DType {
	if d.Kind == ndarray.Bool {
		return boolStored
	}
	return d
}

// get reads elements without steps between them into packed memory.
func (a *array) get(ctx context.Context, start, count []int64, p []byte) error {
	if a.text == 0 && a.lastText {
		return nil // strings of no bytes
	}
	if a.lastText {
		start, count = append(slices.Clone(start), 0), append(slices.Clone(count), a.text)
	}
	return a.from.get(ctx, start, count, p)
}

// stringArray is a variable of strings.
type stringArray struct{ *array }

// ReadStrings implements [ndfile.Strings]. No string is missing.
func (a *stringArray) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) (need int64, err error) {
	need, err = a.strings(ctx, box, offsets, data, mask)
	return need, a.located(err)
}

func (a *stringArray) WriteStrings(ctx context.Context, box ndarray.Box, _ []int64, _ []byte, _ []byte) error {
	return a.WriteBox(ctx, box, ndarray.Buffer{})
}

func (a *stringArray) strings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) (int64, error) {
	if err := a.file.check(false); err != nil {
		return 0, err
	}
	if err := box.Check(a.spec.Shape); err != nil {
		return 0, err
	}
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return 0, err
	}
	if int64(len(offsets)) != n+1 || mask != nil && int64(len(mask)) != n {
		return 0, ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("expected %d offsets and a mask of %d bytes, found %d and %d", n+1, n, len(offsets), len(mask)))
	}
	clear(mask)
	offsets[0] = 0
	need, err := a.from.(stringSource).strings(ctx, box, offsets, data)
	if err == nil && need > int64(len(data)) {
		err = ndfile.NewError(ndfile.ErrBuffer, fmt.Sprintf("the strings take %d bytes, the buffer has %d", need, len(data)))
	}
	return need, err
}
