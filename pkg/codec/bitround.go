package codec

import (
	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "bitround" of numcodecs and of Zarr 3: floats of which so many bits of
// the mantissa are kept, rounded to the nearest, ties to even. Decoding changes
// nothing.
var _ = define(Definition{Name: "bitround", ID: "bitround", kind: elementwise, new: func(c *conf) (Codec, error) {
	if _, ok := c.Get("keepbits"); !ok {
		c.fail("keepbits", "an integer")
	}
	return bitround(c.integer("keepbits", 0, 0, 52)), nil
}})

type bitround int

func (b bitround) Config(Version) (*Object, error) { return members("keepbits", int(b)), nil }

// mantissa is the number of bits of the mantissa of floats of 2, 4 and 8 bytes.
var mantissa = map[int]int{2: 10, 4: 23, 8: 52}

func (b bitround) Bind(in Form) (Stage, Form, error) {
	bits := mantissa[in.DType.Size]
	if in.DType.Kind != ndarray.Float || bits == 0 {
		return nil, Form{}, errorf(ErrNotSupported, "bitround", "elements of type %s, expected floats of at most 8 bytes", in.DType)
	}
	if int(b) > bits {
		return nil, Form{}, errorf(ErrConfig, "bitround", "keepbits: expected at most %d, found %d", bits, int(b))
	}
	s := &bitroundStage{in.DType, bits - int(b)}
	out, err := in.as(in.DType, s.Encode)
	return s, out, err
}

type bitroundStage struct {
	dtype ndarray.DType
	drop  int // bits
}

func (s *bitroundStage) Encode(dst *Buffer, src []byte) error {
	d := ndarray.DType{Kind: ndarray.Uint, Order: s.dtype.Order, Size: s.dtype.Size}
	out, err := dst.Extend(len(src))
	if copy(out, src); err != nil || s.drop == 0 {
		return err
	}
	half := uint64(1)<<(s.drop-1) - 1
	for p := out; len(p) > 0; p = p[d.Size:] {
		w, _ := atom.Word(p[:d.Size], &d)
		w += w>>s.drop&1 + half
		atom.PutWord(p[:d.Size], &d, w>>s.drop<<s.drop)
	}
	return nil
}

func (s *bitroundStage) Decode(dst *Buffer, src []byte, _ int64) error { return dst.Append(src) }

// view is Decode without a copy.
func (s *bitroundStage) view(src []byte, _ int64) ([]byte, error) { return src, nil }
