package main

// #include "internal.h"
import "C"

import (
	"context"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// selection is what a call reads or writes, in the caller's terms.
type selection struct {
	ndim               C.int32_t
	start, count, step *C.int64_t
}

// origin is the start of every whole array.
var origin [ndarray.MaxNDim]int64

// box is the selection in an array, checked, and the number of its elements.
func (s selection) box(shape []int64) (box ndarray.Box, n int64, err error) {
	if err = rankIs(shape, s.ndim); err != nil {
		return box, 0, err
	}
	ndim := len(shape)
	switch {
	case (s.start == nil) != (s.count == nil) && ndim > 0:
		return box, 0, badArgument("of start and count one is NULL; give both or none")
	case s.start == nil:
		box = ndarray.Box{Start: origin[:ndim], Count: shape}
	default:
		box.Start, _ = axesAt("start", s.ndim, s.start)
		box.Count, _ = axesAt("count", s.ndim, s.count)
	}
	if s.step != nil {
		box.Step, _ = axesAt("step", s.ndim, s.step)
	}
	if err = box.Check(shape); err == nil {
		n, err = ndarray.Count(box.Count)
	}
	return box, n, err
}

// resolve is the part of reading and writing boxes that both share: the box, the caller's memory as an array, and
// the mask, nil for NULL.
func (s selection) resolve(spec *ndfile.Spec, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t) (box ndarray.Box, buf ndarray.Buffer, missing []byte, err error) {
	if err = present(spec, false); err != nil {
		return
	}
	var n int64
	if box, n, err = s.box(spec.Shape); err != nil {
		return
	}
	if buf, err = elementsAt(spec, dtype, box.Count, strides, data); err != nil {
		return
	}
	missing, err = maskAt(mask, n)
	return
}

// elementsAt is the caller's memory as elements for an array, or from it. A NULL dtype is the stored one in native
// byte order, NULL strides are row-major without gaps.
func elementsAt(spec *ndfile.Spec, dtype *C.char, shape []int64, strides *C.int64_t, data address) (buf ndarray.Buffer, err error) {
	d := spec.DType.Native()
	if dtype != nil {
		if d, err = ndarray.Parse(textAt(dtype)); err != nil {
			return buf, err
		}
		if d.IsVar() {
			return buf, ndfile.NewError(ndfile.ErrDType, "elements of fixed size cannot become "+d.String())
		}
	}
	var apart []int64
	if strides != nil {
		apart, _ = axesAt("strides", C.int32_t(len(shape)), strides)
	}
	return bufferAt("data", d, shape, apart, data)
}

// extentsAt is one number for each axis of an array.
func extentsAt(what string, spec *ndfile.Spec, ndim C.int32_t, p *C.int64_t) ([]int64, error) {
	if err := rankIs(spec.Shape, ndim); err != nil {
		return nil, err
	}
	return axesAt(what, ndim, p)
}

// rankIs refuses a number of axes that is not the array's.
func rankIs(shape []int64, ndim C.int32_t) error {
	if int(ndim) != len(shape) {
		return ndfile.NewError(ndfile.ErrShape, "ndim is "+strconv.Itoa(int(ndim))+", the array has "+strconv.Itoa(len(shape))+" axes")
	}
	return nil
}

// present refuses arrays without data, and those whose elements are (or are not) of variable length.
func present(spec *ndfile.Spec, strings bool) error {
	switch {
	case spec.NoData:
		return ndfile.NewError(ndfile.ErrNoData, "")
	case strings && !spec.DType.IsVar():
		return ndfile.NewError(ndfile.ErrDType, "elements of "+spec.DType.String()+" have a fixed size; use ndf_array_read or ndf_array_write")
	case !strings && spec.DType.IsVar():
		return ndfile.NewError(ndfile.ErrDType, "elements of "+spec.DType.String()+" have a length of their own; use ndf_array_read_strings or ndf_array_write_strings")
	}
	return nil
}

// noMask is the mask of no elements, which is not the same as no mask.
var noMask = []byte{}

// maskAt is a mask of n elements, nil for NULL.
func maskAt(mask *C.uint8_t, n int64) ([]byte, error) {
	switch {
	case mask == nil:
		return nil, nil
	case n == 0:
		return noMask, nil
	}
	return sliceAt[byte]("mask", address(mask), n)
}

// read runs fn beside other reads.
func (a *array) read(fn func(spec *ndfile.Spec) error) error {
	return a.locate(a.file.shared(func(ndfile.File) error {
		spec := a.array.Spec()
		return fn(&spec)
	}))
}

// write runs fn beside other calls, or alone where the format wants its elements in order.
func (a *array) write(fn func(spec *ndfile.Spec) error) error {
	if a.file.access == reading {
		return a.locate(ndfile.NewError(ndfile.ErrReadOnly, ""))
	}
	run := a.file.shared
	if a.file.format.Caps()&ndfile.CapWriteOnce != 0 {
		run = a.file.alone
	}
	return a.locate(run(func(ndfile.File) error {
		spec := a.array.Spec()
		return fn(&spec)
	}))
}

// ndfgo_array_read reads a box of an array into the caller's memory.
//
// C: int32_t ndf_array_read(ndf_array array, int32_t ndim, const int64_t *start, const int64_t *count, const int64_t *step, const char *dtype, void *data, const int64_t *strides, uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - start (in, nullable): ndim positions of the first element; NULL, together with count: the whole array
//   - count (in, nullable): ndim numbers of elements; NULL together with start
//   - step (in, nullable): ndim distances between elements, 1 or more; NULL: all 1
//   - dtype (in, nullable): type of the elements in memory: the stored one in any byte order, or an exact widening of
//     it; NULL: the stored one in native byte order
//   - data (out, nullable): address of element 0 of the destination; NULL only where the box has no elements
//   - strides (in, nullable): ndim distances in bytes, may be negative; NULL: row-major without gaps
//   - mask (out, nullable): receives a byte for each element of the box in row-major order, 1 = missing; data under it is zeroed.
//     NULL: a missing element in the box is NDF_ERR_MASKED
//
// Returns: NDF_OK; NDF_ERR_SHAPE for another number of axes; NDF_ERR_BOUNDS for a box that reaches outside;
// NDF_ERR_MASKED; NDF_ERR_DTYPE for another dtype, and for elements of variable length; NDF_ERR_NO_DATA;
// NDF_ERR_CORRUPT; NDF_ERR_NOT_SUPPORTED for a file with NDF_CAP_WRITE_ONCE that is being created; NDF_ERR_IO; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT. After an error the content of data and mask is undefined.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_read
func ndfgo_array_read(array C.ndf_array, ndim C.int32_t, start *C.int64_t, count *C.int64_t, step *C.int64_t, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, readBox(handle(array), selection{ndim, start, count, step}, dtype, data, strides, mask, ndfile.ReadBox))
}

// ndfgo_array_read_narrow is ndf_array_read into a type that need not hold every value of the stored one, but has to hold
// those that are read: 8-byte floats into 4, 4-byte integers into 2, whole floats into integers.
//
// Integers stay exact, what becomes a float of 4 or 8 bytes is rounded to the nearest. An exact widening is what it is in
// ndf_array_read.
//
// C: int32_t ndf_array_read_narrow(ndf_array array, int32_t ndim, const int64_t *start, const int64_t *count, const int64_t *step, const char *dtype, void *data, const int64_t *strides, uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - start (in, nullable): ndim positions of the first element; NULL, together with count: the whole array
//   - count (in, nullable): ndim numbers of elements; NULL together with start
//   - step (in, nullable): ndim distances between elements, 1 or more; NULL: all 1
//   - dtype (in, nullable): type of the elements in memory; NULL: the stored one in native byte order
//   - data (out, nullable): address of element 0 of the destination; NULL only where the box has no elements
//   - strides (in, nullable): ndim distances in bytes, may be negative; NULL: row-major without gaps
//   - mask (out, nullable): receives a byte for each element of the box in row-major order, 1 = missing; data under it is zeroed.
//     NULL: a missing element in the box is NDF_ERR_MASKED
//
// Returns: NDF_OK; what ndf_array_read returns; NDF_ERR_VALUE for an element that does not fit, which the message names by its index in
// the array, from 0; NDF_ERR_DTYPE for types that values do not go between: from complex numbers to others, to floats of 2
// and 16 bytes, and what is no number.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_read_narrow
func ndfgo_array_read_narrow(array C.ndf_array, ndim C.int32_t, start *C.int64_t, count *C.int64_t, step *C.int64_t, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, readBox(handle(array), selection{ndim, start, count, step}, dtype, data, strides, mask, ndfile.ReadNarrow))
}

func readBox(h handle, s selection, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t,
	read func(context.Context, ndfile.Array, ndarray.Box, ndarray.Buffer, []byte) error) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.read(func(spec *ndfile.Spec) error {
		box, dst, missing, err := s.resolve(spec, dtype, data, strides, mask)
		if err != nil {
			return err
		}
		if !asked() { // what follows allocates
			return read(context.Background(), a.array, box, dst, missing)
		}
		part, to := box, dst
		return interruptible(func(ctx context.Context) error { return read(ctx, a.array, part, to, missing) })
	})
}

// ndfgo_array_write writes a box of an array from the caller's memory.
//
// C: int32_t ndf_array_write(ndf_array array, int32_t ndim, const int64_t *start, const int64_t *count, const int64_t *step, const char *dtype, const void *data, const int64_t *strides, const uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - start (in, nullable): ndim positions of the first element; NULL, together with count: the whole array
//   - count (in, nullable): ndim numbers of elements; NULL together with start
//   - step (in, nullable): ndim distances between elements, 1 or more; NULL: all 1
//   - dtype (in, nullable): type of the elements in memory: the stored one in any byte order, or one that widens to it
//     exactly, S for "bytes", U for "str"; NULL: the stored one in native byte order
//   - data (in, nullable): address of element 0 of the source; NULL only where the box has no elements
//   - strides (in, nullable): ndim distances in bytes, may be negative or 0; NULL: row-major without gaps
//   - mask (in, nullable): a byte for each element of the box in row-major order, 1 = missing: what data holds there is
//     not stored; NULL: nothing is missing
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_ORDER where the format wants blocks of rows
// in order, each once; NDF_ERR_SHAPE for another number of axes; NDF_ERR_BOUNDS for a box that reaches outside;
// NDF_ERR_DTYPE for another dtype; NDF_ERR_VALUE; NDF_ERR_NOT_SUPPORTED for a
// mask where elements cannot be missing; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; writes of one file run in parallel unless its format has NDF_CAP_WRITE_ONCE.
//
// Since: 1.0
//
//export ndfgo_array_write
func ndfgo_array_write(array C.ndf_array, ndim C.int32_t, start *C.int64_t, count *C.int64_t, step *C.int64_t, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, writeBox(handle(array), selection{ndim, start, count, step}, dtype, data, strides, mask))
}

func writeBox(h handle, s selection, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.write(func(spec *ndfile.Spec) error {
		if spec.DType.IsVar() && dtype != nil { // S and U become texts
			given, err := ndarray.Parse(textAt(dtype))
			if err != nil {
				return err
			}
			own := *spec
			own.DType = given
			spec = &own
		}
		box, src, missing, err := s.resolve(spec, dtype, data, strides, mask)
		if err != nil {
			return err
		}
		return ndfile.WriteBox(context.Background(), a.array, box, src, missing)
	})
}
