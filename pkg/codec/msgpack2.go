package codec

import (
	"encoding/binary"
	"errors"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "msgpack2" of numcodecs: what json2 stores, as MessagePack. Here the
// elements are texts.
var _ = define(Definition{ID: "msgpack2", kind: serializer, new: func(c *conf) (Codec, error) {
	c.flag("use_single_float", false)
	c.flag("use_bin_type", true)
	c.flag("raw", false)
	return msgpack2{c.Object.Clone()}, nil
}})

type msgpack2 struct{ conf *Object }

func (msgpack2) elementKind() ndarray.Kind { return ndarray.VarString }

func (z msgpack2) Config(Version) (*Object, error) { return z.conf, nil }

func (z msgpack2) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind != ndarray.VarString {
		return nil, Form{}, errorf(ErrNotSupported, "msgpack2", "elements of type %s, expected str", in.DType)
	}
	return &objectList{"msgpack2", in, appendMsgpack, decodeMsgpack}, opaque(in.Size, false), nil
}

// appendMsgpack appends texts, integers and lists of them.
func appendMsgpack(dst []byte, v Value) (_ []byte, err error) {
	if s, ok := v.Str(); ok {
		dst = appendHead(dst, len(s), 0xa0, 31, 0xd9, 0xda, 0xdb)
		return append(dst, s...), nil
	}
	if n, ok := v.Int64(); ok {
		if n >= 0 && n < 128 {
			return append(dst, byte(n)), nil
		}
		return binary.BigEndian.AppendUint64(append(dst, 0xd3), uint64(n)), nil
	}
	dst = appendHead(dst, len(v.Items()), 0x90, 15, 0, 0xdc, 0xdd)
	for _, item := range v.Items() {
		if dst, err = appendMsgpack(dst, item); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendHead appends a length, as part of one byte up to most, or behind a byte with
// 1, 2 or 4 bytes; b1 is 0 where there is none of 1.
func appendHead(dst []byte, n int, fix byte, most int, b1, b2, b4 byte) []byte {
	switch {
	case n <= most:
		return append(dst, fix|byte(n))
	case n < 1<<8 && b1 != 0:
		return append(dst, b1, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, b2), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, b4), uint32(n))
}

var errMsgpack = errors.New("expected MessagePack of texts, integers and lists")

// decodeMsgpack is decodeJSON of MessagePack: of nil, texts, byte strings and lists.
func decodeMsgpack(src []byte, count int64, text func(e []byte) error) (shape []int64, err error) {
	p := &msgpack{src}
	isList, n, _, ok := p.head()
	if !ok || !isList {
		return nil, errMsgpack
	}
	var list func(n uint64, depth int, top bool) error
	list = func(n uint64, depth int, top bool) error {
		afterText := false
		for ; n > 0; n-- {
			if top && count == 0 {
				if n != 2 {
					return errMsgpack
				}
				if shape, ok = p.behind(); !ok {
					return errMsgpack
				}
				return nil
			}
			isList, m, isText, ok := p.head()
			switch {
			case !ok || depth > maxListDepth:
				return errMsgpack
			case isList:
				err := list(m, depth+1, false)
				if afterText && errors.Is(err, errNotTexts) {
					err = errMsgpack // it is the shape, and the text was the dtype
				}
				if err != nil {
					return err
				}
				afterText = false
				continue
			case !isText:
				return errNotTexts
			}
			if count--; count < 0 {
				return errMsgpack
			}
			afterText = true
			if err := text(p.take(m)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := list(n, 0, true); err != nil {
		return nil, err
	}
	if len(p.rest) > 0 {
		return nil, errMsgpack
	}
	return shape, nil
}

// msgpack reads values of MessagePack.
type msgpack struct{ rest []byte }

// take gives n bytes, which head has seen.
func (p *msgpack) take(n uint64) (e []byte) {
	e, p.rest = p.rest[:n], p.rest[n:]
	return e
}

// head reads the head of a list of n values, of a text of n bytes, which are there, or
// of an integer n; nil is an empty text.
func (p *msgpack) head() (isList bool, n uint64, isText, ok bool) {
	if len(p.rest) == 0 {
		return
	}
	b := p.take(1)[0]
	switch {
	case b < 0x80:
		return false, uint64(b), false, true
	case b >= 0xe0:
		return false, uint64(int64(int8(b))), false, true
	case b >= 0x90 && b < 0xa0:
		return true, uint64(b & 15), false, true
	case b == 0xc0:
		return false, 0, true, true
	case b >= 0xa0 && b < 0xc0:
		n = uint64(b & 31)
		return false, n, true, n <= uint64(len(p.rest))
	case b == 0xc2 || b == 0xc3:
		return false, uint64(b & 1), false, true
	}
	sizes := map[byte]int{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4,
		0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8}
	size, known := sizes[b]
	if !known || len(p.rest) < size {
		return
	}
	var wide [8]byte
	copy(wide[8-size:], p.take(uint64(size)))
	n = binary.BigEndian.Uint64(wide[:])
	switch {
	case b >= 0xdc:
		return true, n, false, n <= uint64(len(p.rest))
	case b >= 0xd9 || b <= 0xc6:
		return false, n, true, n <= uint64(len(p.rest))
	case b >= 0xd0:
		n = uint64(int64(n<<(64-8*size)) >> (64 - 8*size))
	}
	return false, n, false, true
}

// behind reads the dtype and the shape.
func (p *msgpack) behind() (shape []int64, ok bool) {
	_, n, isText, ok := p.head()
	if !ok || !isText {
		return nil, false
	}
	p.take(n)
	isList, n, _, ok := p.head()
	for ; ok && isList && n > 0; n-- {
		var extent uint64
		var wrong, text bool
		if wrong, extent, text, ok = p.head(); wrong || text || int64(extent) < 0 {
			return nil, false
		}
		shape = append(shape, int64(extent))
	}
	return shape, ok && isList
}
