package codec

import (
	"encoding/binary"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "json2" of numcodecs: a JSON list of the elements, nested as the chunk's
// shape is, then its dtype and its shape. Here the elements are texts.
var _ = define(Definition{ID: "json2", kind: serializer, new: func(c *conf) (Codec, error) {
	c.word("encoding", "utf-8", "utf-8", "utf8", "ascii")
	for _, option := range [...]string{"skipkeys", "ensure_ascii", "check_circular", "allow_nan", "sort_keys", "strict"} {
		c.flag(option, true)
	}
	c.integer("indent", 0, 0, 100)
	c.get("separators")
	return json2{c.Object.Clone()}, nil
}})

type json2 struct{ conf *Object }

func (json2) elementKind() ndarray.Kind { return ndarray.VarString }

func (z json2) Config(Version) (*Object, error) { return z.conf, nil }

func (z json2) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind != ndarray.VarString {
		return nil, Form{}, errorf(ErrNotSupported, "json2", "elements of type %s, expected str", in.DType)
	}
	return &objectList{"json2", in, encodeJSON, decodeJSON}, opaque(in.Size, false), nil
}

// objectList is a Stage of codecs that store a list of the elements with its dtype
// and its shape. encode and decode change between that list and bytes.
type objectList struct {
	codec  string
	in     Form
	encode func(dst []byte, list Value) ([]byte, error)
	decode func(src []byte) (Value, error)
}

func encodeJSON(dst []byte, list Value) ([]byte, error) { return pyjson.Append(dst, list), nil }

func decodeJSON(src []byte) (Value, error) {
	return pyjson.Parse(src, pyjson.Limits{MaxBytes: maxVar, MaxDepth: 200})
}

func (s *objectList) Encode(dst, src []byte) ([]byte, error) {
	items := make([]Value, 0, s.in.count())
	err := eachElement(src, func(e []byte) error {
		items = append(items, pyjson.String(string(e)))
		return nil
	})
	if err != nil {
		return dst, err
	}
	for axis := len(s.in.Shape) - 1; axis > 0; axis-- {
		n := int(s.in.Shape[axis])
		var rows []Value
		for len(items) > 0 {
			rows, items = append(rows, pyjson.List(items[:n]...)), items[n:]
		}
		items = rows
	}
	shape := make([]Value, len(s.in.Shape))
	for i, n := range s.in.Shape {
		shape[i] = pyjson.Int(n)
	}
	items = append(items, pyjson.String("|O"), pyjson.List(shape...))
	return s.encode(dst, pyjson.List(items...))
}

func (s *objectList) Decode(dst, src []byte, limit int64) ([]byte, error) {
	list, err := s.decode(src)
	if err != nil {
		return dst, corrupt(s.codec, "%v", err)
	}
	items := list.Items()
	if len(items) < 2 {
		return dst, corrupt(s.codec, "expected a list of elements, a dtype and a shape, found %s", short(list))
	}
	shape := items[len(items)-1]
	if n, ok := extents(shape); !ok || !sameCount(n, s.in.count()) {
		return dst, corrupt(s.codec, "a chunk of shape %s, expected %v", short(shape), s.in.Shape)
	}
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.in.count()))
	n := int64(0)
	if dst, err = s.flatten(dst, items[:len(items)-2], &n); err != nil {
		return dst[:at], err
	}
	if n != s.in.count() {
		return dst[:at], corrupt(s.codec, "%d elements, expected %d", n, s.in.count())
	}
	if int64(len(dst)-at) > limit {
		return dst[:at], corrupt(s.codec, "decodes to more than %d bytes", limit)
	}
	return dst, nil
}

// flatten appends the texts in nested lists, and counts them.
func (s *objectList) flatten(dst []byte, items []Value, n *int64) (_ []byte, err error) {
	for _, item := range items {
		text, ok := item.Str()
		switch {
		case item.Kind() == pyjson.KindList:
			if dst, err = s.flatten(dst, item.Items(), n); err != nil {
				return dst, err
			}
			continue
		case !ok && item.Kind() != pyjson.KindNull:
			return dst, errorf(ErrNotSupported, s.codec, "expected texts, found the element %s", short(item))
		}
		dst = appendElement(dst, text)
		*n++
	}
	return dst, nil
}

// extents is a list of integers.
func extents(v Value) (shape []int64, ok bool) {
	for _, item := range v.Items() {
		n, ok := item.Int64()
		if !ok || n < 0 {
			return nil, false
		}
		shape = append(shape, n)
	}
	return shape, v.Kind() == pyjson.KindList
}

func sameCount(shape []int64, n int64) bool {
	have, err := ndarray.Count(shape)
	return err == nil && have == n
}
