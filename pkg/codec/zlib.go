package codec

import (
	"encoding/binary"
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
	const header, trailer, dictionary = 2, 4, 0x20
	if len(src) < header+trailer {
		return dst, corruptAt("zlib", len(src), "the data end too early")
	}
	if src[0]&15 != 8 || src[0]>>4 > 7 || src[1]&dictionary != 0 || binary.BigEndian.Uint16(src)%31 != 0 {
		return dst, corruptAt("zlib", 0, "no stream begins here")
	}
	at := len(dst)
	dst, n, err := inflate("zlib", dst, src[header:len(src)-trailer], 8*int64(len(src)), limit)
	if err != nil {
		return dst, err
	}
	end := header + n
	if want, have := binary.BigEndian.Uint32(src[end:]), blosc.Adler32(dst[at:]); want != have {
		return dst, corruptAt("zlib", end, "the checksum is %08x, but the data have %08x", want, have)
	}
	if rest := len(src) - end - trailer; rest > 0 {
		return dst, corruptAt("zlib", end+trailer, "%d bytes behind the end of the stream", rest)
	}
	return dst, nil
}
