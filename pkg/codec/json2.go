package codec

import (
	"cmp"
	"errors"

	"github.com/ndfile/ndfile/pkg/internal/mem"
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
// and its shape. encode makes bytes of that list; decode calls text for the texts in
// it and its lists, in order, as many as there should be, and gives the shape.
type objectList struct {
	codec  string
	in     Form
	encode func(dst []byte, list Value) ([]byte, error)
	decode func(src []byte, count int64, text func(e []byte) error) (shape []int64, err error)
}

func encodeJSON(dst []byte, list Value) ([]byte, error) { return pyjson.Append(dst, list), nil }

// decodeJSON goes through the text once, without a value for each element.
func decodeJSON(src []byte, count int64, text func(e []byte) error) (shape []int64, err error) {
	in := &pyjson.Scanner{Data: src}
	var list func(depth int, top bool) error
	var plain []byte
	list = func(depth int, top bool) error {
		if err := in.EnterArray(); err != nil {
			return err
		}
		afterText := false
		for first := true; ; first = false {
			if more, err := in.NextItem(first); !more || err != nil {
				return err
			}
			c, err := in.Peek()
			switch {
			case err != nil:
				return err
			case top && count == 0: // what is left is the dtype and the shape
				if _, err := in.Skip(); err != nil {
					return err
				}
				if _, err := in.NextItem(false); err != nil {
					return err
				}
				v, err := in.Value(pyjson.Limits{})
				if err != nil {
					return err
				}
				var ok bool
				if shape, ok = extents(v); !ok {
					return errJSON
				}
				if more, err := in.NextItem(false); more || err != nil {
					return cmp.Or(err, errJSON)
				}
				return nil
			case c == '[' && depth < maxListDepth:
				err := list(depth+1, false)
				if afterText && errors.Is(err, errNotTexts) {
					err = errJSON // it is the shape, and the text was the dtype
				}
				if err != nil {
					return err
				}
				afterText = false
				continue
			case c == '"':
				raw, isPlain, err := in.RawString()
				if err != nil {
					return err
				}
				if plain = raw; !isPlain {
					t, err := pyjson.Unquote(raw)
					if err != nil {
						return err
					}
					plain = []byte(t)
				}
			case c == 'n':
				if err := in.Null(); err != nil {
					return err
				}
				plain = nil
			default:
				return errNotTexts
			}
			if count--; count < 0 {
				return errJSON
			}
			afterText = true
			if err := text(plain); err != nil {
				return err
			}
		}
	}
	if err := list(0, true); err != nil {
		return nil, err
	}
	return shape, in.End()
}

// maxListDepth is how deep lists of elements are nested, at most.
const maxListDepth = 100

var (
	errJSON     = errors.New("expected a list of elements, a dtype and a shape")
	errNotTexts = errors.New("expected texts")
)

func (s *objectList) Encode(dst *Buffer, src []byte) error {
	// Values take more than the bytes that they stand for.
	if err := mem.Look(int(s.in.count())*48 + 4*len(src)); err != nil {
		return err
	}
	items := make([]Value, 0, s.in.count())
	err := eachElement(src, func(e []byte) error {
		items = append(items, pyjson.String(string(e)))
		return nil
	})
	if err != nil {
		return err
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
	text, err := s.encode(nil, pyjson.List(items...))
	if err != nil {
		return err
	}
	return dst.Append(text)
}

func (s *objectList) Decode(dst *Buffer, src []byte, limit int64) error {
	at := len(dst.B)
	if err := appendCount(dst, s.in.count()); err != nil {
		return err
	}
	n := int64(0)
	shape, err := s.decode(src, s.in.count(), func(e []byte) error {
		if n++; int64(len(dst.B)-at+len(e)) > limit {
			return tooMuch(s.codec, limit)
		}
		return appendElement(dst, e)
	})
	switch {
	case errors.Is(err, errNotTexts):
		return errorf(ErrNotSupported, s.codec, "expected texts, found other elements")
	case err != nil:
		return streamError(s.codec, err)
	case n != s.in.count():
		return corrupt(s.codec, "%d elements, expected %d", n, s.in.count())
	case !sameCount(shape, s.in.count()):
		return corrupt(s.codec, "a chunk of shape %v, expected %v", shape, s.in.Shape)
	}
	return nil
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
