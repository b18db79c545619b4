package chunk

import (
	"math"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// OfChain gives the Codec of a chain of codecs. Chains that are nothing but Blosc, or
// nothing at all, decode parts of a chunk; others all of it.
func OfChain(c *codec.Chain) Codec {
	if c.IsIdentity() {
		return Plain{}
	}
	if b := codec.AsBlosc(c.Only()); b != nil {
		p := b.Params()
		return Blosc{Codec: p.Codec, Level: p.Level, Shuffle: p.Shuffle, TypeSize: p.TypeSize, BlockSize: p.BlockSize}
	}
	return chain{c}
}

// chain is the Codec of any chain of elements of a fixed size.
type chain struct{ *codec.Chain }

// Encode makes a chunk.
func (c chain) Encode(dst *mem.Buffer, src []byte, _ int) ([]byte, error) {
	err := c.Chain.Encode(dst, src)
	return dst.B, err
}

// Open takes all n bytes as the chunk.
func (c chain) Open(_ []byte, n int64) (Encoded, error) {
	if n > math.MaxInt32 {
		return Encoded{}, ndfile.NewError(ndfile.ErrLimit, "an encoded chunk of 2 GiB or more")
	}
	size := int(c.Elements().Size)
	e := Encoded{Size: size, Encoded: int(n), Block: max(size, 1), Whole: true, Scratch: c.Scratch()}
	if size > freeBlock && c.Streams() {
		e.Whole, e.Stream, e.Block = false, true, streamBlock
	}
	e.StopsEarly = e.Whole && c.StopsEarly()
	return e, nil
}

// streamBlock is how much of a chunk that is decoded as a stream is kept at least, for
// the next small read.
const streamBlock = 1 << 20

func (c chain) stream(raw []byte, most int64) (*codec.Stream, error) { return c.Chain.Open(raw, most) }

// Decode decodes all of the chunk, or its beginning where the chain stops early.
func (c chain) Decode(dst, raw []byte, off, _ int) error {
	size, need := int(c.Elements().Size), off+len(dst)
	if off == 0 && need == size {
		return c.Chain.Decode(dst, raw)
	}
	w := newWorker()
	defer w.release()
	plain, err := dst, error(nil)
	if off > 0 {
		if plain, err = w.plain.Sized(need); err != nil {
			return err
		}
	}
	done, err := c.DecodeBeginning(plain, raw)
	if err == nil && !done {
		if plain, err = w.plain.Sized(size); err == nil {
			err = c.Chain.Decode(plain, raw)
		}
	}
	if err == nil && (off > 0 || !done) {
		copy(dst, plain[off:])
	}
	return err
}

// Parts is none: all of the chunk is needed.
func (chain) Parts(parts []Part, _ []byte, _, _ int) []Part { return parts }

// DecodeParts is never called.
func (chain) DecodeParts([]byte, []byte, int, []Part) error { return errMore }
