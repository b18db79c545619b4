//go:build !amd64

package blosc

func lzEncode(f lzFormat, t *lzTable, log int, dst, src []byte, accel int) (read, wrote int) {
	return lzEncodePortable(f, t, t.reset(log, len(src)), dst, src, accel)
}

func blosclzDecodeFast(_, _ []byte) (done, ok bool) { return false, false }

func commonPrefixFast(_, _ []byte) int { return 0 }

func lz4DecodeFast(_, _ []byte, _ bool) (done, ok bool) { return false, false }
