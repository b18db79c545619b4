package codec

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdMaxWindow is the largest window of a frame, in bytes, as libzstd has it where
// nobody allows more.
const zstdMaxWindow = 128 << 20

// zstdEncoders are those of the Go implementation, by its level and checksum.
var zstdEncoders sync.Map

// zstdEncodeGo makes a frame by the Go implementation.
func zstdEncodeGo(dst *Buffer, src []byte, level int, checksum bool) error {
	type key struct {
		level zstd.EncoderLevel
		sum   bool
	}
	k := key{zstd.EncoderLevelFromZstd(level), checksum}
	e, ok := zstdEncoders.Load(k)
	if !ok {
		made, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(checksum), zstd.WithEncoderLevel(k.level))
		if err != nil {
			return err
		}
		e, _ = zstdEncoders.LoadOrStore(k, made)
	}
	enc := e.(*zstd.Encoder)
	if err := dst.Reserve(enc.MaxEncodedSize(len(src))); err != nil {
		return err
	}
	dst.B = enc.EncodeAll(src, dst.B)
	return nil
}
