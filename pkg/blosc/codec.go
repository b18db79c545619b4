package blosc

import "fmt"

// Codec is a compressor. The values are those of the C API.
type Codec uint8

// The codecs.
const (
	BloscLZ Codec = iota
	LZ4
	LZ4HC // LZ4's format, compressed more thoroughly
	Snappy
	Zlib
	Zstd
)

// MaxLevel is the highest compression level; level 0 only copies.
const MaxLevel = 9

// codec is the row of a codec in the table. Both functions get buffers that do
// not overlap, and may use the state's memory.
type codec struct {
	name   string
	format uint8 // its number in the flags of a chunk
	// expands is the most bytes that one byte of a stream can stand for.
	expands int64
	// decode fills dst, or says false where src is not a stream of exactly
	// len(dst) bytes. It writes nowhere else, whatever src holds.
	decode func(st *state, dst, src []byte) bool
	// prefix, where there is one, fills dst with the beginning of what src stands
	// for, and says whether it did and whether src is a stream so far.
	prefix func(dst, src []byte) (done, ok bool)
	// encode compresses src into dst and gives the length of the stream, 0
	// where it is longer than dst. len(src) >= 1.
	encode func(st *state, dst, src []byte, level int) int
}

var codecs = [...]codec{
	BloscLZ: {"blosclz", 0, 255, blosclzDecode, nil, blosclzEncode},
	LZ4:     {"lz4", 1, 255, lz4Decode, lz4Prefix, lz4Encode},
	LZ4HC:   {"lz4hc", 1, 255, lz4Decode, lz4Prefix, lz4hcEncode},
	Snappy:  {"snappy", 2, 64, snappyDecode, nil, snappyEncode},
	Zlib:    {"zlib", 3, 1032, zlibDecode, nil, zlibEncode},
	Zstd:    {"zstd", 4, 1 << 17, zstdDecode, nil, zstdEncode},
}

// formatCodecs are the codecs by their number in the flags.
var formatCodecs = [...]Codec{BloscLZ, LZ4, Snappy, Zlib, Zstd}

// maxDecoded is the most bytes that a stream of n bytes can stand for: what
// keeps a short stream from asking for much memory.
func (c *codec) maxDecoded(n int64) int64 { return n * c.expands }

// ParseCodec gives the codec of a name: blosclz, lz4, lz4hc, snappy, zlib or
// zstd. Errors: ErrParams.
func ParseCodec(name string) (Codec, error) {
	for i := range codecs {
		if codecs[i].name == name {
			return Codec(i), nil
		}
	}
	return 0, errorf(ErrParams, "codec %q, known are blosclz, lz4, lz4hc, snappy, zlib, zstd", name)
}

// String gives the name.
func (c Codec) String() string {
	if int(c) < len(codecs) {
		return codecs[c].name
	}
	return fmt.Sprintf("codec(%d)", uint8(c))
}

// codecState is the memory of the codecs, kept between streams.
type codecState struct {
	probe  scratch // for a sample
	stream scratch // for codecs that want more room than the stream gets
	lz     lzTable
	lz4hc  *lz4hcTable
	zlib   zlibState
	zstd   zstdState
}
