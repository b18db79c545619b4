package ndarray

import "testing"

// bothKernels runs f with the kernels of the processor and with the portable
// ones.
func bothKernels(t *testing.T, f func(t *testing.T)) {
	if useAVX2 {
		t.Run("AVX2", f)
		useAVX2 = false
		defer func() { useAVX2 = true }()
	}
	t.Run("portable", f)
}
