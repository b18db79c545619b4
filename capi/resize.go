package main

// #include "internal.h"
import "C"

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_array_resize sets the shape of an array.
//
// The number of axes stays. Elements that come into being have the fill value (zero where there is none); those that
// fall outside are gone for good. The columns of a table change together, by ndf_table_resize.
//
// C: int32_t ndf_array_resize(ndf_array array, int32_t ndim, const int64_t *shape, ndf_error *err)
//
// Parameters:
//   - array: the handle, of a file open for changes or being created
//   - ndim: number of axes, that of the array
//   - shape (in): the ndim new extents
//
// Returns: NDF_OK; NDF_ERR_SHAPE for another number of axes, a negative extent, or one that the format cannot change;
// NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_RESIZE, and for a
// column; NDF_ERR_LIMIT; NDF_ERR_CORRUPT; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT. After an
// error the array has the old shape.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_array_resize
func ndfgo_array_resize(array C.ndf_array, ndim C.int32_t, shape *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, resizeArray(handle(array), ndim, shape))
}

func resizeArray(h handle, ndim C.int32_t, shape *C.int64_t) error {
	return grow(h, func(a ndfile.Resizer, spec *ndfile.Spec) error {
		extents, err := extentsAt("shape", spec, ndim, shape)
		if err != nil {
			return err
		}
		return a.Resize(context.Background(), append([]int64{}, extents...))
	})
}

// ndfgo_array_append grows an array along an axis and stores elements behind those that were there.
//
// Formats can keep them in memory until a chunk is full: ndf_file_flush and ndf_file_close write them. Rows of a table
// are appended to all columns at once, by ndf_table_append.
//
// C: int32_t ndf_array_append(ndf_array array, int32_t axis, int32_t ndim, const int64_t *count, const char *dtype, const void *data, const int64_t *strides, ndf_error *err)
//
// Parameters:
//   - array: the handle, of a file open for changes or being created
//   - axis: the axis along which the array grows, from 0; 0 for rows
//   - ndim: number of axes, that of the array
//   - count (in): ndim extents of the new elements: any along axis, those of the array along the others
//   - dtype (in, nullable): type of the elements in memory: the stored one in any byte order, or one that widens to it
//     exactly; NULL: the stored one in native byte order
//   - data (in, nullable): address of element 0 of the new elements; NULL only where there are none
//   - strides (in, nullable): ndim distances in bytes, may be negative or 0; NULL: row-major without gaps
//
// Returns: NDF_OK; NDF_ERR_SHAPE for other extents; NDF_ERR_BOUNDS for an axis that the array does not have; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_DTYPE for another dtype;
// NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_RESIZE, for a column, and for an axis that the format cannot
// grow; NDF_ERR_LIMIT; NDF_ERR_CORRUPT; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT. After an error
// the array is as before.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_array_append
func ndfgo_array_append(array C.ndf_array, axis C.int32_t, ndim C.int32_t, count *C.int64_t, dtype *C.char, data address, strides *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, appendArray(handle(array), axis, ndim, count, dtype, data, strides))
}

func appendArray(h handle, axis, ndim C.int32_t, count *C.int64_t, dtype *C.char, data address, strides *C.int64_t) error {
	return grow(h, func(a ndfile.Resizer, spec *ndfile.Spec) error {
		if err := present(spec, false); err != nil {
			return err
		}
		extents, err := extentsAt("count", spec, ndim, count)
		if err != nil {
			return err
		}
		if axis < 0 || axis >= ndim {
			return outside("axis", int64(axis), int64(ndim))
		}
		src, err := elementsAt(spec, dtype, extents, strides, data)
		if err != nil {
			return err
		}
		return a.Append(context.Background(), int(axis), src)
	})
}

// grow runs fn alone on an array that can change its shape.
func grow(h handle, fn func(a ndfile.Resizer, spec *ndfile.Spec) error) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.locate(a.file.change(func(ndfile.File) error {
		r, err := offered[ndfile.Resizer](a.file, a.array, "arrays that change their shape")
		if err != nil {
			return err
		}
		spec := a.array.Spec()
		return fn(r, &spec)
	}))
}
