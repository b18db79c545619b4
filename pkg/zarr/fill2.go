package zarr

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Version 2 spells fill values as zarr-python does: base64 for byte strings, raw
// bytes and records, pairs for complex numbers, "NaN", "Infinity" and
// "-Infinity", counts of the unit for times. All else NumPy reads, as in early
// zarr.

// fill2 gives the element of dtype d that a value stands for, nil for null.
// Errors are ErrCorrupt and ErrLimit.
func fill2(v pyjson.Value, d ndarray.DType) ([]byte, error) {
	if v.Kind() == pyjson.KindNull {
		return nil, nil
	}
	if d.IsVar() {
		if n, ok := v.Int64(); ok && n == 0 { // as zarr-python has it for objects
			return []byte{}, nil
		}
		return varFill3(v, &d)
	}
	return newFill(d, v, putFill2)
}

// newFill makes an element with put, which finds it zero.
func newFill(d ndarray.DType, v pyjson.Value, put func(dst []byte, d *ndarray.DType, v pyjson.Value) error) ([]byte, error) {
	if d.Size > maxFill {
		return nil, fillLimit(d)
	}
	elem := make([]byte, d.Size)
	if err := put(elem, &d, v); err != nil {
		return nil, err
	}
	return elem, nil
}

func fillLimit(d ndarray.DType) error {
	return ndfile.NewError(ndfile.ErrLimit, "fill_value: expected elements of at most "+strconv.Itoa(maxFill)+" bytes, found "+strconv.Itoa(d.Size))
}

func putFill2(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	switch d.Kind {
	case ndarray.Bytes, ndarray.Raw, ndarray.Record:
		return putBase64(dst, d, v)
	case ndarray.Complex:
		if v.Kind() == pyjson.KindList {
			return putPair(dst, d, v, putFill2)
		}
	}
	return putFill(dst, d, v)
}

// putPair writes the two parts of a complex number.
func putPair(dst []byte, d *ndarray.DType, v pyjson.Value, put func(dst []byte, d *ndarray.DType, v pyjson.Value) error) error {
	items := v.Items()
	if len(items) != 2 {
		return noFill(d, v)
	}
	half := halfType(d)
	for i, item := range items {
		if err := put(dst[i*half.Size:][:half.Size], &half, item); err != nil {
			return err
		}
	}
	return nil
}

// halfType is the type of the parts of a complex number.
func halfType(d *ndarray.DType) ndarray.DType {
	return ndarray.DType{Kind: ndarray.Float, Order: d.Order, Size: d.Size / 2}
}

// putBase64 writes the bytes of an element; byte strings may be shorter.
func putBase64(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	text, ok := v.Str()
	if !ok {
		return noFill(d, v)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) > len(dst) || len(raw) < len(dst) && d.Kind != ndarray.Bytes {
		return noFill(d, v)
	}
	copy(dst, raw)
	return nil
}

// fill2Value is what fill2 reads back as elem, where nil is zero, and null for
// elements too large to spell. One NaN stands for all. Errors are ErrArgument, ErrValue and ErrLimit.
func fill2Value(elem []byte, d ndarray.DType) (pyjson.Value, error) {
	if elem == nil && d.Size > maxFill {
		return pyjson.Null(), nil
	}
	if d.IsVar() {
		return fill3Value(elem, d)
	}
	return spellExact(elem, &d, 2)
}

// spellExact is a fill value of version 2 or 3. They differ in NaNs, and in the
// NULs at the end of byte strings: the specification of 3 has them cut off, and
// tensorstore opens no array of 2 without.
func spellExact(elem []byte, d *ndarray.DType, version int) (pyjson.Value, error) {
	if elem == nil {
		if d.Size > maxFill {
			return pyjson.Value{}, fillLimit(*d)
		}
		elem = make([]byte, d.Size)
	}
	if len(elem) != d.Size {
		return pyjson.Value{}, badFillSize(elem, *d)
	}
	switch d.Kind {
	case ndarray.Bool:
		return pyjson.Bool(elem[0] != 0), nil
	case ndarray.Int, ndarray.Uint, ndarray.Datetime, ndarray.Timedelta:
		word, err := fillWord(elem, d)
		if d.Kind == ndarray.Uint {
			return pyjson.Uint(word), err
		}
		return pyjson.Int(int64(word)), err
	case ndarray.Float:
		word, err := fillWord(elem, d)
		if version == 3 {
			return floatValue3(word, d.Size), err
		}
		return floatValue2(word), err
	case ndarray.Complex:
		half := halfType(d)
		re, err := spellExact(elem[:half.Size], &half, version)
		if err != nil {
			return re, err
		}
		im, err := spellExact(elem[half.Size:], &half, version)
		return pyjson.List(re, im), err
	case ndarray.Unicode:
		return unicodeValue(elem, d)
	case ndarray.Bytes:
		if version == 3 {
			elem = bytes.TrimRight(elem, "\x00")
		}
	}
	return pyjson.String(base64.StdEncoding.EncodeToString(elem)), nil
}

// fillWord is a number as an int64, uint64 or float64. Long doubles other than
// zero are ErrValue.
func fillWord(elem []byte, d *ndarray.DType) (uint64, error) {
	if isZero(elem) {
		return 0, nil
	}
	word, ok := atom.Word(elem, d)
	if !ok {
		return 0, ndfile.NewError(ndfile.ErrValue, "zarr has no way to write this fill value of dtype "+d.String())
	}
	return word, nil
}

func floatValue2(word uint64) pyjson.Value {
	f := math.Float64frombits(word)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return pyjson.String(string(pyjson.AppendFloat(nil, f)))
	}
	return pyjson.Float(f)
}

// unicodeValue is a text without the NULs at its end.
func unicodeValue(elem []byte, d *ndarray.DType) (pyjson.Value, error) {
	text := atom.Text(elem, d)
	back := make([]byte, len(elem))
	if s := (scalar{kind: ndarray.Unicode, text: text}); !utf8.ValidString(text) || s.putText(back, d) != nil || string(back) != string(elem) {
		return pyjson.Value{}, ndfile.NewError(ndfile.ErrValue, "the fill value is no Unicode text")
	}
	return pyjson.String(text), nil
}

func badFillSize(elem []byte, d ndarray.DType) error {
	return ndfile.NewError(ndfile.ErrArgument, "fill value: expected "+strconv.Itoa(d.Size)+" bytes, one element, found "+strconv.Itoa(len(elem)))
}
