package codec

import "github.com/ndfile/ndfile/pkg/ndarray"

// The codec "packbits" of numcodecs, which is not that of Zarr 3: truth values as
// numpy.packbits has them, the highest bit first, behind a byte with the number of
// bits that fill the last byte.
var _ = define(Definition{ID: "packbits", kind: elementwise, new: func(c *conf) (Codec, error) { return packbits2{}, nil }})

type packbits2 struct{}

func (packbits2) Config(Version) (*Object, error) { return nil, nil }

func (packbits2) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind != ndarray.Bool && !(in.isBytes() && in.Exact) {
		return nil, Form{}, errorf(ErrNotSupported, "packbits", "elements of type %s, expected truth values", in.DType)
	}
	size := 1 + (in.Size+7)/8
	out := Form{DType: ndarray.DType{Kind: ndarray.Uint, Size: 1}, Shape: []int64{size}, Size: size, Exact: true}
	return &packbits2Stage{in.Size}, out, nil
}

type packbits2Stage struct{ n int64 }

func (s *packbits2Stage) padding() byte { return byte(-s.n & 7) }

func (s *packbits2Stage) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(1 + (len(src)+7)/8)
	if err != nil {
		return err
	}
	out[0], out = s.padding(), out[1:]
	for len(src) > 0 {
		var b byte
		for i, v := range src[:min(8, len(src))] {
			b |= min(v, 1) << (7 - i)
		}
		out[0], out, src = b, out[1:], src[min(8, len(src)):]
	}
	return nil
}

func (s *packbits2Stage) Decode(dst *Buffer, src []byte, _ int64) error {
	if int64(len(src)) != 1+(s.n+7)/8 {
		return corrupt("packbits", "%d bytes, expected %d", len(src), 1+(s.n+7)/8)
	}
	if src[0] != s.padding() {
		return corruptAt("packbits", 0, "%d bits of padding, expected %d", src[0], s.padding())
	}
	out, err := dst.Extend(int(s.n))
	for i := range out {
		out[i] = src[1+i>>3] >> (7 - i&7) & 1
	}
	return err
}
