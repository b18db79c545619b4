package ndarray

import (
	"fmt"
	"math"
	"slices"
)

// CanNarrow reports whether [Narrow] can turn elements of one type into another: what
// [CanConvert] allows, and from Bool, Int, Uint, Float of up to 8 bytes and BFloat to Int
// and Uint of up to 8 bytes and Float of 4 and 8; from these and Complex to Complex of 8
// and 16.
func CanNarrow(from, to DType) bool {
	if CanConvert(from, to) {
		return true
	}
	source := CanConvert(from, TypeOf[int64]()) || CanConvert(from, TypeOf[uint64]()) || CanConvert(from, TypeOf[float64]())
	switch to.Kind {
	case Int, Uint:
		return source && to.Size <= 8
	case Float:
		return source && (to.Size == 4 || to.Size == 8)
	case Complex:
		return (source || CanConvert(from, TypeOf[complex128]())) && (to.Size == 8 || to.Size == 16)
	}
	return false
}

// Narrow is [Copy] for types that cannot hold every value of src, where they hold the values
// that are there. Integers stay exact; a float that becomes an integer has to be a whole
// number; what becomes a float is rounded to the nearest, and has to lie in its range. NaN and
// the infinities stay so. The first element, in row-major order, that does not fit is an
// error that wraps [ErrBounds], and its position is the result; dst is undefined then. Other
// errors are those of Copy, with position -1.
func Narrow(dst, src Buffer) (at int64, err error) {
	if CanConvert(src.DType, dst.DType) {
		return -1, Copy(dst, src)
	}
	if !slices.Equal(dst.Shape, src.Shape) {
		return -1, fmt.Errorf("%w: narrow: expected %s, found %s", ErrShape, shapeText(dst.Shape), shapeText(src.Shape))
	}
	if !CanNarrow(src.DType, dst.DType) {
		return -1, fmt.Errorf("%w: no elements of %s become %s", ErrDType, src.DType, dst.DType)
	}
	switch {
	case CanConvert(src.DType, TypeOf[int64]()):
		return narrowFrom(dst, src, narrowInts[int64, int64], narrowInts[int64, uint64], roundInts[int64])
	case CanConvert(src.DType, TypeOf[uint64]()):
		return narrowFrom(dst, src, narrowInts[uint64, int64], narrowInts[uint64, uint64], roundInts[uint64])
	case CanConvert(src.DType, TypeOf[float64]()):
		return narrowFrom(dst, src, wholeFloats[int64], wholeFloats[uint64], narrowFloats)
	}
	values, err := Values[complex128](src)
	if err != nil {
		return -1, err
	}
	out := make([]complex64, len(values))
	for i, v := range values {
		if out[i] = complex64(v); overflows(real(v), real(out[i])) || overflows(imag(v), imag(out[i])) {
			return int64(i), misfit(v, dst.DType)
		}
	}
	return -1, Copy(dst, Of(out, dst.Shape...))
}

// bounds are the integers of a type, or 0 and 0.
func bounds(d DType) (low int64, high uint64) {
	switch d.Kind {
	case Int:
		return math.MinInt64 >> (64 - 8*d.Size), math.MaxInt64 >> (64 - 8*d.Size)
	case Uint:
		return 0, math.MaxUint64 >> (64 - 8*d.Size)
	}
	return 0, 0
}

// narrowFrom widens to S, which loses nothing, and has one of three functions look at the
// values and store them as int64, uint64 or float64, from where they go to dst.
func narrowFrom[S Element](dst, src Buffer, toInt func([]S, DType) ([]int64, int), toUint func([]S, DType) ([]uint64, int), toFloat func([]S, DType) ([]float64, int)) (int64, error) {
	values, err := Values[S](src)
	if err != nil {
		return -1, err
	}
	switch dst.DType.Kind {
	case Int:
		return stored(dst, values, toInt)
	case Uint:
		return stored(dst, values, toUint)
	}
	return stored(dst, values, toFloat)
}

// stored puts values that were found to fit into dst: the low bytes of integers, and floats
// rounded.
func stored[S, T Element](dst Buffer, values []S, narrow func([]S, DType) ([]T, int)) (int64, error) {
	fit, bad := narrow(values, dst.DType)
	if bad >= 0 {
		return int64(bad), misfit(values[bad], dst.DType)
	}
	b := Of(fit, dst.Shape...)
	size := dst.DType.Size
	switch d := dst.DType; d.Kind {
	case Int, Uint:
		if size < 8 {
			b.DType = DType{Kind: d.Kind, Order: NativeOrder, Size: size}.Native()
			b.Strides = make([]int64, len(b.Shape))
			step := int64(8)
			for axis := len(b.Shape) - 1; axis >= 0; axis-- {
				b.Strides[axis] = step
				step *= b.Shape[axis]
			}
			if NativeOrder == Big && len(fit) > 0 {
				b.Offset = int64(8 - size)
			}
		}
	default:
		if short(d) {
			rounded := make([]float32, len(fit))
			for i, v := range any(fit).([]float64) {
				rounded[i] = float32(v)
			}
			b = Of(rounded, dst.Shape...)
		}
	}
	return -1, Copy(dst, b)
}

func misfit(v any, d DType) error {
	return fmt.Errorf("%w: %v does not fit into %s", ErrBounds, v, d)
}

// narrowInts gives the position of the first integer that is outside of a type, or -1.
func narrowInts[S, T int64 | uint64](values []S, d DType) ([]T, int) {
	low, high := bounds(d)
	out := make([]T, len(values))
	for i, v := range values {
		if v < 0 && int64(v) < low || v > 0 && uint64(v) > high {
			return nil, i
		}
		out[i] = T(v)
	}
	return out, -1
}

// roundInts rounds integers to floats, which have room for all of them.
func roundInts[S int64 | uint64](values []S, d DType) ([]float64, int) {
	out := make([]float64, len(values))
	for i, v := range values {
		if out[i] = float64(v); short(d) {
			out[i] = float64(float32(v)) // at once: rounding twice can be off
		}
	}
	return out, -1
}

// wholeFloats is narrowInts of floats, which have to be whole numbers.
func wholeFloats[T int64 | uint64](values []float64, d DType) ([]T, int) {
	low, high := bounds(d)
	most := math.Nextafter(float64(high)+1, 0) // the largest below 2^n
	out := make([]T, len(values))
	for i, v := range values {
		if !(v >= float64(low) && v <= most) || v != math.Trunc(v) {
			return nil, i
		}
		out[i] = T(v)
	}
	return out, -1
}

// narrowFloats finds floats that become infinite.
func narrowFloats(values []float64, d DType) ([]float64, int) {
	if short(d) {
		for i, v := range values {
			if overflows(v, float32(v)) {
				return nil, i
			}
		}
	}
	return values, -1
}

// short tells whether floats, or the parts of complex numbers, have 4 bytes.
func short(d DType) bool { return d.Kind == Float && d.Size == 4 || d.Kind == Complex && d.Size == 8 }

func overflows(v float64, rounded float32) bool {
	return math.IsInf(float64(rounded), 0) && !math.IsInf(v, 0)
}
