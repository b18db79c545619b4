package codec

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// The codec "gzip" of Zarr 3 and of numcodecs: RFC 1952, several members one after
// the other are allowed.
var _ = define(Definition{Name: "gzip", ID: "gzip", kind: bytewise, new: func(c *conf) (Codec, error) {
	return gzipCodec(c.integer("level", defaultLevel(c, 5, 1), 0, 9)), nil
}})

// defaultLevel is what a level is that nobody gave: v3 in the APIs and Zarr 3, v2
// where numcodecs has a default of its own.
func defaultLevel(c *conf, v3, v2 int64) int64 {
	if c.version == V2 {
		return v2
	}
	return v3
}

type gzipCodec int

func (g gzipCodec) Config(Version) (*Object, error) { return members("level", int(g)), nil }

func (g gzipCodec) Bind(in Form) (Stage, Form, error) { return g, compressed(in.Size), nil }

// gzipWriters are encoders for each level, gzipReaders decoders.
var (
	gzipWriters [10]sync.Pool
	gzipReaders sync.Pool
)

func (g gzipCodec) Encode(dst, src []byte) ([]byte, error) {
	out := &appender{dst}
	w, _ := gzipWriters[g].Get().(*gzip.Writer)
	if w == nil { // the levels are ones that it has
		w, _ = gzip.NewWriterLevel(nil, int(g))
	}
	defer gzipWriters[g].Put(w)
	w.Reset(out)
	_, err := w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	w.Reset(nil)
	return out.buf, err
}

func (g gzipCodec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	r, _ := gzipReaders.Get().(*gzip.Reader)
	if r == nil {
		r = new(gzip.Reader)
	}
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return dst, streamError("gzip", err)
	}
	return readAll("gzip", dst, r, limit)
}
