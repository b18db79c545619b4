package codec

import "hash/adler32"

// The codec "adler32" of numcodecs: the checksum of RFC 1950.
var _ = define(Definition{ID: "adler32", kind: bytewise, new: func(c *conf) (Codec, error) {
	return located(c, "start", adler32.Checksum)
}})
