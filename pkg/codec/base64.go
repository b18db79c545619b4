package codec

import "encoding/base64"

// The codec "base64" of numcodecs: RFC 4648 with padding.
var _ = define(Definition{ID: "base64", kind: bytewise, new: func(c *conf) (Codec, error) { return base64Codec{}, nil }})

type base64Codec struct{}

func (base64Codec) Config(Version) (*Object, error) { return nil, nil }

func (b base64Codec) Bind(in Form) (Stage, Form, error) {
	return b, opaque((in.Size+2)/3*4, in.Exact), nil
}

func (base64Codec) Encode(dst, src []byte) ([]byte, error) {
	return base64.StdEncoding.AppendEncode(dst, src), nil
}

func (base64Codec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	if int64(len(src)) > (limit+2)/3*4 {
		return dst, corrupt("base64", "decodes to more than %d bytes", limit)
	}
	out, err := base64.StdEncoding.AppendDecode(dst, src)
	if err != nil {
		return dst, corrupt("base64", "%v", err)
	}
	return out, nil
}
