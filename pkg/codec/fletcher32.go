package codec

// The codec "fletcher32" of numcodecs: the variant of HDF5, of big-endian words of
// 16 bits, behind the data.
var _ = define(Definition{ID: "fletcher32", kind: bytewise, new: func(c *conf) (Codec, error) {
	return &checksummed{codec: "fletcher32", sum: fletcher32}, nil
}})

func fletcher32(p []byte) uint32 {
	var a, b uint32
	fold := func(x uint32) uint32 { return x&0xffff + x>>16 }
	words := len(p) / 2
	for i := 0; i < words; {
		for end := min(i+360, words); i < end; i++ { // so many do not overflow
			a += uint32(p[2*i])<<8 | uint32(p[2*i+1])
			b += a
		}
		a, b = fold(a), fold(b)
	}
	if len(p)%2 != 0 {
		a += uint32(p[len(p)-1]) << 8
		b += a
		a, b = fold(a), fold(b)
	}
	a, b = fold(a), fold(b)
	return b<<16 | a
}
