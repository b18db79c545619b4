package ndarray

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// bigEndian gives the bytes of a word with the highest first.
func bigEndian(b []byte, o Order) []byte {
	b = slices.Clone(b)
	if o == Little {
		slices.Reverse(b)
	}
	return b
}

// floatText is the exact value of a float by its definition: e bits of exponent, f
// of fraction. A NaN keeps sign and payload, the latter from the upper end on.
func floatText(x uint64, e, f int) string {
	sign, exp, frac := x>>(e+f), int(x>>f)&(1<<e-1), x&(1<<f-1)
	s := "+"
	if sign == 1 {
		s = "-"
	}
	bias := 1<<(e-1) - 1
	switch {
	case exp == 1<<e-1 && frac == 0:
		return s + "inf"
	case exp == 1<<e-1:
		return fmt.Sprintf("%snan %x", s, frac<<(64-f))
	case exp == 0 && frac == 0:
		return s + "0"
	case exp == 0:
		exp = 1
	default:
		frac |= 1 << f
	}
	return s + new(big.Float).SetMantExp(new(big.Float).SetUint64(frac), exp-bias-f).Text('p', 0)
}

// text is the exact value of an element, the same for equal values of all types of
// a family. It shares no code with the package but the description of the type.
func text(d DType, b []byte) string {
	switch d.Kind {
	case Bool, Int, Uint:
		v := new(big.Int)
		switch b := bigEndian(b, d.Order); {
		case d.Kind == Bool && b[0] != 0:
			v.SetInt64(1)
		case d.Kind == Int && b[0] >= 128:
			v.Sub(v.SetBytes(b), new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		case d.Kind != Bool:
			v.SetBytes(b)
		}
		if v.Sign() == 0 {
			return "+0"
		}
		return strings.Replace("+"+new(big.Float).SetPrec(200).SetInt(v).Text('p', 0), "+-", "-", 1)
	case Float, BFloat:
		b = bigEndian(b, d.Order)
		switch {
		case d.Kind == BFloat:
			return floatText(uint64(binary.BigEndian.Uint16(b)), 8, 7)
		case d.Size == 2:
			return floatText(uint64(binary.BigEndian.Uint16(b)), 5, 10)
		case d.Size == 4:
			return floatText(uint64(binary.BigEndian.Uint32(b)), 8, 23)
		case d.Size == 8:
			return floatText(binary.BigEndian.Uint64(b), 11, 52)
		}
		return fmt.Sprintf("long %x", b)
	case Complex:
		p := DType{Kind: Float, Order: d.Order, Size: d.Size / 2}
		return text(p, b[:p.Size]) + ", " + text(p, b[p.Size:])
	case Datetime, Timedelta:
		return fmt.Sprintf("%s %x", d.Unit, bigEndian(b, d.Order))
	case Unicode:
		s := ""
		for i := 0; i < len(b); i += 4 {
			s += fmt.Sprintf("%x ", bigEndian(b[i:i+4], d.Order))
		}
		return strings.TrimSuffix(strings.TrimRight(s, "0 ")+" ", " ")
	case Bytes:
		return fmt.Sprintf("%q", strings.TrimRight(string(b), "\x00"))
	case Record:
		s, at := "{", 0
		for _, f := range d.Fields {
			n, _ := Count(f.Shape)
			for range n {
				s += text(f.DType, b[at:at+f.DType.Size]) + "; "
				at += f.DType.Size
			}
		}
		return s + "}"
	}
	return fmt.Sprintf("%x", b)
}

// sameValue compares an element before and after a conversion.
func sameValue(from DType, src []byte, to DType, dst []byte) bool {
	want := text(from, src)
	if to.Kind == Complex && from.Kind != Complex {
		want += ", +0"
	}
	return text(to, dst) == want
}

// widerThan lists what each type converts to, besides itself.
var widerThan = map[string]string{
	"b1": "i1 i2 i4 i8 i16 u1 u2 u4 u8 u16 f2 f4 f8 bfloat16 c4 c8 c16", "i1": "i2 i4 i8 i16 f2 f4 f8 bfloat16 c4 c8 c16",
	"u1": "i2 i4 i8 i16 u2 u4 u8 u16 f2 f4 f8 bfloat16 c4 c8 c16", "i2": "i4 i8 i16 f4 f8 c8 c16", "u2": "i4 i8 i16 u4 u8 u16 f4 f8 c8 c16",
	"i4": "i8 i16 f8 c16", "u4": "i8 i16 u8 u16 f8 c16", "i8": "i16", "u8": "i16 u16", "i16": "", "u16": "",
	"f2": "f4 f8 c4 c8 c16", "bfloat16": "f4 f8 c8 c16", "f4": "f8 c8 c16", "f8": "c16", "f16": "", "c4": "c8 c16", "c8": "c16", "c16": "", "c32": "",
	"S3": "S5", "S5": "", "U3": "U5", "U5": "", "V3": "", "V5": "", "M8[s]": "", "M8[ns]": "", "m8[s]": "", "bytes": "", "str": "",
	`[["a","<i2"]]`: "", `[["a","<i4"]]`: "", `[["b","<i2"]]`: "", `[["a","<i2",[1]]]`: "",
}

func TestCanConvert(t *testing.T) {
	for a, wider := range widerThan {
		for b := range widerThan {
			want := a == b || slices.Contains(strings.Fields(wider), b)
			for _, o := range []Order{Little, Big} {
				if got := CanConvert(MustParse(a), MustParse(b).WithOrder(o)); got != want {
					t.Errorf("%s to %s in order %d: %v", a, b, o, got)
				}
			}
		}
	}
	if CanConvert(DType{}, DType{}) {
		t.Error("the invalid type converts")
	}
}

// Every value of the types of one and two bytes, to every type that takes it.
func TestConvertAllValues(t *testing.T) {
	for _, name := range []string{"b1", "i1", "u1", "i2", "f2", "bfloat16"} {
		for _, o := range []Order{Little, Big} {
			from := MustParse(name).WithOrder(o)
			n := 1 << (8 * from.Size)
			src, want := make([]byte, n*from.Size), make([]string, n)
			for i := range n {
				for j := range from.Size {
					src[i*from.Size+j] = byte(i >> (8 * j))
				}
				want[i] = text(from, src[i*from.Size:(i+1)*from.Size])
			}
			for _, wider := range strings.Fields(widerThan[name]) {
				to := MustParse(wider).WithOrder(o)
				if strings.Contains("i4 i16 u16 f4 c8", wider) { // the other order, too
					to = to.WithOrder(Little + Big - o)
				}
				dst := slices.Repeat([]byte{0xa5}, n*to.Size)
				if err := CopyRun(dst, int64(to.Size), to, src, int64(from.Size), from, int64(n)); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					b := dst[i*to.Size : (i+1)*to.Size]
					if got := text(to, b); got != want[i] && got != want[i]+", +0" {
						t.Fatalf("%s %#x is %s, as %s %x is %s", from, i, want[i], to, b, got)
					}
				}
			}
		}
	}
}

// Half floats also against the arithmetic of the machine.
func TestHalfFloat(t *testing.T) {
	var src, dst [1 << 18]byte
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(src[2*i:], uint16(i))
	}
	if err := CopyRun(dst[:], 4, MustParse("<f4"), src[:], 2, MustParse("<f2"), 1<<16); err != nil {
		t.Fatal(err)
	}
	for i := range 1 << 16 {
		got := binary.LittleEndian.Uint32(dst[4*i:])
		sign, exp, frac := float64(1-i>>15*2), i>>10&31, i&1023
		want := sign * math.Ldexp(float64(frac), -24)
		switch {
		case exp == 31 && frac != 0:
			if got != uint32(i>>15)<<31|0x7f800000|uint32(frac)<<13 {
				t.Fatalf("NaN %#x becomes %#x", i, got)
			}
			continue
		case exp == 31:
			want = math.Inf(int(sign))
		case exp > 0:
			want = sign * math.Ldexp(float64(1024+frac), exp-25)
		}
		if i == 1<<15 {
			want = math.Copysign(0, -1)
		}
		if got != math.Float32bits(float32(want)) {
			t.Fatalf("%#x becomes %#x, want %v", i, got, want)
		}
	}
}

func TestSwapBytes(t *testing.T) {
	for _, g := range goldenNames {
		d := MustParse(g.name)
		if d.IsVar() || d.Size > 100 || d.Size == 0 {
			continue
		}
		other := d.WithOrder(Little)
		if d.has(Little) {
			other = d.WithOrder(Big)
		}
		for n := range 12 {
			data := make([]byte, n*d.Size+d.Size-1)
			for i := range data {
				data[i] = byte(i*31 + 7)
			}
			swapped := slices.Clone(data)
			SwapBytes(swapped, d)
			if !slices.Equal(swapped[n*d.Size:], data[n*d.Size:]) {
				t.Fatalf("%s: part of an element was changed", d)
			}
			for i := 0; i < n*d.Size; i += d.Size {
				a, b := data[i:i+d.Size], swapped[i:i+d.Size]
				if text(d, a) != text(other, b) || other.Equal(d) && !slices.Equal(a, b) {
					t.Fatalf("%s: element %x of %d became %x", d, a, n, b)
				}
			}
		}
	}
}
