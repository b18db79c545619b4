package codec

import (
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "astype" of numcodecs: elements of one type stored as another, converted
// as a cast of C does it.
var _ = define(Definition{ID: "astype", kind: elementwise, new: func(c *conf) (Codec, error) {
	d, a, err := types(c, "decode_dtype", "encode_dtype")
	if a.Size == 0 {
		if a = c.dtype("encode_dtype", a); a.Size == 0 {
			c.fail("encode_dtype", "a NumPy dtype")
		}
	}
	return &astype{d, a}, err
}})

type astype struct{ decoded, encoded ndarray.DType }

func (a *astype) Config(Version) (*Object, error) {
	return members("decode_dtype", pyjson.String(a.decoded.String()), "encode_dtype", pyjson.String(a.encoded.String())), nil
}

func (a *astype) Bind(in Form) (Stage, Form, error) {
	if err := complete("astype", in, &a.decoded, &a.encoded); err != nil {
		return nil, Form{}, err
	}
	in, err := elements("astype", in, a.decoded)
	if err != nil {
		return nil, Form{}, err
	}
	s := &astypeStage{astype: a}
	s.out, err = in.as(a.encoded, s.Encode)
	return s, s.out, err
}

type astypeStage struct {
	*astype
	out Form
}

func (s *astypeStage) Encode(dst *Buffer, src []byte) error {
	return reckon(dst, s.encoded, src, s.decoded, nil)
}

func (s *astypeStage) Decode(dst *Buffer, src []byte, _ int64) error {
	return reckon(dst, s.decoded, src, s.encoded, nil)
}

func (s *astypeStage) sizes() (stored, decoded int) { return s.encoded.Size, s.decoded.Size }
