package npy

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// agree reads a .npy file that may be anything in both ways and checks that both
// give the same array, or refuse it for the same reason; what is read can be
// written and is then the same. It reports whether the file could be read.
func agree(t testing.TB, raw []byte) bool {
	t.Helper()
	f, err := open(t, Format, raw)
	sink, loadErr := load(t, raw, int64(len(raw))+1<<20)
	if err != nil {
		if loadErr == nil || loadErr.Error() != err.Error() || ndfile.KindOf(loadErr) != ndfile.KindOf(err) {
			t.Fatalf("Open: %v\nLoad: %v", err, loadErr)
		}
		if k := ndfile.KindOf(err); k == ndfile.ErrInternal || ndfile.Offset(err) < 0 || ndfile.Offset(err) > int64(len(raw)) {
			t.Fatalf("%s at %d: %v", k.C, ndfile.Offset(err), err)
		}
		return false
	}
	defer f.Abort()
	if loadErr != nil {
		t.Fatalf("Load: %v", loadErr)
	}
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	b := all(t, a)
	native, err := ndarray.NewBuffer(b.DType.Native(), b.Shape)
	if err == nil {
		err = ndarray.Copy(native, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	li := &sink.Infos[0]
	if !bytes.Equal(native.Data, sink.Buf[li.DataOffset:][:li.DataLen]) {
		t.Fatalf("Open and Load differ: %s %v", b.DType, b.Shape)
	}
	g, err := open(t, Format, saved(t, b))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Abort()
	again, _ := g.Array("")
	if c := all(t, again); !c.DType.Equal(b.DType) || !bytes.Equal(c.Data, b.Data) {
		t.Fatalf("written again: %s, expected %s", c.DType, b.DType)
	}
	return true
}

func seeds(t testing.TB, pattern string, least int) (contents [][]byte) {
	t.Helper()
	paths, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) < 1<<14 {
			contents = append(contents, raw)
		}
	}
	return contents
}

func FuzzOpen(f *testing.F) {
	for _, raw := range seeds(f, "valid/*.npy", 70) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < 1<<20 { // larger ones show nothing new
			agree(t, raw)
		}
	})
}

// readArchive reads everything of an archive that may be anything.
func readArchive(t testing.TB, raw []byte) {
	t.Helper()
	f, err := open(t, Archive, raw)
	if err != nil {
		return
	}
	defer f.Abort()
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			if k := ndfile.KindOf(err); k == ndfile.ErrInternal {
				t.Fatal(err)
			}
			continue
		}
		s := a.Spec()
		n, err := ndarray.NBytes(s.Shape, s.DType.Size)
		if err != nil || n > maxDeflate*int64(len(raw)) {
			t.Fatalf("%d bytes of data in an archive of %d, %v", n, len(raw), err)
		}
		b, err := ndarray.NewBuffer(s.DType, s.Shape)
		if err == nil {
			err = a.ReadBox(ctx, ndarray.Full(s.Shape), b)
		}
		if err != nil && ndfile.KindOf(err) == ndfile.ErrInternal {
			t.Fatal(err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	for _, raw := range seeds(f, "*.npz", 4) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < 1<<16 {
			readArchive(t, raw)
		}
	})
}

// TestTruncated cuts fixtures at every length: what can be read has all its data.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"valid/f8_2x3.npy", "valid/record_nested.npy", "valid/fortran_3x4.npy", "valid/version2.npy"} {
		raw := content(t, name)
		for n := range raw {
			if agree(t, raw[:n]) {
				t.Errorf("%s cut to %d bytes can be read", name, n)
			}
		}
	}
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		raw := content(t, name)
		for n := range raw {
			if _, err := open(t, Archive, raw[:n]); err == nil {
				t.Errorf("%s cut to %d bytes can be opened", name, n)
			}
		}
	}
}

// TestFlipped changes every byte of the headers, and of archives.
func TestFlipped(t *testing.T) {
	good, bad := 0, 0
	for _, name := range []string{"valid/f8_2x3.npy", "valid/record_nested.npy", "valid/fortran_3x4.npy", "valid/version3.npy"} {
		raw := content(t, name)
		for i := range raw {
			for _, change := range []byte{1, 0x10, 0x80} {
				raw[i] ^= change
				if agree(t, raw) {
					good++
				} else {
					bad++
				}
				raw[i] ^= change
			}
		}
	}
	if good < 100 || bad < 100 {
		t.Errorf("%d files could be read, %d not", good, bad)
	}
	for _, raw := range seeds(t, "*.npz", 4) {
		for i := range raw {
			raw[i] ^= 0x11
			readArchive(t, raw)
			raw[i] ^= 0x11
		}
	}
}
