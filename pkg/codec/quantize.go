package codec

import (
	"math"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "quantize" of numcodecs: floats of which so many decimal digits behind
// the point are kept, by rounding to a power of two. Decoding only changes the type.
var _ = define(Definition{ID: "quantize", kind: elementwise, new: func(c *conf) (Codec, error) {
	q := &quantize{digits: c.integer("digits", 0, -300, 300)}
	var err error
	q.dtype, q.astype, err = types(c, "dtype", "astype")
	if _, ok := c.Get("digits"); !ok {
		c.fail("digits", "an integer")
	}
	if err == nil && q.dtype.Size > 0 && (q.dtype.Kind != ndarray.Float || q.astype.Kind != ndarray.Float) {
		c.fail("dtype", "floats")
	}
	return q, err
}})

type quantize struct {
	digits        int64
	dtype, astype ndarray.DType
}

func (q *quantize) Config(Version) (*Object, error) {
	return members(append([]any{"digits", pyjson.Int(q.digits)}, typesConf(q.dtype, q.astype)...)...), nil
}

func (q *quantize) Bind(in Form) (Stage, Form, error) {
	if err := complete("quantize", in, &q.dtype, &q.astype); err != nil {
		return nil, Form{}, err
	}
	in, err := elements("quantize", in, q.dtype)
	if err != nil {
		return nil, Form{}, err
	}
	s := &quantizeStage{quantize: q}
	s.out, err = in.as(q.astype, s.Encode)
	return s, s.out, err
}

type quantizeStage struct {
	*quantize
	out Form
}

func (s *quantizeStage) Encode(dst *Buffer, src []byte) error {
	exp := math.Log10(math.Pow(10, -float64(s.digits)))
	if exp = math.Floor(exp); exp >= 0 {
		exp = math.Ceil(exp)
	}
	scale := math.Pow(2, math.Ceil(math.Log2(math.Pow(10, -exp))))
	size := s.dtype.Size
	return reckon(dst, s.astype, src, s.dtype, func(n *numbers) error {
		for i := range n.words {
			f := math.RoundToEven(rounded(rounded(scale, size)*n.float(i), size))
			n.words[i] = math.Float64bits(rounded(f/rounded(scale, size), size))
		}
		return nil
	})
}

func (s *quantizeStage) Decode(dst *Buffer, src []byte, _ int64) error {
	return reckon(dst, s.dtype, src, s.astype, nil)
}

func (s *quantizeStage) sizes() (stored, decoded int) { return s.astype.Size, s.dtype.Size }
