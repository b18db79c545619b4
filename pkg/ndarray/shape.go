package ndarray

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// MaxNDim is the largest number of axes, as in NumPy.
const MaxNDim = 64

// Mul multiplies two numbers that are not negative; ok is false when one is
// negative or the product exceeds an int64.
func Mul(a, b int64) (product int64, ok bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	return int64(lo), true
}

// Add adds two numbers that are not negative; ok is false when one is negative or
// the sum exceeds an int64.
func Add(a, b int64) (sum int64, ok bool) {
	if a < 0 || b < 0 || a > math.MaxInt64-b {
		return 0, false
	}
	return a + b, true
}

// Count is the number of elements of a shape: 1 for an empty shape, 0 when an
// extent is zero, whatever the others are. It fails with [ErrShape] on a negative
// extent and more than [MaxNDim] axes, with [ErrOverflow] beyond an int64.
func Count(shape []int64) (int64, error) {
	if len(shape) > MaxNDim {
		return 0, fmt.Errorf("%w: expected at most %d axes, found %d", ErrShape, MaxNDim, len(shape))
	}
	for axis, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("%w: axis %d: expected an extent of 0 or more, found %d", ErrShape, axis, n)
		}
	}
	if slices.Contains(shape, 0) {
		return 0, nil
	}
	count, ok := int64(1), true
	for _, n := range shape {
		if count, ok = Mul(count, n); !ok {
			return 0, fmt.Errorf("%w: shape %s: expected at most %d elements", ErrOverflow, shapeText(shape), int64(math.MaxInt64))
		}
	}
	return count, nil
}

// NBytes is the number of bytes of a shape with elements of itemsize bytes. It
// fails like [Count].
func NBytes(shape []int64, itemsize int) (int64, error) {
	n, err := Count(shape)
	if err != nil {
		return 0, err
	}
	size, ok := Mul(n, int64(itemsize))
	if !ok {
		return 0, fmt.Errorf("%w: shape %s of %d-byte elements: expected at most %d bytes",
			ErrOverflow, shapeText(shape), itemsize, int64(math.MaxInt64))
	}
	return size, nil
}

// AppendStrides appends the row-major strides of a shape, in bytes, without gaps.
// An array without elements gets strides of 0. It fails like [NBytes].
func AppendStrides(dst []int64, shape []int64, itemsize int) ([]int64, error) {
	stride, err := NBytes(shape, itemsize)
	if err != nil {
		return dst, err
	}
	for _, n := range shape {
		if n > 0 { // the stride of the array as a whole is that of its first axis times n
			stride /= n
		}
		dst = append(dst, stride)
	}
	return dst, nil
}

// Extent is the range of bytes [min, max) that the elements of a strided array
// touch, relative to the first byte of its element 0: min <= 0 <= max, both 0 for
// an array without elements. strides nil means row-major without gaps.
func Extent(shape, strides []int64, itemsize int) (min, max int64, err error) {
	if strides != nil && len(strides) != len(shape) {
		return 0, 0, fmt.Errorf("%w: expected %d strides, found %d", ErrShape, len(shape), len(strides))
	}
	size, err := NBytes(shape, itemsize)
	if err != nil || strides == nil || slices.Contains(shape, 0) {
		return 0, size, err
	}
	// The negative side is summed up as a positive number.
	back, ahead, ok := int64(0), int64(itemsize), true
	for axis, n := range shape {
		if s := strides[axis]; n > 1 {
			var reach int64
			if s < 0 {
				if reach, ok = Mul(n-1, -s); ok { // -MinInt64 is negative and fails
					back, ok = Add(back, reach)
				}
			} else if reach, ok = Mul(n-1, s); ok {
				ahead, ok = Add(ahead, reach)
			}
			if !ok {
				return 0, 0, fmt.Errorf("%w: axis %d: extent %d with a stride of %d bytes", ErrOverflow, axis, n, s)
			}
		}
	}
	return -back, ahead, nil
}

// appendShape appends a shape as Python writes a list.
func appendShape(dst []byte, shape []int64) []byte {
	dst = append(dst, '[')
	for i, n := range shape {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	return append(dst, ']')
}

// shapeText is a shape for messages. Handing the slice itself to fmt would make
// every caller's shape escape to the heap.
func shapeText(shape []int64) string { return string(appendShape(nil, shape)) }
