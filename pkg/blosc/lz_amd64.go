package blosc

// lzEncode runs the encoder of a format that the processor allows.
func lzEncode(f lzFormat, t *lzTable, log int, dst, src []byte, accel int) (read, wrote int) {
	shift := t.reset(log, len(src))
	if useAVX2 && len(dst) > 0 {
		switch f.(type) {
		case lz4Format:
			return lz4EncodeAVX2(&t[0], shift, &dst[0], len(dst), &src[0], len(src), accel)
		case blosclzFormat:
			return blosclzEncodeAVX2(&t[0], shift, &dst[0], len(dst), &src[0], len(src), accel)
		}
	}
	return lzEncodePortable(f, t, shift, dst, src, accel)
}

// blosclzDecodeFast says whether it did the work, and what blosclzDecode says.
func blosclzDecodeFast(dst, src []byte) (done, ok bool) {
	if !useAVX2 || len(dst) == 0 || len(src) == 0 {
		return false, false
	}
	return true, blosclzDecodeAVX2(&dst[0], len(dst), &src[0], len(src))
}

// commonPrefixFast counts a part of what commonPrefix does.
func commonPrefixFast(a, b []byte) int {
	n := len(a) &^ 31
	if n == 0 || !useAVX2 {
		return 0
	}
	return commonPrefixAVX2(&a[0], &b[0], n)
}

// lz4DecodeFast says whether it did the work, and what lz4Decode says; with prefix,
// of the beginning of what src stands for.
func lz4DecodeFast(dst, src []byte, prefix bool) (done, ok bool) {
	if !useAVX2 || len(dst) == 0 || len(src) == 0 {
		return false, false
	}
	return true, lz4DecodeAVX2(&dst[0], len(dst), &src[0], len(src), prefix)
}
