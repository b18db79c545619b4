package main

// #include "internal.h"
import "C"

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_file_get_trailing gives the bytes that follow the data of a file, which formats with NDF_CAP_TRAILING keep without
// giving them a meaning.
//
// C: int32_t ndf_file_get_trailing(ndf_file file, void *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for reading
//   - buf (out, nullable): receives the bytes; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: number of bytes, 0 when there are none
//
// Returns: NDF_OK; NDF_ERR_BUFFER, *len is the number of bytes that is needed; NDF_ERR_NOT_SUPPORTED where the format
// has no such bytes; NDF_ERR_LIMIT for more of them than max_header of ndf_open_options; NDF_ERR_IO; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_get_trailing
func ndfgo_file_get_trailing(file C.ndf_file, buf address, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, fileTrailing(handle(file), buf, len))
}

func fileTrailing(h handle, buf address, length *C.int64_t) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.shared(func(nf ndfile.File) error {
		t, err := offered[ndfile.Trailer](f, nf, "bytes after the data")
		if err != nil {
			return err
		}
		trailing, err := t.Trailing(context.Background())
		if err != nil {
			return err
		}
		return bytesOut("what follows the data", trailing, buf, length)
	})
}
