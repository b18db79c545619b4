package codec

import (
	"math"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "scale_offset" of Zarr 3: (x - offset) * scale in the type of the
// elements. Source: its page in the registry of extensions.
var _ = define(Definition{Name: "scale_offset", kind: elementwise, new: func(c *conf) (Codec, error) {
	s := &scaleOffset3{conf: c.Object.Clone()}
	s.offset, s.intOffset = c.number("offset", 0)
	s.scale, s.intScale = c.number("scale", 1)
	if s.scale == 0 {
		c.fail("scale", "a number other than 0")
	}
	return s, nil
}})

type scaleOffset3 struct {
	conf                *Object
	offset, scale       float64
	intOffset, intScale bool
}

func (f *scaleOffset3) Config(Version) (*Object, error) { return f.conf, nil }

func (f *scaleOffset3) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind == ndarray.Bool {
		return nil, Form{}, errorf(ErrNotSupported, "scale_offset", "truth values")
	}
	if err := numeric("scale_offset", in.DType); err != nil {
		return nil, Form{}, err
	}
	if c, _ := classOf(in.DType); c != floating && (!f.intOffset || !f.intScale) {
		return nil, Form{}, errorf(ErrConfig, "scale_offset", "expected integers for elements of type %s", in.DType)
	}
	s := &scaleOffset3Stage{f, in.DType}
	out, err := in.as(in.DType, s.Encode)
	return s, out, err
}

type scaleOffset3Stage struct {
	*scaleOffset3
	dtype ndarray.DType
}

func (s *scaleOffset3Stage) Encode(dst *Buffer, src []byte) error {
	return reckon(dst, s.dtype, src, s.dtype, func(n *numbers) error {
		for i, w := range n.words {
			if n.class == floating {
				f := rounded(n.float(i)-rounded(s.offset, s.dtype.Size), s.dtype.Size)
				n.words[i] = math.Float64bits(rounded(f*rounded(s.scale, s.dtype.Size), s.dtype.Size))
			} else {
				n.words[i] = wrapped((w-uint64(int64(s.offset)))*uint64(int64(s.scale)), s.dtype)
			}
		}
		return nil
	})
}

func (s *scaleOffset3Stage) Decode(dst *Buffer, src []byte, _ int64) error {
	return reckon(dst, s.dtype, src, s.dtype, func(n *numbers) error {
		for i, w := range n.words {
			switch n.class {
			case floating:
				f := rounded(n.float(i)/rounded(s.scale, s.dtype.Size), s.dtype.Size)
				n.words[i] = math.Float64bits(rounded(f+rounded(s.offset, s.dtype.Size), s.dtype.Size))
			case signed:
				n.words[i] = wrapped(uint64(int64(w)/int64(s.scale)+int64(s.offset)), s.dtype)
			case unsigned:
				n.words[i] = wrapped(w/uint64(int64(s.scale))+uint64(int64(s.offset)), s.dtype)
			}
		}
		return nil
	})
}

func (s *scaleOffset3Stage) sizes() (stored, decoded int) { return s.dtype.Size, s.dtype.Size }
