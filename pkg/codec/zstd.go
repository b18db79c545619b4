package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// The codec "zstd" of Zarr 3 and of numcodecs: frames of RFC 8878, one after the
// other, those that are skipped and those that do not tell their size included.
var _ = define(Definition{Name: "zstd", ID: "zstd", kind: bytewise, new: func(c *conf) (Codec, error) {
	z := zstdCodec{level: int(c.integer("level", defaultLevel(c, 3, 0), -131072, 22))}
	z.hasSum = c.Object != nil
	z.checksum = c.flag("checksum", false)
	_, z.hasSum = c.Get("checksum")
	return z, nil
}})

type zstdCodec struct {
	level            int
	checksum, hasSum bool // hasSum: the configuration has the member, which old ones lack
}

func (z zstdCodec) Config(v Version) (*Object, error) {
	o := members("level", z.level)
	if v == V3 || z.hasSum {
		o = members("level", z.level, "checksum", z.checksum)
	}
	return o, nil
}

func (z zstdCodec) Bind(in Form) (Stage, Form, error) { return z, compressed(in.Size), nil }

func (z zstdCodec) Encode(dst *Buffer, src []byte) error {
	level := z.level
	if level == 0 {
		level = 3 // what libzstd takes 0 for
	}
	return zstdEncode(dst, src, level, z.checksum)
}

// Decode goes by what the frames say where all of them tell their size, and by the
// limit where one does not.
func (z zstdCodec) Decode(dst *Buffer, src []byte, limit int64) error {
	if len(src) == 0 {
		return corrupt("zstd", "the data end too early")
	}
	size, known := zstdSize(src, limit)
	if !known || size == 0 { // libzstd's binding cannot fill nothing
		return decodeStream("zstd", z, dst, src, limit)
	}
	if size > limit {
		return tooMuch("zstd", limit)
	}
	at := len(dst.B)
	if int64(cap(dst.B)-at) < size && size > 1<<20 && size/8 > int64(len(src))<<10 {
		return decodeStream("zstd", z, dst, src, limit) // a size to be believed when it is seen
	}
	out, err := dst.Extend(int(size))
	if err != nil {
		return err
	}
	n, err := zstdInto(out, src)
	if err != nil {
		return corrupt("zstd", "%v", err)
	}
	dst.B = dst.B[:at+n]
	return nil
}

// open decodes in Go: the binding of libzstd cannot bound the window.
func (z zstdCodec) open(src []byte, _, most int64) (io.Reader, func(), error) {
	if len(src) == 0 {
		return nil, nil, corrupt("zstd", "the data end too early")
	}
	window := uint64(max(min(most, zstdMaxWindow), zstd.MinWindowSize))
	if err := mem.Look(int(window)); err != nil {
		return nil, nil, err
	}
	r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, nil, err
	}
	return zstdReader{r}, r.Close, nil
}

type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.Decoder.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = errorf(ErrLimit, "zstd", "a larger window than there may be memory for")
	}
	return n, err
}

const (
	zstdMagic     = 0xfd2fb528
	zstdSkippable = 0x184d2a50 // the first of 16
)

// zstdSize adds up what the headers of the frames say, as far as that is at most
// limit. known is false when one does not tell, or is no frame.
func zstdSize(src []byte, limit int64) (size int64, known bool) {
	for len(src) > 0 {
		if len(src) < 8 {
			return 0, false
		}
		magic := binary.LittleEndian.Uint32(src)
		if magic&^15 == zstdSkippable {
			n := int64(binary.LittleEndian.Uint32(src[4:])) + 8
			if n > int64(len(src)) {
				return 0, false
			}
			src = src[n:]
			continue
		}
		if magic != zstdMagic {
			return 0, false
		}
		flags := src[4]
		single := flags&0x20 != 0
		at := 5
		if !single {
			at++ // the window
		}
		at += [...]int{0, 1, 2, 4}[flags&3] // the dictionary
		field := 1 << (flags >> 6)
		if flags>>6 == 0 && !single {
			return 0, false
		}
		if len(src) < at+field {
			return 0, false
		}
		var wide [8]byte
		copy(wide[:], src[at:at+field])
		n := binary.LittleEndian.Uint64(wide[:])
		if field == 2 {
			n += 256
		}
		if n > uint64(limit) || size+int64(n) > limit {
			return limit + 1, true
		}
		size += int64(n)
		if src, known = zstdSkip(src, at+field, flags&4 != 0); !known {
			return 0, false
		}
	}
	return size, true
}

// zstdSkip gives what is behind a frame whose blocks begin at at.
func zstdSkip(src []byte, at int, checksum bool) (rest []byte, ok bool) {
	for {
		if len(src) < at+3 {
			return nil, false
		}
		head := int(src[at]) | int(src[at+1])<<8 | int(src[at+2])<<16
		n := head >> 3
		if head>>1&3 == 1 {
			n = 1 // one byte, repeated
		}
		if at += 3 + n; at > len(src) {
			return nil, false
		}
		if head&1 != 0 {
			break
		}
	}
	if checksum {
		at += 4
	}
	if at > len(src) {
		return nil, false
	}
	return src[at:], true
}
