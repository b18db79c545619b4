// Command shim is pkg/blosc as a C library for compare.py, so that both sides
// are called in the same way from one process.
package main

import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/blosc"
)

func main() {}

func result(n int, err error) C.longlong {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return -1
	}
	return C.longlong(n)
}

func memory(p unsafe.Pointer, n C.longlong) []byte { return unsafe.Slice((*byte)(p), int(n)) }

//export shim_encode
func shim_encode(dst unsafe.Pointer, dstLen C.longlong, src unsafe.Pointer, srcLen C.longlong, codec, level, shuffle, typeSize, threads C.int) C.longlong {
	return result(blosc.Encode(memory(dst, dstLen), memory(src, srcLen), blosc.Params{
		Codec: blosc.Codec(codec), Level: int(level), Shuffle: blosc.Shuffle(shuffle), TypeSize: int(typeSize), Threads: int(threads)}))
}

//export shim_decode
func shim_decode(dst unsafe.Pointer, dstLen C.longlong, chunk unsafe.Pointer, chunkLen C.longlong, threads C.int) C.longlong {
	return result(blosc.Decoder{Threads: int(threads)}.Decode(memory(dst, dstLen), memory(chunk, chunkLen)))
}
