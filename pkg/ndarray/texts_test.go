package ndarray

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// sample is a text of up to n characters, of one to four bytes each.
func sample(r *rand.Rand, n int) string {
	classes := []rune{0x20, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, utf8.MaxRune}
	text := make([]rune, r.IntN(n+1))
	mixed := r.IntN(3) > 0
	for i := range text {
		if text[i] = rune(1 + r.IntN(0x7f)); mixed && r.IntN(3) == 0 {
			text[i] = classes[r.IntN(len(classes))]
		}
	}
	return string(text)
}

// packed puts texts one after the other.
func packed(texts []string) (offsets []int64, data []byte) {
	offsets = []int64{0}
	for _, s := range texts {
		data = append(data, s...)
		offsets = append(offsets, int64(len(data)))
	}
	return offsets, data
}

// oracle is an element as the standard library's runes say.
func oracle(s string, size int) []byte {
	e := make([]byte, size)
	for i, r := range []rune(s) {
		binary.NativeEndian.PutUint32(e[4*i:], uint32(r))
	}
	return e
}

func TestTextsThereAndBack(t *testing.T) { bothKernels(t, textsThereAndBack) }

func textsThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		width := 1 + r.IntN(21)
		texts := make([]string, r.IntN(20))
		most := 0
		for i := range texts {
			texts[i] = sample(r, width)
			most = max(most, utf8.RuneCountInString(texts[i]))
		}
		offsets, data := packed(texts)
		if n := TextsWidth(offsets, data); n != int64(most) {
			t.Fatalf("TextsWidth(%q) = %d, expected %d", texts, n, most)
		}
		size := 4 * width
		behind := bytes.Repeat([]byte{0xee}, size*len(texts)+64)
		dst := behind[:size*len(texts)]
		if at := WidenTexts(dst, size, offsets, data); at != -1 {
			t.Fatalf("WidenTexts(%q) to %d: %d does not fit", texts, width, at)
		}
		if !bytes.Equal(behind[len(dst):], bytes.Repeat([]byte{0xee}, 64)) {
			t.Fatalf("WidenTexts(%q) to %d stored behind the elements", texts, width)
		}
		for i, s := range texts {
			e := dst[i*size : (i+1)*size]
			if !bytes.Equal(e, oracle(s, size)) {
				t.Fatalf("%q became %x", s, e)
			}
		}
		narrowed, ends := make([]byte, len(dst)), make([]byte, 4*len(texts))
		if at, _ := NarrowTexts(narrowed, ends, dst, size); at >= 0 || !bytes.HasPrefix(narrowed, data) {
			t.Fatalf("%q came back as %q", texts, narrowed)
		}
		for i := range texts {
			if end := binary.NativeEndian.Uint32(ends[4*i:]); int64(end) != offsets[i+1] {
				t.Fatalf("%q: text %d ends at %d, expected %d", texts, i, end, offsets[i+1])
			}
		}
		for _, back := range [][]byte{make([]byte, len(dst)), dst} { // the last one in place
			end := 0
			for i, s := range texts {
				n, bad, ok := NarrowText(back[end:], dst[i*size:], size, false)
				if got := back[end : end+n]; !ok || string(got) != s {
					t.Fatalf("%q of %q came back as %q, %x", s, texts, got, bad)
				}
				end += n
			}
		}
	}
}

func TestTextsThatDoNotFit(t *testing.T) {
	for _, s := range []string{"abcde", "abcdefghijk", "äöüäö", "ab\x00", "\x00", "a\xff", "\xe4", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"} {
		offsets, data := packed([]string{"ok", s})
		if at := WidenTexts(make([]byte, 32), 16, offsets, data); at != 1 {
			t.Errorf("%q in four characters: %d does not fit, expected 1", s, at)
		}
		offsets, data = packed(append([]string{"ok", "abcd", "ok", s}, make([]string, 20)...))
		if at := WidenTexts(make([]byte, 24*16), 16, offsets, append(data, "and more"...)); at != 3 {
			t.Errorf("%q among others: %d does not fit, expected 3", s, at)
		}
	}
	for _, s := range []string{"", "a\x00b", "abcd", "ä\x00€𝄞"} {
		offsets, data := packed([]string{s})
		dst := make([]byte, 16)
		if at := WidenTexts(dst, 16, offsets, data); at != -1 || !bytes.Equal(dst, oracle(s, 16)) {
			t.Errorf("%q became %x, %d", s, dst, at)
		}
	}
}

func TestNoCharacters(t *testing.T) {
	for _, c := range []uint32{0xd800, 0xdfff, utf8.MaxRune + 1, 1 << 31, 0xffffffff} {
		for lead := range 6 {
			e := make([]byte, 4*lead, 4*lead+8)
			for i := range lead {
				binary.NativeEndian.PutUint32(e[4*i:], 'a')
			}
			e = binary.NativeEndian.AppendUint32(e, c)
			dst := make([]byte, len(e))
			if _, bad, ok := NarrowText(dst, e, len(e), false); ok || bad != c {
				t.Errorf("%x after %d: %x, %t", c, lead, bad, ok)
			}
			among := append(append(make([]byte, 2*len(e)), e...), make([]byte, 20*len(e))...)
			ends := make([]byte, 4*23)
			if at, bad := NarrowTexts(make([]byte, len(among)), ends, among, len(e)); at != 2 || bad != c {
				t.Errorf("%x after %d, among others: %x at %d", c, lead, bad, at)
			}
			n, _, ok := NarrowText(dst, e, len(e), true)
			if want := c >= 0xd800 && c < 0xe000; ok != want || ok && n != lead+3 {
				t.Errorf("%x after %d, surrogates wanted: %d bytes, %t", c, lead, n, ok)
			}
		}
	}
}

func BenchmarkTexts(b *testing.B) {
	for _, k := range []struct {
		name  string
		texts []string
		width int
	}{
		{"ascii", []string{"SYM00001", "SYM04711"}, 8},
		{"mixed", []string{"Praha", "Zürich", "København", "Łódź"}, 9},
		{"long", []string{"a text of thirty-two characters."}, 32},
	} {
		texts := make([]string, 1000)
		for i := range texts {
			texts[i] = k.texts[i%len(k.texts)]
		}
		offsets, data := packed(texts)
		size := 4 * k.width
		dst, back := make([]byte, size*len(texts)), make([]byte, size*len(texts))
		ends := make([]byte, 4*len(texts))
		b.Run("widen/"+k.name, func(b *testing.B) {
			for b.Loop() {
				WidenTexts(dst, size, offsets, data)
			}
		})
		b.Run("narrow/"+k.name, func(b *testing.B) {
			for b.Loop() {
				NarrowTexts(back, ends, dst, size)
			}
		})
		b.Run("width/"+k.name, func(b *testing.B) {
			for b.Loop() {
				TextsWidth(offsets, data)
			}
		})
	}
}

// TestNarrowInPlace narrows many elements into the memory in which they lie.
func TestNarrowInPlace(t *testing.T) {
	for width := 1; width <= 20; width++ {
		size := 4 * width
		texts := make([]string, 30)
		for i := range texts {
			texts[i] = strings.Repeat(string(rune('a'+i%26)), 1+i%width)
		}
		offsets, data := packed(texts)
		elems := make([]byte, size*len(texts))
		if i := WidenTexts(elems, size, offsets, data); i >= 0 {
			t.Fatal(i)
		}
		end := 0
		for i, want := range texts {
			n, _, ok := NarrowText(elems[end:], elems[i*size:], size, true)
			if got := string(elems[end : end+n]); !ok || got != want {
				t.Fatalf("U%d, element %d: expected %q, found %q", width, i, want, got)
			}
			end += n
		}
	}
}
