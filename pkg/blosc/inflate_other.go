//go:build !amd64

package blosc

func (z *inflater) fastBlockKernel([]byte, int, int) (op int, done, ok, all bool) {
	return 0, false, false, false
}

func adlerFast(a, b uint32, _ []byte) (uint32, uint32, int) { return a, b, 0 }
