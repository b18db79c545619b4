package codec

import (
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "bytes" of Zarr 3: the elements one after the other, the last axis
// fastest, in one byte order. Source: the core specification of Zarr 3. "endian" is
// what drafts called it.
var _ = define(Definition{Name: "bytes", Also: []string{"endian"}, kind: serializer, new: func(c *conf) (Codec, error) {
	b := &toBytes{}
	switch c.word("endian", "", "little", "big") {
	case "little":
		b.order = ndarray.Little
	case "big":
		b.order = ndarray.Big
	}
	return b, nil
}})

type toBytes struct{ order ndarray.Order }

func (b *toBytes) byteOrder() ndarray.Order {
	if b.order == ndarray.NoOrder {
		return ndarray.Little
	}
	return b.order
}

func (b *toBytes) Config(Version) (*Object, error) {
	switch b.order {
	case ndarray.Little:
		return members("endian", "little"), nil
	case ndarray.Big:
		return members("endian", "big"), nil
	}
	return nil, nil
}

func (b *toBytes) Bind(in Form) (Stage, Form, error) {
	if in.DType.IsVar() {
		return nil, Form{}, errorf(ErrNotSupported, "bytes", "elements of type %s have no fixed size; expected a codec as vlen-utf8", in.DType)
	}
	stored := in.DType.WithOrder(b.order)
	// Records without a byte order are little endian, as zarr-python 3.1 has them.
	if b.order == ndarray.NoOrder {
		if in.DType.Kind != ndarray.Record && hasOrder(in.DType) {
			return nil, Form{}, errorf(ErrConfig, "bytes", `elements of type %s need an "endian"`, in.DType)
		}
		stored = in.DType.WithOrder(ndarray.Little)
	}
	out := opaque(in.Size, true)
	out.Item = in.Item
	if in.Bits > 0 && in.Bits < 8*in.DType.Size {
		if in.DType.Size > 1 {
			return nil, Form{}, errorf(ErrNotSupported, "bytes", "elements of %d bits in %d bytes", in.Bits, in.DType.Size)
		}
		return &lowBits{in.Bits, in.DType.Kind == ndarray.Int}, out, nil
	}
	if stored.Equal(in.DType) {
		return nil, out, nil
	}
	return swapStage{in.DType}, out, nil
}

// hasOrder tells whether anything in an element has a byte order.
func hasOrder(d ndarray.DType) bool {
	return !d.WithOrder(ndarray.Little).Equal(d.WithOrder(ndarray.Big))
}

// lowBits keeps the low bits of single bytes: the others are stored as 0 and mean
// nothing, but for the sign of what is read.
type lowBits struct {
	n      int
	signed bool
}

func (s *lowBits) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(len(src))
	for i := range out {
		out[i] = src[i] & (1<<s.n - 1)
	}
	return err
}

func (s *lowBits) Decode(dst *Buffer, src []byte, _ int64) error {
	out, err := dst.Extend(len(src))
	shift := 8 - s.n
	for i := range out {
		if b := src[i] << shift; s.signed {
			out[i] = byte(int8(b) >> shift)
		} else {
			out[i] = b >> shift
		}
	}
	return err
}

func (s *lowBits) sizes() (stored, decoded int) { return 1, 1 }

// swapStage changes the byte order.
type swapStage struct{ dtype ndarray.DType }

func (s swapStage) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(len(src))
	if err == nil {
		copy(out, src)
		ndarray.SwapBytes(out, s.dtype)
	}
	return err
}

func (s swapStage) Decode(dst *Buffer, src []byte, _ int64) error { return s.Encode(dst, src) }

func (s swapStage) sizes() (stored, decoded int) { return s.dtype.Size, s.dtype.Size }
