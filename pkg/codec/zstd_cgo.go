//go:build cgo

package codec

import (
	"bytes"
	"sync"

	"github.com/DataDog/zstd"
	kzstd "github.com/klauspost/compress/zstd"
)

// zstdContexts are contexts of libzstd.
var zstdContexts = sync.Pool{New: func() any { return zstd.NewCtx() }}

// zstdInto fills dst with what all frames decode to.
func zstdInto(dst, src []byte) (int, error) {
	ctx := zstdContexts.Get().(zstd.Ctx)
	defer zstdContexts.Put(ctx)
	return ctx.DecompressInto(dst, src)
}

func zstdEncode(dst, src []byte, level int, checksum bool) ([]byte, error) {
	if checksum { // which the binding of libzstd cannot ask for
		return zstdEncodeGo(dst, src, level, true)
	}
	ctx := zstdContexts.Get().(zstd.Ctx)
	defer zstdContexts.Put(ctx)
	at := len(dst)
	dst = grow(dst, zstd.CompressBound(len(src)))
	out, err := ctx.CompressLevel(dst[at:], src, level)
	if err != nil {
		return dst[:at], err
	}
	if len(out) > 0 && &out[0] != &dst[at] {
		copy(dst[at:], out)
	}
	return dst[:at+len(out)], nil
}

// zstdStream decodes frames that do not tell their size.
func zstdStream(dst, src []byte, limit int64) ([]byte, error) {
	r, err := kzstd.NewReader(bytes.NewReader(src), kzstd.WithDecoderConcurrency(1), kzstd.WithDecoderMaxWindow(zstdMaxWindow))
	if err != nil {
		return dst, streamError("zstd", err)
	}
	defer r.Close()
	return readAll("zstd", dst, r, limit)
}
