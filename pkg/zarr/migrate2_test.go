package zarr

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// tree2 makes a tree of Zarr 2 at /a: groups with attributes, axes with names, texts,
// filters, the order of Fortran, both separators, and consolidated metadata.
func tree2(t testing.TB) *ndfile.Mem {
	t.Helper()
	m := ndfile.NewMem()
	f, err := Format2.Create(ctx, m, "/a", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.Attrs().Set("title", ndfile.StringValue("all"))
	attrs := ndfile.NewAttrs()
	attrs.Set("deep", pyjson.Int(1))
	add := func(name string, spec ndfile.Spec, data []byte) {
		a, e := f.Add(ctx, name, spec)
		if e == nil && spec.DType.IsVar() {
			e = a.(ndfile.Strings).WriteStrings(ctx, ndarray.Full(spec.Shape), []int64{0, 2, 2, 3}, []byte("\xc3\xbcx"), nil)
		} else if e == nil {
			e = a.WriteBox(ctx, ndarray.Full(spec.Shape), ndarray.Buffer{DType: spec.DType, Shape: spec.Shape, Data: data})
		}
		err = errors.Join(err, e)
	}
	err = f.(ndfile.Tree).AddGroup(ctx, "g/empty", attrs)
	shape, chunks := []int64{5, 3}, []int64{2, 2}
	own := ndfile.NewAttrs()
	own.Set("units", ndfile.StringValue("K"))
	add("g/x", ndfile.Spec{DType: ndarray.MustParse("<i2"), Shape: shape, Chunks: chunks, Fill: []byte{7, 0}, Dims: []string{"y", "x"}, Attrs: own,
		Codecs: []codec.Spec{{Name: "delta"}, {Name: "shuffle"}, {Name: "zlib"}}}, counted(30))
	add("g/f", ndfile.Spec{DType: ndarray.MustParse(">f8"), Shape: shape, Chunks: chunks, Codecs: []codec.Spec{{Name: "transpose"}, {Name: "bz2"}, {Name: "crc32"}}}, counted(120))
	add("texts", ndfile.Spec{DType: ndarray.MustParse("str"), Shape: []int64{3}, Chunks: []int64{2}, Codecs: []codec.Spec{{Name: "vlen-utf8"}, {Name: "zstd"}}}, nil)
	add("scalar", ndfile.Spec{DType: ndarray.MustParse("<M8[s]"), Shape: []int64{}}, counted(8))
	add("plain", ndfile.Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{4}, Codecs: []codec.Spec{}}, counted(4))
	if err == nil {
		err = f.(ndfile.Tree).Consolidate(ctx, true)
	}
	if err = errors.Join(err, f.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/", "/a", "/a/g", "/a/g/empty", "/a/g/x", "/a/g/f", "/a/texts", "/a/scalar", "/a/plain"} {
		if entries, _ := m.ReadDir(dir); dir != "/" {
			for _, e := range entries {
				if e.Mode == vfs.Regular {
					file, _ := m.Open(dir + "/" + e.Name)
					file.Sync()
					file.Close()
				}
			}
		}
		m.SyncDir(dir)
	}
	return m
}

func counted(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// wholeTree is all that a store holds, in text.
func wholeTree(t testing.TB, fsys ndfile.FS, path string) (format string, tree map[string]string) {
	t.Helper()
	f, as, err := ndfile.OpenAs(ctx, formats, path, ndfile.OpenOptions{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	tree = map[string]string{"": string(ndfile.AppendJSON(nil, f.Attrs()))}
	for _, name := range f.(ndfile.Tree).Groups() {
		attrs, err := f.(ndfile.Tree).GroupAttrs(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		tree[name] = "group " + string(ndfile.AppendJSON(nil, attrs))
	}
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		s := a.Spec()
		text := s.DType.String() + strings.Join(s.Dims, ",") + string(ndfile.AppendJSON(nil, a.Attrs())) + string(s.Fill)
		if s.DType.IsVar() {
			offsets := make([]int64, s.Shape[0]+1)
			data, err := ndfile.ReadAllStrings(ctx, a, ndarray.Full(s.Shape), offsets, nil)
			if err != nil {
				t.Fatal(err)
			}
			tree[name] = text + string(data)
			continue
		}
		tree[name] = text + string(readBox(t, a, ndarray.Full(s.Shape)))
	}
	return as.Name(), tree
}

// chunksOf are the files that are no documents.
func chunksOf(f files) files {
	chunks := files{}
	for name, text := range f {
		last := name[strings.LastIndexByte(name, '/')+1:]
		if last != "" && last[0] >= '0' && last[0] <= '9' {
			chunks[name] = text
		}
	}
	return chunks
}

func migrate23(fsys ndfile.FS) error {
	from, err := ndfile.Detect(ctx, formats, fsys, "/a")
	if err != nil {
		return err
	}
	return Format3.(ndfile.Migrator).Migrate(ctx, fsys, "/a", from, ndfile.ConvertOptions{})
}

// TestMigrateTree: all of a tree becomes version 3, and no chunk changes.
func TestMigrateTree(t *testing.T) {
	m := tree2(t)
	_, want := wholeTree(t, m, "/a")
	before := chunksOf(listFiles(t, m, "/a", "", files{}))
	if err := migrate23(m); err != nil {
		t.Fatal(err)
	}
	format, got := wholeTree(t, m, "/a")
	if format != "zarr3" || !maps.Equal(got, want) {
		t.Errorf("it is %s, %q, expected %q", format, got, want)
	}
	after := listFiles(t, m, "/a", "", files{})
	if !maps.Equal(chunksOf(after), before) || len(before) < 15 {
		t.Errorf("chunks %v became %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(chunksOf(after))))
	}
	for name := range after {
		if strings.Contains(name, ".z") || strings.Contains(name, mark2) {
			t.Errorf("%s is left", name)
		}
	}
	if !strings.Contains(after[meta3], consolidated3) {
		t.Error("the consolidated metadata are gone")
	}
	if list, err := found(Format3, m, "/a"); err != nil || len(list) > 0 {
		t.Errorf("verify: %q, %v", list, err)
	}
	if err := migrate23(m); !errors.Is(err, ndfile.ErrArgument) {
		t.Errorf("again: %v", err)
	}
}

// TestMigrateTreeFails makes each call fail, and the process end at each call: the tree
// is one version or the other, whole, and so is each array by its own path; another call
// completes it.
func TestMigrateTreeFails(t *testing.T) {
	_, want := wholeTree(t, tree2(t), "/a")
	seen := map[string]int{}
	for _, ends := range []bool{false, true} {
		for call := int64(0); ; call++ {
			m := tree2(t)
			fault := vfs.NewFault(m)
			if lost := errors.New("lost"); ends {
				fault.FailFrom(call, lost)
			} else {
				fault.FailAt(call, lost)
			}
			err := migrate23(fault)
			format, got := wholeTree(t, m, "/a")
			if seen[format]++; !maps.Equal(got, want) {
				t.Fatalf("call %d: it is %s, %q, expected %q", call, format, got, want)
			}
			if f, err := ndfile.Detect(ctx, formats, m, "/a/g/x"); err != nil || f.Name() != format {
				t.Fatalf("call %d: /a is %s, but /a/g/x: %v, %v", call, format, f, err)
			}
			if err != nil {
				if err := migrate23(m); err != nil && !errors.Is(err, ndfile.ErrArgument) {
					t.Fatalf("call %d: done again: %v", call, err)
				}
			}
			if format, got := wholeTree(t, m, "/a"); format != "zarr3" || !maps.Equal(got, want) {
				t.Fatalf("call %d: done again it is %s, %q", call, format, got)
			}
			if fault.Count() <= call {
				break
			}
		}
	}
	if seen["zarr2"] < 20 || seen["zarr3"] < 20 {
		t.Errorf("found %v", seen)
	}
}

// TestMigrateTreeRefused: an error before anything is changed.
func TestMigrateTreeRefused(t *testing.T) {
	for _, c := range []struct {
		what string
		edit func(m *ndfile.Mem)
		kind *ndfile.ErrorKind
		says string
	}{
		{"a codec of objects", func(m *ndfile.Mem) {
			put(m, "/a/texts/.zarray", `{"zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "|O", "fill_value": "", "order": "C", "compressor": null, "filters": [{"id": "json2"}]}`)
		}, ndfile.ErrNotSupported, "convert to a new folder"},
		{"a filter behind bytes", func(m *ndfile.Mem) {
			put(m, "/a/plain/.zarray", `{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1", "fill_value": 0, "order": "C", "compressor": null, "filters": [{"id": "zlib", "level": 1}, {"id": "delta", "dtype": "|u1"}]}`)
		}, ndfile.ErrNotSupported, "/a/plain"},
		{"zarr.json", func(m *ndfile.Mem) { put(m, "/a/g/zarr.json", "{}") }, ndfile.ErrExists, "/a/g/zarr.json"},
		{"damaged attributes", func(m *ndfile.Mem) { put(m, "/a/g/.zattrs", "{") }, ndfile.ErrCorrupt, ".zattrs"},
	} {
		m := tree2(t)
		c.edit(m)
		old := listFiles(t, m, "/a", "", files{})
		err := Format3.(ndfile.Migrator).Migrate(ctx, m, "/a", Format2, ndfile.ConvertOptions{})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %s", c.what, err, c.says)
		}
		now := listFiles(t, m, "/a", "", files{})
		maps.DeleteFunc(now, func(name, _ string) bool { return strings.HasSuffix(name, vfs.LockName) })
		maps.DeleteFunc(old, func(name, _ string) bool { return strings.HasSuffix(name, vfs.LockName) })
		if !maps.Equal(now, old) {
			t.Errorf("%s: files %v, before %v", c.what, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(old)))
		}
	}
}

func put(m *ndfile.Mem, path, text string) {
	m.WriteFile(path, [][]byte{[]byte(text)}, ndfile.WriteOptions{})
}

// TestMigrateKeepsSeparators: chunks in folders stay there.
func TestMigrateKeepsSeparators(t *testing.T) {
	m := ndfile.NewMem()
	for _, dir := range []string{"/a", "/a/0", "/a/1"} {
		m.Mkdir(dir)
	}
	put(m, "/a/.zarray", `{"zarr_format": 2, "shape": [2, 2], "chunks": [1, 2], "dtype": "|u1", "fill_value": null, "order": "F", "compressor": null, "filters": null, "dimension_separator": "/"}`)
	put(m, "/a/0/0", "\x01\x02")
	put(m, "/a/1/0", "\x03\x04")
	if err := migrate23(m); err != nil {
		t.Fatal(err)
	}
	s, data := readAll(t, m)
	if !bytes.Equal(data, []byte{1, 2, 3, 4}) || !bytes.Equal(s.Fill, []byte{0}) {
		t.Errorf("%v, fill value %v", data, s.Fill)
	}
}
