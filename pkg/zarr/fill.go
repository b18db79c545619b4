package zarr

import (
	"encoding/binary"
	"errors"
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

// A fill value is JSON that early zarr gives to NumPy's ndarray.fill. What that
// makes of it, wrapping and truncating, is what the array's readers have always
// seen, so we do the same. Only what the C language leaves undefined there is
// refused.

// maxFill bounds the size in bytes of an element that is filled: elements can be
// as large as 2 GiB by a few letters in a document.
const maxFill = 16 << 20

// fillBytes gives the element of dtype d that a JSON value stands for, nil for
// null. Errors are ErrCorrupt and ErrLimit.
func fillBytes(d ndarray.DType, v pyjson.Value) ([]byte, error) {
	if v.Kind() == pyjson.KindNull {
		return nil, nil
	}
	if d.Size > maxFill {
		return nil, ndfile.NewError(ndfile.ErrLimit, "fill_value: expected elements of at most "+strconv.Itoa(maxFill)+" bytes, found "+strconv.Itoa(d.Size))
	}
	elem := make([]byte, d.Size)
	if err := putFill(elem, &d, v); err != nil {
		return nil, err
	}
	return elem, nil
}

// putFill writes an element that is zero so far.
func putFill(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	if d.Kind == ndarray.Record {
		return putRecord(dst, d, v)
	}
	s, err := toScalar(v)
	if err == nil {
		err = s.put(dst, d)
	}
	return err
}

// putRecord fills every member with one value, or each with its own of a list.
// NumPy writes such lists for tuples, but then cannot read them.
func putRecord(dst []byte, d *ndarray.DType, v pyjson.Value) error {
	items := v.Items()
	if v.Kind() == pyjson.KindList && len(items) != len(d.Fields) {
		return noFill(d, v)
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if items != nil {
			v = items[i]
		}
		n, err := ndarray.Count(f.Shape)
		if err != nil {
			return err
		}
		for k := range int(n) {
			if err := putFill(dst[f.Offset+k*f.DType.Size:][:f.DType.Size], &f.DType, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// scalar is a JSON scalar as NumPy holds it: a bool, an integer of 64 bits, a
// double, or text.
type scalar struct {
	value pyjson.Value
	kind  ndarray.Kind // Bool, Int, Uint, Float or Unicode
	bits  uint64       // of a Bool, Int or Uint
	f     float64      // of a Float
	text  string       // of a Unicode
}

func toScalar(v pyjson.Value) (s scalar, err error) {
	s.value = v
	switch v.Kind() {
	case pyjson.KindBool:
		s.kind = ndarray.Bool
		if b, _ := v.Bool(); b {
			s.bits = 1
		}
	case pyjson.KindString:
		s.kind = ndarray.Unicode
		s.text, _ = v.Str()
	case pyjson.KindNumber:
		if i, ok := v.Int64(); ok {
			s.kind, s.bits = ndarray.Int, uint64(i)
		} else if u, ok := v.Uint64(); ok {
			s.kind, s.bits = ndarray.Uint, u
		} else if v.IsInt() {
			err = corruptFill("an integer of 64 bits", v)
		} else {
			s.kind = ndarray.Float
			s.f, _ = v.Float64()
		}
	default:
		err = corruptFill("a number, a string, true, false or null", v)
	}
	return s, err
}

func corruptFill(expected string, v pyjson.Value) error {
	return ndfile.NewError(ndfile.ErrCorrupt, "fill_value: expected "+expected+", found "+metafile.Short(v))
}

// noFill says that a value is none for a dtype.
func noFill(d *ndarray.DType, v pyjson.Value) error {
	return corruptFill("a value of dtype "+d.String(), v)
}

// put writes the element that NumPy makes of s.
func (s *scalar) put(dst []byte, d *ndarray.DType) error {
	switch d.Kind {
	case ndarray.Bool:
		if s.bits != 0 || s.f != 0 || s.text != "" {
			dst[0] = 1
		}
		return nil
	case ndarray.Int, ndarray.Uint:
		return s.putInt(dst, d)
	case ndarray.Float, ndarray.Complex:
		return s.putFloat(dst, d)
	case ndarray.Datetime, ndarray.Timedelta:
		return s.putTime(dst, d)
	case ndarray.Bytes, ndarray.Unicode:
		return s.putText(dst, d)
	case ndarray.Raw:
		return s.putRaw(dst, d)
	}
	return noFill(d, s.value)
}

// putInt wraps integers and cuts the fraction off floats. A float becomes an
// integer of 32 or 64 bits first, as C's conversion goes, and is wrapped then.
func (s *scalar) putInt(dst []byte, d *ndarray.DType) error {
	word := s.bits
	switch s.kind {
	case ndarray.Float:
		bound := float64(1 << 63)
		if d.Size < 4 || d.Size == 4 && d.Kind == ndarray.Int {
			bound = 1 << 31
		}
		switch whole := math.Trunc(s.f); {
		case whole >= -bound && whole < bound:
			word = uint64(int64(whole))
		case whole >= bound && whole < 2*bound && d.Size == 8 && d.Kind == ndarray.Uint:
			word = uint64(whole)
		default:
			return noFill(d, s.value)
		}
	case ndarray.Unicode:
		text := strings.TrimSpace(s.text)
		i, err := strconv.ParseInt(text, 10, 64)
		if word = uint64(i); err != nil {
			word, err = strconv.ParseUint(text, 10, 64)
		}
		if err != nil {
			return noFill(d, s.value)
		}
	}
	atom.PutWord(dst, d, word)
	return nil
}

// putFloat rounds to the nearest. The layout of a long double depends on the
// machine that wrote it: only its zero is known.
func (s *scalar) putFloat(dst []byte, d *ndarray.DType) error {
	part, second := dst, scalar{kind: ndarray.Float} // second is the imaginary part
	if d.Kind == ndarray.Complex {
		part = dst[:len(dst)/2]
	}
	if s.kind == ndarray.Unicode {
		c, ok := pythonNumber(s.text, d.Kind == ndarray.Complex)
		if !ok {
			return noFill(d, s.value)
		}
		s.kind, s.f = ndarray.Float, real(c)
		second.f = imag(c)
	}
	if len(part) > 8 {
		if s.bits != 0 || math.Float64bits(s.f)|math.Float64bits(second.f) != 0 {
			return ndfile.NewError(ndfile.ErrNotSupported, "fill_value: of dtype "+d.String()+" only 0 and null are supported, found "+metafile.Short(s.value))
		}
		return nil
	}
	atom.PutWord(part, d, s.floatBits(len(part)))
	if d.Kind == ndarray.Complex {
		atom.PutWord(dst[len(part):], d, second.floatBits(len(part)))
	}
	return nil
}

// pythonNumber is Python's float(text) or complex(text).
func pythonNumber(text string, isComplex bool) (complex128, bool) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "_xX") {
		return 0, false
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return complex(f, 0), true
	}
	if inner, ok := strings.CutPrefix(text, "("); ok {
		if text, ok = strings.CutSuffix(inner, ")"); !ok {
			return 0, false
		}
	}
	number, ok := strings.CutSuffix(text, "j")
	c, err := strconv.ParseComplex(number+"i", 128)
	return c, isComplex && ok && (err == nil || errors.Is(err, strconv.ErrRange))
}

// floatBits is the number as a float of a number of bytes. Integers of 64 bits
// become halves through a float of 4 bytes, as in NumPy.
func (s *scalar) floatBits(size int) uint64 {
	f := s.f
	switch small := size < 8; {
	case s.kind == ndarray.Int && small:
		f = float64(float32(int64(s.bits)))
	case s.kind == ndarray.Int:
		f = float64(int64(s.bits))
	case s.kind != ndarray.Float && small:
		f = float64(float32(s.bits))
	case s.kind != ndarray.Float:
		f = float64(s.bits)
	}
	return atom.FloatBits(f, size)
}

// putTime takes numbers as counts of the unit, and for dates ISO 8601.
func (s *scalar) putTime(dst []byte, d *ndarray.DType) error {
	count := int64(s.bits)
	switch s.kind {
	case ndarray.Float:
		switch whole := math.Trunc(s.f); {
		case whole != whole:
			count = notATime
		case whole >= -(1<<63) && whole < 1<<63:
			count = int64(whole)
		default:
			return noFill(d, s.value)
		}
	case ndarray.Unicode:
		var ok bool
		if count, ok = parseTime(s.text, d); !ok {
			return noFill(d, s.value)
		}
	}
	atom.PutWord(dst, d, uint64(count))
	return nil
}

// putText cuts a text to the length of the element. Numbers are texts as
// Python's str makes them: 0 is "0". Byte strings hold ASCII.
func (s *scalar) putText(dst []byte, d *ndarray.DType) error {
	text := s.str()
	if !utf8.ValidString(text) {
		return noFill(d, s.value)
	}
	for _, r := range text {
		if d.Kind == ndarray.Unicode && len(dst) >= 4 {
			atom.PutWord(dst[:4], d, uint64(r))
			dst = dst[4:]
		} else if d.Kind == ndarray.Bytes && r >= utf8.RuneSelf {
			return noFill(d, s.value)
		} else if d.Kind == ndarray.Bytes && len(dst) > 0 {
			dst[0] = byte(r)
			dst = dst[1:]
		}
	}
	return nil
}

// str is Python's str of the value.
func (s *scalar) str() string {
	switch s.kind {
	case ndarray.Bool:
		if s.bits == 0 {
			return "False"
		}
		return "True"
	case ndarray.Int, ndarray.Uint:
		return string(pyjson.Append(nil, s.value))
	case ndarray.Float:
		return pythonFloat(s.f)
	}
	return s.text
}

// putRaw takes the bytes of a number in NumPy's memory, cut or followed by
// zeros: 8 bytes, little endian, 1 of a bool.
func (s *scalar) putRaw(dst []byte, d *ndarray.DType) error {
	var b [8]byte
	switch s.kind {
	case ndarray.Unicode:
		return noFill(d, s.value)
	case ndarray.Float:
		binary.LittleEndian.PutUint64(b[:], s.floatBits(8))
	default:
		binary.LittleEndian.PutUint64(b[:], s.bits)
	}
	copy(dst, b[:])
	return nil
}
