package all_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

var stores = []string{"bcolz", "zarr0", "zarr2", "zarr3"}

// put makes a store of one array, in place of what is there.
func put(format, path string, values ...int64) error {
	b := column(values...)
	return ndfile.Save(ctx, all.Formats, path, []ndfile.Item{{Data: b}}, ndfile.SaveOptions{Format: format})
}

func countIn(t *testing.T, path string) int64 {
	t.Helper()
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	shape := a.Spec().Shape
	b := column(make([]int64, shape[0])...)
	if err := a.ReadBox(ctx, ndarray.Full(shape), b); err != nil {
		t.Fatal(err)
	}
	return shape[0]
}

// TestReplacingWaits replaces stores that others have open for changes: it fails and
// nothing is lost, neither in the old store nor by those who have it open.
func TestReplacingWaits(t *testing.T) {
	for _, format := range stores {
		t.Run(format, func(t *testing.T) {
			t.Parallel() // for the time that is waited
			path := filepath.Join(t.TempDir(), "a")
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			check(put(format, path, 1, 2, 3))
			f, err := open(path, ndfile.OpenOptions{})
			check(err)
			if err := put(format, path, 7); !errors.Is(err, ndfile.ErrBusy) {
				t.Fatalf("replaced while it is open: %v", err)
			}
			a, err := f.Array("")
			check(err)
			check(a.(ndfile.Resizer).Append(ctx, 0, column(4)))
			check(f.Close(ctx))
			if n := countIn(t, path); n != 4 {
				t.Fatalf("found %d elements", n)
			}

			// While the new one is written nobody changes the old one.
			fm, err := ndfile.FormatByName(all.Formats, format)
			check(err)
			w, err := fm.Create(ctx, ndfile.OS, path, ndfile.CreateOptions{})
			check(err)
			if _, err := open(path, ndfile.OpenOptions{Timeout: -1}); !errors.Is(err, ndfile.ErrBusy) {
				t.Fatalf("opened while it is replaced: %v", err)
			}
			check(w.Abort())
			check(put(format, path, 8, 9))
			if n := countIn(t, path); n != 2 {
				t.Fatalf("found %d elements", n)
			}

			// Nor is one replaced that came meanwhile.
			path += "b"
			w, err = fm.Create(ctx, ndfile.OS, path, ndfile.CreateOptions{})
			check(err)
			_, err = w.Add(ctx, "", ndfile.Spec{DType: column().DType, Shape: []int64{5}})
			check(err)
			check(put(format, path, 1))
			f, err = open(path, ndfile.OpenOptions{})
			check(err)
			if err := w.Close(ctx); !errors.Is(err, ndfile.ErrBusy) {
				t.Fatalf("replaced while it is open: %v", err)
			}
			check(f.Close(ctx))
			if n := countIn(t, path); n != 1 {
				t.Fatalf("found %d elements", n)
			}
			if left, _ := filepath.Glob(filepath.Dir(path) + "/*/.ndf-lock"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 2 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestUndoWaits undoes a repair of a store that is open for changes.
func TestUndoWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := put("bcolz", path, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	f, err := open(path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	err = ndfile.Verify(ctx, all.Formats, path, ndfile.VerifyOptions{Undo: true}, func(ndfile.Problem) {})
	if !errors.Is(err, ndfile.ErrBusy) {
		t.Errorf("%v", err)
	}
}
