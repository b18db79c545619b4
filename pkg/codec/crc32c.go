package codec

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The codec "crc32c" of Zarr 3 and of numcodecs: the CRC of RFC 3720, behind the
// data; with numcodecs it can stand before them.
var _ = define(Definition{Name: "crc32c", ID: "crc32c", kind: bytewise, new: func(c *conf) (Codec, error) {
	sum := func(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }
	if c.version == V3 {
		return &checksummed{codec: "crc32c", sum: sum}, nil
	}
	return located(c, "end", sum)
}})
