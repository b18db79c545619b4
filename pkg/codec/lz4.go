package codec

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/pierrec/lz4/v4"
)

// The codec "lz4" of numcodecs: the number of bytes as a little-endian int32, then
// one block of LZ4.
var _ = define(Definition{ID: "lz4", kind: bytewise, new: func(c *conf) (Codec, error) {
	return lz4Codec(c.integer("acceleration", 1, math.MinInt32, math.MaxInt32)), nil
}})

type lz4Codec int

func (z lz4Codec) Config(Version) (*Object, error) { return members("acceleration", int(z)), nil }

func (z lz4Codec) Bind(in Form) (Stage, Form, error) {
	if in.Exact && (in.Size > math.MaxInt32 || in.Size == 0) {
		return nil, Form{}, errorf(ErrNotSupported, "lz4", "%d bytes, expected 1 to 2^31-1", in.Size)
	}
	return z, compressed(in.Size), nil
}

func (z lz4Codec) Encode(dst *Buffer, src []byte) error {
	if len(src) > math.MaxInt32 || len(src) == 0 {
		return errorf(ErrValue, "lz4", "%d bytes, expected 1 to 2^31-1", len(src))
	}
	at := len(dst.B)
	out, err := dst.Extend(4 + lz4.CompressBlockBound(len(src)))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(out, uint32(len(src)))
	n, err := lz4.CompressBlock(src, out[4:], nil)
	dst.B = dst.B[:at+4+n]
	return err
}

// lz4Size is the size that a chunk tells.
func lz4Size(src []byte, limit int64) (int64, error) {
	if len(src) < 4 {
		return 0, corrupt("lz4", "the data end too early")
	}
	size := int64(int32(binary.LittleEndian.Uint32(src)))
	// A block of LZ4 cannot grow by more than 255.
	if size <= 0 || size > limit || size/256 > int64(len(src)) {
		return 0, corruptAt("lz4", 0, "a size of %d bytes, expected 1 to %d", size, limit)
	}
	return size, nil
}

func (z lz4Codec) Decode(dst *Buffer, src []byte, limit int64) error {
	size, err := lz4Size(src, limit)
	if err != nil {
		return err
	}
	out, err := dst.Extend(int(size))
	if err != nil {
		return err
	}
	n, err := lz4.UncompressBlock(src[4:], out)
	if err != nil || int64(n) != size {
		return corrupt("lz4", "a damaged block")
	}
	return nil
}

func (z lz4Codec) open(src []byte, limit, _ int64) (io.Reader, func(), error) {
	size, err := lz4Size(src, limit)
	if err != nil {
		return nil, nil, err
	}
	return &lz4Reader{src: src[4:], left: size, window: make([]byte, 4*lz4Reach)}, func() {}, nil
}

// lz4Reader decodes a block of LZ4 from its beginning on. Libraries want all of it.
type lz4Reader struct {
	src             []byte
	left            int64  // bytes that are still to be made
	window          []byte // what was made last, up to w; from r on it has not been read
	r, w            int
	token           int // of the sequence whose match was not looked at yet; 0: none
	literals, match int // bytes of a sequence that are still to be made
	distance        int
}

// lz4Reach is how far back a match can lie.
const lz4Reach = 64 << 10

func (z *lz4Reader) Read(p []byte) (int, error) {
	if z.r == z.w {
		if err := z.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, z.window[z.r:z.w])
	z.r += n
	return n, nil
}

// fill makes bytes, at least one.
func (z *lz4Reader) fill() error {
	if z.w > lz4Reach {
		copy(z.window, z.window[z.w-lz4Reach:z.w])
		z.r, z.w = lz4Reach, lz4Reach
	}
	for z.w < len(z.window) {
		made := z.w
		switch {
		case z.literals > 0:
			z.w += copy(z.window[z.w:], z.src[:z.literals])
			z.src, z.literals = z.src[z.w-made:], z.literals-(z.w-made)
		case z.match > 0:
			for range min(len(z.window)-z.w, z.match) {
				z.window[z.w] = z.window[z.w-z.distance]
				z.w++
			}
			z.match -= z.w - made
		case len(z.src) == 0: // the last sequence has no match
			switch {
			case z.left > 0:
				return corrupt("lz4", "a damaged block")
			case z.r == z.w:
				return io.EOF
			}
			return nil
		case !z.sequence():
			return corrupt("lz4", "a damaged block")
		}
		z.left -= int64(z.w - made)
	}
	return nil
}

// sequence reads the head of a sequence, or of its match.
func (z *lz4Reader) sequence() (ok bool) {
	if z.token == 0 {
		token := int(z.src[0])
		z.src, z.token = z.src[1:], token|1<<8
		z.literals, ok = z.length(token >> 4)
		return ok && z.literals <= len(z.src) && int64(z.literals) <= z.left
	}
	if len(z.src) < 2 {
		return false
	}
	z.distance, z.src = int(binary.LittleEndian.Uint16(z.src)), z.src[2:]
	n, ok := z.length(z.token & 15)
	z.match, z.token = n+4, 0
	return ok && z.distance > 0 && z.distance <= z.w && int64(z.match) <= z.left
}

// length reads what follows four bits of a length.
func (z *lz4Reader) length(n int) (_ int, ok bool) {
	for more := n == 15; more; z.src = z.src[1:] {
		if len(z.src) == 0 || n > math.MaxInt32 {
			return 0, false
		}
		n, more = n+int(z.src[0]), z.src[0] == 255
	}
	return n, true
}
