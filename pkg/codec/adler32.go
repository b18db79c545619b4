package codec

import "github.com/ndfile/ndfile/pkg/blosc"

// The codec "adler32" of numcodecs: the checksum of RFC 1950.
var _ = define(Definition{ID: "adler32", kind: bytewise, new: func(c *conf) (Codec, error) {
	return located(c, "start", blosc.Adler32)
}})
