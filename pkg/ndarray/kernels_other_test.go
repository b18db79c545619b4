//go:build !amd64

package ndarray

import "testing"

func bothKernels(t *testing.T, f func(t *testing.T)) { t.Run("portable", f) }
