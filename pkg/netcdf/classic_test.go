package netcdf

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

func check(t testing.TB, data []byte) error {
	t.Helper()
	mem := ndfile.NewMem()
	if err := mem.WriteFile("/f", [][]byte{data}, ndfile.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	in, err := mem.Open("/f")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return checkClassic(context.Background(), in, int64(len(data)))
}

// TestClassicTruncated: every file that lacks something is ErrCorrupt. libnetcdf
// reads zeros in place of what is missing.
func TestClassicTruncated(t *testing.T) {
	for _, name := range []string{"cdf1.nc", "cdf2.nc", "cdf5.nc"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The last record ends with 3 bytes of padding.
		for n := range len(data) - 3 {
			if err := check(t, data[:n]); ndfile.KindOf(err) != ndfile.ErrCorrupt {
				t.Errorf("%s, %d of %d bytes: %v", name, n, len(data), err)
			}
		}
	}
}

// FuzzClassic: no header makes the check panic, or read outside the file.
func FuzzClassic(f *testing.F) {
	for _, name := range []string{"cdf1.nc", "cdf2.nc", "cdf5.nc"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 || !isClassic(data) {
			return
		}
		err := check(t, data)
		if k := ndfile.KindOf(err); err != nil && k != ndfile.ErrCorrupt {
			t.Errorf("%v is %s", err, k.Text)
		}
		if off := ndfile.Offset(err); err != nil && off < 0 {
			t.Errorf("%v: no offset", err)
		}
	})
}
