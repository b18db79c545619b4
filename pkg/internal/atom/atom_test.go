package atom

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

func TestWord(t *testing.T) {
	for _, c := range []struct {
		dtype, bytes string // hexadecimal
		word         uint64
	}{
		{"|u1", "ff", 0xff}, {"|i1", "ff", math.MaxUint64}, {"<i2", "feff", math.MaxUint64 - 1}, {">u2", "0102", 0x102}, {"<u4", "01020304", 0x4030201},
		{">i8", "8000000000000000", 1 << 63}, {"<f2", "003c", math.Float64bits(1)}, {">f4", "3f800000", math.Float64bits(1)}, {"<f8", "000000000000f03f", math.Float64bits(1)},
		{"<f4", "0100c0ff", 0xfff8000020000000}, {"<M8[ns]", "0000000000000080", 1 << 63}, {">m8[3s]", "0000000000000005", 5},
	} {
		d := ndarray.MustParse(c.dtype)
		src, err := hex.DecodeString(c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		word, ok := Word(src, &d)
		if word != c.word || !ok {
			t.Errorf("%s %s: %#x, %t; expected %#x", c.dtype, c.bytes, word, ok, c.word)
		}
		if d.Kind == ndarray.Float {
			continue
		}
		back := make([]byte, d.Size)
		if PutWord(back, &d, word); string(back) != string(src) {
			t.Errorf("%s %#x: % x, expected % x", c.dtype, word, back, src)
		}
	}
	for _, dtype := range []string{"<f16", "<i16", ">u16"} {
		d := ndarray.MustParse(dtype)
		if word, ok := Word(make([]byte, d.Size), &d); ok {
			t.Errorf("%s: %#x", dtype, word)
		}
	}
}

// TestHalf goes through all halves, and half way between each two.
func TestHalf(t *testing.T) {
	d := ndarray.DType{Kind: ndarray.Float, Order: ndarray.Little, Size: 2}
	value := func(h uint64) float64 {
		word, _ := Word([]byte{byte(h), byte(h >> 8)}, &d)
		return math.Float64frombits(word)
	}
	for h := range uint64(0x7c00) {
		f, next := value(h), value(h+1)
		if got := FloatBits(f, 2); got != h {
			t.Fatalf("%v: %#x, expected %#x", f, got, h)
		}
		if got := FloatBits(-f, 2); got != h|0x8000 {
			t.Fatalf("%v: %#x, expected %#x", -f, got, h|0x8000)
		}
		if math.IsInf(next, 1) {
			next = 65536
		}
		tie, even := (f+next)/2, h+h&1
		if got := FloatBits(tie, 2); got != even {
			t.Fatalf("%v: %#x, expected %#x", tie, got, even)
		}
		if got := FloatBits(math.Nextafter(tie, 1e9), 2); got != h+1 {
			t.Fatalf("above %v: %#x, expected %#x", tie, got, h+1)
		}
	}
}

func TestNaN(t *testing.T) {
	negative := math.Float64frombits(0xfff8000000000001)
	for size, want := range map[int]uint64{2: 0x7e00, 4: 0x7fc00000, 8: 0x7ff8000000000000} {
		if got := FloatBits(negative, size); got != want {
			t.Errorf("%d bytes: %#x, expected %#x", size, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for dtype, bytes := range map[string]string{"<U3": "e90000000000000000f60100", ">U3": "000000e9000000000001f600"} {
		d := ndarray.MustParse(dtype)
		src, err := hex.DecodeString(bytes + "00000000")
		if err != nil {
			t.Fatal(err)
		}
		if got := Text(src, &d); got != "é\x00\U0001f600" {
			t.Errorf("%s: %q", dtype, got)
		}
	}
}
