//go:build !cgo

package codec

// zstdInto fills dst with what all frames decode to.
func zstdInto(dst, src []byte) (int, error) {
	to := Buffer{B: dst[:0:len(dst)]}
	err := decodeStream("zstd", zstdCodec{}, &to, src, int64(len(dst)))
	return len(to.B), err
}

func zstdEncode(dst *Buffer, src []byte, level int, checksum bool) error {
	return zstdEncodeGo(dst, src, level, checksum)
}
