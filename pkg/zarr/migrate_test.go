package zarr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// formats are tried in this order. Those behind the first take over its arrays.
var formats = []ndfile.Format{Format0, Format2, Format3}

// files are the files below a folder with what they hold; folders end in a
// slash.
type files map[string]string

func listFiles(t testing.TB, fsys ndfile.FS, dir, below string, into files) files {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := dir + "/" + e.Name
		if e.Mode == vfs.Dir {
			into[below+e.Name+"/"] = ""
			listFiles(t, fsys, path, below+e.Name+"/", into)
			continue
		}
		buf := make([]byte, 1<<20)
		n, rest, err := fsys.ReadSmall(ctx, path, buf)
		if err != nil || rest != nil {
			t.Fatal(path, err)
		}
		into[below+e.Name] = string(buf[:n])
	}
	return into
}

// putFiles makes a folder, all of it durable.
func putFiles(t testing.TB, fsys ndfile.FS, dir string, f files) {
	t.Helper()
	dirs := []string{dir}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if below, isDir := strings.CutSuffix(name, "/"); isDir {
			dirs = append(dirs, dir+"/"+below)
		}
	}
	for _, d := range dirs {
		if err := fsys.Mkdir(d); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range f {
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := fsys.WriteFile(dir+"/"+name, [][]byte{[]byte(text)}, durable); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range append(dirs, "/") {
		if err := fsys.SyncDir(d); err != nil {
			t.Fatal(err)
		}
	}
}

// inMem copies a fixture to /a of a new file system, and adds more files.
func inMem(t testing.TB, name string, more files) (*ndfile.Mem, files) {
	t.Helper()
	f := listFiles(t, ndfile.OS, fixturePath("valid", name), "", files{})
	maps.Copy(f, more)
	if _, ok := f["__zdata__/"]; !ok {
		f["__zdata__/"] = ""
	}
	m := ndfile.NewMem()
	putFiles(t, m, "/a", f)
	return m, f
}

func migrateTo(to ndfile.Format, fsys ndfile.FS, from ndfile.Format) error {
	return to.(ndfile.Migrator).Migrate(ctx, fsys, "/a", from, ndfile.ConvertOptions{})
}

// detected is the format that /a has.
func detected(t testing.TB, fsys ndfile.FS) ndfile.Format {
	t.Helper()
	f, err := ndfile.Detect(ctx, formats, fsys, "/a")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readAll opens /a as what it is and reads everything.
func readAll(t testing.TB, fsys ndfile.FS) (ndfile.Spec, []byte) {
	t.Helper()
	f, err := detected(t, fsys).Open(ctx, fsys, "/a", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	return a.Spec(), readBox(t, a, ndarray.Full(a.Spec().Shape))
}

func wantFiles(t testing.TB, fsys ndfile.FS, want files) {
	t.Helper()
	got := listFiles(t, fsys, "/a", "", files{})
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if w, ok := want[name]; !ok && name != vfs.LockName { // its removal can fail too
			t.Errorf("there is a file %s", name)
		} else if ok && w != got[name] {
			t.Errorf("%s holds %.100q, want %.100q", name, got[name], w)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
}

func removeTemps(t testing.TB, fsys ndfile.FS) {
	t.Helper()
	entries, err := fsys.ReadDir("/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if vfs.IsTempName(e.Name) {
			fsys.Remove("/a/" + e.Name)
		}
	}
}

// noName3 are the fixtures whose dtype version 3 cannot have.
var noName3 = map[string]string{"struct_nested": "records in little endian order only"}

// migrated gives the files that migrating a fixture leaves, but for the document.
func migrated(old files, to ndfile.Format, rank int) files {
	want := files{}
	for name, text := range old {
		chunk, isData := strings.CutPrefix(name, "__zdata__/")
		switch {
		case isData && chunk != "" && keys0.parse(make([]int64, rank), chunk):
			want[newName(chunk)] = text
		case name == "__zattr__" && to == Format2:
			want[attrs2] = text
		}
	}
	return want
}

func TestMigrateFixtures(t *testing.T) {
	for _, c := range fixtures(t, "valid") {
		for _, to := range formats[1:] {
			t.Run(to.Name()+"/"+c.Name, func(t *testing.T) {
				m, old := inMem(t, c.Name, nil)
				before, _ := readAll(t, m)
				err := migrateTo(to, m, Format0)
				if why := noName3[c.Name]; why != "" && to == Format3 {
					if !errors.Is(err, ndfile.ErrDType) || !strings.Contains(err.Error(), why) {
						t.Errorf("error %v, want %s", err, why)
					}
					wantFiles(t, m, old)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := detected(t, m); got != to {
					t.Fatalf("it is %s now", got.Name())
				}
				after, values := readAll(t, m)
				if want := readFile(t, "testdata/zarr0/valid/"+c.Expected); string(values) != want {
					t.Error("the values changed")
				}
				fill := before.Fill
				if fill == nil && to == Format3 {
					fill = make([]byte, before.DType.Size)
				}
				if !after.DType.Equal(before.DType) || !slices.Equal(after.Shape, before.Shape) || !slices.Equal(after.Chunks, before.Chunks) ||
					shortForm(t, after) != shortForm(t, before) || !bytes.Equal(after.Fill, fill) || (after.Fill == nil) != (fill == nil) {
					t.Errorf("Spec %+v, want %+v", after, before)
				}
				if got, want := pyjson.ObjectValue(after.Attrs), pyjson.ObjectValue(before.Attrs); !got.Equal(want) {
					t.Errorf("attributes %s, want %s", metafile.Short(got), metafile.Short(want))
				}
				want := migrated(old, to, len(before.Shape))
				if c.Name == "shrunk" { // chunks outside of the grid
					for _, name := range []string{"1.1", "2.0", "2.1", "3.0", "3.1", "0.1"} {
						delete(want, name)
					}
				}
				doc := map[ndfile.Format]string{Format2: meta2, Format3: meta3}[to]
				want[doc] = listFiles(t, m, "/a", "", files{})[doc]
				wantFiles(t, m, want)
				if err := migrateTo(to, m, to); !errors.Is(err, ndfile.ErrArgument) {
					t.Errorf("again: %v", err)
				}
			})
		}
	}
}

// TestMigrateOS does it on the real file system.
func TestMigrateOS(t *testing.T) {
	for _, to := range formats[1:] {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.CopyFS(path, os.DirFS(fixturePath("valid", "attrs_rich"))); err != nil {
			t.Fatal(err)
		}
		if err := to.(ndfile.Migrator).Migrate(ctx, ndfile.OS, path, Format0, ndfile.ConvertOptions{}); err != nil {
			t.Fatal(err)
		}
		f, err := ndfile.Open(ctx, formats, path, ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := f.Array("")
		if got := readBox(t, a, ndarray.Full(a.Spec().Shape)); string(got) != readFile(t, "testdata/zarr0/valid/attrs_rich.expected.bin") {
			t.Error("other values")
		}
		f.Abort()
		entries, _ := ndfile.OS.ReadDir(path)
		if want := map[ndfile.Format]int{Format2: 5, Format3: 4}[to]; len(entries) != want {
			t.Errorf("%d files: %v", len(entries), entries)
		}
	}
}

// TestMigrateForeign leaves alone what is not early zarr's.
func TestMigrateForeign(t *testing.T) {
	foreign := files{"notes.txt": "mine", "sub/": "", "sub/0": "x", "0.0": "two axes", "00": "no chunk",
		"__zdata__/00.blosc": "a", "__zdata__/x.blosc": "b", "__zdata__/0.0.blosc": "c", "__zdata__/-1.blosc": "d"}
	junk := files{"__zdata__/9.blosc": "outside of the grid", "__zdata__/9.blosc.lock": "", "__zmeta__.lock": "",
		"__zdata__/1.blosc.ndf-tmp-1-2-3": "half"}
	maps.Copy(junk, foreign)
	for _, to := range formats[1:] {
		m, old := inMem(t, "leftovers", junk)
		if err := migrateTo(to, m, Format0); err != nil {
			t.Fatal(err)
		}
		want := files{"__zdata__/": "", "0": old["__zdata__/0.blosc"]}
		maps.Copy(want, foreign)
		doc := map[ndfile.Format]string{Format2: meta2, Format3: meta3}[to]
		want[doc] = listFiles(t, m, "/a", "", files{})[doc]
		wantFiles(t, m, want)
	}
}

// TestMigrateRefused: an error before anything is changed.
func TestMigrateRefused(t *testing.T) {
	edit := func(name, old, new string) func(f files) {
		return func(f files) {
			if !strings.Contains(f[name], old) {
				t.Fatalf("%s has no %s", name, old)
			}
			f[name] = strings.Replace(f[name], old, new, 1)
		}
	}
	add := func(name string) func(f files) { return func(f files) { f[name] = "{}" } }
	for _, c := range []struct {
		what string
		edit func(f files)
		from ndfile.Format
		kind *ndfile.ErrorKind
		says string
	}{
		{"another format", nil, nil, ndfile.ErrNotSupported, "convert to a new folder"},
		{"no array", func(f files) { delete(f, "__zmeta__") }, Format0, ndfile.ErrFormat, "__zmeta__"},
		{"damaged metadata", edit("__zmeta__", "{", ""), Format0, ndfile.ErrCorrupt, "__zmeta__"},
		{"damaged attributes", edit("__zattr__", "{", ""), Format0, ndfile.ErrCorrupt, "__zattr__"},
		{"bad fill value", edit("__zmeta__", `"fill_value": 42`, `"fill_value": [1]`), Format0, ndfile.ErrCorrupt, "fill_value"},
		{".zarray", add(".zarray"), Format0, ndfile.ErrExists, "/a/.zarray"},
		{".zattrs", add(".zattrs"), Format0, ndfile.ErrExists, "/a/.zattrs"},
		{"zarr.json", add("zarr.json"), Format0, ndfile.ErrExists, "/a/zarr.json"},
		{"a chunk", add("7.0"), Format0, ndfile.ErrExists, "/a/7.0"},
		{"a folder as chunk", func(f files) { f["__zdata__/1.0.blosc/"] = ""; delete(f, "__zdata__/1.0.blosc") }, Format0, ndfile.ErrCorrupt, "1.0.blosc"},
	} {
		for _, to := range formats[1:] {
			_, f := inMem(t, "json_py2", nil)
			if c.edit != nil {
				c.edit(f)
			}
			m := ndfile.NewMem()
			putFiles(t, m, "/a", f)
			from := c.from
			if from == nil {
				from = map[ndfile.Format]ndfile.Format{Format2: Format3, Format3: Format2}[to]
			}
			err := migrateTo(to, m, from)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: error %v, want %q of kind %v", c.what, err, c.says, c.kind)
			}
			wantFiles(t, m, f)
		}
	}
}

// TestMigrateSymlink refuses a chunk that is a link.
func TestMigrateSymlink(t *testing.T) {
	m, _ := inMem(t, "json_py2", nil)
	if err := m.Rename("/a/__zdata__/1.0.blosc", "/chunk"); err != nil {
		t.Fatal(err)
	}
	if err := m.Symlink("/chunk", "/a/__zdata__/1.0.blosc"); err != nil {
		t.Fatal(err)
	}
	if err := migrateTo(Format2, m, Format0); !errors.Is(err, ndfile.ErrNotSupported) {
		t.Error(err)
	}
}

// linkless is a file system without hard links.
type linkless struct {
	ndfile.FS
	errno syscall.Errno
}

func (l linkless) Link(old, new string) error {
	return &vfs.PathError{Op: "link", Path: old, To: new, Errno: l.errno}
}

func TestMigrateLinkless(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOTSUP, syscall.EXDEV, syscall.ENOSYS} {
		m, old := inMem(t, "json_py2", nil)
		err := migrateTo(Format3, linkless{m, errno}, Format0)
		if !errors.Is(err, ndfile.ErrNotSupported) || !strings.Contains(err.Error(), "convert to a new folder") {
			t.Errorf("%v: %v", errno, err)
		}
		wantFiles(t, m, old)
	}
}

func TestMigrateCanceled(t *testing.T) {
	m, old := inMem(t, "json_py2", nil)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := Format2.(ndfile.Migrator).Migrate(canceled, m, "/a", Format0, ndfile.ConvertOptions{}); !errors.Is(err, ndfile.ErrCanceled) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantFiles(t, m, old)
	var seen []int64
	progress := func(done, total int64) bool { seen = append(seen, done, total); return done == 0 }
	if err := Format2.(ndfile.Migrator).Migrate(ctx, m, "/a", Format0, ndfile.ConvertOptions{Progress: progress}); !errors.Is(err, ndfile.ErrCanceled) {
		t.Error(err)
	}
	if total := int64(2 * 16 * 7 * 4); !slices.Equal(seen, []int64{0, total, total, total}) {
		t.Errorf("progress %v", seen)
	}
	wantFiles(t, m, old)
}

// stops are the ways in which a migration ends too early.
var stops = map[string]func(f *vfs.Fault, i int64){
	"killed":     func(f *vfs.Fault, i int64) { f.FailFrom(i, syscall.EIO) },
	"one error":  func(f *vfs.Fault, i int64) { f.FailAt(i, syscall.ENOSPC) },
	"short":      func(f *vfs.Fault, i int64) { f.ShortWriteAt(i) },
	"power loss": func(f *vfs.Fault, i int64) { f.FailFrom(i, syscall.EIO) },
}

// TestMigrateStopped stops at every call of the file system. What is there then
// is read, and migrated again, which must give what it gives without a stop.
func TestMigrateStopped(t *testing.T) {
	junk := files{"__zdata__/9.0.blosc": "outside of the grid", "__zdata__/0.0.blosc.lock": ""}
	for _, name := range []string{"json_py2", "u8_max_fill_empty"} {
		for _, to := range formats[1:] {
			whole, old := inMem(t, name, junk)
			_, values := readAll(t, whole)
			if err := migrateTo(to, whole, Format0); err != nil {
				t.Fatal(err)
			}
			want := listFiles(t, whole, "/a", "", files{})
			for how, stop := range stops {
				t.Run(fmt.Sprintf("%s/%s/%s", name, to.Name(), how), func(t *testing.T) {
					for i := int64(0); ; i++ {
						m, _ := inMem(t, name, junk)
						fault := vfs.NewFault(m)
						stop(fault, i)
						err := migrateTo(to, fault, Format0)
						if fault.Count() <= i {
							if err != nil {
								t.Fatal(err)
							}
							if i < 20 {
								t.Errorf("only %d calls", i)
							}
							return
						}
						if how == "power loss" {
							m = m.CrashClone()
						}
						now := detected(t, m)
						if _, got := readAll(t, m); !bytes.Equal(got, values) {
							t.Fatalf("call %d: other values, as %s", i, now.Name())
						}
						if how == "one error" && now == Format0 && err != nil {
							wantFiles(t, m, old)
						}
						if err := migrateTo(to, m, now); err != nil && !(now == to && errors.Is(err, ndfile.ErrArgument)) {
							t.Fatalf("call %d, again: %v", i, err)
						}
						if how == "killed" { // verify tells of these
							removeTemps(t, m)
						}
						if wantFiles(t, m, want); t.Failed() {
							t.Fatalf("call %d", i)
						}
					}
				})
			}
		}
	}
}

// TestMigratePowerCut cuts the power at every call, in many ways: the array is there
// with all of its values, and the migration can be completed.
func TestMigratePowerCut(t *testing.T) {
	cuts := uint64(1)
	if os.Getenv("NDFILE_TORTURE") != "" {
		cuts = 40
	}
	for _, to := range formats[1:] {
		whole, _ := inMem(t, "json_py2", nil)
		_, values := readAll(t, whole)
		if err := migrateTo(to, whole, Format0); err != nil {
			t.Fatal(err)
		}
		want := listFiles(t, whole, "/a", "", files{})
		for call, done := int64(0), false; !done; call++ {
			m, _ := inMem(t, "json_py2", nil)
			m.Record()
			fault := vfs.NewFault(m)
			fault.FailFrom(call, syscall.EIO)
			err := migrateTo(to, fault, Format0)
			done = fault.Count() <= call
			for seed := range 2 * cuts {
				cut := vfs.PowerCut{Seed: uint64(call)<<8 + seed, Ordered: seed%2 == 1, Block: 64}
				at := fmt.Sprintf("%s, power cut at call %d, %+v", to.Name(), call, cut)
				disk := m.Cut(cut).Disk()
				now := detected(t, disk)
				if _, got := readAll(t, disk); !bytes.Equal(got, values) {
					t.Fatalf("%s: other values, as %s", at, now.Name())
				}
				if err == nil && now != to {
					t.Fatalf("%s: the migration was done, but it is %s", at, now.Name())
				}
				if err := migrateTo(to, disk, now); err != nil && !(now == to && errors.Is(err, ndfile.ErrArgument)) {
					t.Fatalf("%s, again: %v", at, err)
				}
				removeTemps(t, disk)
				if wantFiles(t, disk, want); t.Failed() {
					t.Fatal(at)
				}
			}
		}
	}
}

// TestMigrateChanged: between an interrupted migration and the next, the array
// was written, shrunk, and given to the other version.
func TestMigrateChanged(t *testing.T) {
	for calls := int64(0); ; calls++ {
		m, _ := inMem(t, "json_py2", nil)
		fault := vfs.NewFault(m)
		fault.FailFrom(calls, syscall.EIO)
		if migrateTo(Format2, fault, Format0) == nil {
			t.Fatal("it was never detected as zarr0")
		}
		if detected(t, m) != Format0 {
			if calls < 10 {
				t.Errorf("only %d calls", calls)
			}
			return
		}
		f, err := Format0.Open(ctx, m, "/a", ndfile.OpenOptions{Mode: ndfile.Update})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := f.Array("")
		one, _ := ndarray.NewBuffer(a.Spec().DType, []int64{1, 1})
		copy(one.Data, "\x01\x02\x03\x04")
		if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{2, 3}, Count: []int64{1, 1}}, one); err != nil {
			t.Fatal(err)
		}
		if err := a.(ndfile.Resizer).Resize(ctx, []int64{10, 7}); err != nil {
			t.Fatal(err)
		}
		f.Attrs().Set("new", pyjson.Int(1))
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
		_, values := readAll(t, m)
		if err := migrateTo(Format3, m, Format0); err != nil {
			t.Fatalf("%d calls: %v", calls, err)
		}
		spec, got := readAll(t, m)
		if !bytes.Equal(got, values) || len(got) != 280 {
			t.Fatalf("%d calls: other values", calls)
		}
		if _, ok := spec.Attrs.Get("new"); !ok {
			t.Fatalf("%d calls: the attribute is gone", calls)
		}
		removeTemps(t, m)
		names := slices.Sorted(maps.Keys(listFiles(t, m, "/a", "", files{})))
		if !slices.Equal(names, []string{"0.0", "zarr.json"}) {
			t.Fatalf("%d calls: %v", calls, names)
		}
	}
}
