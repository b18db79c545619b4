package main

// #include "internal.h"
import "C"

import (
	"context"
	"errors"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// resolveStrings is the part of reading and writing elements of variable length that both share.
// With fixed the elements can be of S or U too.
func (s selection) resolveStrings(spec *ndfile.Spec, offsets *C.int64_t, mask *C.uint8_t, fixed bool) (box ndarray.Box, ends []int64, missing []byte, err error) {
	fixed = fixed && !spec.NoData && (spec.DType.Kind == ndarray.Bytes || spec.DType.Kind == ndarray.Unicode)
	if fixed && mask != nil {
		err = ndfile.NewError(ndfile.ErrNotSupported, "a mask for elements of "+spec.DType.String())
	} else if !fixed {
		err = present(spec, true)
	}
	if err != nil {
		return
	}
	var n int64
	if box, n, err = s.box(spec.Shape); err != nil {
		return
	}
	if ends, err = offsetsAt("offsets", address(offsets), n); err != nil {
		return
	}
	missing, err = maskAt(mask, n)
	return
}

// offsetsAt are the n+1 offsets that delimit n elements.
func offsetsAt(what string, p address, n int64) ([]int64, error) {
	n, ok := ndarray.Add(n, 1)
	if !ok {
		return nil, badArgument(what + ": too many elements")
	}
	return sliceAt[int64](what, p, n)
}

// delimited are the bytes that the offsets of n elements delimit, once the offsets are found to rise from 0 or more.
func delimited(offsets []int64, data address) ([]byte, error) {
	last := int64(0)
	for i, end := range offsets {
		if end < last {
			return nil, badArgument("offsets: entry " + strconv.Itoa(i) + " is " + strconv.FormatInt(end, 10) + ", expected at least " + strconv.FormatInt(last, 10))
		}
		last = end
	}
	return sliceAt[byte]("data", data, last)
}

// ndfgo_array_read_strings reads a box of an array whose elements have a length of their own ("bytes" or "str").
//
// Element i of the box, in row-major order, is data[offsets[i]] up to and without data[offsets[i+1]]. When data is too
// small the status is NDF_ERR_BUFFER, and *len, offsets and mask are filled nevertheless.
//
// C: int32_t ndf_array_read_strings(ndf_array array, int32_t ndim, const int64_t *start, const int64_t *count, const int64_t *step, int64_t *offsets, void *data, int64_t *len, uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - start (in, nullable): ndim positions of the first element; NULL, together with count: the whole array
//   - count (in, nullable): ndim numbers of elements; NULL together with start
//   - step (in, nullable): ndim distances between elements, 1 or more; NULL: all 1
//   - offsets (out): receives one number more than the box has elements
//   - data (out, nullable): receives the bytes of all elements, one after the other, UTF-8 for "str"; NULL only with
//     *len 0
//   - len (inout): in: bytes at data; out: bytes of all elements
//   - mask (out, nullable): receives a byte for each element, 1 = missing, which are empty; NULL: a missing element in
//     the box is NDF_ERR_MASKED
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_SHAPE for another number of axes; NDF_ERR_BOUNDS for a box that reaches
// outside; NDF_ERR_MASKED; NDF_ERR_DTYPE for elements of fixed size; NDF_ERR_NO_DATA; NDF_ERR_CORRUPT;
// NDF_ERR_NOT_SUPPORTED for a file that is being created; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_read_strings
func ndfgo_array_read_strings(array C.ndf_array, ndim C.int32_t, start *C.int64_t, count *C.int64_t, step *C.int64_t, offsets *C.int64_t, data address, len *C.int64_t, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, readStrings(handle(array), selection{ndim, start, count, step}, offsets, data, len, mask))
}

func readStrings(h handle, s selection, offsets *C.int64_t, data address, length *C.int64_t, mask *C.uint8_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.read(func(spec *ndfile.Spec) error {
		box, ends, missing, err := s.resolveStrings(spec, offsets, mask, false)
		if err != nil {
			return err
		}
		dst, err := roomAt("data", "len", data, int64(*length))
		if err != nil {
			return err
		}
		v, ok := a.array.(ndfile.Strings)
		if !ok {
			return ndfile.NewError(ndfile.ErrNotSupported, "elements of variable length cannot be read here")
		}
		var n int64
		err = interruptible(func(ctx context.Context) (err error) {
			n, err = v.ReadStrings(ctx, box, ends, dst, missing)
			return err
		})
		if err == nil || errors.Is(err, ndfile.ErrBuffer) {
			*length = C.int64_t(n)
		}
		return err
	})
}

// ndfgo_array_write_strings writes a box of an array whose elements have a length of their own ("bytes" or "str"), or of
// S (bytes) or U (UTF-8), without a mask then; what such an element cannot hold is NDF_ERR_VALUE.
//
// C: int32_t ndf_array_write_strings(ndf_array array, int32_t ndim, const int64_t *start, const int64_t *count, const int64_t *step, const int64_t *offsets, const void *data, const uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - start (in, nullable): ndim positions of the first element; NULL, together with count: the whole array
//   - count (in, nullable): ndim numbers of elements; NULL together with start
//   - step (in, nullable): ndim distances between elements, 1 or more; NULL: all 1
//   - offsets (in): one number more than the box has elements, rising: element i of the box, in row-major order, is
//     data[offsets[i]] up to and without data[offsets[i+1]]
//   - data (in, nullable): the bytes that the offsets delimit, UTF-8 for "str"; NULL only where all elements are empty
//   - mask (in, nullable): a byte for each element, 1 = missing: its bytes are not stored; NULL: nothing is missing
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_ORDER where the format wants blocks of rows
// in order, each once; NDF_ERR_SHAPE for another number of axes; NDF_ERR_BOUNDS for a box that reaches outside;
// NDF_ERR_DTYPE for elements of another dtype; NDF_ERR_VALUE for bytes that are not UTF-8 in a "str" or U; NDF_ERR_IO;
// NDF_ERR_HANDLE; NDF_ERR_ARGUMENT for offsets that fall.
//
// Ownership: nothing is kept.
//
// Threads: any; writes of one file run in parallel unless its format has NDF_CAP_WRITE_ONCE.
//
// Since: 1.0
//
//export ndfgo_array_write_strings
func ndfgo_array_write_strings(array C.ndf_array, ndim C.int32_t, start *C.int64_t, count *C.int64_t, step *C.int64_t, offsets *C.int64_t, data address, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, writeStrings(handle(array), selection{ndim, start, count, step}, offsets, data, mask))
}

func writeStrings(h handle, s selection, offsets *C.int64_t, data address, mask *C.uint8_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.write(func(spec *ndfile.Spec) error {
		box, ends, missing, err := s.resolveStrings(spec, offsets, mask, true)
		if err != nil {
			return err
		}
		src, err := delimited(ends, data)
		if err != nil {
			return err
		}
		if d := spec.DType; !d.IsVar() {
			fixed, free, err := ndfile.FixedTexts(d, ends, src, d.Kind == ndarray.Unicode)
			defer free()
			if err != nil {
				return err
			}
			fixed.Shape = box.Count
			return a.array.WriteBox(context.Background(), box, fixed)
		}
		v, ok := a.array.(ndfile.Strings)
		if !ok {
			return ndfile.NewError(ndfile.ErrNotSupported, "elements of variable length cannot be written here")
		}
		return v.WriteStrings(context.Background(), box, ends, src, missing)
	})
}

// ndfgo_texts_width finds how many characters the longest of some texts has: the width that an array of U needs to hold
// them.
//
// C: int32_t ndf_texts_width(int64_t n, const int64_t *offsets, const void *data, int64_t *width, ndf_error *err)
//
// Parameters:
//   - n: number of texts
//   - offsets (in): n + 1 numbers, rising from 0 or more: text i is data[offsets[i]] up to and without
//     data[offsets[i+1]]
//   - data (in, nullable): the bytes that the offsets delimit, UTF-8, which is not checked; NULL only where all texts
//     are empty
//   - width (out): receives the number of characters
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT for offsets that fall, or a negative n.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_texts_width
func ndfgo_texts_width(n C.int64_t, offsets *C.int64_t, data address, width *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, textsWidth(int64(n), offsets, data, width))
}

func textsWidth(n int64, offsets *C.int64_t, data address, width *C.int64_t) error {
	if n < 0 {
		return badArgument("n is " + strconv.FormatInt(n, 10) + ", expected 0 or more")
	}
	ends, err := offsetsAt("offsets", address(offsets), n)
	if err != nil {
		return err
	}
	src, err := delimited(ends, data)
	if err != nil {
		return err
	}
	*width = C.int64_t(ndarray.TextsWidth(ends, src))
	return nil
}
