package codec

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/ndfile/ndfile/pkg/blosc"
)

// The codec "zlib" of numcodecs: RFC 1950.
var _ = define(Definition{ID: "zlib", kind: bytewise, new: func(c *conf) (Codec, error) {
	return zlibCodec(c.integer("level", 1, -1, 9)), nil
}})

type zlibCodec int

func (z zlibCodec) Config(Version) (*Object, error) { return members("level", int(z)), nil }

func (z zlibCodec) Bind(in Form) (Stage, Form, error) { return z, compressed(in.Size), nil }

// zlibWriters are encoders for each level from -1 on.
var zlibWriters [11]sync.Pool

func (z zlibCodec) Encode(dst *Buffer, src []byte) error {
	w, _ := zlibWriters[z+1].Get().(*zlib.Writer)
	if w == nil { // the levels are ones that it has
		w, _ = zlib.NewWriterLevel(nil, int(z))
	}
	defer zlibWriters[z+1].Put(w)
	w.Reset(dst)
	_, err := w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	w.Reset(nil)
	return err
}

func (z zlibCodec) Decode(dst *Buffer, src []byte, limit int64) error {
	const header, trailer, dictionary = 2, 4, 0x20
	if len(src) < header+trailer {
		return corruptAt("zlib", len(src), "the data end too early")
	}
	if src[0]&15 != 8 || src[0]>>4 > 7 || src[1]&dictionary != 0 || binary.BigEndian.Uint16(src)%31 != 0 {
		return corruptAt("zlib", 0, "no stream begins here")
	}
	at := len(dst.B)
	n, err := inflate("zlib", dst, src[header:len(src)-trailer], 8*int64(len(src)), limit)
	if err != nil {
		return err
	}
	end := header + n
	if want, have := binary.BigEndian.Uint32(src[end:]), blosc.Adler32(dst.B[at:]); want != have {
		return corruptAt("zlib", end, "the checksum is %08x, but the data have %08x", want, have)
	}
	if rest := len(src) - end - trailer; rest > 0 {
		return corruptAt("zlib", end+trailer, "%d bytes behind the end of the stream", rest)
	}
	return nil
}

func (z zlibCodec) open(src []byte, _, _ int64) (io.Reader, func(), error) {
	in := bytes.NewReader(src)
	r, err := zlib.NewReader(in)
	return &toTheEnd{r, in}, func() {}, err
}

// toTheEnd refuses bytes behind the end of a stream.
type toTheEnd struct {
	io.Reader
	in *bytes.Reader
}

func (t *toTheEnd) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err == io.EOF && t.in.Len() > 0 {
		err = corruptAt("zlib", int(t.in.Size())-t.in.Len(), "%d bytes behind the end of the stream", t.in.Len())
	}
	return n, err
}
