package codec

import (
	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "packbits" of Zarr 3: bits first_bit to last_bit of each element, one
// element after the other, the lowest bit first; a byte before or behind can tell
// the number of bits that fill the last byte. Signed integers get their sign from
// last_bit. Source: its page in the registry of extensions.
var _ = define(Definition{Name: "packbits", kind: serializer, new: func(c *conf) (Codec, error) {
	p := &packbits{conf: c.Object.Clone(), padding: c.word("padding_encoding", "none", "none", "first_byte", "last_byte")}
	p.first = int(c.integer("first_bit", 0, 0, 63))
	p.last = int(c.integer("last_bit", -1, 0, 63))
	return p, nil
}})

type packbits struct {
	conf        *Object
	padding     string
	first, last int // last -1: of the elements
}

func (p *packbits) Config(Version) (*Object, error) { return p.conf, nil }

func (p *packbits) Bind(in Form) (Stage, Form, error) {
	bits := in.Bits
	switch kind := in.DType.Kind; {
	case kind == ndarray.Bool:
		bits = 1
	case kind != ndarray.Int && kind != ndarray.Uint || in.DType.Size > 8:
		return nil, Form{}, errorf(ErrNotSupported, "packbits", "elements of type %s, expected integers or truth values", in.DType)
	case bits == 0:
		bits = 8 * in.DType.Size
	}
	s := &packbitsStage{in: in, first: p.first, last: p.last, padding: p.padding}
	if s.last < 0 {
		s.last = bits - 1
	}
	if s.first > s.last || s.last >= bits {
		return nil, Form{}, errorf(ErrConfig, "packbits", "expected bits within 0 to %d, found %d to %d", bits-1, s.first, s.last)
	}
	s.body = (in.count()*int64(s.last-s.first+1) + 7) / 8
	return s, opaque(s.stored(), true), nil
}

type packbitsStage struct {
	in          Form
	first, last int
	padding     string
	body        int64 // bytes of bits
}

func (s *packbitsStage) fillBits() byte {
	return byte(s.body*8 - s.in.count()*int64(s.last-s.first+1))
}

func (s *packbitsStage) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(int(s.stored()))
	if err != nil {
		return err
	}
	clear(out)
	switch s.padding {
	case "first_byte":
		out[0], out = s.fillBits(), out[1:]
	case "last_byte":
		out[s.body] = s.fillBits()
	}
	size, width, bit := s.in.DType.Size, s.last-s.first+1, 0
	for ; len(src) > 0; src = src[size:] {
		w := s.word(src[:size]) >> s.first
		for i := range width {
			out[bit>>3] |= byte(w>>i&1) << (bit & 7)
			bit++
		}
	}
	return nil
}

// stored is how many bytes there are, with that of the padding.
func (s *packbitsStage) stored() int64 {
	if s.padding != "none" {
		return s.body + 1
	}
	return s.body
}

// word is an element.
func (s *packbitsStage) word(p []byte) uint64 {
	if s.in.DType.Kind == ndarray.Bool {
		return uint64(min(p[0], 1))
	}
	d := s.in.DType
	d.Kind = ndarray.Uint
	w, _ := atom.Word(p, &d)
	return w
}

func (s *packbitsStage) Decode(dst *Buffer, src []byte, _ int64) error {
	if int64(len(src)) != s.stored() {
		return corrupt("packbits", "%d bytes, expected %d", len(src), s.stored())
	}
	padding := s.fillBits()
	switch s.padding {
	case "first_byte":
		padding, src = src[0], src[1:]
	case "last_byte":
		padding, src = src[s.body], src[:s.body]
	}
	if padding != s.fillBits() {
		return corrupt("packbits", "%d bits of padding, expected %d", padding, s.fillBits())
	}
	size, width, bit := s.in.DType.Size, s.last-s.first+1, 0
	out, err := dst.Extend(int(s.in.Size))
	shift := 63 - s.last
	for p := out; len(p) > 0; p = p[size:] {
		var w uint64
		for i := range width {
			w |= uint64(src[bit>>3]>>(bit&7)&1) << i
			bit++
		}
		if w <<= s.first; s.in.DType.Kind == ndarray.Int {
			w = uint64(int64(w<<shift) >> shift)
		}
		atom.PutWord(p[:size], &s.in.DType, w)
	}
	return err
}
