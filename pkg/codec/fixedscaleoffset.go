package codec

import (
	"math"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "fixedscaleoffset" of numcodecs: (x - offset) * scale, rounded to even,
// as another type. It reckons as NumPy does: integers with integers wrap, floats
// keep their precision, everything else is done in 8 bytes.
var _ = define(Definition{ID: "fixedscaleoffset", kind: elementwise, new: func(c *conf) (Codec, error) {
	f := &scaleOffset{codec: c.name, conf: c.Object.Clone(), round: true}
	f.offset, f.intOffset = c.number("offset", 0)
	f.scale, f.intScale = c.number("scale", 1)
	var err error
	f.dtype, f.astype, err = types(c, "dtype", "astype")
	if _, ok := c.Get("scale"); err == nil && (!ok || f.scale == 0) {
		c.fail("scale", "a number other than 0")
	}
	return f, err
}})

// scaleOffset is arithmetic on each element.
type scaleOffset struct {
	codec               string
	conf                *Object
	offset, scale       float64
	intOffset, intScale bool
	dtype, astype       ndarray.DType
	round               bool
}

func (f *scaleOffset) Config(Version) (*Object, error) {
	o := f.conf.Clone()
	if o == nil {
		o = members()
	}
	o.Set("astype", pyjson.String(f.astype.String()))
	o.Set("dtype", pyjson.String(f.dtype.String()))
	return o, nil
}

func (f *scaleOffset) Bind(in Form) (Stage, Form, error) {
	if err := complete(f.codec, in, &f.dtype, &f.astype); err != nil {
		return nil, Form{}, err
	}
	in, err := elements(f.codec, in, f.dtype)
	if err != nil {
		return nil, Form{}, err
	}
	s := &scaleOffsetStage{scaleOffset: f}
	s.out, err = in.as(f.astype, s.Encode)
	return s, s.out, err
}

type scaleOffsetStage struct {
	*scaleOffset
	out Form
}

// precision is the size of the floats that reckoning with elements of type d gives.
func precision(d ndarray.DType) int {
	if d.Kind == ndarray.Float {
		return d.Size
	}
	return 8
}

func (s *scaleOffsetStage) Encode(dst *Buffer, src []byte) error {
	size := precision(s.dtype)
	return reckon(dst, s.astype, src, s.dtype, func(n *numbers) error {
		if n.class != floating && s.intOffset && s.intScale {
			for i, w := range n.words {
				n.words[i] = wrapped((w-uint64(int64(s.offset)))*uint64(int64(s.scale)), s.dtype)
			}
			return nil
		}
		n.floats()
		for i := range n.words {
			f := rounded(rounded(n.float(i)-rounded(s.offset, size), size)*rounded(s.scale, size), size)
			if s.round {
				f = math.RoundToEven(f)
			}
			n.words[i] = math.Float64bits(f)
		}
		return nil
	})
}

func (s *scaleOffsetStage) Decode(dst *Buffer, src []byte, _ int64) error {
	size := precision(s.astype)
	return reckon(dst, s.dtype, src, s.astype, func(n *numbers) error {
		n.floats()
		for i := range n.words {
			n.words[i] = math.Float64bits(rounded(rounded(n.float(i)/rounded(s.scale, size), size)+rounded(s.offset, size), size))
		}
		return nil
	})
}

func (s *scaleOffsetStage) sizes() (stored, decoded int) { return s.astype.Size, s.dtype.Size }
