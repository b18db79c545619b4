//go:build !cgo

package blosc

import "github.com/klauspost/compress/zstd"

// zstdState is that of the Go implementation, where there is no C compiler.
type zstdState struct {
	dec *zstd.Decoder
	enc [MaxLevel + 1]*zstd.Encoder
}

func zstdDecode(st *state, dst, src []byte) bool {
	z := &st.zstd
	if z.dec == nil {
		// The options are constants that NewReader accepts.
		z.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	}
	out, err := z.dec.DecodeAll(src, dst[:0:len(dst)])
	return err == nil && len(out) == len(dst)
}

func zstdEncode(st *state, dst, src []byte, level int) int {
	z := &st.zstd
	if z.enc[level] == nil {
		z.enc[level], _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(zstdLevels[level])))
	}
	out := z.enc[level].EncodeAll(src, st.stream.sized(len(src) + len(src)/64 + 64)[:0])
	if len(out) > len(dst) {
		return 0
	}
	return copy(dst, out)
}
