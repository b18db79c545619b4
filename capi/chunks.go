package main

// #include "internal.h"
import "C"

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_array_read_chunk gives the stored bytes of a chunk, compressed as they are.
//
// Chunk i along an axis begins at element i * chunks of ndf_array_info. What the format puts around the bytes is left
// out. Their header is checked, the rest is not. With *len 0 it tells the size.
//
// C: int32_t ndf_array_read_chunk(ndf_array array, int32_t ndim, const int64_t *index, void *buf, int64_t *len, int64_t *size, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - index (in, nullable): the number of the chunk along each axis, from 0; NULL only where ndim is 0
//   - buf (out, nullable): receives the bytes; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: number of bytes, also with NDF_ERR_BUFFER; 0 for a chunk that was never
//     written: its elements have the fill value
//   - size (out, nullable): receives the number of bytes that they decode to
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_SHAPE for another number of axes; NDF_ERR_BOUNDS for a chunk that the array
// does not have; NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_CHUNKED, and for elements that are in memory only
// (see ndf_file_flush); NDF_ERR_CORRUPT; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_read_chunk
func ndfgo_array_read_chunk(array C.ndf_array, ndim C.int32_t, index *C.int64_t, buf address, len *C.int64_t, size *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, readChunk(handle(array), ndim, index, buf, len, size))
}

func readChunk(h handle, ndim C.int32_t, index *C.int64_t, buf address, length, size *C.int64_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	dst, err := roomAt("buf", "len", buf, int64(*length))
	if err != nil {
		return a.locate(err)
	}
	return a.read(func(spec *ndfile.Spec) error {
		chunked, at, err := a.chunk(spec, ndim, index)
		if err != nil {
			return err
		}
		raw, decoded, err := chunked.ReadChunk(context.Background(), at, dst)
		if err != nil {
			return err
		}
		if size != nil {
			*size = C.int64_t(decoded)
		}
		if startOf(raw) == buf { // it is there already, or was never written
			*length = lengthOf(raw)
			return nil
		}
		return bytesOut("the chunk", raw, buf, length)
	})
}

// ndfgo_array_write_chunk stores the bytes of a whole chunk as they are.
//
// They are what ndf_array_read_chunk gives for an array of equal dtype, chunks and ndf_array_get_chunk_encoding, or what
// ndf_blosc_compress makes of the chunk's elements in row-major order where the encoding is "blosc1".
//
// C: int32_t ndf_array_write_chunk(ndf_array array, int32_t ndim, const int64_t *index, const void *data, int64_t n, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - ndim: number of axes, that of the array
//   - index (in, nullable): the number of the chunk along each axis, from 0; NULL only where ndim is 0
//   - data (in): the bytes
//   - n: how many
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_SHAPE for another number of axes;
// NDF_ERR_BOUNDS for a chunk that the array does not have; NDF_ERR_NOT_SUPPORTED for bytes that decode to another size,
// or that other programs of the format could not read, and for a format without NDF_CAP_CHUNKED; NDF_ERR_CORRUPT for
// bytes that are no chunk; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; writes of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_write_chunk
func ndfgo_array_write_chunk(array C.ndf_array, ndim C.int32_t, index *C.int64_t, data address, n C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, writeChunk(handle(array), ndim, index, data, int64(n)))
}

func writeChunk(h handle, ndim C.int32_t, index *C.int64_t, data address, n int64) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	raw, err := sliceAt[byte]("data", data, n)
	if err != nil {
		return a.locate(err)
	}
	return a.write(func(spec *ndfile.Spec) error {
		chunked, at, err := a.chunk(spec, ndim, index)
		if err != nil {
			return err
		}
		return chunked.WriteChunk(context.Background(), at, raw)
	})
}

// ndfgo_array_get_chunk_encoding names how the stored bytes of a chunk are made.
//
// Arrays of equal encoding, dtype and chunks can exchange them.
//
// C: int32_t ndf_array_get_chunk_encoding(ndf_array array, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - buf (out, nullable): receives the name, as "blosc1"; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the name
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_CHUNKED; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_chunk_encoding
func ndfgo_array_get_chunk_encoding(array C.ndf_array, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, chunkEncoding(handle(array), buf, len))
}

func chunkEncoding(h handle, buf *C.char, length *C.int64_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.read(func(*ndfile.Spec) error {
		chunked, err := a.chunked()
		if err != nil {
			return err
		}
		return textOut(chunked.ChunkEncoding(), buf, length)
	})
}

func (a *array) chunked() (ndfile.Chunked, error) {
	return offered[ndfile.Chunked](a.file, a.array, "chunks")
}

// chunk is the array in chunks and the index of one.
func (a *array) chunk(spec *ndfile.Spec, ndim C.int32_t, index *C.int64_t) (ndfile.Chunked, []int64, error) {
	chunked, err := a.chunked()
	if err != nil {
		return nil, nil, err
	}
	at, err := extentsAt("index", spec, ndim, index)
	return chunked, at, err
}
