package bcolz

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// nat is NaT, "not a time".
const nat = math.MinInt64

// maxFill bounds the elements whose fill value is kept, in bytes: the size of an
// element is only a number in a file.
const maxFill = 1 << 20

// parseDflt gives the bytes of the element of dtype d that "dflt" stands for, as
// NumPy converts it. It is not ok where NumPy would fail. Of elements of more than
// maxFill bytes only zero is, and nil.
func parseDflt(d ndarray.DType, v pyjson.Value) (fill []byte, ok bool) {
	if d.Size > maxFill {
		text, ok := v.Str()
		return nil, ok && strings.Trim(text, "\x00") == ""
	}
	fill = make([]byte, d.Size)
	if !putElement(fill, d, v) {
		return nil, false
	}
	return fill, true
}

// putElement stores one element in dst, which is zero.
func putElement(dst []byte, d ndarray.DType, v pyjson.Value) bool {
	switch d.Kind {
	case ndarray.Bool:
		b, isBool := v.Bool()
		n, isInt := v.Int64()
		if b || isInt && n == 1 {
			dst[0] = 1
		}
		return isBool || isInt && n>>1 == 0
	case ndarray.Int, ndarray.Uint:
		return putInteger(dst, d, v)
	case ndarray.Float:
		f, ok := number(v)
		return ok && putFloat(dst, d, f)
	case ndarray.Complex:
		return putComplex(dst, d, v)
	case ndarray.Datetime, ndarray.Timedelta:
		n, ok := v.Int64()
		if text, _ := v.Str(); v.Kind() == pyjson.KindNull || text == "NaT" {
			n, ok = nat, true
		}
		atom.PutWord(dst, &d, uint64(n))
		return ok
	case ndarray.Bytes, ndarray.Raw:
		s, ok := v.Str()
		return ok && len(s) <= len(dst) && isASCII(s) && copy(dst, s) == len(s)
	case ndarray.Unicode:
		return putText(dst, d, v)
	case ndarray.Record:
		return putRecord(dst, d, v)
	}
	return false
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// putInteger takes integers in range, and floats that are integers.
func putInteger(dst []byte, d ndarray.DType, v pyjson.Value) bool {
	bits := 8 * d.Size
	if b, ok := v.Bool(); b {
		v = pyjson.Int(1)
	} else if ok {
		v = pyjson.Int(0)
	}
	if f, ok := v.Float64(); ok && !v.IsInt() && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		v = pyjson.Int(int64(f))
	}
	if d.Kind == ndarray.Uint {
		n, ok := v.Uint64()
		atom.PutWord(dst, &d, n)
		return ok && n>>(bits-1)>>1 == 0
	}
	n, ok := v.Int64()
	atom.PutWord(dst, &d, uint64(n))
	return ok && n>>(bits-1) == n>>63
}

// number is a float, where null is NaN.
func number(v pyjson.Value) (float64, bool) {
	if v.Kind() == pyjson.KindNull {
		return math.NaN(), true
	}
	return v.Float64()
}

// putComplex takes a number, or a text as Python prints complex numbers.
func putComplex(dst []byte, d ndarray.DType, v pyjson.Value) bool {
	var z complex128
	text, ok := v.Str()
	if ok {
		if i := strings.LastIndexByte(text, 'j'); i >= 0 {
			text = text[:i] + "i" + text[i+1:]
		}
		var err error
		z, err = strconv.ParseComplex(text, 128)
		ok = err == nil
	} else {
		var f float64
		f, ok = number(v)
		z = complex(f, 0)
	}
	d.Kind, d.Size = ndarray.Float, d.Size/2
	return ok && putFloat(dst[:d.Size], d, real(z)) && putFloat(dst[d.Size:], d, imag(z))
}

// putFloat rounds to the width of a float. NaN is the one that NumPy makes.
func putFloat(dst []byte, d ndarray.DType, f float64) bool {
	if d.Size > 8 {
		return f == 0 && !math.Signbit(f) // a long double: its zero is known, nothing else
	}
	atom.PutWord(dst, &d, atom.FloatBits(f, d.Size))
	return true
}

// putText stores a str as UCS4. A lone surrogate is a character like any other.
func putText(dst []byte, d ndarray.DType, v pyjson.Value) bool {
	s, ok := v.Str()
	for ok && s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if n == 1 && r == utf8.RuneError { // pyjson holds surrogates as three bytes
			if len(s) < 3 {
				return false
			}
			r, n = rune(s[0]&15)<<12|rune(s[1]&63)<<6|rune(s[2]&63), 3
		}
		if len(dst) < 4 {
			return false
		}
		atom.PutWord(dst[:4], &d, uint64(r))
		dst, s = dst[4:], s[n:]
	}
	return ok
}

// putRecord stores a list of one value a field.
func putRecord(dst []byte, d ndarray.DType, v pyjson.Value) bool {
	if v.Kind() != pyjson.KindList || len(v.Items()) != len(d.Fields) {
		return false
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if !putSubArray(dst[f.Offset:], f.DType, f.Shape, v.Items()[i]) {
			return false
		}
	}
	return true
}

// putSubArray stores nested lists of elements.
func putSubArray(dst []byte, d ndarray.DType, shape []int64, v pyjson.Value) bool {
	if len(shape) == 0 {
		return putElement(dst[:d.Size], d, v)
	}
	if v.Kind() != pyjson.KindList || int64(len(v.Items())) != shape[0] {
		return false
	}
	size, _ := ndarray.NBytes(shape[1:], d.Size) // fits into dst
	for i, item := range v.Items() {
		if !putSubArray(dst[int64(i)*size:], d, shape[1:], item) {
			return false
		}
	}
	return true
}

// dfltOf is the "dflt" that bcolz writes for an element: np.dtype.tolist() with
// bytes as ASCII.
// fill nil is what bcolz takes when it is told nothing: zero, but for datetimes
// without a unit, where it can open nothing but null, which is NaT. Elements that
// bcolz would not get back are ErrValue.
func dfltOf(d ndarray.DType, fill []byte) (pyjson.Value, error) {
	instant := d.Kind == ndarray.Datetime && d.Unit == ""
	switch {
	case fill == nil && instant:
		return pyjson.Null(), nil
	case fill == nil:
		return element(d, make([]byte, d.Size)), nil
	case len(fill) != d.Size:
		return pyjson.Null(), ndfile.NewError(ndfile.ErrArgument, "the fill value has "+decimal(len(fill))+" bytes, an element has "+decimal(d.Size))
	}
	v := element(d, fill)
	if back, ok := parseDflt(d, v); !ok || !bytes.Equal(back, fill) || instant && v.Kind() == pyjson.KindNumber {
		return v, ndfile.NewError(ndfile.ErrValue, "a fill value of dtype "+d.String()+" that bcolz cannot keep: "+metafile.Short(v)+" in its place")
	}
	return v, nil
}

// element is the JSON of an element of a storable dtype.
func element(d ndarray.DType, src []byte) pyjson.Value {
	switch d.Kind {
	case ndarray.Bool:
		return pyjson.Bool(src[0] != 0)
	case ndarray.Uint:
		n, _ := atom.Word(src, &d)
		return pyjson.Uint(n)
	case ndarray.Int:
		n, _ := atom.Word(src, &d)
		return pyjson.Int(int64(n))
	case ndarray.Float:
		return pyjson.Float(floatOf(d, src))
	case ndarray.Complex:
		return complexText(d, src)
	case ndarray.Datetime, ndarray.Timedelta:
		if n, _ := atom.Word(src, &d); int64(n) != nat {
			return pyjson.Int(int64(n))
		}
	case ndarray.Bytes:
		return pyjson.String(string(bytes.TrimRight(src, "\x00")))
	case ndarray.Raw:
		return pyjson.String(string(src))
	case ndarray.Unicode:
		return pyjson.String(atom.Text(src, &d))
	}
	return pyjson.Null()
}

func floatOf(d ndarray.DType, src []byte) float64 {
	w, _ := atom.Word(src, &d)
	return math.Float64frombits(w)
}

// complexText is a complex number: JSON has none. Where the imaginary part is zero
// it is a float, as files have it that bcolz can open; else a text, which NumPy
// takes too.
func complexText(d ndarray.DType, src []byte) pyjson.Value {
	d.Kind, d.Size = ndarray.Float, d.Size/2
	re, im := floatOf(d, src[:d.Size]), floatOf(d, src[d.Size:])
	if im == 0 && !math.Signbit(im) {
		return pyjson.Float(re)
	}
	text := strconv.AppendFloat([]byte{'('}, re, 'g', -1, 64)
	if !math.Signbit(im) && !math.IsInf(im, 1) || math.IsNaN(im) {
		text = append(text, '+')
	}
	text = strconv.AppendFloat(text, im, 'g', -1, 64)
	return pyjson.String(strings.ToLower(string(text)) + "j)")
}
