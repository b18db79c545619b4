//go:build !amd64

package blosc

import "testing"

func bothKernels(t *testing.T, f func(t *testing.T)) { t.Run("portable", f) }
