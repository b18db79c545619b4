package codec

import (
	"encoding/binary"
	"errors"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
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
	return &objectList{"msgpack2", in, appendMsgpack, parseMsgpack}, opaque(in.Size, false), nil
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

// parseMsgpack reads nil, truth values, integers, texts, byte strings and lists.
func parseMsgpack(src []byte) (Value, error) {
	v, rest, ok := msgpackValue(src, 0)
	if !ok || len(rest) > 0 {
		return v, errMsgpack
	}
	return v, nil
}

func msgpackValue(p []byte, depth int) (v Value, rest []byte, ok bool) {
	if len(p) == 0 || depth > 100 {
		return v, p, false
	}
	b := p[0]
	p = p[1:]
	number := func(size int) (n uint64, ok bool) {
		if len(p) < size {
			return 0, false
		}
		var wide [8]byte
		copy(wide[8-size:], p[:size])
		p = p[size:]
		return binary.BigEndian.Uint64(wide[:]), true
	}
	text := func(n uint64) (Value, []byte, bool) {
		if n > uint64(len(p)) {
			return v, p, false
		}
		return pyjson.String(string(p[:n])), p[n:], true
	}
	list := func(n uint64) (Value, []byte, bool) {
		if n > uint64(len(p)) {
			return v, p, false
		}
		items := make([]Value, n)
		for i := range items {
			if items[i], p, ok = msgpackValue(p, depth+1); !ok {
				return v, p, false
			}
		}
		return pyjson.List(items...), p, true
	}
	switch {
	case b < 0x80:
		return pyjson.Int(int64(b)), p, true
	case b >= 0xe0:
		return pyjson.Int(int64(int8(b))), p, true
	case b >= 0x90 && b < 0xa0:
		return list(uint64(b & 15))
	case b >= 0xa0 && b < 0xc0:
		return text(uint64(b & 31))
	case b == 0xc0:
		return v, p, true
	case b == 0xc2 || b == 0xc3:
		return pyjson.Bool(b == 0xc3), p, true
	}
	sizes := map[byte]int{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4,
		0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8}
	size, known := sizes[b]
	n, ok := number(size)
	switch {
	case !known || !ok:
		return v, p, false
	case b >= 0xdc:
		return list(n)
	case b >= 0xd9 || b <= 0xc6:
		return text(n)
	case b >= 0xd0:
		return pyjson.Int(int64(n<<(64-8*size)) >> (64 - 8*size)), p, true
	}
	return pyjson.Uint(n), p, true
}
