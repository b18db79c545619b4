package codec

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codecs "vlen-utf8" and "vlen-bytes" of Zarr 3 and of numcodecs: the number of
// elements as a little-endian uint32, then each with its length before it.
//
// That is also how every chain has elements of variable length when they are
// decoded.
var (
	_ = define(Definition{Name: "vlen-utf8", ID: "vlen-utf8", kind: serializer, new: func(c *conf) (Codec, error) { return vlen{"vlen-utf8", ndarray.VarString}, nil }})
	_ = define(Definition{Name: "vlen-bytes", ID: "vlen-bytes", kind: serializer, new: func(c *conf) (Codec, error) { return vlen{"vlen-bytes", ndarray.VarBytes}, nil }})
)

// texts is a codec whose elements have variable length: of one kind, or, with
// Invalid, of none.
type texts interface{ elementKind() ndarray.Kind }

// ObjectType tells what the elements of an array of Zarr 2 of the dtype "|O" are,
// which its filters say; not ok when they do not.
func ObjectType(specs []Spec) (d ndarray.DType, ok bool) {
	for _, s := range specs {
		c, err := New(s, V2)
		if err != nil {
			continue
		}
		if t, ok := c.(named).Codec.(texts); ok && t.elementKind() != ndarray.Invalid {
			return ndarray.DType{Kind: t.elementKind()}, true
		}
	}
	return d, false
}

type vlen struct {
	codec string
	kind  ndarray.Kind
}

func (v vlen) elementKind() ndarray.Kind { return v.kind }

// Config is empty, which zarr-python writes out.
func (v vlen) Config(Version) (*Object, error) { return members(), nil }

func (v vlen) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind != v.kind {
		return nil, Form{}, errorf(ErrNotSupported, v.codec, "elements of type %s, expected %s", in.DType, ndarray.DType{Kind: v.kind})
	}
	return &vlenStage{v, in.count()}, opaque(in.Size, false), nil
}

type vlenStage struct {
	vlen
	n int64
}

func (s *vlenStage) Encode(dst *Buffer, src []byte) error { return dst.Append(src) }

// Decode checks the elements. What follows them is left out, as the references do.
func (s *vlenStage) Decode(dst *Buffer, src []byte, limit int64) error {
	body, err := s.view(src, limit)
	if err != nil {
		return err
	}
	return dst.Append(body)
}

// view is Decode without a copy.
func (s *vlenStage) view(src []byte, _ int64) ([]byte, error) {
	if len(src) < 4 {
		return nil, corrupt(s.codec, "the data end too early")
	}
	if n := int64(binary.LittleEndian.Uint32(src)); n != s.n {
		return nil, corruptAt(s.codec, 0, "%d elements, expected %d", n, s.n)
	}
	at := 4
	for range s.n {
		if len(src)-at < 4 {
			return nil, corruptAt(s.codec, at, "the data end too early")
		}
		size := int64(binary.LittleEndian.Uint32(src[at:]))
		if size > int64(len(src)-at-4) {
			return nil, corruptAt(s.codec, at, "an element of %d bytes, but there are %d", size, len(src)-at-4)
		}
		if s.kind == ndarray.VarString && !utf8.Valid(src[at+4:at+4+int(size)]) {
			return nil, corruptAt(s.codec, at+4, "an element that is not UTF-8")
		}
		at += 4 + int(size)
	}
	return src[:at], nil
}

// element is an element of variable length.
func element(e string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(e))), e...)
}

// appendElement appends an element of variable length.
func appendElement[T string | []byte](dst *Buffer, e T) error {
	out, err := dst.Extend(4 + len(e))
	if err == nil {
		binary.LittleEndian.PutUint32(out, uint32(len(e)))
		copy(out[4:], e)
	}
	return err
}

// appendCount appends the number of elements, which goes before them.
func appendCount(dst *Buffer, n int64) error {
	out, err := dst.Extend(4)
	if err == nil {
		binary.LittleEndian.PutUint32(out, uint32(n))
	}
	return err
}

// eachElement calls fn for the elements that a chain decoded.
func eachElement(src []byte, fn func(e []byte) error) error {
	if len(src) < 4 {
		return nil
	}
	for src = src[4:]; len(src) >= 4; {
		n := int(binary.LittleEndian.Uint32(src))
		if err := fn(src[4 : 4+n]); err != nil {
			return err
		}
		src = src[4+n:]
	}
	return nil
}
