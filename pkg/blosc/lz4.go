package blosc

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"
)

// lz4Format writes LZ4 sequences: a token with both lengths, literals, distance.
type lz4Format struct{}

func (lz4Format) worth(_, _ int) bool { return true }

func (lz4Format) sequence(dst []byte, out int, literals []byte, dist, length int) int {
	if out+len(literals)+len(literals)>>7+64 > len(dst) {
		return -1
	}
	token := out
	out = lz4Literals(dst, out, literals)
	binary.LittleEndian.PutUint16(dst[out:], uint16(dist))
	out += 2
	if length -= 4; length < 15 {
		dst[token] |= byte(length)
		return out
	}
	dst[token] |= 15
	if length -= 15; out+length>>7+16 > len(dst) {
		return -1
	}
	return lzLength(dst, out, length)
}

// lz4Literals writes a token and the literals behind it.
func lz4Literals(dst []byte, out int, literals []byte) int {
	if n := len(literals); n < 15 {
		dst[out] = byte(n << 4)
		out++
	} else {
		dst[out] = 15 << 4
		out = lzLength(dst, out+1, n-15)
	}
	return out + copy(dst[out:], literals)
}

func lz4Decode(_ *state, dst, src []byte) bool {
	if done, ok := lz4DecodeFast(dst, src, false); done {
		return ok
	}
	n, err := lz4.UncompressBlock(src, dst)
	return err == nil && n == len(dst)
}

// lz4Prefix is a codec's prefix.
func lz4Prefix(dst, src []byte) (done, ok bool) { return lz4DecodeFast(dst, src, true) }

// lz4Accel is the step between positions where nothing is found, by level.
var lz4Accel = [MaxLevel + 1]int{1, 5, 5, 5, 5, 5, 4, 3, 2, 1}

func lz4Encode(st *state, dst, src []byte, level int) int {
	if len(src) < lzMin || len(dst) == 0 {
		return 0
	}
	out := st.lzRoom(dst, src)
	read, n := lzEncode(lz4Format{}, &st.lz, lzLog, out, src, lz4Accel[level])
	rest := src[max(read, 0):]
	if read < 0 || n+len(rest)+len(rest)/255+2 > len(out) {
		return 0
	}
	return lzEnd(dst, out, lz4Literals(out, n, rest))
}
