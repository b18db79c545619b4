package numpyname

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// TestNames: every name stands for what package ndarray reads and NumPy has, and
// is none that it reads itself.
func TestNames(t *testing.T) {
	for name, code := range names {
		d, err := ndarray.Parse("<" + code)
		if code == "b1" || code == "i1" || code == "u1" || code == "S1" {
			d, err = ndarray.Parse("|" + code)
		}
		if err != nil || !d.InNumPy() {
			t.Errorf("%s is %s: %v", name, code, err)
		}
		if d, err := ndarray.Parse(name); err == nil {
			t.Errorf("%s is known to package ndarray as %s", name, d)
		}
	}
	if code, ok := Typestring("f8"); ok {
		t.Errorf("f8 is %s", code)
	}
}
