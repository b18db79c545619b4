package blosc

import "encoding/binary"

const (
	blosclzMarker = 1 << 5 // in the first byte, which is always a run of literals
	blosclzNear   = 8191   // the largest distance of the short form
)

func blosclzDecode(_ *state, dst, src []byte) bool {
	if done, ok := blosclzDecodeFast(dst, src); done {
		return ok
	}
	return blosclzDecodePortable(dst, src)
}

func blosclzDecodePortable(dst, src []byte) bool {
	if len(src) == 0 {
		return false
	}
	ctrl := int(src[0] & 31) // the rest of the first byte is a marker
	ip, op := 1, 0
	for {
		if ctrl < 32 { // literals
			n := ctrl + 1
			if n > len(dst)-op || n > len(src)-ip {
				return false
			}
			copy(dst[op:op+n], src[ip:])
			op += n
			ip += n
			if ip == len(src) {
				return op == len(dst)
			}
			ctrl = int(src[ip])
			ip++
			continue
		}
		n, dist := ctrl>>5+2, ctrl&31<<8+1
		if n == 9 {
			for more := 255; more == 255; ip++ {
				if ip == len(src) {
					return false
				}
				more = int(src[ip])
				n += more
			}
		}
		if len(src)-ip < 2 { // a distance byte, and the next instruction
			return false
		}
		dist += int(src[ip])
		ip++
		if dist == blosclzNear+1 {
			if len(src)-ip < 3 {
				return false
			}
			dist += int(binary.BigEndian.Uint16(src[ip:]))
			ip += 2
		}
		if dist > op || n > len(dst)-op {
			return false
		}
		for end := op + n; op < end; { // doubling what is there to copy
			m := copy(dst[op:end], dst[op-dist:op])
			op += m
			dist += m
		}
		ctrl = int(src[ip])
		ip++
	}
}

// blosclzFormat writes BloscLZ instructions: runs of at most 32 literals, and
// matches with a short form for near ones.
type blosclzFormat struct{}

func (blosclzFormat) worth(dist, length int) bool { return dist <= blosclzNear || length >= 6 }

func (blosclzFormat) sequence(dst []byte, out int, literals []byte, dist, length int) int {
	if out+len(literals)+len(literals)>>5+96 > len(dst) {
		return -1
	}
	out = blosclzLiterals(dst, out, literals)
	dist--
	high, far := min(length-2, 7)<<5, dist >= blosclzNear
	if far {
		dst[out] = byte(high | 31)
	} else {
		dst[out] = byte(high | dist>>8)
	}
	out++
	if length >= 9 {
		if out+(length-9)>>7+16 > len(dst) {
			return -1
		}
		out = lzLength(dst, out, length-9)
	}
	if far {
		dst[out] = 255
		binary.BigEndian.PutUint16(dst[out+1:], uint16(dist-blosclzNear))
		return out + 3
	}
	dst[out] = byte(dist)
	return out + 1
}

func blosclzLiterals(dst []byte, out int, literals []byte) int {
	for len(literals) > 0 {
		n := min(len(literals), 32)
		dst[out] = byte(n - 1)
		out += 1 + copy(dst[out+1:], literals[:n])
		literals = literals[n:]
	}
	return out
}

// blosclzGain is how much the end of a stream must shrink, in percent of its
// compressed size, for the whole to be compressed. BloscLZ is for speed: as in
// C-Blosc, low levels leave alone what they would not make much smaller.
var blosclzGain = [MaxLevel + 1]int{0, 200, 150, 120, 120, 120, 120, 115, 110, 100}

// blosclzAccel is the step between positions where nothing is found, by level.
var blosclzAccel = [MaxLevel + 1]int{1, 3, 4, 5, 6, 6, 6, 5, 4, 2}

// blosclzProbe is the least stream that is probed.
const blosclzProbe = 4 << 10

func blosclzEncode(st *state, dst, src []byte, level int) int {
	accel := blosclzAccel[level]
	if len(src) >= blosclzProbe {
		end := src[len(src)-len(src)/8:]
		n := blosclzTry(st, st.probe.sized(2*len(end)), end, accel)
		if n == 0 || 100*len(end) < blosclzGain[level]*n {
			return 0
		}
	}
	return blosclzTry(st, dst, src, accel)
}

func blosclzTry(st *state, dst, src []byte, accel int) int {
	if len(src) < lzMin || len(dst) == 0 {
		return 0
	}
	out := st.lzRoom(dst, src)
	read, n := lzEncode(blosclzFormat{}, &st.lz, lzLog, out, src, accel)
	rest := src[max(read, 0):]
	if read < 0 || n+len(rest)+(len(rest)+31)/32 > len(out) {
		return 0
	}
	n = blosclzLiterals(out, n, rest)
	out[0] |= blosclzMarker
	return lzEnd(dst, out, n)
}
