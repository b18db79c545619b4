package strip

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

func TestFormat(t *testing.T) {
	formattest.Run(t, formattest.Config{
		Format: Format,
		DTypes: []string{"|u1", "<i4", "<f8"},
		Quirks: formattest.Quirks{OneOrder: true},
	})
}

// TestGolden reads a file that something else has made.
func TestGolden(t *testing.T) {
	f, err := ndfile.Open(t.Context(), []ndfile.Format{Format}, "testdata/two.strip", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.NewBuffer(ndarray.MustParse("<i4"), []int64{2})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.ReadBox(t.Context(), ndarray.Full(a.Spec().Shape), got); err != nil {
		t.Fatal(err)
	}
	if want := []byte{7, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}; !slices.Equal(got.Data, want) {
		t.Errorf("% x, expected % x", got.Data, want)
	}
}

// TestRefused damages the file, one byte at a time.
func TestRefused(t *testing.T) {
	good, err := os.ReadFile("testdata/two.strip")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   int
		to   byte
		want string
	}{{0, 's', ""}, {atType, 3, "type"}, {atNDim, 65, "axes"}, {atNDim, 2, "8 bytes"}, {atShape, 3, ""}, {atShape + 7, 0x80, "shape"}} {
		mem := ndfile.NewMem()
		bad := slices.Clone(good)
		bad[c.at] = c.to
		if err := mem.WriteFile("/x.strip", [][]byte{bad}, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := Format.Open(t.Context(), mem, "/x.strip", ndfile.OpenOptions{})
		if k := ndfile.KindOf(err); k != ndfile.ErrCorrupt && k != ndfile.ErrFormat {
			t.Errorf("byte %d: %v", c.at, err)
		} else if k == ndfile.ErrCorrupt && c.want != "8 bytes" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("byte %d: %v, expected %q", c.at, err, c.want)
		}
	}
}
