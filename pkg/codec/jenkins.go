package codec

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
)

// The codec "jenkins_lookup3" of numcodecs: hashlittle of Bob Jenkins's lookup3.c
// over a prefix and the data, behind the data. The prefix is a list of bytes or
// absent.
var _ = define(Definition{ID: "jenkins_lookup3", kind: bytewise, new: func(c *conf) (Codec, error) {
	initial := uint32(c.integer("initval", 0, 0, math.MaxUint32))
	var prefix []byte
	v, given := c.get("prefix")
	for _, item := range v.Items() {
		n, ok := item.Int64()
		if !ok || n < 0 || n > 255 {
			c.fail("prefix", "a list of bytes or null")
		}
		prefix = append(prefix, byte(n))
	}
	if given && v.Kind() != pyjson.KindList {
		c.fail("prefix", "a list of bytes or null")
	}
	return &checksummed{codec: "jenkins_lookup3", conf: c.Object.Clone(), sum: func(p []byte) uint32 {
		return lookup3(prefix, p, initial)
	}}, nil
}})

// lookup3 is hashlittle of a prefix and what follows it.
func lookup3(prefix, p []byte, initial uint32) uint32 {
	var space [12]byte
	// block takes up to 12 bytes from both.
	block := func() []byte {
		n := copy(space[:], prefix)
		k := copy(space[n:], p)
		prefix, p = prefix[n:], p[k:]
		return space[:n+k]
	}
	a := 0xdeadbeef + uint32(len(prefix)+len(p)) + initial
	b, c := a, a
	for len(prefix)+len(p) > 12 {
		w := p
		if len(prefix) > 0 {
			w = block()
		} else {
			p = p[12:]
		}
		a += binary.LittleEndian.Uint32(w)
		b += binary.LittleEndian.Uint32(w[4:])
		c += binary.LittleEndian.Uint32(w[8:])
		a = (a - c) ^ bits.RotateLeft32(c, 4)
		c += b
		b = (b - a) ^ bits.RotateLeft32(a, 6)
		a += c
		c = (c - b) ^ bits.RotateLeft32(b, 8)
		b += a
		a = (a - c) ^ bits.RotateLeft32(c, 16)
		c += b
		b = (b - a) ^ bits.RotateLeft32(a, 19)
		a += c
		c = (c - b) ^ bits.RotateLeft32(b, 4)
		b += a
	}
	if len(prefix)+len(p) == 0 {
		return c
	}
	var tail [12]byte
	copy(tail[:], block())
	a += binary.LittleEndian.Uint32(tail[:])
	b += binary.LittleEndian.Uint32(tail[4:])
	c += binary.LittleEndian.Uint32(tail[8:])
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	return (c ^ b) - bits.RotateLeft32(b, 24)
}
