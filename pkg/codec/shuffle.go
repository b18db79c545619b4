package codec

import "math"

// The codec "shuffle" of numcodecs: the first bytes of all elements, then the second
// ones, and so on, of all the data at once.
var _ = define(Definition{ID: "shuffle", kind: bytewise, new: func(c *conf) (Codec, error) {
	return &shuffleCodec{int(c.integer("elementsize", 0, 1, math.MaxInt32))}, nil
}})

// shuffleCodec has the size of an element; 0 before Bind is that of what it is given.
type shuffleCodec struct{ size int }

func (s *shuffleCodec) Config(Version) (*Object, error) { return members("elementsize", s.size), nil }

func (s *shuffleCodec) Bind(in Form) (Stage, Form, error) {
	if s.size == 0 {
		s.size = in.Item
	}
	if !in.Exact || in.Size%int64(s.size) != 0 {
		return nil, Form{}, errorf(ErrNotSupported, "shuffle", "data of %d bytes, expected a multiple of the elementsize %d", in.Size, s.size)
	}
	return s, opaque(in.Size, true), nil
}

func (s *shuffleCodec) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(len(src))
	if err != nil {
		return err
	}
	size, n := s.size, len(src)/s.size
	for j := range size {
		plane := out[j*n : (j+1)*n]
		for i := range plane {
			plane[i] = src[i*size+j]
		}
	}
	return nil
}

func (s *shuffleCodec) Decode(dst *Buffer, src []byte, limit int64) error {
	size := s.size
	if int64(len(src)) > limit || len(src)%size != 0 {
		return corrupt("shuffle", "%d bytes, expected %d", len(src), limit)
	}
	out, err := dst.Extend(len(src))
	if err != nil {
		return err
	}
	n := len(src) / size
	for j := range size {
		for i, b := range src[j*n : (j+1)*n] {
			out[i*size+j] = b
		}
	}
	return nil
}
