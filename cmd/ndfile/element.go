package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// appendElement appends element data, in native byte order, as text or as a
// JSON value.
func appendElement(dst []byte, d ndarray.DType, data []byte, json bool) []byte {
	switch d.Kind {
	case ndarray.Bool:
		return strconv.AppendBool(dst, data[0] != 0)
	case ndarray.Int:
		if d.Size <= 8 {
			return strconv.AppendInt(dst, signed(data), 10)
		}
		return appendWide(dst, data, true)
	case ndarray.Uint:
		if d.Size <= 8 {
			return strconv.AppendUint(dst, unsigned(data), 10)
		}
		return appendWide(dst, data, false)
	case ndarray.Float, ndarray.BFloat:
		if f, ok := float(d, data); ok {
			return appendFloat(dst, f, d.Size*8, json)
		}
	case ndarray.Complex:
		part := ndarray.DType{Kind: ndarray.Float, Size: d.Size / 2}
		re, ok := float(part, data[:part.Size])
		im, _ := float(part, data[part.Size:])
		if ok {
			return appendComplex(dst, re, im, part.Size*8, json)
		}
	case ndarray.VarString, ndarray.VarBytes:
		return appendText(dst, data, json)
	case ndarray.Bytes:
		return appendText(dst, []byte(strings.TrimRight(string(data), "\x00")), json)
	case ndarray.Unicode:
		if text, ok := characters(data); ok {
			return appendText(dst, text, json)
		}
	case ndarray.Datetime:
		return quoteIf(dst, isoTime(signed(data), d.Unit), json)
	case ndarray.Timedelta:
		if n := signed(data); n != math.MinInt64 {
			return strconv.AppendInt(dst, n, 10)
		}
		return quoteIf(dst, "NaT", json)
	case ndarray.Record:
		return appendRecord(dst, d, data, json)
	}
	// what has no spelling of its own is shown as its bytes
	return quoteIf(dst, hex.EncodeToString(data), json)
}

// float is the value of a float of up to 8 bytes, in native byte order.
func float(d ndarray.DType, data []byte) (f float64, ok bool) {
	var wide [8]byte
	err := ndarray.CopyRun(wide[:], 8, ndarray.DType{Kind: ndarray.Float, Size: 8}, data, int64(d.Size), d.Native(), 1)
	return math.Float64frombits(binary.NativeEndian.Uint64(wide[:])), err == nil
}

// appendFloat appends the shortest spelling that reads back as f in a float of that
// many bits.
func appendFloat(dst []byte, f float64, bits int, json bool) []byte {
	switch {
	case math.IsNaN(f):
		return quoteIf(dst, "NaN", json)
	case math.IsInf(f, 1):
		return quoteIf(dst, "Infinity", json)
	case math.IsInf(f, -1):
		return quoteIf(dst, "-Infinity", json)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, max(bits, 32))
}

func appendComplex(dst []byte, re, im float64, bits int, json bool) []byte {
	if json {
		dst = appendFloat(append(dst, '['), re, bits, true)
		dst = appendFloat(append(dst, ", "...), im, bits, true)
		return append(dst, ']')
	}
	dst = appendFloat(append(dst, '('), re, bits, false)
	if !math.Signbit(im) || math.IsNaN(im) {
		dst = append(dst, '+')
	}
	return append(appendFloat(dst, im, bits, false), "j)"...)
}

// appendWide appends an integer of 16 bytes.
func appendWide(dst, data []byte, signed bool) []byte {
	b := slices.Clone(data)
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		slices.Reverse(b)
	}
	v := new(big.Int).SetBytes(b)
	if signed && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v.Append(dst, 10)
}

// appendRecord appends (1, 2.5), or {"a": 1, "b": 2.5}.
func appendRecord(dst []byte, d ndarray.DType, data []byte, json bool) []byte {
	dst = append(dst, either(json, "{", "(")...)
	for i, f := range d.Fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if json {
			dst = append(ndfile.AppendJSONString(dst, f.Name), ": "...)
		}
		dst, _ = appendField(dst, f.DType, f.Shape, data[f.Offset:], json)
	}
	return append(dst, either(json, "}", ")")...)
}

// appendField appends a field, a sub-array as nested lists, and gives the data
// behind it.
func appendField(dst []byte, d ndarray.DType, shape []int64, data []byte, json bool) ([]byte, []byte) {
	if len(shape) == 0 {
		return appendElement(dst, d, data[:d.Size], json), data[d.Size:]
	}
	dst = append(dst, '[')
	for i := range shape[0] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst, data = appendField(dst, d, shape[1:], data, json)
	}
	return append(dst, ']'), data
}

// characters is a string of UCS4 as UTF-8, a lone surrogate as WTF-8.
func characters(data []byte) (text []byte, ok bool) {
	for len(data) > 0 && binary.NativeEndian.Uint32(data[len(data)-4:]) == 0 {
		data = data[:len(data)-4]
	}
	for ; len(data) > 0; data = data[4:] {
		switch c := binary.NativeEndian.Uint32(data); {
		case c > utf8.MaxRune:
			return nil, false
		case c >= 0xd800 && c < 0xe000:
			text = append(text, 0xed, byte(0x80|c>>6&0x3f), byte(0x80|c&0x3f))
		default:
			text = utf8.AppendRune(text, rune(c))
		}
	}
	return text, true
}

// appendText shows bytes as text. In JSON, bytes that are not UTF-8 become
// {"base64": "..."}.
func appendText(dst, data []byte, json bool) []byte {
	switch {
	case !json:
		return strconv.AppendQuote(dst, string(data))
	case !utf8.Valid(data):
		dst = append(dst, `{"base64": "`...)
		dst = base64.StdEncoding.AppendEncode(dst, data)
		return append(dst, `"}`...)
	}
	return ndfile.AppendJSONString(dst, string(data))
}

// appendScalar appends a result of [ndfile.Reduce].
func appendScalar(dst []byte, s ndfile.Scalar, json bool) []byte {
	switch s.DType.Kind {
	case ndarray.Bool:
		return strconv.AppendBool(dst, s.Int != 0)
	case ndarray.Int:
		return strconv.AppendInt(dst, s.Int, 10)
	case ndarray.Uint:
		return strconv.AppendUint(dst, s.Uint, 10)
	case ndarray.Float, ndarray.BFloat:
		return appendFloat(dst, s.Float, s.DType.Size*8, json)
	case ndarray.Complex:
		return appendComplex(dst, s.Float, s.Imag, s.DType.Size*4, json)
	case ndarray.Datetime, ndarray.Timedelta:
		return appendElement(dst, s.DType, binary.NativeEndian.AppendUint64(nil, uint64(s.Int)), json)
	}
	return append(dst, either(json, "null", "-")...)
}

// unsigned reads a native integer of 1, 2, 4 or 8 bytes.
func unsigned(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

// signed is unsigned with the sign extended.
func signed(b []byte) int64 {
	shift := 64 - 8*len(b)
	return int64(unsigned(b)<<shift) >> shift
}
