package netcdf

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func check(t testing.TB, data []byte) error {
	t.Helper()
	in := &small{head: data}
	_, err := parseCDF(context.Background(), in, int64(len(data)), ndfile.Limits{})
	return err
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

// TestClassicCopies: files of netCDF-C that are read and written again are the same
// bytes, in one shot and as files.
func TestClassicCopies(t *testing.T) {
	names, err := filepath.Glob("testdata/*.nc")
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !isClassic(data) {
			continue
		}
		copied++
		mem := ndfile.NewMem()
		if err := mem.WriteFile("/a", [][]byte{data}, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		opt := ndfile.ConvertOptions{FS: mem, From: "netcdf", To: "netcdf"}
		if _, err := ndfile.Convert(context.Background(), []ndfile.Format{Format}, "/a", "/b.nc", opt); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name+", converted", mem, "/b.nc", data)
		saveAgain(t, mem, name, data)
	}
	if copied < 3 {
		t.Errorf("%d files", copied)
	}
}

// saveAgain copies a file in one shot.
func saveAgain(t *testing.T, mem ndfile.FS, name string, data []byte) {
	t.Helper()
	ctx := context.Background()
	f, err := Format.Open(ctx, mem, "/a", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	opt := ndfile.SaveOptions{Attrs: f.Attrs(), Extra: f.(ndfile.FileExtra).FileExtra()}
	var items []ndfile.Item
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		s := a.Spec()
		b, err := ndarray.NewBuffer(s.DType.Native(), s.Shape)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := ndarray.Count(s.Shape)
		it := ndfile.Item{Name: name, Data: b, Dims: s.Dims, Attrs: a.Attrs(), Extra: s.Extra}
		if s.Masked {
			it.Mask = make([]byte, n)
			err = a.(ndfile.Masked).ReadMasked(ctx, ndarray.Full(s.Shape), b, it.Mask)
		} else {
			err = a.ReadBox(ctx, ndarray.Full(s.Shape), b)
		}
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	if err := Format.(ndfile.OneShot).Save(ctx, mem, "/c.nc", items, opt); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	same(t, name+", saved", mem, "/c.nc", data)
}

func same(t *testing.T, what string, fsys ndfile.FS, path string, want []byte) {
	t.Helper()
	in, err := fsys.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	size, _ := in.Size()
	got := make([]byte, size)
	if _, err := in.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s: %d bytes instead of %d, which differ from byte %d on:\n%q\n%q", what, len(got), len(want), at, got[at:min(len(got), at+60)], want[at:min(len(want), at+60)])
	}
}

// FuzzClassic: no header makes the reader panic, read outside of the file, or take
// more than the file has.
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
		in := newFile("/f")
		err := in.openCDF(context.Background(), &small{head: data}, int64(len(data)), ndfile.Limits{})
		if k := ndfile.KindOf(err); err != nil && k != ndfile.ErrCorrupt {
			t.Errorf("%v is %s", err, k.Text)
		}
		for _, name := range in.names {
			if a := in.arrays[name]; err == nil && a.refused == nil {
				readFuzzed(t, a)
			}
		}
	})
}

func readFuzzed(t *testing.T, a *array) {
	s := a.Spec()
	n, err := ndarray.NBytes(s.Shape, max(1, s.DType.Size))
	if err != nil || n > 1<<20 {
		return
	}
	b, err := ndarray.NewBuffer(s.DType, s.Shape)
	if err != nil {
		t.Fatal(err)
	}
	if n, err = ndarray.Count(s.Shape); err != nil {
		t.Fatal(err)
	}
	if err := a.read(context.Background(), ndarray.Full(s.Shape), b, make([]byte, n)); err != nil {
		t.Errorf("%s: %v", a.name, err)
	}
}
