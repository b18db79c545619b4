//go:build cgo

package codec

import (
	"sync"

	"github.com/DataDog/zstd"
)

// zstdContexts are contexts of libzstd.
var zstdContexts = sync.Pool{New: func() any { return zstd.NewCtx() }}

// zstdInto fills dst with what all frames decode to.
func zstdInto(dst, src []byte) (int, error) {
	ctx := zstdContexts.Get().(zstd.Ctx)
	defer zstdContexts.Put(ctx)
	return ctx.DecompressInto(dst, src)
}

func zstdEncode(dst *Buffer, src []byte, level int, checksum bool) error {
	if checksum { // which the binding of libzstd cannot ask for
		return zstdEncodeGo(dst, src, level, true)
	}
	ctx := zstdContexts.Get().(zstd.Ctx)
	defer zstdContexts.Put(ctx)
	at := len(dst.B)
	room, err := dst.Extend(zstd.CompressBound(len(src)))
	if err != nil {
		return err
	}
	out, err := ctx.CompressLevel(room, src, level)
	if len(out) > 0 && &out[0] != &room[0] {
		copy(room, out)
	}
	dst.B = dst.B[:at+len(out)]
	return err
}
