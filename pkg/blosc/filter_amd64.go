package blosc

// shuffleFast does a part of shuffle and says how many elements it did, as do
// the others.
func shuffleFast(p [][]byte, src []byte, n int) int {
	if n &^= 31; n == 0 || !useAVX2 {
		return 0
	}
	switch len(p) {
	case 2:
		shuffle2AVX2(&p[0], &src[0], n)
	case 4:
		shuffle4AVX2(&p[0], &src[0], n)
	case 8:
		shuffle8AVX2(&p[0], &src[0], n)
	case 16:
		shuffle16AVX2(&p[0], &src[0], n)
	case 1:
		return copy(p[0][:n], src)
	default:
		return 0
	}
	return n
}

func unshuffleFast(dst []byte, p [][]byte, n int) int {
	if n &^= 31; n == 0 || !useAVX2 {
		return 0
	}
	switch len(p) {
	case 2:
		unshuffle2AVX2(&dst[0], &p[0], n)
	case 4:
		unshuffle4AVX2(&dst[0], &p[0], n)
	case 8:
		unshuffle8AVX2(&dst[0], &p[0], n)
	case 16:
		unshuffle16AVX2(&dst[0], &p[0], n)
	case 1:
		return copy(dst, p[0][:n])
	default:
		return 0
	}
	return n
}

func bitsOutFast(dst []byte, stride int, src []byte) int {
	n := len(src) &^ 31
	if n == 0 || !useAVX2 {
		return 0
	}
	bitsOutAVX2(&dst[0], stride, &src[0], n)
	return n
}

func bitsInFast(dst, src []byte, stride int) int {
	n := len(dst) &^ 255
	if n == 0 || !useAVX2 {
		return 0
	}
	bitsInAVX2(&dst[0], &src[0], stride, n)
	return n
}
