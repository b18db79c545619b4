package blosc

import (
	"encoding/binary"
	"math/bits"
)

// The search for matches that the encoders of LZ4 and BloscLZ share: greedy,
// by a hash of five bytes, with steps that grow where nothing is found. It is
// written twice, here and in asm/lz.go; both give the same bytes.
const (
	lzLog  = 13 // of the entries in the table: 16 KiB, half a first-level cache
	lzMost = 15 // for thorough levels
	lzMin  = 64 // bytes of source below which there is nothing to gain
	lzTail = 40 // bytes at the end in which no match starts
	lzLast = 6  // bytes at the end into which no match reaches: 5 by LZ4, and 8 can be read 2 before its end
)

// lzTable holds the low 16 bits of positions. A zero, which is also what a
// fresh table holds, is position 0 or a multiple of 64 KiB: any value names a
// position at most 65535 back that lies within the source.
type lzTable [1 << lzMost]uint16

// reset clears 1<<log entries, or fewer for a source of n bytes, and gives the
// shift of the hash.
func (t *lzTable) reset(log, n int) (shift int) {
	log = min(bits.Len(uint(n)), log)
	clear(t[:1<<log])
	return 64 - log
}

func lzHash(v uint64, shift int) uint64 { return v << 24 * 889523592379 >> (shift & 63) }

// lzFormat writes what the search finds.
type lzFormat interface {
	// sequence writes literals and a match at dst[out:]. It gives the new out,
	// or -1 if dst may be too small.
	sequence(dst []byte, out int, literals []byte, dist, length int) int
	// worth says whether to write a match at all.
	worth(dist, length int) bool
}

// lzEncodePortable writes sequences to dst until too little is left of src for
// another, and gives the bytes read and written, or -1 if dst may be too small.
func lzEncodePortable(f lzFormat, t *lzTable, shift int, dst, src []byte, accel int) (read, wrote int) {
	limit, end := len(src)-lzTail, len(src)-lzLast
	anchor, ip, out := 0, 1, 0
	tries, step := accel<<6, 1
	for ip <= limit {
		v := binary.LittleEndian.Uint64(src[ip:])
		h := lzHash(v, shift)
		dist := int(uint16(ip) - t[h])
		t[h] = uint16(ip)
		ref := ip - dist
		if dist == 0 || binary.LittleEndian.Uint32(src[ref:]) != uint32(v) {
			ip += step
			step = tries >> 6
			tries++
			continue
		}
		stop := ip + 4 + commonPrefix(src[ip+4:end], src[ref+4:])
		if ref >= 8 {
			same := bits.LeadingZeros64(binary.LittleEndian.Uint64(src[ip-8:])^binary.LittleEndian.Uint64(src[ref-8:])) / 8
			ip -= min(same, ip-anchor)
		}
		if !f.worth(dist, stop-ip) {
			ip = stop - 3
			continue
		}
		if out = f.sequence(dst, out, src[anchor:ip], dist, stop-ip); out < 0 {
			return -1, -1
		}
		ip, anchor = stop, stop
		t[lzHash(binary.LittleEndian.Uint64(src[ip-2:]), shift)] = uint16(ip - 2)
		tries, step = accel<<6, 1
	}
	return anchor, out
}

// lzRoom gives memory for the stream of a short source: the encoders want more
// than they use, which would leave the shortest streams uncompressed.
func (st *state) lzRoom(dst, src []byte) []byte {
	if len(src) > 4<<10 {
		return dst
	}
	return st.stream.sized(2*len(src) + 128)
}

// lzEnd gives the length of the stream that the encoders left in out, 0 where
// it is too long for dst, and sees that it is in dst.
func lzEnd(dst, out []byte, n int) int {
	if n > len(dst) {
		return 0
	}
	if &out[0] != &dst[0] {
		copy(dst, out[:n])
	}
	return n
}

// commonPrefix is the number of bytes that a and b begin with in common;
// len(b) >= len(a).
func commonPrefix(a, b []byte) int {
	b = b[:len(a)]
	n := 0
	for len(a)-n >= 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		if n += 8; n == 16 {
			n += commonPrefixFast(a[n:], b[n:])
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// lzLength writes n as bytes of 255 and a last one that is less.
func lzLength(dst []byte, out, n int) int {
	for ; n >= 255; n -= 255 {
		dst[out] = 255
		out++
	}
	dst[out] = byte(n)
	return out + 1
}
