package chunk

import (
	"fmt"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Codec encodes the elements of a chunk. It is used by several goroutines at
// once. Its errors are of package ndfile or blosc, with offsets from the start
// of the encoded chunk.
type Codec interface {
	// Name is Chunked.ChunkEncoding.
	Name() string
	// Encode gives the encoded chunk, in dst, which is empty, or in src itself.
	Encode(dst *mem.Buffer, src []byte, threads int) ([]byte, error)
	// Open reads the header of an encoded chunk from its first bytes: all of
	// them, or many. n is the number of bytes that there are, with whatever
	// follows the chunk; the caller compares Encoded with it.
	Open(head []byte, n int64) (Encoded, error)
	// Decode fills dst with what the chunk decodes to, from byte off on. raw is
	// the whole encoded chunk.
	Decode(dst, raw []byte, off, threads int) error
	// Parts appends the parts of the encoded chunk that are needed to decode n
	// bytes from off on, given its first Encoded.Table bytes. None: take all.
	Parts(parts []Part, head []byte, off, n int) []Part
	// DecodeParts is Decode where raw holds only its first Encoded.Table bytes
	// and these parts; what it may change in the rest, which can be anything.
	// Any error means that more of the chunk is needed to decode it or to tell
	// what is wrong with it.
	DecodeParts(dst, raw []byte, off int, parts []Part) error
}

// streaming is a Codec of chunks with Encoded.Stream.
type streaming interface {
	// stream begins to decode raw, the whole encoded chunk. What takes much more memory
	// than most is ErrLimit.
	stream(raw []byte, most int64) (*codec.Stream, error)
}

// Encoded describes an encoded chunk.
type Encoded struct {
	// Size is the number of bytes it decodes to, Encoded the number of bytes it
	// takes.
	Size, Encoded int
	// Block is the number of bytes that are decoded together, from a multiple
	// of it on.
	Block int
	// Whole: it is decoded as one block because of its codecs, not by the choice of
	// who wrote it. That takes Scratch bytes of memory beside what it decodes to.
	Whole   bool
	Scratch int64
	// Stream: it can be decoded as a stream too, by a [streaming] codec.
	Stream bool
	// StopsEarly: the beginning of a Block is decoded without the rest of it.
	StopsEarly bool
	// Table is how many first bytes Parts needs.
	Table int
	// Stored: the elements lie in the encoded chunk as they are, from byte Data on.
	Stored bool
	Data   int
}

// Part is the bytes from Off to End, without End.
type Part struct{ Off, End int }

// Plain is the Codec of chunks that are not compressed.
type Plain struct{}

// Name is "bytes".
func (Plain) Name() string { return "bytes" }

// Encode gives src.
func (Plain) Encode(_ *mem.Buffer, src []byte, _ int) ([]byte, error) { return src, nil }

// Open takes all n bytes as the chunk.
func (Plain) Open(_ []byte, n int64) (Encoded, error) {
	if n > maxPlain {
		return Encoded{}, ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("a chunk of %d bytes, expected at most %d", n, maxPlain))
	}
	return Encoded{Size: int(n), Encoded: int(n), Block: 1, Stored: true}, nil
}

// maxPlain is the largest plain chunk: what Init allows.
const maxPlain = 1<<31 - 1

// Decode copies.
func (Plain) Decode(dst, raw []byte, off, _ int) error {
	copy(dst, raw[off:])
	return nil
}

// Parts is none: stored chunks are read as they are.
func (Plain) Parts(parts []Part, _ []byte, _, _ int) []Part { return parts }

// DecodeParts refuses.
func (Plain) DecodeParts([]byte, []byte, int, []Part) error { return errMore }
