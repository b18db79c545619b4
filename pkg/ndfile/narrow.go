package ndfile

import (
	"context"
	"errors"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// ReadNarrow is Array.ReadBox, or [Masked.ReadMasked] where mask is not nil, into elements of
// a type that need not hold every value of the stored one, but has to hold those that are in
// the box, as [ndarray.Narrow] says: floats of 8 bytes into 4, integers of 4 into 2. The first
// that does not fit is ErrValue, which names its index in the array; types that are too
// different are ErrDType. It works in blocks of rows of 4 MiB. After an error the content of
// dst and mask is undefined.
func ReadNarrow(ctx context.Context, a Array, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	spec := a.Spec()
	if spec.NoData || ndarray.CanConvert(spec.DType, dst.DType) || !ndarray.CanNarrow(spec.DType, dst.DType) {
		return ReadBox(ctx, a, box, dst, mask)
	}
	if err := box.Check(spec.Shape); err != nil {
		return Locate(err, "", "", false)
	}
	if !slices.Equal(dst.Shape, box.Count) {
		return NewError(ErrShape, "memory of shape "+shapeText(dst.Shape)+" for a box of "+shapeText(box.Count))
	}
	stored := spec.DType.Native()
	n := int64(0) // elements before the block
	for block := range RowBlocks(box.Count, stored.Size, defaultBlock) {
		src, err := ndarray.NewBuffer(stored, slices.Clone(block.Count))
		if err != nil {
			return Locate(err, "", "", false)
		}
		part, err := dst.Sub(block)
		if err != nil {
			return Locate(err, "", "", false)
		}
		count, err := ndarray.Count(block.Count)
		if err != nil {
			return Locate(err, "", "", false)
		}
		var missing []byte
		if mask != nil {
			missing = mask[n : n+count]
		}
		if err := ReadBox(ctx, a, blockOf(box, block), src, missing); err != nil {
			return err
		}
		if at, err := ndarray.Narrow(part, src); at >= 0 && errors.Is(err, ndarray.ErrBounds) {
			return NewError(ErrValue, "element "+shapeText(indexIn(box, n+at))).Because(err)
		} else if err != nil {
			return Locate(err, "", "", false)
		}
		n += count
	}
	return nil
}

// blockOf is a block of a box, which begins at the start of all axes but the first.
func blockOf(box, block ndarray.Box) ndarray.Box {
	b := ndarray.Box{Start: slices.Clone(box.Start), Count: slices.Clone(block.Count), Step: box.Step}
	if len(b.Start) > 0 {
		step := int64(1)
		if box.Step != nil {
			step = box.Step[0]
		}
		b.Start[0] += block.Start[0] * step
	}
	return b
}

// indexIn is the index in the array of element n of a box.
func indexIn(box ndarray.Box, n int64) []int64 {
	at := slices.Clone(box.Start)
	for axis := len(at) - 1; axis >= 0; axis-- {
		step := int64(1)
		if box.Step != nil {
			step = box.Step[axis]
		}
		at[axis] += n % box.Count[axis] * step
		n /= box.Count[axis]
	}
	return at
}
