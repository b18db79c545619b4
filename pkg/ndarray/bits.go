package ndarray

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// diagonal has a bit in every ninth place: multiplying by it moves the bits of a
// byte to eight bytes, and back.
const (
	diagonal = 0x8040201008040201
	lowest   = 0x0101010101010101 // of each byte
)

// UnpackBits turns bits into one byte each, 0 or 1. The first one is on top of its
// byte, and is bit from of src; the others follow. src has len(dst) bits from there
// on, or more.
func UnpackBits(dst, src []byte, from int) {
	src = src[from>>3:]
	for from &= 7; len(dst) > 0 && from&7 != 0; from++ {
		dst[0] = src[0] >> (7 - from&7) & 1
		if dst = dst[1:]; from&7 == 7 {
			src = src[1:]
		}
	}
	done := unpackFast(dst, src)
	for dst, src = dst[8*done:], src[done:]; len(dst) >= 8; dst, src = dst[8:], src[1:] {
		binary.LittleEndian.PutUint64(dst, uint64(src[0])*diagonal>>7&lowest)
	}
	for j := range dst {
		dst[j] = src[0] >> (7 - j) & 1
	}
}

// AppendBits appends a bit for each byte of src, 1 where it is not 0, the first one
// on top of its byte. len(src) is a multiple of 8.
func AppendBits(dst, src []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(src)/8)[:n+len(src)/8]
	out := dst[n:]
	done := packFast(out, src)
	for out, src = out[done/8:], src[done:]; len(src) >= 8; out, src = out[1:], src[8:] {
		x := binary.LittleEndian.Uint64(src)
		x |= x >> 4
		x |= x >> 2
		x |= x >> 1
		out[0] = byte(x & lowest * diagonal >> 56)
	}
	return dst
}

// CountBits counts the bits of the first n of p that are set.
func CountBits(p []byte, n int) int {
	count := 0
	whole := p[:n>>3]
	for ; len(whole) >= 8; whole = whole[8:] {
		count += bits.OnesCount64(native.Uint64(whole))
	}
	for _, b := range whole {
		count += bits.OnesCount8(b)
	}
	if rest := n & 7; rest != 0 {
		count += bits.OnesCount8(p[n>>3] >> (8 - rest))
	}
	return count
}

// Spread moves the last elements of data, of 1, 2, 4 or 8 bytes each, to the places
// that mask leaves free, and zeroes the others. mask has a byte for each element, 0
// where it is present and else 1; present is the number of zeros.
func Spread(data, mask []byte, present, size int) {
	r := len(data) - present*size
	for i := 0; i < len(mask); {
		if r == i*size { // nothing is missing from here on
			return
		}
		end := min(i+8, len(mask))
		if end == i+8 {
			switch native.Uint64(mask[i:]) { // most often one of these
			case 0:
				copy(data[i*size:end*size], data[r:])
				r, i = r+8*size, end
				continue
			case lowest:
				clear(data[i*size : end*size])
				i = end
				continue
			}
		}
		// Without branches on the mask, which nobody can predict.
		for ; i < end; i++ {
			if r == len(data) {
				clear(data[i*size:])
				return
			}
			missing := mask[i]
			switch size {
			case 1:
				data[i] = data[r] & (missing - 1)
			case 2:
				native.PutUint16(data[i*2:], native.Uint16(data[r:])&(uint16(missing)-1))
			case 4:
				native.PutUint32(data[i*4:], native.Uint32(data[r:])&(uint32(missing)-1))
			case 8:
				native.PutUint64(data[i*8:], native.Uint64(data[r:])&(uint64(missing)-1))
			}
			r += size & (int(missing) - 1) // size or 0
		}
	}
}

// Squeeze undoes Spread, to the front, and gives the bytes that are left. What is
// not 0 in mask is missing.
func Squeeze(data, mask []byte, size int) int {
	n := 0
	for i := 0; i < len(mask); {
		end := min(i+8, len(mask))
		if end == i+8 && native.Uint64(mask[i:]) == 0 {
			if n < i*size {
				copy(data[n:], data[i*size:end*size])
			}
			n, i = n+8*size, end
			continue
		}
		for ; i < end; i++ {
			switch size {
			case 1:
				data[n] = data[i]
			case 2:
				native.PutUint16(data[n:], native.Uint16(data[i*2:]))
			case 4:
				native.PutUint32(data[n:], native.Uint32(data[i*4:]))
			case 8:
				native.PutUint64(data[n:], native.Uint64(data[i*8:]))
			}
			if mask[i] == 0 {
				n += size
			}
		}
	}
	return n
}
