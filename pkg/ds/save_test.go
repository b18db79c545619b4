package ds

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// itemOf makes an item of an array and its content.
func itemOf(name string, a ndfile.Array, c content) ndfile.Item {
	spec := a.Spec()
	it := ndfile.Item{Name: name, Dims: spec.Dims, Attrs: spec.Attrs, Extra: spec.Extra}
	if spec.NoData {
		return it
	}
	if it.Data = bufferOf(c); c.dtype.IsVar() {
		it.Offsets, it.Data.Data = joined(c.strings)
	} else if spec.DType.Swapped() {
		it.Data.Data = bytes.Clone(it.Data.Data)
		ndarray.SwapBytes(it.Data.Data, spec.DType)
		it.Data.DType = spec.DType
	}
	it.Mask = c.mask
	return it
}

func bufferOf(c content) ndarray.Buffer {
	return ndarray.Buffer{DType: c.dtype, Shape: c.shape, Data: c.data}
}

// joined lays strings out as the API wants them.
func joined(list []string) (offsets []int64, data []byte) {
	offsets = []int64{0}
	for _, s := range list {
		data = append(data, s...)
		offsets = append(offsets, int64(len(data)))
	}
	return offsets, data
}

// itemsOf reads a file completely.
func itemsOf(t testing.TB, fsys ndfile.FS, path string) ([]ndfile.Item, *ndfile.Attrs) {
	t.Helper()
	f, err := Format.Open(ctx, fsys, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	var items []ndfile.Item
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		c := readArray(a)
		if c.err != nil && !c.noData {
			t.Fatal(c.err)
		}
		items = append(items, itemOf(name, a, c))
	}
	return items, f.Attrs()
}

func save(fsys ndfile.FS, path string, items []ndfile.Item, attrs *ndfile.Attrs) error {
	return Format.(ndfile.OneShot).Save(ctx, fsys, path, items, ndfile.SaveOptions{Attrs: attrs})
}

// canonical makes of a file written by ds-format what this package writes for the
// same data: .endian for bool, and the true .len of masked strings.
func canonical(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(data[len(versionLine):], []byte("\n"))
	text := string(head)
	for _, missing := range []string{"true", "false"} {
		old := `".type": "bool", ".missing": ` + missing
		text = strings.ReplaceAll(text, old+"}", old+`, ".endian": "b"}`)
	}
	if filepath.Base(path) == "unicode_masked.ds" {
		text = strings.Replace(text, `".len": 25`, `".len": 21`, 1)
	}
	return append([]byte(versionLine+text+"\n"), body...)
}

// TestSaveBytes saves what was read from files of ds-format and compares bytes.
func TestSaveBytes(t *testing.T) {
	for _, fx := range fixtures(t, "valid") {
		if !strings.HasPrefix(fx.MadeBy, "written by") {
			continue
		}
		t.Run(filepath.Base(fx.path), func(t *testing.T) {
			items, attrs := itemsOf(t, ndfile.OS, fx.path)
			for i := range items { // their order must not matter
				j := (i*7 + 3) % len(items)
				items[i], items[j] = items[j], items[i]
			}
			want := canonical(t, fx.path)
			fsys := ndfile.NewMem()
			check := func(what string) {
				t.Helper()
				if err := save(fsys, "x.ds", items, attrs); err != nil {
					t.Fatal(what, err)
				}
				if got := readAll(t, fsys, "x.ds"); !bytes.Equal(got, want) {
					t.Errorf("%s:\n%q\nwant\n%q", what, got, want)
				}
			}
			check("with the header as it was read")
			// The same as a new file: ds-format writes this order of keys, too,
			// but where data keys were given before the others.
			if name := filepath.Base(fx.path); name == "no_data.ds" || name == "from_netcdf.ds" || name == "dims.ds" || name == "attrs.ds" {
				return
			}
			for i := range items {
				items[i].Extra = nil
			}
			check("without it")
		})
	}
}

func readAll(t testing.TB, fsys ndfile.FS, path string) []byte {
	t.Helper()
	f, err := fsys.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && size > 0 {
		t.Fatal(err)
	}
	return data
}

// TestNoAllocations holds the hot paths to their promise.
func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, name := range []string{"tiny", "ints", "floats", "big_endian", "masked_numeric", "bool_masked_odd", "bytes", "unicode", "unicode_masked"} {
		path := filepath.Join("testdata", "valid", name+".ds")
		sink := &ndfile.Sink{Buf: make([]byte, 1<<16), Infos: make([]ndfile.LoadInfo, 16)}
		o := Format.(ndfile.OneShot)
		load := func() {
			sink.N, sink.Need = 0, 0
			if err := o.Load(ctx, ndfile.OS, path, sink); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, load); n != 0 {
			t.Errorf("load of %s: %v allocations", name, n)
		}
	}
	items := []ndfile.Item{{Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("<i8"), Data: make([]byte, 8)}}}
	path := filepath.Join(t.TempDir(), "x.ds")
	o := Format.(ndfile.OneShot)
	for _, commit := range []ndfile.WriteOptions{{Commit: ndfile.CommitDirect}, {}} {
		n := testing.AllocsPerRun(100, func() {
			if err := o.Save(ctx, ndfile.OS, path, items, ndfile.SaveOptions{WriteOptions: commit}); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("save, %+v: %v allocations", commit, n)
		}
	}
}

// TestLargeBodyAligned saves around the size from which the body is aligned, by both
// ways of writing; the text of the header is otherwise the same.
func TestLargeBodyAligned(t *testing.T) {
	for _, n := range []int64{largeBody/8 - 1, largeBody / 8, largeBody/8 + 5} {
		for _, name := range []string{"x", "xy", "a longer name, so that other numbers of spaces are needed"} {
			data := make([]byte, 8*n)
			for i := range n {
				binary.LittleEndian.PutUint64(data[8*i:], uint64(i))
			}
			items := []ndfile.Item{{Name: name, Data: ndarray.Buffer{DType: ndarray.MustParse("<i8"), Shape: []int64{n}, Data: data}}}
			fsys := ndfile.NewMem()
			if err := save(fsys, "once.ds", items, nil); err != nil {
				t.Fatal(err)
			}
			if err := ndfile.SaveByFile(ctx, Format, fsys, "file.ds", items, ndfile.SaveOptions{}); err != nil {
				t.Fatal(err)
			}
			text := readAll(t, fsys, "once.ds")
			if !bytes.Equal(text, readAll(t, fsys, "file.ds")) {
				t.Errorf("%d of %q: the two ways of writing differ", n, name)
			}
			head, body, _ := bytes.Cut(text[len(versionLine):], []byte("\n"))
			if start := len(text) - len(body); 8*n >= largeBody && start%bodyAlignment != 0 {
				t.Errorf("%d of %q: the body begins at byte %d", n, name, start)
			}
			if padded := len(bytes.TrimRight(head, " ")) < len(head); padded && 8*n < largeBody {
				t.Errorf("%d of %q: a small file has spaces", n, name)
			}
			if !bytes.Equal(body, data) {
				t.Errorf("%d of %q: the data differ", n, name)
			}
			loaded, _ := itemsOf(t, fsys, "once.ds")
			if !bytes.Equal(loaded[0].Data.Data, data) {
				t.Errorf("%d of %q: what is read differs", n, name)
			}
		}
	}
}
