//go:build !cgo

package codec

import (
	"bytes"

	"github.com/klauspost/compress/zstd"
)

// zstdInto fills dst with what all frames decode to.
func zstdInto(dst, src []byte) (int, error) {
	out, err := zstdStream(dst[:0:len(dst)], src, int64(len(dst)))
	return len(out), err
}

func zstdEncode(dst, src []byte, level int, checksum bool) ([]byte, error) {
	return zstdEncodeGo(dst, src, level, checksum)
}

// zstdStream decodes frames that need not tell their size.
func zstdStream(dst, src []byte, limit int64) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdMaxWindow))
	if err != nil {
		return dst, streamError("zstd", err)
	}
	defer r.Close()
	return readAll("zstd", dst, r, limit)
}
