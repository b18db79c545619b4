package codec

import (
	"bytes"
	stdbzip2 "compress/bzip2"

	"github.com/dsnet/compress/bzip2"
)

// The codec "bz2" of numcodecs: bzip2, several streams one after the other are
// allowed.
var _ = define(Definition{ID: "bz2", kind: bytewise, new: func(c *conf) (Codec, error) {
	return bz2Codec(c.integer("level", 1, 1, 9)), nil
}})

type bz2Codec int

func (z bz2Codec) Config(Version) (*Object, error) { return members("level", int(z)), nil }

func (z bz2Codec) Bind(in Form) (Stage, Form, error) { return z, compressed(in.Size), nil }

func (z bz2Codec) Encode(dst, src []byte) ([]byte, error) {
	out := &appender{dst}
	w, err := bzip2.NewWriter(out, &bzip2.WriterConfig{Level: int(z)})
	if err != nil {
		return dst, err
	}
	_, err = w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	return out.buf, err
}

func (z bz2Codec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	if len(src) == 0 {
		return dst, corrupt("bz2", "the data end too early")
	}
	return readAll("bz2", dst, stdbzip2.NewReader(bytes.NewReader(src)), limit)
}
