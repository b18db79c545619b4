package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
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
	case ndarray.Uint:
		if d.Size <= 8 {
			return strconv.AppendUint(dst, unsigned(data), 10)
		}
	case ndarray.Float:
		switch d.Size {
		case 4:
			return appendFloat(dst, float64(math.Float32frombits(uint32(unsigned(data)))), 32, json)
		case 8:
			return appendFloat(dst, math.Float64frombits(unsigned(data)), 64, json)
		}
	case ndarray.VarString, ndarray.VarBytes:
		return appendText(dst, data, json)
	case ndarray.Bytes:
		return appendText(dst, []byte(strings.TrimRight(string(data), "\x00")), json)
	}
	// what has no spelling of its own is shown as its bytes
	return quoteIf(dst, hex.EncodeToString(data), json)
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

// appendFloat appends the shortest spelling that reads back as f.
func appendFloat(dst []byte, f float64, bits int, json bool) []byte {
	switch {
	case math.IsNaN(f):
		return quoteIf(dst, "NaN", json)
	case math.IsInf(f, 1):
		return quoteIf(dst, "Infinity", json)
	case math.IsInf(f, -1):
		return quoteIf(dst, "-Infinity", json)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

func quoteIf(dst []byte, s string, quote bool) []byte {
	if quote {
		return strconv.AppendQuote(dst, s)
	}
	return append(dst, s...)
}

// either is yes when cond holds, else no.
func either(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
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

// appendStrict appends a JSON value in which NaN and the infinities are
// strings, so that every JSON reader takes it.
func appendStrict(dst []byte, v ndfile.Value) []byte {
	if f, ok := v.Float64(); ok && !v.IsInt() && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return appendFloat(dst, f, 64, true)
	}
	if o := v.Object(); o != nil {
		return appendStrictAttrs(dst, o)
	}
	if items := v.Items(); items != nil {
		dst = append(dst, '[')
		for i, it := range items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendStrict(dst, it)
		}
		return append(dst, ']')
	}
	return ndfile.AppendJSONValue(dst, v)
}

// appendStrictAttrs is appendStrict for attributes; nil ones are {}.
func appendStrictAttrs(dst []byte, a *ndfile.Attrs) []byte {
	dst = append(dst, '{')
	for i := 0; a != nil && i < a.Len(); i++ {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		k, v := a.At(i)
		dst = append(ndfile.AppendJSONString(dst, k), ": "...)
		dst = appendStrict(dst, v)
	}
	return append(dst, '}')
}
