package dscmd

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// toValue is a value of PST as one of JSON.
func toValue(v any) ndfile.Value {
	value, err := ndfile.ParseValue(appendJSON(nil, v))
	if err != nil {
		return ndfile.StringValue(scalarText(v)) // JSON that was just made can be read
	}
	return value
}

// appendJSON appends a value of PST as JSON, as Python writes it.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float64:
		return ndfile.AppendJSONValue(dst, ndfile.FloatValue(v))
	case string:
		return ndfile.AppendJSONString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSON(dst, item)
		}
		return append(dst, ']')
	case *object:
		dst = append(dst, '{')
		for i, key := range v.keys {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(ndfile.AppendJSONString(dst, key), ": "...)
			dst = appendJSON(dst, v.values[key])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// fromValue is the reverse of toValue.
func fromValue(v ndfile.Value) any {
	if b, ok := v.Bool(); ok {
		return b
	}
	if s, ok := v.Str(); ok {
		return s
	}
	if o := v.Object(); o != nil {
		return fromAttrs(o)
	}
	if i, ok := v.Int64(); ok && v.IsInt() {
		return i
	}
	if u, ok := v.Uint64(); ok && v.IsInt() {
		return u
	}
	if f, ok := v.Float64(); ok {
		return f
	}
	if items := v.Items(); items != nil || v.Kind().String() == "list" {
		list := []any{}
		for _, item := range items {
			list = append(list, fromValue(item))
		}
		return list
	}
	return nil
}

func fromAttrs(a *ndfile.Attrs) *object {
	o := newObject()
	for i := range a.Len() {
		key, v := a.At(i)
		o.set(key, fromValue(v))
	}
	return o
}

// element is the i-th in row-major order, nil where it is missing.
func (t *data) element(i int64) any {
	if t.mask != nil && t.mask[i] != 0 {
		return nil
	}
	if t.texts != nil {
		return string(t.texts[i])
	}
	size := int64(t.dtype.Size)
	p := t.bytes[i*size : (i+1)*size]
	switch t.dtype.Kind {
	case ndarray.Bool:
		return p[0] != 0
	case ndarray.Int:
		shift := 64 - 8*len(p)
		return int64(bits(p)<<shift) >> shift
	case ndarray.Uint:
		return bits(p)
	case ndarray.Float:
		return float(t.dtype, p)
	case ndarray.Unicode:
		var s strings.Builder
		for ; len(p) > 0; p = p[4:] {
			if c := binary.NativeEndian.Uint32(p); c != 0 {
				s.WriteRune(rune(c))
			}
		}
		return s.String()
	}
	return string(bytes.TrimRight(p, "\x00"))
}

func bits(p []byte) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(p))
	case 4:
		return uint64(binary.NativeEndian.Uint32(p))
	}
	return binary.NativeEndian.Uint64(p)
}

func float(d ndarray.DType, p []byte) float64 {
	var wide [8]byte
	double := ndarray.DType{Kind: ndarray.Float, Size: 8}
	if err := ndarray.CopyRun(wide[:], 8, double.Native(), p, int64(d.Size), d, 1); err != nil {
		return math.NaN()
	}
	return math.Float64frombits(binary.NativeEndian.Uint64(wide[:]))
}

// count is the number of elements.
func (t *data) count() int64 {
	n, _ := ndarray.Count(t.shape) // they are in memory
	return n
}

// nested gives elements from at on as nested lists.
func (t *data) nested(shape []int64, at int64) (v any, next int64) {
	if len(shape) == 0 {
		return t.element(at), at + 1
	}
	items := make([]any, shape[0])
	for i := range items {
		items[i], at = t.nested(shape[1:], at)
	}
	return items, at
}

// take keeps of an axis the indexes that are listed, in their order; with drop the
// axis itself goes.
func (t *data) take(axis int, indexes []int64, drop bool) *data {
	before, after := int64(1), int64(1)
	for i, n := range t.shape {
		if i < axis {
			before *= n
		} else if i > axis {
			after *= n
		}
	}
	made := &data{dtype: t.dtype}
	for i, n := range t.shape {
		if i == axis {
			if n = int64(len(indexes)); drop {
				continue
			}
		}
		made.shape = append(made.shape, n)
	}
	for b := range before {
		for _, i := range indexes {
			at := (b*t.shape[axis] + i) * after
			made.append(t, at, after)
		}
	}
	return made
}

// append appends n elements of u from at on.
func (t *data) append(u *data, at, n int64) {
	size := int64(t.dtype.Size)
	if u.texts != nil {
		t.texts = append(t.texts, u.texts[at:at+n]...)
	} else {
		t.bytes = append(t.bytes, u.bytes[at*size:(at+n)*size]...)
	}
	if u.mask != nil {
		t.mask = append(t.mask, u.mask[at:at+n]...)
	}
}

// item is a variable to be saved.
func (v *variable) item(dims []string, attrs, extra *ndfile.Attrs) ndfile.Item {
	it := ndfile.Item{Name: v.name, Dims: dims, Attrs: attrs, Extra: extra}
	t := v.data
	if t == nil { // no elements
		it.Data = ndarray.Buffer{DType: ndarray.MustParse("<f8").Native(), Shape: make([]int64, max(1, len(dims)))}
		return it
	}
	it.Mask = t.mask
	it.Data = ndarray.Buffer{DType: t.dtype, Shape: t.shape, Data: t.bytes}
	if t.texts == nil {
		return it
	}
	it.Offsets = make([]int64, 1, len(t.texts)+1)
	for i, text := range t.texts {
		if t.mask != nil && t.mask[i] != 0 {
			text = nil
		}
		it.Data.Data = append(it.Data.Data, text...)
		it.Offsets = append(it.Offsets, int64(len(it.Data.Data)))
	}
	return it
}
