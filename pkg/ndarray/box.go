package ndarray

import (
	"fmt"
	"slices"
)

// Box selects elements of an array: along each axis, Count of them from Start on,
// Step apart. All are in elements.
type Box struct {
	Start []int64
	Count []int64
	Step  []int64 // 1 or more; nil: all 1
}

// Full is the box of a whole array.
func Full(shape []int64) Box {
	return Box{Start: make([]int64, len(shape)), Count: slices.Clone(shape)}
}

func (b *Box) step(axis int) int64 {
	if b.Step == nil {
		return 1
	}
	return b.Step[axis]
}

// Check verifies that every element of the box lies in an array of the given
// shape. It fails with [ErrShape] when the ranks differ, with [ErrBounds] when the
// box reaches outside, and as [Count] does for the shape. An axis of which nothing
// is taken may start at the very end.
func (b Box) Check(shape []int64) error {
	if len(b.Start) != len(shape) || len(b.Count) != len(shape) || b.Step != nil && len(b.Step) != len(shape) {
		return fmt.Errorf("%w: box: expected %d axes, found %d starts, %d counts, %d steps",
			ErrShape, len(shape), len(b.Start), len(b.Count), len(b.Step))
	}
	if _, err := Count(shape); err != nil {
		return err
	}
	for axis, extent := range shape {
		start, count, step := b.Start[axis], b.Count[axis], b.step(axis)
		if start < 0 || count < 0 || step < 1 {
			return fmt.Errorf("%w: box, axis %d: expected start >= 0, count >= 0, step >= 1, found %d, %d, %d",
				ErrBounds, axis, start, count, step)
		}
		// Division keeps clear of overflow: the last element is start+(count-1)*step.
		if start > extent || count > 0 && (start == extent || count-1 > (extent-1-start)/step) {
			return fmt.Errorf("%w: box, axis %d: expected elements within an extent of %d, found start %d, count %d, step %d",
				ErrBounds, axis, extent, start, count, step)
		}
	}
	return nil
}

// inner finds the longest run that the innermost axes of a checked box form: n
// elements step apart. The axes before outer are the ones to walk; stride is the
// distance in elements between neighbours on the last of them. n is 0 exactly
// when the box is empty.
func (b *Box) inner(shape []int64) (outer int, n, step, stride int64) {
	if slices.Contains(b.Count, 0) {
		return 0, 0, 1, 1
	}
	n, step, stride = 1, 1, 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		count := b.Count[axis]
		switch apart := b.step(axis) * stride; {
		case count == 1:
		case n == 1:
			n, step = count, apart
		case apart == n*step:
			n *= count
		default:
			return axis + 1, n, step, stride
		}
		stride *= shape[axis]
	}
	return 0, n, step, stride
}

// start is the flat index of the first element of a checked box that is not empty.
func (b *Box) start(shape []int64) int64 {
	first := int64(0)
	for axis, extent := range shape {
		first = first*extent + b.Start[axis]
	}
	return first
}

// Contiguous reports whether the box is one run of n neighbouring elements in
// row-major order, beginning at flat index first. An empty box is, with n = 0 and
// first = 0. A box that does not pass [Box.Check] is not.
func (b Box) Contiguous(shape []int64) (first, n int64, ok bool) {
	if b.Check(shape) != nil {
		return 0, 0, false
	}
	outer, n, step, _ := b.inner(shape)
	if n == 0 {
		return 0, 0, true
	}
	if outer > 0 || step != 1 {
		return 0, 0, false
	}
	return b.start(shape), n, true
}

// Span gives the smallest and the largest flat index that the box touches; ok is
// false when the box is empty or does not pass [Box.Check].
func (b Box) Span(shape []int64) (first, last int64, ok bool) {
	if b.Check(shape) != nil || slices.Contains(b.Count, 0) {
		return 0, 0, false
	}
	for axis, extent := range shape {
		first = first*extent + b.Start[axis]
		last = last*extent + b.Start[axis] + (b.Count[axis]-1)*b.step(axis)
	}
	return first, last, true
}

// Runs checks the box and calls fn for its maximal runs, in row-major order: n
// elements beginning at flat index first, step apart. k is the position of the
// run's first element in the box's own row-major order; runs follow each other
// without gaps in k. Axes are merged wherever the elements stay evenly spaced: a
// column of a matrix is one run. A run of a single element has step 1. The first
// error of fn ends the walk and is returned.
func (b Box) Runs(shape []int64, fn func(first, n, step, k int64) error) error {
	if err := b.Check(shape); err != nil {
		return err
	}
	outer, n, step, stride := b.inner(shape)
	if n == 0 {
		return nil
	}
	// An odometer over the outer axes. Neighbouring runs can still be joined where
	// the end of one slab meets the start of the next.
	var index [MaxNDim]int64
	first, length, k := b.start(shape), n, int64(0)
	next := first
	for {
		axis, apart := outer-1, stride
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < b.Count[axis] {
				next += b.step(axis) * apart
				break
			}
			next -= (b.Count[axis] - 1) * b.step(axis) * apart
			index[axis] = 0
			apart *= shape[axis]
		}
		if axis >= 0 && next == first+length*step {
			length += n
			continue
		}
		if err := fn(first, length, step, k); err != nil || axis < 0 {
			return err
		}
		k += length
		first, length = next, n
	}
}
