package blosc

import (
	"math/bits"
	"unsafe"
)

// lz4hcTable finds earlier occurrences of four bytes: the last one by their
// hash, those before it by chains of distances.
type lz4hcTable struct {
	head  [1 << hcLog]uint32 // position + 1 of the last one, 0 for none
	chain [1 << 16]uint16    // by position: distance to the one before, 0 for none
	next  int                // the first position that is not yet entered
}

const (
	hcLog    = 15
	hcWindow = 1<<16 - 1
	hcSkip   = 512 // of a longer gap only the ends are entered
)

// hcEffort is what a level spends on a search.
type hcEffort struct {
	tries int  // occurrences that are looked at
	nice  int  // a match of this length ends the search
	grow  uint // literals, as a power of two, after which positions are skipped
}

// hcEfforts are by level; 1 and 2 do with the fast search and a larger table.
var hcEfforts = [MaxLevel + 1]hcEffort{
	3: {5, 48, 7},
	4: {8, 48, 7},
	5: {16, 64, 8},
	6: {32, 96, 8},
	7: {64, 96, 9},
	8: {128, 128, 10},
	9: {256, 128, 12},
}

func lz4hcEncode(st *state, dst, src []byte, level int) int {
	if len(src) < lzMin || len(dst) == 0 {
		return 0
	}
	out := st.lzRoom(dst, src)
	var read, n int
	if hcEfforts[level].tries == 0 {
		read, n = lzEncode(lz4Format{}, &st.lz, lzMost, out, src, 1)
	} else {
		if st.lz4hc == nil {
			st.lz4hc = new(lz4hcTable)
		}
		read, n = st.lz4hc.sequences(out, src, &hcEfforts[level])
	}
	rest := src[max(read, 0):]
	if read < 0 || n+len(rest)+len(rest)/255+2 > len(out) {
		return 0
	}
	return lzEnd(dst, out, lz4Literals(out, n, rest))
}

// sequences is as lzEncodePortable.
func (t *lz4hcTable) sequences(dst, src []byte, effort *hcEffort) (read, wrote int) {
	shift := 32 - min(bits.Len(uint(len(src))), hcLog)
	clear(t.head[:1<<(32-shift)])
	t.next = 0
	limit := len(src) - lzTail
	anchor, ip, out := 0, 1, 0
	var next match
	for ip <= limit {
		m := t.find(src, ip, ip, 3, shift, effort)
		if m.length == 0 {
			ip += 1 + (ip-anchor)>>effort.grow
			continue
		}
		for m.start > anchor && m.ref > 0 && src[m.start-1] == src[m.ref-1] {
			m.start, m.ref, m.length = m.start-1, m.ref-1, m.length+1
		}
		for m.length != 0 {
			// A longer match that has this one's last bytes takes its place if
			// it starts close by, or follows it.
			end := m.start + m.length
			if m.length < effort.nice && end-2 <= limit {
				wider := t.find(src, end-2, m.start, m.length, shift, effort)
				if gap := wider.start - m.start; wider.length != 0 && gap < 4 {
					m = wider
					continue
				} else if over := end - wider.start; wider.length >= over+4 {
					next = match{end, wider.ref + over, wider.length - over}
				}
			}
			if out = (lz4Format{}).sequence(dst, out, src[anchor:m.start], m.start-m.ref, m.length); out < 0 {
				return -1, -1
			}
			ip, anchor = end, end
			m, next = next, match{}
		}
	}
	return anchor, out
}

// match says that src[start:] is as src[ref:] for length bytes.
type match struct{ start, ref, length int }

// find gives the longest match around ip that starts at low or later and is
// longer than best, or none. low+best is ip+1 or more, and less than
// len(src)-lzLast, or there is none.
func (t *lz4hcTable) find(src []byte, ip, low, best, shift int, effort *hcEffort) (m match) {
	if ip-t.next > hcSkip {
		t.enter(src, t.next+hcSkip/4, shift)
		t.next = ip - hcSkip/4
	}
	t.enter(src, ip, shift)
	end := len(src) - lzLast
	if low+best >= end {
		return m
	}
	// All positions below are within src: at < ip <= low+best < end, and
	// at >= ip-low before src[low] is compared with what is as far from at.
	p := unsafe.Pointer(unsafe.SliceData(src))
	word, tail := load32(p, ip), load16(p, low+best-1)
	at := int(t.head[hcHash(word, shift)]) - 1
	for tries := effort.tries; tries > 0 && at >= ip-low && ip-at <= hcWindow; tries-- {
		if load16(p, at-ip+low+best-1) == tail && load32(p, at) == word {
			n := 4
			for {
				if ip+n+8 > end {
					n += commonPrefix(src[ip+n:end], src[at+n:])
					break
				}
				if x := load64(p, ip+n) ^ load64(p, at+n); x != 0 {
					n += bits.TrailingZeros64(x) / 8
					break
				}
				if n += 8; n == 20 {
					n += commonPrefix(src[ip+n:end], src[at+n:])
					break
				}
			}
			back := 0
			for back < ip-low && src[ip-back-1] == src[at-back-1] {
				back++
			}
			if n+back > best {
				best = n + back
				m = match{ip - back, at - back, best}
				if best >= effort.nice || low+best >= end {
					break
				}
				tail = load16(p, low+best-1)
			}
		}
		d := int(t.chain[at&hcWindow])
		if d == 0 {
			break
		}
		at -= d
	}
	return m
}

// enter adds the positions before ip.
func (t *lz4hcTable) enter(src []byte, ip, shift int) {
	p := unsafe.Pointer(unsafe.SliceData(src[:ip+4]))
	for at := t.next; at < ip; at++ {
		h := &t.head[hcHash(load32(p, at), shift)]
		d := at + 1 - int(*h)
		if d > hcWindow || *h == 0 {
			d = 0
		}
		t.chain[at&hcWindow] = uint16(d)
		*h = uint32(at + 1)
	}
	t.next = max(t.next, ip)
}

func hcHash(word uint32, shift int) uint32 { return word * 2654435761 >> (shift & 31) & (1<<hcLog - 1) }
