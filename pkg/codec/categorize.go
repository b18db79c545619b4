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
			s.texts = append(s.texts, element(label))
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

func (s *categorizeStage) Encode(dst *Buffer, src []byte) error {
	put := func(e []byte) error {
		k := slices.IndexFunc(s.texts[1:], func(t []byte) bool { return string(t) == string(e) }) + 1
		out, err := dst.Extend(s.astype.Size)
		if err == nil {
			atom.PutWord(out, &s.astype, uint64(k))
		}
		return err
	}
	if s.in.DType.IsVar() {
		var whole []byte
		return eachElement(src, func(e []byte) error {
			whole = append(binary.LittleEndian.AppendUint32(whole[:0], uint32(len(e))), e...)
			return put(whole)
		})
	}
	for size := s.in.DType.Size; len(src) > 0; src = src[size:] {
		if err := put(src[:size]); err != nil {
			return err
		}
	}
	return nil
}

func (s *categorizeStage) Decode(dst *Buffer, src []byte, limit int64) error {
	if err := s.out.expect("categorize", src); err != nil {
		return err
	}
	at := len(dst.B)
	if s.in.DType.IsVar() {
		if err := appendCount(dst, s.in.count()); err != nil {
			return err
		}
	}
	return eachNumber(s.astype, src, func(n *numbers) error {
		for _, k := range n.words {
			if k >= uint64(len(s.texts)) {
				k = 0
			}
			if err := dst.Append(s.texts[k]); err != nil {
				return err
			}
			if int64(len(dst.B)-at) > limit {
				return tooMuch("categorize", limit)
			}
		}
		return nil
	})
}
