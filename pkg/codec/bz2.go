package codec

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	"io"

	"github.com/dsnet/compress/bzip2"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// The codec "bz2" of numcodecs: bzip2, several streams one after the other are
// allowed.
var _ = define(Definition{ID: "bz2", kind: bytewise, new: func(c *conf) (Codec, error) {
	return bz2Codec(c.integer("level", 1, 1, 9)), nil
}})

type bz2Codec int

func (z bz2Codec) Config(Version) (*Object, error) { return members("level", int(z)), nil }

func (z bz2Codec) Bind(in Form) (Stage, Form, error) { return z, compressed(in.Size), nil }

func (z bz2Codec) Encode(dst *Buffer, src []byte) error {
	if err := mem.Look(bz2Memory); err != nil {
		return err
	}
	w, err := bzip2.NewWriter(dst, &bzip2.WriterConfig{Level: int(z)})
	if err != nil {
		return err
	}
	_, err = w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	return err
}

// bz2Memory is about what both directions take, in bytes: blocks of up to 900,000
// bytes, and tables.
const bz2Memory = 8 << 20

func (z bz2Codec) Decode(dst *Buffer, src []byte, limit int64) error {
	return decodeStream("bz2", z, dst, src, limit)
}

func (z bz2Codec) open(src []byte, _, _ int64) (io.Reader, func(), error) {
	if len(src) == 0 {
		return nil, nil, corrupt("bz2", "the data end too early")
	}
	return stdbzip2.NewReader(bytes.NewReader(src)), func() {}, mem.Look(bz2Memory)
}
