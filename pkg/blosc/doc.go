// Package blosc reads and writes Blosc1 chunks: the compressed container of
// bcolz and early zarr. README.md beside this file is its specification.
//
// A chunk is cut into blocks; each block is filtered (byte or bit shuffle),
// perhaps split into one stream per byte of the element, and each stream is
// compressed by one codec. Blocks are independent, so a range of a chunk costs
// only the blocks that it touches, and blocks may be worked on in parallel.
//
//	info, err := blosc.Info(chunk)          // sizes, from the 16-byte header
//	n, err := blosc.Decode(dst, chunk)      // len(dst) >= info.NBytes
//	n, err := blosc.Encode(dst, src, blosc.Params{Codec: blosc.LZ4, Level: 5,
//		Shuffle: blosc.ByteShuffle, TypeSize: 8}) // len(dst) >= blosc.EncodeBound(len(src))
//
// Input is not trusted. Every size in a chunk is checked against the length of
// the chunk, against what its codec can expand to, and against the caller's
// limit, before anything is allocated or written. Only dst[:n] is defined
// after success, and the content of dst is undefined after an error.
//
// All functions may be called from any goroutine at the same time; dst must
// not overlap the input. Nothing is kept of the caller's memory.
package blosc
