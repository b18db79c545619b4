package codec

import "hash/crc32"

// The codec "crc32" of numcodecs: the CRC of zlib.
var _ = define(Definition{ID: "crc32", kind: bytewise, new: func(c *conf) (Codec, error) {
	return located(c, "start", crc32.ChecksumIEEE)
}})
