//go:build !amd64

package blosc

// No kernels here: the portable ones do everything.

func shuffleFast([][]byte, []byte, int) int   { return 0 }
func unshuffleFast([]byte, [][]byte, int) int { return 0 }
func bitsOutFast([]byte, int, []byte) int     { return 0 }
func bitsInFast([]byte, []byte, int) int      { return 0 }
