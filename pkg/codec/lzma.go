package codec

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/ndfile/ndfile/pkg/internal/mem"
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

func (z *lzmaCodec) Encode(dst *Buffer, src []byte) error {
	err := mem.Look(4 * lzmaDict)
	if err != nil {
		return err
	}
	var w io.WriteCloser
	switch {
	case z.format == 1:
		check := byte(xz.CRC64)
		if z.check >= 0 {
			check = byte(z.check)
		}
		cfg := xz.WriterConfig{DictCap: lzmaDict, CheckSum: check, NoCheckSum: check == 0}
		w, err = cfg.NewWriter(dst)
	case z.format == 2:
		w, err = lzma.WriterConfig{DictCap: lzmaDict, EOSMarker: true}.NewWriter(dst)
	default:
		w, err = lzma.Writer2Config{DictCap: lzmaDict}.NewWriter2(dst)
		if len(z.deltas) == 0 {
			break
		}
		var changed Buffer
		defer changed.Free()
		if err := changed.Append(src); err != nil {
			return err
		}
		src = changed.B
		for _, dist := range z.deltas {
			for i := len(src) - 1; i >= dist; i-- {
				src[i] -= src[i-dist]
			}
		}
	}
	if err != nil {
		return errorf(ErrNotSupported, "lzma", "%v", err)
	}
	_, err = w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	return err
}

func (z *lzmaCodec) Decode(dst *Buffer, src []byte, limit int64) error {
	return decodeStream("lzma", z, dst, src, limit)
}

func (z *lzmaCodec) open(src []byte, limit, most int64) (r io.Reader, done func(), err error) {
	in := bytes.NewReader(src)
	// dictionary checks the size of one, of which no more is used than there is.
	dictionary := func(n int64) error {
		if n > maxLzmaDict || min(n, limit) > most {
			return errorf(ErrLimit, "lzma", "a dictionary of %d bytes, expected at most %d", n, min(most, maxLzmaDict))
		}
		return mem.Look(int(n))
	}
	switch {
	case z.format == 3: // a dictionary need not be larger than all that there is
		n := min(max(limit, lzma.MinDictCap), maxLzmaDict)
		if err = dictionary(n); err == nil {
			r, err = lzma.Reader2Config{DictCap: int(n)}.NewReader2(in)
		}
	case bytes.HasPrefix(src, xzMagic):
		if err = checkXZ(src, limit, dictionary); err == nil {
			r, err = xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(in)
		}
	default: // as Python's FORMAT_AUTO
		if len(src) < lzma.HeaderLen {
			return nil, nil, corrupt("lzma", "the data end too early")
		}
		n := int64(binary.LittleEndian.Uint32(src[1:]))
		if err = dictionary(n); err == nil {
			r, err = lzma.ReaderConfig{DictCap: int(max(n, lzma.MinDictCap))}.NewReader(in)
		}
	}
	for i := len(z.deltas) - 1; i >= 0; i-- {
		r = &undelta{r: r, before: make([]byte, z.deltas[i])}
	}
	return r, func() {}, err
}

// undelta adds to each byte the one so many before.
type undelta struct {
	r      io.Reader
	before []byte // a ring
	at     int
}

func (u *undelta) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	for i := range n {
		p[i] += u.before[u.at]
		u.before[u.at] = p[i]
		u.at = (u.at + 1) % len(u.before)
	}
	return n, err
}
