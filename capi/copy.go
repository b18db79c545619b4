package main

// #include "internal.h"
import "C"

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_array_copy copies all elements of an array into another of the same shape and dtype.
//
// The byte order may differ. Elements move in blocks, so that memory does not grow with the array; encoded chunks are
// copied as they are where both arrays have the same chunks, codecs and dtype, also into shards and out of them.
//
// C: int32_t ndf_array_copy(ndf_array dst, ndf_array src, const ndf_convert_options *options, ndf_error *err)
//
// Parameters:
//   - dst: the handle of the array that is written
//   - src: the handle of the array that is read, another one
//   - options (in, nullable): progress and user count; a step is a byte of elements, 16 of them for one of variable
//     length
//
// Returns: NDF_OK; NDF_ERR_SHAPE; NDF_ERR_DTYPE; NDF_ERR_NO_DATA; NDF_ERR_MASKED for missing elements where dst has no
// mask; NDF_ERR_READ_ONLY for a dst open for reading; NDF_ERR_CANCELED when progress wants so; NDF_ERR_CORRUPT;
// NDF_ERR_NO_MEMORY; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT. After an error elements of dst are old ones or new
// ones.
//
// Ownership: nothing is kept.
//
// Threads: any, also beside reads of src.
//
// Since: 1.0
//
//export ndfgo_array_copy
func ndfgo_array_copy(dst C.ndf_array, src C.ndf_array, options *C.ndf_convert_options, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, copyArray(handle(dst), handle(src), options))
}

func copyArray(dst, src handle, options *C.ndf_convert_options) error {
	opt, err := convertOptions(options)
	if err != nil {
		return err
	}
	if dst == src {
		return badArgument("dst and src are the same array")
	}
	from, err := findArray(src)
	if err != nil {
		return err
	}
	defer from.leave()
	to, err := findArray(dst)
	if err != nil {
		return err
	}
	defer to.leave()
	do := func() error {
		return to.write(func(*ndfile.Spec) error {
			return ndfile.Copy(context.Background(), to.array, from.array, opt.Progress)
		})
	}
	if from.file == to.file {
		return do()
	}
	// Of two files that wait for each other one would be written once, and read before it is complete.
	if from.file.access != reading && from.file.format.Caps()&ndfile.CapWriteOnce != 0 {
		return from.locate(ndfile.NewError(ndfile.ErrNotSupported, "the file is being written"))
	}
	return from.file.shared(func(ndfile.File) error { return do() })
}
