package codec

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// The codec "zlib" of numcodecs: RFC 1950.
var _ = define(Definition{ID: "zlib", kind: bytewise, new: func(c *conf) (Codec, error) {
	return zlibCodec(c.integer("level", 1, -1, 9)), nil
}})

type zlibCodec int

func (z zlibCodec) Config(Version) (*Object, error) { return members("level", int(z)), nil }

func (z zlibCodec) Bind(in Form) (Stage, Form, error) { return z, compressed(in.Size), nil }

// zlibWriters are encoders for each level from -1 on, zlibReaders decoders.
var (
	zlibWriters [11]sync.Pool
	zlibReaders sync.Pool
)

func (z zlibCodec) Encode(dst, src []byte) ([]byte, error) {
	out := &appender{dst}
	w, _ := zlibWriters[z+1].Get().(*zlib.Writer)
	if w == nil { // the levels are ones that it has
		w, _ = zlib.NewWriterLevel(nil, int(z))
	}
	defer zlibWriters[z+1].Put(w)
	w.Reset(out)
	_, err := w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	w.Reset(nil)
	return out.buf, err
}

func (z zlibCodec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	in := bytes.NewReader(src)
	r, _ := zlibReaders.Get().(io.ReadCloser)
	var err error
	if r == nil {
		r, err = zlib.NewReader(in)
	} else {
		err = r.(zlib.Resetter).Reset(in, nil)
	}
	if err != nil {
		return dst, streamError("zlib", err)
	}
	defer zlibReaders.Put(r)
	if dst, err = readAll("zlib", dst, r, limit); err == nil && in.Len() > 0 {
		err = corruptAt("zlib", len(src)-in.Len(), "%d bytes behind the end of the stream", in.Len())
	}
	return dst, err
}
