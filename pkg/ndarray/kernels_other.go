//go:build !amd64

package ndarray

func widenFast([]byte, *DType, []byte, *DType, int) int { return 0 }

func swapFast([]byte, []byte, int) int { return 0 }

func strideFast([]byte, int, int, []byte, int, int, int, int) int { return 0 }

func transposeShape(int) (rows, cols int) { return 0, 0 }

func transposeFast([]byte, int, int, []byte, int, int, int, int) {}

func unpackFast([]byte, []byte) int { return 0 }

func packFast([]byte, []byte) int { return 0 }

func widenTextsFast([]byte, int, []int64, []byte) int { return 0 }

func narrowTextsFast(_, _, _ []byte, _, end int) (done, last int) { return 0, end }
