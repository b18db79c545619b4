package blosc

// fastBlockKernel is the loop of fastBlock; all says whether it did the work. The
// end of the source is decoded from a copy with zeros behind it, of which none may
// be used in the end.
func (z *inflater) fastBlockKernel(dst []byte, start, lastOp int) (op int, done, ok, all bool) {
	if !useAVX2 {
		return 0, false, false, false
	}
	op, status := start, inflateMore
	if last := len(z.src) - inflateRead; z.at <= last {
		op, status = z.run(dst, op, lastOp, z.src, last)
	}
	if status == inflateMore && op <= lastOp {
		src, at := z.src, z.at
		z.at = 0
		rest := copy(z.tail[:], src[at:])
		clear(z.tail[rest:])
		op, status = z.run(dst, op, lastOp, z.tail[:], rest)
		if zeros := z.at - rest; zeros > 0 {
			if z.nbits < uint(8*zeros) {
				return op, false, false, true
			}
			z.nbits -= uint(8 * zeros)
			z.bits &= 1<<z.nbits - 1
			z.at = rest
		}
		z.at += at
	}
	return op, status == inflateEnd, status != inflateFail, true
}

// run decodes from src[z.at:], which has inflateRead bytes behind last.
func (z *inflater) run(dst []byte, op, lastOp int, src []byte, last int) (newOp, status int) {
	op, at, hold, nbits, status := inflateAVX2(&z.litlen[0], 1<<z.litlenRoot-1, &z.dist[0], 1<<z.distRoot-1,
		&dst[0], op, lastOp, len(dst), &src[0], z.at, last, z.bits, z.nbits)
	z.at, z.bits, z.nbits = at, hold&(1<<nbits-1), nbits
	return op, status
}

// What inflateAVX2 stops for.
const (
	inflateFail = iota
	inflateMore // too little is left at one of the ends
	inflateEnd  // of the block
)

// adlerFast adds a part of p to the two sums and says how much.
func adlerFast(a, b uint32, p []byte) (uint32, uint32, int) {
	n := len(p) &^ 31
	if n == 0 || !useAVX2 {
		return a, b, 0
	}
	a, b = adler32AVX2(a, b, &p[0], n)
	return a, b, n
}
