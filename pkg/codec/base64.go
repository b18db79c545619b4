package codec

import (
	"bytes"
	"encoding/base64"
	"io"
)

// The codec "base64" of numcodecs: RFC 4648 with padding.
var _ = define(Definition{ID: "base64", kind: bytewise, new: func(c *conf) (Codec, error) { return base64Codec{}, nil }})

type base64Codec struct{}

func (base64Codec) Config(Version) (*Object, error) { return nil, nil }

func (b base64Codec) Bind(in Form) (Stage, Form, error) {
	return b, opaque((in.Size+2)/3*4, in.Exact), nil
}

func (base64Codec) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(base64.StdEncoding.EncodedLen(len(src)))
	if err == nil {
		base64.StdEncoding.Encode(out, src)
	}
	return err
}

func (base64Codec) Decode(dst *Buffer, src []byte, limit int64) error {
	if int64(len(src)) > (limit+2)/3*4 {
		return tooMuch("base64", limit)
	}
	have := len(dst.B)
	out, err := dst.Extend(base64.StdEncoding.DecodedLen(len(src)))
	if err != nil {
		return err
	}
	n, err := base64.StdEncoding.Decode(out, src)
	if dst.B = dst.B[:have+n]; err != nil {
		return corrupt("base64", "%v", err)
	}
	return nil
}

func (base64Codec) open(src []byte, _, _ int64) (io.Reader, func(), error) {
	return base64.NewDecoder(base64.StdEncoding, bytes.NewReader(src)), func() {}, nil
}
