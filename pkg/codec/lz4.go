package codec

import (
	"encoding/binary"
	"math"

	"github.com/pierrec/lz4/v4"
)

// The codec "lz4" of numcodecs: the number of bytes as a little-endian int32, then
// one block of LZ4.
var _ = define(Definition{ID: "lz4", kind: bytewise, new: func(c *conf) (Codec, error) {
	return lz4Codec(c.integer("acceleration", 1, math.MinInt32, math.MaxInt32)), nil
}})

type lz4Codec int

func (z lz4Codec) Config(Version) (*Object, error) { return members("acceleration", int(z)), nil }

func (z lz4Codec) Bind(in Form) (Stage, Form, error) {
	if in.Exact && (in.Size > math.MaxInt32 || in.Size == 0) {
		return nil, Form{}, errorf(ErrNotSupported, "lz4", "%d bytes, expected 1 to 2^31-1", in.Size)
	}
	return z, compressed(in.Size), nil
}

func (z lz4Codec) Encode(dst, src []byte) ([]byte, error) {
	if len(src) > math.MaxInt32 || len(src) == 0 {
		return dst, errorf(ErrValue, "lz4", "%d bytes, expected 1 to 2^31-1", len(src))
	}
	at := len(dst)
	dst = grow(dst, 4+lz4.CompressBlockBound(len(src)))
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(src)))
	n, err := lz4.CompressBlock(src, dst[at+4:], nil)
	return dst[:at+4+n], err
}

func (z lz4Codec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	if len(src) < 4 {
		return dst, corrupt("lz4", "the data end too early")
	}
	size := int64(int32(binary.LittleEndian.Uint32(src)))
	// A block of LZ4 cannot grow by more than 255.
	if size <= 0 || size > limit || size/256 > int64(len(src)) {
		return dst, corruptAt("lz4", 0, "a size of %d bytes, expected 1 to %d", size, limit)
	}
	at := len(dst)
	dst = grow(dst, int(size))
	n, err := lz4.UncompressBlock(src[4:], dst[at:])
	if err != nil || int64(n) != size {
		return dst[:at], corrupt("lz4", "a damaged block")
	}
	return dst, nil
}
