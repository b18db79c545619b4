package blosc

// copyPiece is how much is copied at once. The runtime bypasses the cache for
// copies from 1 MiB on, which is slower for what fits in it.
const copyPiece = 256 << 10

// copyPieces is copy for data that are about to be used.
func copyPieces(dst, src []byte) int {
	n := min(len(dst), len(src))
	for at := 0; at < n; at += copyPiece {
		copy(dst[at:min(at+copyPiece, n)], src[at:])
	}
	return n
}

// copyData is copyPieces by several goroutines.
func copyData(dst, src []byte, threads int) {
	n := min(len(dst), len(src))
	if w := workers(threads, n); w > 1 {
		copyParallel(dst[:n], src[:n], w)
		return
	}
	copyPieces(dst, src)
}

func copyParallel(dst, src []byte, n int) {
	pieces := (len(dst) + copyPiece - 1) / copyPiece
	// The only error is that of a panic, which copying in bounds has not.
	_ = parallelBlocks(0, pieces, n, func(_ *state, k int) error {
		copy(dst[k*copyPiece:min((k+1)*copyPiece, len(dst))], src[k*copyPiece:])
		return nil
	})
}
