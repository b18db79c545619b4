package ds

import (
	"encoding/binary"
	"math/bits"
)

// Masks and bool variables are bits, the first one on top of its byte; the rest
// of the last byte is padding, which nobody looks at.

// bit gives bit i.
func bit(p []byte, i int) byte { return p[i>>3] >> (7 - i&7) & 1 }

// ones counts the bits of the first n that are set.
func ones(p []byte, n int) int {
	count := 0
	whole := p[:n>>3]
	for ; len(whole) >= 8; whole = whole[8:] {
		count += bits.OnesCount64(binary.NativeEndian.Uint64(whole))
	}
	for _, b := range whole {
		count += bits.OnesCount8(b)
	}
	if rest := n & 7; rest != 0 {
		count += bits.OnesCount8(p[n>>3] >> (8 - rest))
	}
	return count
}

// diagonal has a bit in every ninth place: multiplying by it moves the bits of a
// byte to eight bytes, and back.
const (
	diagonal = 0x8040201008040201
	lowest   = 0x0101010101010101 // of each byte
)

// unpack turns the bits from bit i on into one byte each, 0 or 1, and counts the
// ones.
func unpack(dst, p []byte, i int) (count int) {
	for ; len(dst) > 0 && i&7 != 0; i++ {
		dst[0] = bit(p, i)
		count += int(dst[0])
		dst = dst[1:]
	}
	for p = p[i>>3:]; len(dst) >= 8; dst, p = dst[8:], p[1:] {
		count += bits.OnesCount8(p[0])
		binary.LittleEndian.PutUint64(dst, uint64(p[0])*diagonal>>7&lowest)
	}
	for j := range dst {
		dst[j] = bit(p, j)
		count += int(dst[j])
	}
	return count
}

// packer turns bytes into bits. They come in pieces: what does not fill a byte
// waits for the next one.
type packer struct {
	byte  byte
	count int // of the bits in byte, less than 8
}

// pack appends a bit for each byte of p, 1 where it is not 0.
func (c *packer) pack(dst, p []byte) []byte {
	for len(p) > 0 {
		if c.count == 0 && len(p) >= 8 {
			x := binary.LittleEndian.Uint64(p)
			x |= x >> 4
			x |= x >> 2
			x |= x >> 1
			dst, p = append(dst, byte(x&lowest*diagonal>>56)), p[8:]
			continue
		}
		if c.count++; p[0] != 0 {
			c.byte |= 1 << (8 - c.count)
		}
		if p = p[1:]; c.count == 8 {
			dst, *c = append(dst, c.byte), packer{}
		}
	}
	return dst
}

// spread moves the elements at the end of data, of size bytes each, to the places
// that mask leaves free, and zeroes the others. It does without branches on the
// mask, which nobody can predict.
func spread(data, mask []byte, present, size int) {
	r := len(data) - present*size
	for i, missing := range mask {
		if r == len(data) {
			clear(data[i*size:])
			return
		}
		step := size & (int(missing) - 1) // size or 0
		switch size {
		case 1:
			data[i] = data[r] & (missing - 1)
		case 2:
			binary.NativeEndian.PutUint16(data[i*2:], binary.NativeEndian.Uint16(data[r:])&(uint16(missing)-1))
		case 4:
			binary.NativeEndian.PutUint32(data[i*4:], binary.NativeEndian.Uint32(data[r:])&(uint32(missing)-1))
		case 8:
			binary.NativeEndian.PutUint64(data[i*8:], binary.NativeEndian.Uint64(data[r:])&(uint64(missing)-1))
		}
		r += step
	}
}

// squeeze undoes spread, to the front, and gives the bytes that are left. mask is
// the caller's: what is not 0 is missing.
func squeeze(p, mask []byte, size int) int {
	n := 0
	for i, missing := range mask {
		switch size {
		case 1:
			p[n] = p[i]
		case 2:
			binary.NativeEndian.PutUint16(p[n:], binary.NativeEndian.Uint16(p[i*2:]))
		case 4:
			binary.NativeEndian.PutUint32(p[n:], binary.NativeEndian.Uint32(p[i*4:]))
		case 8:
			binary.NativeEndian.PutUint64(p[n:], binary.NativeEndian.Uint64(p[i*8:]))
		}
		if missing == 0 {
			n += size
		}
	}
	return n
}
