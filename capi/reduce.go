package main

// #include "internal.h"
import "C"

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_array_reduce computes sum, minimum, maximum and mean of the elements in a box, block by block.
//
// Missing elements are left out. Sums of bools and integers are i8, of unsigned integers u8, both exact (one that does
// not fit is NDF_ERR_VALUE, never wrapped), of floats f8, of complex numbers c16, of m8 the same. Minimum and maximum
// have the array's dtype, those of f2 and bfloat16 are f4. The mean is f8, of complex numbers c16; of no elements it is
// NaN. As in NumPy, a NaN makes all four NaN, and NaT makes minimum, maximum and sum NaT.
//
// C: int32_t ndf_array_reduce(ndf_array array, int32_t ndim, const int64_t *start, const int64_t *count, const int64_t *step, uint32_t what, ndf_summary *out, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - start (in, nullable): ndim positions of the first element; NULL, together with count: the whole array
//   - count (in, nullable): ndim numbers of elements; NULL together with start
//   - step (in, nullable): ndim distances between elements, 1 or more; NULL: all 1
//   - what: NDF_REDUCE_* bits; the count is always there
//   - out (out): struct_size set by the caller, the rest is filled; what was not asked for is zero
//
// Returns: NDF_OK; NDF_ERR_VALUE for minimum and maximum of no elements, and for a sum that does not fit; NDF_ERR_DTYPE
// for what elements of the dtype have no result for; NDF_ERR_NOT_SUPPORTED for numbers of 16 bytes; NDF_ERR_SHAPE for
// another number of axes; NDF_ERR_BOUNDS for a box that reaches outside; NDF_ERR_NO_DATA; NDF_ERR_CORRUPT; NDF_ERR_IO;
// NDF_ERR_HANDLE; NDF_ERR_ARGUMENT for unknown bits.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_reduce
func ndfgo_array_reduce(array C.ndf_array, ndim C.int32_t, start *C.int64_t, count *C.int64_t, step *C.int64_t, what C.uint32_t, out *C.ndf_summary, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, reduceArray(handle(array), selection{ndim, start, count, step}, what, out))
}

// reductions are the bits of the waist for those of C.
var reductions = map[C.uint32_t]ndfile.Reduction{
	C.NDF_REDUCE_COUNT: 0,
	C.NDF_REDUCE_SUM:   ndfile.ReduceSum,
	C.NDF_REDUCE_MIN:   ndfile.ReduceMin,
	C.NDF_REDUCE_MAX:   ndfile.ReduceMax,
	C.NDF_REDUCE_MEAN:  ndfile.ReduceMean,
}

func reduceArray(h handle, s selection, what C.uint32_t, out *C.ndf_summary) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	var wanted ndfile.Reduction
	left := what
	for bit, reduction := range reductions {
		if what&bit != 0 {
			wanted |= reduction
			left &^= bit
		}
	}
	if left != 0 {
		return a.locate(badArgument("what has the unknown bits " + strconv.FormatUint(uint64(left), 2)))
	}
	return a.read(func(spec *ndfile.Spec) error {
		if spec.NoData {
			return ndfile.NewError(ndfile.ErrNoData, "")
		}
		box, _, err := s.box(spec.Shape)
		if err != nil {
			return err
		}
		var sum ndfile.Summary
		err = interruptible(func(ctx context.Context) (err error) {
			sum, err = ndfile.Reduce(ctx, a.array, box, wanted)
			return err
		})
		if err != nil {
			return err
		}
		own := C.ndf_summary{have: what | C.NDF_REDUCE_COUNT, count: C.int64_t(sum.Count)}
		setScalar(&own.sum, &sum.Sum)
		setScalar(&own.min, &sum.Min)
		setScalar(&own.max, &sum.Max)
		setScalar(&own.mean, &sum.Mean)
		return output("ndf_summary", out, &own)
	})
}

// setScalar stores a number; one of an invalid dtype is none.
func setScalar(out *C.ndf_scalar, s *ndfile.Scalar) {
	if s.DType.Kind == ndarray.Invalid {
		return
	}
	d := s.DType.Native()
	var b []byte
	switch d.Kind {
	case ndarray.Float, ndarray.BFloat:
		if d.Size < 8 {
			d = ndarray.DType{Kind: ndarray.Float, Order: ndarray.NativeOrder, Size: 4}
			b = binary.NativeEndian.AppendUint32(b, math.Float32bits(float32(s.Float)))
		} else {
			b = binary.NativeEndian.AppendUint64(b, math.Float64bits(s.Float))
		}
	case ndarray.Complex:
		b = binary.NativeEndian.AppendUint64(b, math.Float64bits(s.Float))
		b = binary.NativeEndian.AppendUint64(b, math.Float64bits(s.Imag))
	case ndarray.Uint:
		b = appendInteger(b, s.Uint, d.Size)
	default:
		b = appendInteger(b, uint64(s.Int), d.Size)
	}
	setName(out.dtype[:], d.String())
	for i, x := range b {
		out.bytes[i] = C.uint8_t(x)
	}
}

// appendInteger appends the low size bytes of v in native byte order.
func appendInteger(b []byte, v uint64, size int) []byte {
	switch size {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.NativeEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.NativeEndian.AppendUint32(b, uint32(v))
	}
	return binary.NativeEndian.AppendUint64(b, v)
}
