// Package atom reads and writes one element of an array as a number or text, which
// fill values in metadata need.
package atom

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// PutWord stores the low bytes of a word, as many as dst has but at most 8, in the
// byte order of d.
func PutWord(dst []byte, d *ndarray.DType, word uint64) {
	var b [8]byte
	if n := len(dst); d.Swapped() == (ndarray.NativeOrder == ndarray.Little) && n > 1 {
		binary.BigEndian.PutUint64(b[:], word)
		copy(dst, b[8-n:])
	} else {
		binary.LittleEndian.PutUint64(b[:], word)
		copy(dst, b[:n])
	}
}

// Word gives the bits of an integer or a float as an int64, uint64 or float64; of a
// date or a duration the count. It is not ok for numbers that are wider.
func Word(src []byte, d *ndarray.DType) (word uint64, ok bool) {
	from := *d
	if from.Kind == ndarray.Datetime || from.Kind == ndarray.Timedelta {
		from.Kind, from.Unit = ndarray.Int, ""
	}
	var wide [8]byte
	err := ndarray.CopyRun(wide[:], 8, ndarray.DType{Kind: from.Kind, Order: ndarray.Little, Size: 8}, src, int64(d.Size), from, 1)
	return binary.LittleEndian.Uint64(wide[:]), err == nil
}

// FloatBits rounds to a float of 2, 4 or 8 bytes, to the nearest, ties to even. The
// NaN is that of NumPy: positive and quiet, without a payload.
func FloatBits(f float64, size int) uint64 {
	switch isNaN := f != f; {
	case size == 2:
		return uint64(half(f))
	case size == 4 && isNaN:
		return 0x7fc0 << 16
	case size == 4:
		return uint64(math.Float32bits(float32(f)))
	case isNaN:
		return 0x7ff8 << 48
	}
	return math.Float64bits(f)
}

// half rounds to half precision.
func half(f float64) uint16 {
	sign := uint16(math.Float64bits(f) >> 48 & 0x8000)
	switch f = math.Abs(f); {
	case f != f:
		return 0x7e00
	case f >= 65520: // half way between the largest half and 65536
		return sign | 0x7c00
	case f < 0x1p-14: // subnormal; what rounds up becomes the smallest normal
		return sign | uint16(math.RoundToEven(f*0x1p24))
	}
	frac, exp := math.Frexp(f) // frac in [0.5, 1): 11 bits of it are kept
	// A fraction that rounds up to the next power of 2 carries into the exponent.
	return sign | uint16(exp+13)<<10 + uint16(math.RoundToEven(frac*0x1p11))
}

// Text is an element of dtype d, a Unicode, without the NULs at its end. What is no
// character becomes U+FFFD.
func Text(src []byte, d *ndarray.DType) string {
	order := binary.ByteOrder(binary.LittleEndian)
	if d.Swapped() == (ndarray.NativeOrder == ndarray.Little) {
		order = binary.BigEndian
	}
	var text []byte
	for ; len(src) >= 4; src = src[4:] {
		text = utf8.AppendRune(text, rune(order.Uint32(src)))
	}
	return string(bytes.TrimRight(text, "\x00"))
}
