package codec

import (
	"bytes"
	"io"
	"math"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// The codec "lzma" of numcodecs, which is Python's: a stream of xz (format 1), the
// older .lzma (2), or raw LZMA2 with an optional delta filter (3).
var _ = define(Definition{ID: "lzma", kind: bytewise, new: func(c *conf) (Codec, error) {
	z := &lzmaCodec{conf: c.Object.Clone()}
	z.format = c.integer("format", 1, 1, 3)
	z.check = c.integer("check", -1, -1, 16)
	c.integer("preset", 6, 0, math.MaxUint32)
	v, given := c.get("filters")
	if !given {
		if z.format == 3 {
			c.fail("filters", "a list, which the format 3 needs")
		}
		return z, nil
	}
	z.filtered = true
	if z.format != 3 {
		return z, nil // they only describe the writing
	}
	for i, f := range v.Items() {
		id, _ := f.Object().Get("id")
		n, _ := id.Int64()
		last := i == len(v.Items())-1
		switch {
		case n == 0x21 && last:
			z.lzma2 = true
		case n == 3 && !last:
			dist, ok := f.Object().Get("dist")
			d, isInt := dist.Int64()
			if !ok {
				d, isInt = 1, true
			}
			if !isInt || d < 1 || d > 256 {
				c.fail("filters", "a dist from 1 to 256")
			}
			z.deltas = append(z.deltas, int(d))
		default:
			return nil, errorf(ErrNotSupported, "lzma", "raw filters other than delta (3) and at the end LZMA2 (33), found %s", short(f))
		}
	}
	if !z.lzma2 {
		c.fail("filters", "LZMA2 (33) at the end")
	}
	return z, nil
}})

type lzmaCodec struct {
	conf          *Object
	format, check int64
	filtered      bool
	lzma2         bool
	deltas        []int
}

func (z *lzmaCodec) Config(Version) (*Object, error) { return z.conf, nil }

func (z *lzmaCodec) Bind(in Form) (Stage, Form, error) { return z, compressed(in.Size), nil }

// lzmaDict is the dictionary of what is written, and maxLzmaDict the largest of what
// is read, in bytes: the presets of xz go up to 64 MiB.
const (
	lzmaDict    = 8 << 20
	maxLzmaDict = 128 << 20
)

func (z *lzmaCodec) Encode(dst, src []byte) ([]byte, error) {
	out := &appender{dst}
	var w io.WriteCloser
	var err error
	switch {
	case z.format == 1:
		check := byte(xz.CRC64)
		if z.check >= 0 {
			check = byte(z.check)
		}
		cfg := xz.WriterConfig{DictCap: lzmaDict, CheckSum: check, NoCheckSum: check == 0}
		w, err = cfg.NewWriter(out)
	case z.format == 2:
		w, err = lzma.WriterConfig{DictCap: lzmaDict, EOSMarker: true}.NewWriter(out)
	default:
		w, err = lzma.Writer2Config{DictCap: lzmaDict}.NewWriter2(out)
		src = bytes.Clone(src)
		for _, dist := range z.deltas {
			for i := len(src) - 1; i >= dist; i-- {
				src[i] -= src[i-dist]
			}
		}
	}
	if err != nil {
		return dst, errorf(ErrNotSupported, "lzma", "%v", err)
	}
	_, err = w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	return out.buf, err
}

func (z *lzmaCodec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	in := bytes.NewReader(src)
	var r io.Reader
	var err error
	switch {
	case z.format == 3: // a dictionary need not be larger than all that there is
		r, err = lzma.Reader2Config{DictCap: int(min(max(limit, lzma.MinDictCap), maxLzmaDict))}.NewReader2(in)
	case bytes.HasPrefix(src, xzMagic):
		if err := checkXZ(src, limit); err != nil {
			return dst, err
		}
		r, err = xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(in)
	default: // as Python's FORMAT_AUTO
		if len(src) < lzma.HeaderLen {
			return dst, corrupt("lzma", "the data end too early")
		}
		r, err = lzma.ReaderConfig{DictCap: maxLzmaDict}.NewReader(in)
	}
	if err != nil {
		return dst, streamError("lzma", err)
	}
	at := len(dst)
	if dst, err = readAll("lzma", dst, r, limit); err != nil {
		return dst[:at], err
	}
	for i := len(z.deltas) - 1; i >= 0; i-- {
		dist, p := z.deltas[i], dst[at:]
		for j := dist; j < len(p); j++ {
			p[j] += p[j-dist]
		}
	}
	return dst, nil
}
