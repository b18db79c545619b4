package main

// #include "internal.h"
import "C"

import (
	"context"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// ndfgo_format_count counts the formats of this library.
//
// C: int32_t ndf_format_count(int32_t *count, ndf_error *err)
//
// Parameters:
//   - count (out): receives the number of formats
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_format_count
func ndfgo_format_count(count *C.int32_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*count = C.int32_t(len(all.Formats))
	return report(err, nil)
}

// ndfgo_format_get_info describes one of the formats of this library.
//
// C: int32_t ndf_format_get_info(int32_t index, ndf_format_info *info, ndf_error *err)
//
// Parameters:
//   - index: from 0 up to the count of ndf_format_count
//   - info (out): struct_size set by the caller, the rest is filled
//
// Returns: NDF_OK; NDF_ERR_BOUNDS for an index outside; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_format_get_info
func ndfgo_format_get_info(index C.int32_t, info *C.ndf_format_info, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, formatAt(int(index), info))
}

func formatAt(index int, info *C.ndf_format_info) error {
	if index < 0 || index >= len(all.Formats) {
		return outside("format", int64(index), int64(len(all.Formats)))
	}
	f := all.Formats[index]
	out := C.ndf_format_info{caps: C.uint32_t(f.Caps())}
	setName(out.name[:], f.Name())
	setName(out.extensions[:], strings.Join(f.Extensions(), " "))
	return output("ndf_format_info", info, &out)
}

// ndfgo_detect finds the format of a file or folder by its content.
//
// C: int32_t ndf_detect(const char *path, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder
//   - buf (out, nullable): receives the name of the format; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the name
//
// Returns: NDF_OK; NDF_ERR_FORMAT when no format recognises it; NDF_ERR_BUFFER; NDF_ERR_NOT_FOUND;
// NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_detect
func ndfgo_detect(path *C.char, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, detect(path, buf, len))
}

func detect(path *C.char, buf *C.char, length *C.int64_t) error {
	f, err := ndfile.Detect(context.Background(), all.Formats, ndfile.OS, textAt(path))
	if err != nil {
		return err
	}
	return textOut(f.Name(), buf, length)
}
