//go:build cgo

package blosc

import "github.com/DataDog/zstd"

// zstdState is libzstd's.
type zstdState struct{ ctx zstd.Ctx }

func (z *zstdState) get() zstd.Ctx {
	if z.ctx == nil {
		z.ctx = zstd.NewCtx()
	}
	return z.ctx
}

func zstdDecode(st *state, dst, src []byte) bool {
	n, err := st.zstd.get().DecompressInto(dst, src)
	return err == nil && n == len(dst)
}

func zstdEncode(st *state, dst, src []byte, level int) int {
	out := dst
	if bound := zstd.CompressBound(len(src)); bound > cap(dst) {
		out = st.stream.sized(bound)
	}
	out, err := st.zstd.get().CompressLevel(out, src, zstdLevels[level])
	if err != nil || len(out) > len(dst) {
		return 0
	}
	return copy(dst, out)
}
