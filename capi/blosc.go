package main

// #include "internal.h"
import "C"

import (
	"errors"
	"strconv"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_blosc_compress makes a Blosc1 chunk, which c-blosc and its bindings read.
//
// C: int32_t ndf_blosc_compress(const void *src, int64_t n, const ndf_blosc_params *params, void *dst, int64_t *len, ndf_error *err)
//
// Parameters:
//   - src (in, nullable): the data; NULL only with n 0
//   - n: bytes at src, at most 2^31 - 17
//   - params (in, nullable): codec, level, filter and so on; NULL: as the zero value says
//   - dst (out, nullable): receives the chunk. n + 16 bytes are always enough. Must not overlap src; NULL only with
//     *len 0
//   - len (inout): in: bytes at dst; out: size of the chunk
//
// Returns: NDF_OK; NDF_ERR_BUFFER when dst is too small, *len is then enough; NDF_ERR_LIMIT for more data than a chunk
// holds; NDF_ERR_ARGUMENT for an unknown codec, filter or level.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_blosc_compress
func ndfgo_blosc_compress(src address, n C.int64_t, params *C.ndf_blosc_params, dst address, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, compress(src, int64(n), params, dst, len))
}

func compress(src address, n int64, params *C.ndf_blosc_params, dst address, length *C.int64_t) error {
	in, out, err := inAndOut("src", src, n, dst, length)
	if err != nil {
		return err
	}
	p := blosc.Params{Codec: blosc.BloscLZ, Level: 9, Shuffle: blosc.ByteShuffle, TypeSize: 8, Threads: 1}
	if params != nil {
		if p, err = bloscParams(params); err != nil {
			return err
		}
	}
	size, err := blosc.Encode(out, in, p)
	if errors.Is(err, blosc.ErrBuffer) {
		size = blosc.EncodeBound(len(in))
	} else if err != nil {
		return ndfile.CodecError(err, 0)
	}
	*length = C.int64_t(size)
	return ndfile.CodecError(err, 0)
}

// bloscParams reads how to compress.
func bloscParams(params *C.ndf_blosc_params) (p blosc.Params, err error) {
	var own C.ndfgo_blosc_params
	if err := input("ndf_blosc_params", params, &own); err != nil {
		return p, err
	}
	p.Codec, p.Level, p.TypeSize, p.BlockSize = blosc.BloscLZ, int(own.level), int(own.typesize), int(own.blocksize)
	p.Shuffle, p.Threads, p.Compat18 = blosc.Shuffle(own.shuffle), int(own.threads), own.compat18 != 0
	if own.shuffle > C.NDF_BLOSC_BITSHUFFLE {
		return p, badArgument("ndf_blosc_params: shuffle is " + strconv.Itoa(int(own.shuffle)) + ", expected 0, 1 or 2")
	}
	if name := fieldText(own.codec); name != "" {
		p.Codec, err = blosc.ParseCodec(name)
	}
	return p, ndfile.CodecError(err, 0)
}

// ndfgo_blosc_decompress decodes a Blosc1 chunk.
//
// C: int32_t ndf_blosc_decompress(const void *chunk, int64_t n, int32_t threads, void *dst, int64_t *len, ndf_error *err)
//
// Parameters:
//   - chunk (in): the chunk, whole and without bytes behind it
//   - n: bytes at chunk
//   - threads: the most threads to use; 0: 1
//   - dst (out, nullable): receives the data; NULL only with *len 0. Must not overlap chunk
//   - len (inout): in: bytes at dst; out: size of the data, which ndf_blosc_get_info tells beforehand
//
// Returns: NDF_OK; NDF_ERR_BUFFER when dst is too small, *len is the size that is needed; NDF_ERR_CORRUPT;
// NDF_ERR_NOT_SUPPORTED for chunks of Blosc2; NDF_ERR_ARGUMENT. After an error the content of dst is undefined.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_blosc_decompress
func ndfgo_blosc_decompress(chunk address, n C.int64_t, threads C.int32_t, dst address, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, decompress(chunk, int64(n), threads, dst, len))
}

func decompress(chunk address, n int64, threads C.int32_t, dst address, length *C.int64_t) error {
	in, out, err := inAndOut("chunk", chunk, n, dst, length)
	if err != nil {
		return err
	}
	if threads < 0 {
		return badArgument("threads is " + strconv.Itoa(int(threads)))
	}
	info, err := blosc.Info(in)
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	*length = C.int64_t(info.NBytes)
	_, err = blosc.Decoder{Threads: int(threads)}.Decode(out, in)
	return ndfile.CodecError(err, 0)
}

// ndfgo_blosc_items decodes some elements of a Blosc1 chunk; only the blocks that hold them are decoded.
//
// C: int32_t ndf_blosc_items(const void *chunk, int64_t n, int64_t start, int64_t count, void *dst, int64_t *len, ndf_error *err)
//
// Parameters:
//   - chunk (in): the chunk, whole and without bytes behind it
//   - n: bytes at chunk
//   - start: the first element; elements have the typesize that the chunk says
//   - count: number of elements
//   - dst (out, nullable): receives count * typesize bytes; NULL only with *len 0. Must not overlap chunk
//   - len (inout): in: bytes at dst; out: number of bytes, also with NDF_ERR_BUFFER
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_BOUNDS for elements that the chunk does not have; NDF_ERR_CORRUPT;
// NDF_ERR_NOT_SUPPORTED for chunks of Blosc2; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_blosc_items
func ndfgo_blosc_items(chunk address, n C.int64_t, start C.int64_t, count C.int64_t, dst address, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, decompressItems(chunk, int64(n), int(start), int(count), dst, len))
}

func decompressItems(chunk address, n int64, start, count int, dst address, length *C.int64_t) error {
	in, out, err := inAndOut("chunk", chunk, n, dst, length)
	if err != nil {
		return err
	}
	size, err := blosc.DecodeItems(out, in, start, count)
	if errors.Is(err, blosc.ErrBuffer) {
		if info, e := blosc.Info(in); e == nil {
			*length = C.int64_t(count) * C.int64_t(info.TypeSize)
		}
	} else if err == nil {
		*length = C.int64_t(size)
	}
	return ndfile.CodecError(err, 0)
}

// ndfgo_blosc_get_info tells what the header of a Blosc1 chunk says.
//
// C: int32_t ndf_blosc_get_info(const void *chunk, int64_t n, ndf_blosc_info *info, ndf_error *err)
//
// Parameters:
//   - chunk (in): the first 16 bytes of a chunk, or more
//   - n: bytes at chunk
//   - info (out): receives the description; the caller sets struct_size
//
// Returns: NDF_OK; NDF_ERR_CORRUPT; NDF_ERR_NOT_SUPPORTED for chunks of Blosc2; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_blosc_get_info
func ndfgo_blosc_get_info(chunk address, n C.int64_t, info *C.ndf_blosc_info, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, chunkInfo(chunk, int64(n), info))
}

func chunkInfo(chunk address, n int64, out *C.ndf_blosc_info) error {
	in, err := roomAt("chunk", "n", chunk, n)
	if err != nil {
		return err
	}
	info, err := blosc.Info(in)
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	var own C.ndf_blosc_info
	own.nbytes, own.cbytes, own.blocksize = C.int64_t(info.NBytes), C.int64_t(info.CBytes), C.int64_t(info.BlockSize)
	own.typesize, own.shuffle = C.int32_t(info.TypeSize), C.uint32_t(info.Shuffle)
	if info.Memcpyed {
		own.memcpyed = 1
	}
	setName(own.codec[:], info.Codec.String())
	return output("ndf_blosc_info", out, &own)
}

// inAndOut are the n bytes at src, a parameter of that name, and the room at dst.
func inAndOut(name string, src address, n int64, dst address, length *C.int64_t) (in, out []byte, err error) {
	if in, err = roomAt(name, "n", src, n); err == nil {
		out, err = roomAt("dst", "len", dst, int64(*length))
	}
	return in, out, err
}
