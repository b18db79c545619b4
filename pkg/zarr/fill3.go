package zarr

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Version 3 takes fewer spellings than version 2 and adds some: floats by their
// bits, raw bytes as a list of them, records as objects.

// fill3 gives the element of dtype d that a value stands for. Errors are
// ErrCorrupt and ErrLimit.
func fill3(v pyjson.Value, d ndarray.DType) ([]byte, error) {
	if d.IsVar() {
		return varFill3(v, &d)
	}
	return newFill(d, v, putFill3)
}

// varFill3 takes texts for texts, and base64 or a list of bytes for bytes.
func varFill3(v pyjson.Value, d *ndarray.DType) ([]byte, error) {
	text, ok := v.Str()
	switch {
	case ok && d.Kind == ndarray.VarString && utf8.ValidString(text):
		return []byte(text), nil
	case ok && d.Kind == ndarray.VarBytes:
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			return raw, nil
		}
	case v.Kind() == pyjson.KindList && d.Kind == ndarray.VarBytes:
		raw := make([]byte, len(v.Items()))
		return raw, putList3(raw, d, v)
	}
	return nil, noFill(d, v)
}

// smallFill3 takes integers that so many bits hold, and bits as "0x0f". Of floats
// without a type here any other number than 0 is not supported.
func smallFill3(v pyjson.Value, d *ndarray.DType, bits int) ([]byte, error) {
	if s, ok := v.Str(); ok && strings.HasPrefix(s, "0x") && len(s) == 4 {
		if word, err := strconv.ParseUint(s[2:], 16, bits); err == nil {
			return []byte{byte(word)}, nil
		}
	}
	if f, ok := v.Float64(); ok && f == 0 && !math.Signbit(f) {
		return []byte{0}, nil
	}
	n, ok := v.Int64()
	lo, hi := int64(0), int64(1)<<bits-1
	if d.Kind == ndarray.Int {
		lo, hi = -hi/2-1, hi/2
	}
	if ok && n >= lo && n <= hi && bits < 6 {
		return []byte{byte(n)}, nil
	}
	if v.Kind() == pyjson.KindNumber && bits >= 6 {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "fill_value: of this type only 0 and bits as \"0x00\" are supported, found "+metafile.Short(v))
	}
	return nil, noFill(d, v)
}

func putFill3(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	switch d.Kind {
	case ndarray.Bool:
		b, ok := v.Bool()
		if b {
			dst[0] = 1
		}
		if ok {
			return nil
		}
	case ndarray.Int, ndarray.Uint:
		return putInt3(dst, d, v)
	case ndarray.Datetime, ndarray.Timedelta:
		if s, _ := v.Str(); s == "NaT" {
			atom.PutWord(dst, d, 1<<63)
			return nil
		}
		if i, ok := v.Int64(); ok {
			atom.PutWord(dst, d, uint64(i))
			return nil
		}
	case ndarray.Float:
		return putFloat3(dst, d, v)
	case ndarray.BFloat:
		return putBFloat3(dst, d, v)
	case ndarray.Complex:
		return putPair(dst, d, v, putFill3)
	case ndarray.Unicode:
		if s, ok := v.Str(); ok && utf8.RuneCountInString(s) <= d.Size/4 {
			return putFill(dst, d, v)
		}
	case ndarray.Raw:
		if v.Kind() == pyjson.KindList {
			return putList3(dst, d, v)
		}
		return putBase64(dst, d, v)
	case ndarray.Record:
		if o := v.Object(); o != nil {
			return putMembers3(dst, d, v, o)
		}
		return putBase64(dst, d, v)
	case ndarray.Bytes:
		return putBase64(dst, d, v)
	}
	return noFill(d, v)
}

// putInt3 takes integers in range, also spelled as floats, which zarr-python
// reads too.
func putInt3(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	if f, ok := v.Float64(); ok && !v.IsInt() && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		v = pyjson.Int(int64(f))
	}
	if d.Kind == ndarray.Uint {
		u, ok := v.Uint64()
		if !ok || bits.Len64(u) > 8*d.Size {
			return noFill(d, v)
		}
		atom.PutWord(dst, d, u)
		return nil
	}
	i, ok := v.Int64()
	if shift := 64 - 8*d.Size; !ok || i<<shift>>shift != i {
		return noFill(d, v)
	}
	atom.PutWord(dst, d, uint64(i))
	return nil
}

// putFloat3 takes numbers, the three words, and bits as "0x7fc00000".
func putFloat3(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	switch s, isText := v.Str(); {
	case !isText, s == "NaN", s == "Infinity", s == "-Infinity":
		if v.Kind() == pyjson.KindNumber || isText {
			return putFill(dst, d, v)
		}
	case strings.HasPrefix(s, "0x") && len(s) == 2+2*d.Size:
		if word, err := strconv.ParseUint(s[2:], 16, 64); err == nil {
			atom.PutWord(dst, d, word)
			return nil
		}
	}
	return noFill(d, v)
}

// putBFloat3 is putFloat3 for the upper half of a float of 4 bytes.
func putBFloat3(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	if s, _ := v.Str(); strings.HasPrefix(s, "0x") {
		return putFloat3(dst, d, v)
	}
	var wide [4]byte
	single := ndarray.DType{Kind: ndarray.Float, Order: ndarray.Little, Size: 4}
	if err := putFloat3(wide[:], &single, v); err != nil {
		return err
	}
	word := binary.LittleEndian.Uint32(wide[:])
	if f := math.Float32frombits(word); f == f {
		word += 0x7fff + word>>16&1 // to the nearest, ties to even
	}
	atom.PutWord(dst, d, uint64(word>>16))
	return nil
}

// putList3 takes one number a byte.
func putList3(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	items := v.Items()
	if len(items) != len(dst) {
		return noFill(d, v)
	}
	for i, item := range items {
		b, ok := item.Uint64()
		if !ok || b > 255 {
			return noFill(d, v)
		}
		dst[i] = byte(b)
	}
	return nil
}

// putMembers3 takes an object with a value for each field.
func putMembers3(dst []byte, d *ndarray.DType, v pyjson.Value, o *pyjson.Object) error {
	for i := range d.Fields {
		f := &d.Fields[i]
		member, ok := o.Get(f.Name)
		if !ok || o.Len() != len(d.Fields) {
			return noFill(d, v)
		}
		if err := putFill3(dst[f.Offset:][:f.DType.Size], &f.DType, member); err != nil {
			return err
		}
	}
	return nil
}

// fill3Value is what fill3 reads back as elem, bit for bit; nil is zero. Errors
// are ErrArgument, ErrValue and ErrLimit.
func fill3Value(elem []byte, d ndarray.DType) (pyjson.Value, error) {
	switch d.Kind {
	case ndarray.VarString:
		return pyjson.String(string(elem)), nil
	case ndarray.VarBytes:
		return pyjson.String(base64.StdEncoding.EncodeToString(elem)), nil
	case ndarray.BFloat:
		if elem == nil {
			return pyjson.Int(0), nil
		}
		if len(elem) != 2 {
			return pyjson.Value{}, badFillSize(elem, d)
		}
		return bfloatValue3(elem, &d), nil
	}
	return spellExact(elem, &d, 3)
}

// bfloatValue3 spells numbers as such and the rest by its bits.
func bfloatValue3(elem []byte, d *ndarray.DType) pyjson.Value {
	as := ndarray.DType{Kind: ndarray.Uint, Order: d.Order, Size: 2}
	word, _ := atom.Word(elem, &as)
	if f := math.Float32frombits(uint32(word) << 16); f == f {
		return floatValue2(math.Float64bits(float64(f)))
	}
	digits := strconv.FormatUint(word, 16)
	return pyjson.String("0x" + strings.Repeat("0", 4-len(digits)) + digits)
}

// floatValue3 spells any NaN but the one that "NaN" is by its bits. word is that
// of the float64.
func floatValue3(word uint64, size int) pyjson.Value {
	const nan = 0x7ff8 << 48
	if !math.IsNaN(math.Float64frombits(word)) || word == nan {
		return floatValue2(word)
	}
	// Widening moved sign, exponent and fraction apart.
	fraction := map[int]int{2: 10, 4: 23, 8: 52}[size]
	exponent := uint64(1)<<(8*size-1-fraction) - 1
	word = word>>63<<(8*size-1) | exponent<<fraction | word<<12>>(64-fraction)
	digits := strconv.FormatUint(word, 16)
	return pyjson.String("0x" + strings.Repeat("0", 2*size-len(digits)) + digits)
}
