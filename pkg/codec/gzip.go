package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
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

// gzipWriters are encoders for each level.
var gzipWriters [10]sync.Pool

func (g gzipCodec) Encode(dst *Buffer, src []byte) error {
	w, _ := gzipWriters[g].Get().(*gzip.Writer)
	if w == nil { // the levels are ones that it has
		w, _ = gzip.NewWriterLevel(nil, int(g))
	}
	defer gzipWriters[g].Put(w)
	w.Reset(dst)
	_, err := w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	w.Reset(nil)
	return err
}

func (g gzipCodec) Decode(dst *Buffer, src []byte, limit int64) error {
	const trailer = 8 // the checksum and the size of what is decoded, little endian
	at, begin := len(dst.B), 0
	for first := true; first || begin < len(src); first = false {
		head, err := gzipHeader(src, begin)
		if err != nil {
			return err
		}
		if len(src)-head < trailer {
			return corruptAt("gzip", len(src), "the data end too early")
		}
		from := len(dst.B)
		guess := int64(binary.LittleEndian.Uint32(src[len(src)-4:])) // where there is one member
		n, err := inflate("gzip", dst, src[head:len(src)-trailer], guess, limit-int64(from-at))
		if err != nil {
			return err
		}
		end := head + n
		sum, size := binary.LittleEndian.Uint32(src[end:]), binary.LittleEndian.Uint32(src[end+4:])
		if have := crc32.ChecksumIEEE(dst.B[from:]); have != sum {
			return corruptAt("gzip", end, "the checksum is %08x, but the data have %08x", sum, have)
		}
		if size != uint32(len(dst.B)-from) {
			return corruptAt("gzip", end+4, "decodes to %d bytes, expected %d (modulo 2^32)", len(dst.B)-from, size)
		}
		begin = end + trailer
	}
	return nil
}

func (g gzipCodec) open(src []byte, _, _ int64) (io.Reader, func(), error) {
	r, err := gzip.NewReader(bytes.NewReader(src))
	return r, func() {}, err
}

// gzipHeader gives the end of the header of the member that begins at at.
func gzipHeader(src []byte, at int) (end int, err error) {
	const (
		flagSum, flagExtra, flagName, flagComment = 2, 4, 8, 16

		size = 10 // of the header without what flags announce
	)
	short := corruptAt("gzip", len(src), "the data end too early")
	p := src[at:]
	if len(p) < size {
		return 0, short
	}
	if p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 {
		return 0, corruptAt("gzip", at, "no member begins here")
	}
	n, flags := size, p[3]
	if flags&flagExtra != 0 {
		if len(p) < n+2 {
			return 0, short
		}
		n += 2 + int(binary.LittleEndian.Uint16(p[n:]))
	}
	for _, text := range [...]byte{flagName, flagComment} {
		if flags&text == 0 {
			continue
		}
		zero := bytes.IndexByte(p[min(n, len(p)):], 0)
		if zero < 0 {
			return 0, short
		}
		n += zero + 1
	}
	if flags&flagSum != 0 {
		if len(p) < n+2 {
			return 0, short
		}
		if sum := binary.LittleEndian.Uint16(p[n:]); sum != uint16(crc32.ChecksumIEEE(p[:n])) {
			return 0, corruptAt("gzip", at+n, "the checksum of the header does not fit")
		}
		n += 2
	}
	if n > len(p) {
		return 0, short
	}
	return at + n, nil
}
