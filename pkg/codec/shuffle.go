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

func (s *shuffleCodec) Encode(dst, src []byte) ([]byte, error) {
	at, size := len(dst), s.size
	dst = grow(dst, len(src))
	n := len(src) / size
	for j := range size {
		out := dst[at+j*n : at+(j+1)*n]
		for i := range out {
			out[i] = src[i*size+j]
		}
	}
	return dst, nil
}

func (s *shuffleCodec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	size := s.size
	if int64(len(src)) > limit || len(src)%size != 0 {
		return dst, corrupt("shuffle", "%d bytes, expected %d", len(src), limit)
	}
	at := len(dst)
	dst = grow(dst, len(src))
	n := len(src) / size
	for j := range size {
		for i, b := range src[j*n : (j+1)*n] {
			dst[at+i*size+j] = b
		}
	}
	return dst, nil
}
