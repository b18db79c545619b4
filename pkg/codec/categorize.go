package codec

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "categorize" of numcodecs: texts of a list, each as its number in it from
// 1 on; 0 is the empty text and stands for all that is not in the list.
var _ = define(Definition{ID: "categorize", kind: elementwise, new: func(c *conf) (Codec, error) {
	z := &categorize{conf: c.Object.Clone(), astype: c.dtype("astype", ndarray.DType{Kind: ndarray.Uint, Size: 1})}
	v, _ := c.get("labels")
	for _, item := range v.Items() {
		s, ok := item.Str()
		if !ok {
			c.fail("labels", "a list of texts")
		}
		z.labels = append(z.labels, s)
	}
	if v.Kind() != pyjson.KindList {
		c.fail("labels", "a list of texts")
	}
	name, _ := c.get("dtype")
	if s, _ := name.Str(); s == "|O" || s == "O" || s == "object" {
		z.dtype.Kind = ndarray.VarString
	} else if z.dtype = c.dtype("dtype", z.dtype); z.dtype.Kind != ndarray.Unicode {
		c.fail("dtype", `"|O" or a type of texts`)
	}
	if z.astype.Kind != ndarray.Uint && z.astype.Kind != ndarray.Int || z.astype.Size > 8 {
		c.fail("astype", "a type of integers")
	}
	return z, nil
}})

type categorize struct {
	conf          *Object
	labels        []string
	dtype, astype ndarray.DType
}

func (z *categorize) elementKind() ndarray.Kind {
	if z.dtype.Kind == ndarray.VarString {
		return z.dtype.Kind
	}
	return ndarray.Invalid
}

func (z *categorize) Config(Version) (*Object, error) { return z.conf, nil }

func (z *categorize) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind != z.dtype.Kind || in.DType.Kind == ndarray.Unicode && in.DType.Size != z.dtype.Size {
		return nil, Form{}, errorf(ErrNotSupported, "categorize", "elements of type %s, expected %s", in.DType, z.dtype)
	}
	out, err := Elements(z.astype, in.Shape, nil)
	if err != nil {
		return nil, Form{}, err
	}
	s := &categorizeStage{z, in, out, nil}
	// Each label as it is decoded: with its length, or padded.
	for _, label := range append([]string{""}, z.labels...) {
		if in.DType.IsVar() {
			s.texts = append(s.texts, appendElement(nil, label))
			continue
		}
		p := make([]byte, in.DType.Size)
		if utf8.RuneCountInString(label)*4 > len(p) {
			return nil, Form{}, errorf(ErrConfig, "categorize", "labels: %q is longer than %s holds", label, in.DType)
		}
		at := 0
		for _, r := range label {
			atom.PutWord(p[at:at+4], &ndarray.DType{Kind: ndarray.Uint, Order: in.DType.Order, Size: 4}, uint64(r))
			at += 4
		}
		s.texts = append(s.texts, p)
	}
	return s, out, nil
}

type categorizeStage struct {
	*categorize
	in, out Form
	texts   [][]byte
}

func (s *categorizeStage) Encode(dst, src []byte) ([]byte, error) {
	put := func(e []byte) error {
		k := slices.IndexFunc(s.texts[1:], func(t []byte) bool { return string(t) == string(e) }) + 1
		at := len(dst)
		dst = grow(dst, s.astype.Size)
		atom.PutWord(dst[at:], &s.astype, uint64(k))
		return nil
	}
	if s.in.DType.IsVar() {
		return dst, eachElement(src, func(e []byte) error { return put(appendElement(nil, e)) })
	}
	for size := s.in.DType.Size; len(src) > 0; src = src[size:] {
		if err := put(src[:size]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (s *categorizeStage) Decode(dst, src []byte, limit int64) ([]byte, error) {
	if err := s.out.expect("categorize", src); err != nil {
		return dst, err
	}
	at := len(dst)
	if s.in.DType.IsVar() {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.in.count()))
	}
	for _, k := range load(s.astype, src).words {
		if k >= uint64(len(s.texts)) {
			k = 0
		}
		dst = append(dst, s.texts[k]...)
		if int64(len(dst)-at) > limit {
			return dst, corrupt("categorize", "decodes to more than %d bytes", limit)
		}
	}
	return dst, nil
}
