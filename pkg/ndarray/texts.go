package ndarray

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// nativeLittle tells whether the first of two characters is the lower half of 64 bits.
const nativeLittle = NativeOrder == Little

// plain is the first number of a character that takes more than one byte in UTF-8.
const plain = utf8.RuneSelf

// WidenTexts stores texts, UTF-8 in data[offsets[i]:offsets[i+1]], as elements of
// Unicode of size bytes each, one after the other, in native byte order and padded
// with NULs. It gives the number of the first that does not fit: one that is
// longer, ends in a NUL, or is no UTF-8; else -1. dst has room for all.
func WidenTexts(dst []byte, size int, offsets []int64, data []byte) (misfit int) {
	n, slow := len(offsets)-1, 0
	for i := 0; i < n; i++ {
		if slow--; slow < 0 {
			done := widenTextsFast(dst[i*size:], size, offsets[i:], data)
			if i += done; i == n {
				break
			}
			slow = pause(done)
		}
		s, at := data[offsets[i]:offsets[i+1]], i*size
		if len(s) > 0 && s[len(s)-1] == 0 {
			return i
		}
		if !widenPlain(dst[at:], size, data[offsets[i]:], len(s)) && !widenText(dst[at:at+size], s) {
			return i
		}
	}
	return -1
}

// pause is how many texts are taken one by one behind one that a kernel, which had
// done so many, did not take: few of its neighbours will be for it.
func pause(done int) int { return max(0, 32-done) }

// widenPlain stores a text of n bytes as an element if it is ASCII that fits. It works
// on 8 characters at a time, wherever the element and the text end: what it stores
// behind the element is for the next one to overwrite.
func widenPlain(dst []byte, size int, s []byte, n int) bool {
	if !nativeLittle || 4*n > size {
		return false
	}
	for at := 0; at < n; at += 8 {
		if len(s)-at < 8 || len(dst)-4*at < 32 {
			return false
		}
		w := binary.LittleEndian.Uint64(s[at:])
		if n-at < 8 {
			w &= 1<<(8*(n-at)) - 1
		}
		if w&0x8080808080808080 != 0 {
			return false
		}
		d := (*[32]byte)(dst[4*at:])
		binary.LittleEndian.PutUint64(d[0:], w&0xff|w<<24&(0xff<<32))
		binary.LittleEndian.PutUint64(d[8:], w>>16&0xff|w<<8&(0xff<<32))
		binary.LittleEndian.PutUint64(d[16:], w>>32&0xff|w>>8&(0xff<<32))
		binary.LittleEndian.PutUint64(d[24:], w>>48&0xff|w>>24&(0xff<<32))
	}
	if end := (n + 7) &^ 7 * 4; end < size {
		clear(dst[end:size])
	}
	return true
}

// widenText stores any text as an element.
func widenText(dst, s []byte) bool {
	for len(s) > 0 {
		for len(s) > 0 && s[0] < plain {
			if len(dst) < 4 {
				return false
			}
			binary.NativeEndian.PutUint32(dst, uint32(s[0]))
			dst, s = dst[4:], s[1:]
		}
		for len(s) > 0 && s[0] >= plain {
			r, n := rune(s[0]&0x1f)<<6, 2
			if len(s) > 1 && s[0] >= 0xc2 && s[0] < 0xe0 && s[1]&0xc0 == 0x80 {
				r |= rune(s[1] & 0x3f)
			} else if r, n = utf8.DecodeRune(s); n == 1 {
				return false
			}
			if len(dst) < 4 {
				return false
			}
			binary.NativeEndian.PutUint32(dst, uint32(r))
			dst, s = dst[4:], s[n:]
		}
	}
	clear(dst)
	return true
}

// NarrowTexts stores elements of Unicode of size bytes each, in native byte order, as
// UTF-8 at dst, one after the other without the NULs at their ends, and their ends in
// ends, a native uint32 each, of which there are as many as elements. dst is other
// memory than src, and as long. It gives the number of the first that holds what is
// no character, and that; else -1.
func NarrowTexts(dst, ends, src []byte, size int) (misfit int, bad uint32) {
	n, end, slow := len(ends)/4, 0, 0
	for i := 0; i < n; i++ {
		if slow--; slow < 0 {
			var done int
			done, end = narrowTextsFast(dst, ends[4*i:], src[i*size:], size, end)
			if i += done; i == n {
				break
			}
			slow = pause(done)
		}
		length, bad, ok := NarrowText(dst[end:], src[i*size:], size, false)
		if !ok {
			return i, bad
		}
		end += length
		binary.NativeEndian.PutUint32(ends[4*i:], uint32(end))
	}
	return -1, 0
}

// NarrowText stores the first size bytes of src, an element of Unicode in native
// byte order, as UTF-8 at dst without the NULs at its end, and gives the length.
// dst has as many bytes as src, and may begin where src does or before. A lone
// surrogate becomes three bytes where surrogates are wanted. ok tells whether the
// element holds characters only; else bad is the first that is none.
func NarrowText(dst, src []byte, size int, surrogates bool) (n int, bad uint32, ok bool) {
	at, end := 0, 0                                                                        // end is behind the last character that is no NUL
	for nativeLittle && at < size && len(src)-at >= 32 && len(dst)-n >= 8 && n+8 <= size { // the next element stays as it is
		w, ok := narrowPlain((*[32]byte)(src[at:]))
		if !ok {
			break
		}
		if left := (size - at) / 4; left < 8 { // what is behind is of the next element, which can lie there in dst, too
			w &= 1<<(8*left) - 1
			for i := range left {
				dst[n+i] = byte(w >> (8 * i))
			}
		} else {
			binary.LittleEndian.PutUint64(dst[n:], w)
		}
		if w != 0 {
			end = n + 8 - bits.LeadingZeros64(w)/8
		}
		n, at = n+8, at+32
	}
	if at < size {
		if e := trimText(src[at:size]); len(e) > 0 {
			length, bad, ok := narrowText(dst[n:], e, surrogates)
			return n + length, bad, ok
		}
	}
	return end, 0, true
}

// trimText cuts off the NULs at the end of an element.
func trimText(e []byte) []byte {
	for len(e) >= 8 && binary.NativeEndian.Uint64(e[len(e)-8:]) == 0 {
		e = e[:len(e)-8]
	}
	for len(e) >= 4 && binary.NativeEndian.Uint32(e[len(e)-4:]) == 0 {
		e = e[:len(e)-4]
	}
	return e
}

// narrowPlain gives eight characters as bytes, if they are ASCII.
func narrowPlain(s *[32]byte) (w uint64, ok bool) {
	a, b := binary.LittleEndian.Uint64(s[0:]), binary.LittleEndian.Uint64(s[8:])
	c, d := binary.LittleEndian.Uint64(s[16:]), binary.LittleEndian.Uint64(s[24:])
	ok = (a|b|c|d)&^(0x7f|0x7f<<32) == 0
	a, b, c, d = (a|a>>24)&0xffff, (b|b>>24)&0xffff, (c|c>>24)&0xffff, (d|d>>24)&0xffff
	return a | b<<16 | c<<32 | d<<48, ok
}

// narrowText stores characters, which are not padded.
func narrowText(dst, e []byte, surrogates bool) (n int, bad uint32, ok bool) {
	for len(e) >= 4 {
		for nativeLittle && len(e) >= 32 && len(dst)-n >= 8 {
			w, ok := narrowPlain((*[32]byte)(e))
			if !ok {
				break
			}
			binary.LittleEndian.PutUint64(dst[n:], w)
			n, e = n+8, e[32:]
		}
		for len(e) >= 4 {
			c := binary.NativeEndian.Uint32(e)
			if c >= plain {
				break
			}
			dst[n] = byte(c)
			n, e = n+1, e[4:]
		}
		for len(e) >= 4 {
			c := binary.NativeEndian.Uint32(e)
			if c < plain {
				break
			}
			switch {
			case c < 0x800:
				dst[n], dst[n+1] = byte(0xc0|c>>6), byte(0x80|c&0x3f)
				n += 2
			case c > utf8.MaxRune || c >= 0xd800 && c < 0xe000 && !surrogates:
				return n, c, false
			case c < 0x10000:
				dst[n], dst[n+1], dst[n+2] = byte(0xe0|c>>12), byte(0x80|c>>6&0x3f), byte(0x80|c&0x3f)
				n += 3
			default:
				n += utf8.EncodeRune(dst[n:n+4], rune(c))
			}
			e = e[4:]
		}
	}
	return n, 0, true
}

// TextsWidth is the number of characters of the longest of texts, UTF-8 in
// data[offsets[i]:offsets[i+1]]. Of other bytes it is some number that is not too
// large for them.
func TextsWidth(offsets []int64, data []byte) int64 {
	var most int64
	for i := range len(offsets) - 1 {
		if n := offsets[i+1] - offsets[i]; n > most { // else it cannot be longer
			most = max(most, characters(data[offsets[i]:offsets[i+1]]))
		}
	}
	return most
}

// characters counts the bytes that do not go on with a character.
func characters(s []byte) int64 {
	n := int64(len(s))
	for _, c := range s {
		if c&0xc0 == 0x80 {
			n--
		}
	}
	return n
}
