package zarr

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// fillValue is the JSON that fillBytes reads back as elem, in the spelling of
// the reference implementation: 0 is 0 for every dtype but strings. nil is null.
// It fails with ErrValue where there is none: bytes beyond ASCII, records other
// than zero. A complex number is a string, which NumPy reads. The zero of a record with strings is null, since 0
// would make them "0".
func fillValue(d ndarray.DType, elem []byte) (pyjson.Value, error) {
	if elem == nil {
		return pyjson.Null(), nil
	}
	if len(elem) != d.Size {
		return pyjson.Value{}, ndfile.NewError(ndfile.ErrArgument, "fill value: expected "+strconv.Itoa(d.Size)+" bytes, one element, found "+strconv.Itoa(len(elem)))
	}
	v := spellFill(&d, elem)
	back, err := fillBytes(d, v)
	switch {
	case err == nil && bytes.Equal(back, elem):
	case v.Text() == "NaN": // one stands for all
	case v.Kind() == pyjson.KindNull && isZero(elem):
	default:
		return v, ndfile.NewError(ndfile.ErrValue, "early zarr has no way to write this fill value of dtype "+d.String())
	}
	return v, nil
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// spellFill finds a value that may be the one of elem.
func spellFill(d *ndarray.DType, elem []byte) pyjson.Value {
	switch d.Kind {
	case ndarray.Bool:
		return pyjson.Bool(elem[0] != 0)
	case ndarray.Bytes:
		return pyjson.String(string(bytes.TrimRight(elem, "\x00")))
	case ndarray.Unicode:
		return pyjson.String(atom.Text(elem, d))
	}
	if isZero(elem) {
		v := pyjson.Int(0)
		if back, err := fillBytes(*d, v); err != nil || !isZero(back) {
			return pyjson.Null()
		}
		return v
	}
	switch d.Kind {
	case ndarray.Int, ndarray.Datetime, ndarray.Timedelta:
		word, _ := atom.Word(elem, d)
		return pyjson.Int(int64(word))
	case ndarray.Uint:
		word, _ := atom.Word(elem, d)
		return pyjson.Uint(word)
	case ndarray.Float:
		word, _ := atom.Word(elem, d)
		return pyjson.Float(math.Float64frombits(word))
	case ndarray.Complex:
		half := halfType(d)
		re, _ := atom.Word(elem[:half.Size], &half)
		im, _ := atom.Word(elem[half.Size:], &half)
		if im == 0 {
			return pyjson.Float(math.Float64frombits(re))
		}
		return pyjson.String(pythonComplex(math.Float64frombits(re), math.Float64frombits(im)))
	case ndarray.Raw:
		var b [8]byte
		copy(b[:], elem)
		return pyjson.Uint(binary.LittleEndian.Uint64(b[:]))
	}
	return pyjson.Null()
}

// pythonComplex is Python's str of a complex number.
func pythonComplex(re, im float64) string {
	sign := ""
	if !math.Signbit(im) {
		sign = "+"
	}
	return "(" + strings.TrimSuffix(pythonFloat(re), ".0") + sign + strings.TrimSuffix(pythonFloat(im), ".0") + "j)"
}

// pythonFloat is Python's str of a float.
func pythonFloat(f float64) string {
	text := string(pyjson.AppendFloat(nil, f))
	text = strings.Replace(text, "Infinity", "inf", 1)
	return strings.Replace(text, "NaN", "nan", 1)
}
