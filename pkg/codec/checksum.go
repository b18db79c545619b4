package codec

import (
	"encoding/binary"
)

// checksummed is a codec that puts a checksum of 4 bytes, little endian, before or
// behind the bytes.
type checksummed struct {
	codec string
	sum   func(p []byte) uint32
	start bool
	conf  *Object // what Config gives
}

func (s *checksummed) Config(Version) (*Object, error) { return s.conf, nil }

func (s *checksummed) Bind(in Form) (Stage, Form, error) {
	if in.DType.IsVar() {
		return nil, Form{}, errorf(ErrNotSupported, s.codec, "elements of variable length")
	}
	return s, opaque(in.Size+4, in.Exact), nil
}

func (s *checksummed) name() string { return s.codec }

func (s *checksummed) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(len(src) + 4)
	if err != nil {
		return err
	}
	at, body := len(src), out
	if s.start {
		at, body = 0, out[4:]
	}
	copy(body, src)
	binary.LittleEndian.PutUint32(out[at:], s.sum(src))
	return nil
}

func (s *checksummed) Decode(dst *Buffer, src []byte, limit int64) error {
	body, err := s.view(src, limit)
	if err != nil {
		return err
	}
	return dst.Append(body)
}

// view is Decode without a copy.
func (s *checksummed) view(src []byte, limit int64) ([]byte, error) {
	if len(src) < 4 {
		return nil, corrupt(s.codec, "the data end before the checksum")
	}
	at, body := len(src)-4, src[:len(src)-4]
	if s.start {
		at, body = 0, src[4:]
	}
	if int64(len(body)) > limit {
		return nil, tooMuch(s.codec, limit)
	}
	if want, have := binary.LittleEndian.Uint32(src[at:]), s.sum(body); want != have {
		return nil, corruptAt(s.codec, at, "the checksum is %08x, but the data have %08x", want, have)
	}
	return body, nil
}

// located makes the codec of a checksum of numcodecs whose place can be chosen. def
// is the place where nobody chose.
func located(c *conf, def string, sum func(p []byte) uint32) (Codec, error) {
	given := c.Object
	s := &checksummed{codec: c.name, sum: sum, start: c.word("location", def, "start", "end") == "start"}
	if _, ok := given.Get("location"); ok {
		s.conf = members("location", map[bool]string{true: "start", false: "end"}[s.start])
	}
	return s, nil
}
