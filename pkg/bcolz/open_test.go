package bcolz

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestOpenCalls counts the calls of the file system that opening takes: readers
// of many small roots wait for nothing else. NoFollow adds one to each file that
// is read through a Fault, and none on a disk.
func TestOpenCalls(t *testing.T) {
	calls := func(path string, do func(fsys ndfile.FS, path string)) int64 {
		mem := load(t, path, "/root")
		fault := vfs.NewFault(mem)
		do(fault, "/root")
		return fault.Count()
	}
	justOpen := func(fsys ndfile.FS, path string) { open(t, fsys, path, ndfile.ReadOnly) }
	for _, c := range []struct {
		what, path string
		want       int64
		do         func(fsys ndfile.FS, path string)
	}{
		{"Detect a carray", "nd3", 2, func(fsys ndfile.FS, path string) { Format.Detect(ctx, fsys, path) }},
		{"Detect a table", "t_many", 2, func(fsys ndfile.FS, path string) { Format.Detect(ctx, fsys, path) }},
		// __rootdirs__ 2, meta 1, sizes 2, storage 2, __attrs__ 2, data 1
		{"open a carray", "nd3", 10, justOpen},
		// __rootdirs__ 2, __attrs__ 2, and for each of 24 columns: its folder 1, meta 1, sizes 2
		{"open a table", "t_many", 4 + 24*4, justOpen},
		// storage 2, __attrs__ 2, data 1
		{"open a table and a column", "t_many", 4 + 24*4 + 5, func(fsys ndfile.FS, path string) {
			f := open(t, fsys, path, ndfile.ReadOnly)
			array(t, f, "c07")
			array(t, f, "c07").Spec()
			f.Attrs()
		}},
	} {
		if got := calls("testdata/roots/"+c.path, c.do); got != c.want {
			t.Errorf("%s: %d calls, expected %d", c.what, got, c.want)
		}
	}
}

// TestUneven opens a table whose columns have different lengths.
func TestUneven(t *testing.T) {
	mem := load(t, "testdata/malformed/t_uneven", "/t")
	f := open(t, mem, "/t", ndfile.ReadOnly)
	for _, name := range f.Names() {
		if got := array(t, f, name).Spec().Shape; !slices.Equal(got, []int64{35}) {
			t.Errorf("%s has shape %v", name, got)
		}
	}
	a, err := readAll(ctx, array(t, f, "a"))
	ok(t, err)
	b, err := readAll(ctx, array(t, f, "b"))
	ok(t, err)
	if string(a) != string(b) {
		t.Error("the columns differ")
	}
	ok(t, f.Close(ctx))

	// Opening for changes changes nothing; the first change cuts what is surplus.
	before := files(t, mem, "/")
	ok(t, open(t, mem, "/t", ndfile.Update).Abort())
	f = open(t, mem, "/t", ndfile.Update)
	if n := f.(ndfile.RowResizer).Rows(); n != 35 {
		t.Errorf("%d rows", n)
	}
	ok(t, f.Close(ctx))
	if !maps.Equal(before, files(t, mem, "/")) {
		t.Error("opening for changes changed something")
	}
	f = open(t, mem, "/t", ndfile.Update)
	one := ndarray.Buffer{DType: array(t, f, "a").Spec().DType, Shape: []int64{1}, Data: b[:4]}
	ok(t, f.(ndfile.RowResizer).AppendRows(ctx, []ndarray.Buffer{one, one}))
	ok(t, f.(ndfile.RowResizer).ResizeRows(ctx, 35))
	ok(t, f.Close(ctx))
	if got := string(get(t, mem, "/t/b/"+sizesFile)); !strings.HasPrefix(got, `{"shape": [35], "nbytes": 140, `) {
		t.Errorf("after a change: %s", got)
	}
	if _, err := mem.Lstat("/t/b/data/__4.blp"); err == nil {
		t.Error("the chunk behind the last row is still there")
	}
	c := open(t, mem, "/t/b", ndfile.ReadOnly)
	got, err := readAll(ctx, array(t, c, ""))
	if err != nil || string(got) != string(a) {
		t.Errorf("%v", err)
	}
}

// TestLazy: a broken column does not keep the others from being read, as long as
// its length is known.
func TestLazy(t *testing.T) {
	mem := load(t, "testdata/roots/t_basic", "/t")
	put(t, mem, "/t/a/"+storageFile, "")
	put(t, mem, "/t/m/"+attrsFile, "{")
	f := open(t, mem, "/t", ndfile.ReadOnly)
	_, err := f.Array("a")
	is(t, err, ndfile.ErrCorrupt, "/t/a/"+storageFile)
	_, err = f.Array("m")
	is(t, err, ndfile.ErrCorrupt, "/t/m/"+attrsFile)
	_, err = readAll(ctx, array(t, f, "zz"))
	ok(t, err)
	put(t, mem, "/t/m/"+attrsFile, "{}")
	_, err = readAll(ctx, array(t, f, "m"))
	ok(t, err)
	_, err = Format.Open(ctx, mem, "/t", ndfile.OpenOptions{Mode: ndfile.Update})
	is(t, err, ndfile.ErrCorrupt, "/t/a/"+storageFile)
	put(t, mem, "/t/a/"+sizesFile, "")
	_, err = Format.Open(ctx, mem, "/t", ndfile.OpenOptions{})
	is(t, err, ndfile.ErrCorrupt, "/t/a/"+sizesFile)
}

// TestSubArrays: a dtype with a shape gives rows that shape, unless meta/sizes
// does.
func TestSubArrays(t *testing.T) {
	for _, c := range []struct {
		dtype, shape string
		want         []int64
	}{
		{"(2,)i4", "[3]", []int64{3, 2}}, {"2i4", "[3]", []int64{3, 2}}, {"(2,)i4", "[3, 2]", []int64{3, 2}}, {"(1,2)i4", "[3]", []int64{3, 1, 2}},
		{"i4,i4", "[3]", []int64{3}}, {"<i8", "[3]", []int64{3}},
	} {
		mem := load(t, "testdata/roots/exact", "/c") // 40 int32 in chunks of 20
		update(t, mem, "/c/"+storageFile, `"int32"`, `"`+c.dtype+`"`)
		update(t, mem, "/c/"+storageFile, `"chunklen": 20`, `"chunklen": 10`)
		update(t, mem, "/c/"+sizesFile, `[40]`, c.shape)
		f := open(t, mem, "/c", ndfile.ReadOnly)
		a := array(t, f, "")
		if !slices.Equal(a.Spec().Shape, c.want) {
			t.Errorf("%s, %s: shape %v", c.dtype, c.shape, a.Spec().Shape)
		}
		_, err := readAll(ctx, a)
		ok(t, err)
	}
	// Changed, meta/sizes has the whole shape, as bcolz writes it.
	mem := load(t, "testdata/roots/exact", "/c")
	update(t, mem, "/c/"+storageFile, `"int32"`, `"(2,)i4"`)
	update(t, mem, "/c/"+storageFile, `"chunklen": 20`, `"chunklen": 10`)
	update(t, mem, "/c/"+sizesFile, `[40]`, "[20]")
	f := open(t, mem, "/c", ndfile.Update)
	ok(t, array(t, f, "").(ndfile.Resizer).Resize(ctx, []int64{13, 2}))
	ok(t, f.Close(ctx))
	if got := string(get(t, mem, "/c/"+sizesFile)); !strings.HasPrefix(got, `{"shape": [13, 2], "nbytes": 104, `) {
		t.Errorf("%s", got)
	}
}

// TestTextTable: the layout of tables in the format's text is refused by name.
func TestTextTable(t *testing.T) {
	for _, withMeta := range []bool{false, true} {
		mem := load(t, "testdata/roots/t_basic/zz", "/x")
		put(t, mem, "/notes", "")
		ok(t, mem.Mkdir("/t"))
		ok(t, mem.Mkdir("/t/data"))
		ok(t, mem.Rename("/x", "/t/data/zz"))
		put(t, mem, "/t/data/README", "")
		if withMeta {
			ok(t, mem.Mkdir("/t/meta"))
		}
		m, err := Format.Detect(ctx, mem, "/t")
		if m != ndfile.Possible || err != nil {
			t.Errorf("Detect: %v, %v", m, err)
		}
		_, err = Format.Open(ctx, mem, "/t", ndfile.OpenOptions{})
		is(t, err, ndfile.ErrNotSupported, "/t")
		if !strings.Contains(err.Error(), "no release of bcolz") {
			t.Error(err)
		}
		problems := 0
		ok(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/t", ndfile.VerifyOptions{}, func(ndfile.Problem) { problems++ }))
		if problems != 1 {
			t.Errorf("%d problems", problems)
		}
	}
}

// TestNotARoot opens what is no root.
func TestNotARoot(t *testing.T) {
	mem := ndfile.NewMem()
	put(t, mem, "/file", "text")
	ok(t, mem.Mkdir("/folder"))
	put(t, mem, "/folder/text", "")
	_, err := Format.Open(ctx, mem, "/missing", ndfile.OpenOptions{})
	is(t, err, ndfile.ErrNotFound, "")
	_, err = Format.Open(ctx, mem, "/file", ndfile.OpenOptions{})
	is(t, err, ndfile.ErrFormat, "/file")
	_, err = Format.Open(ctx, mem, "/folder", ndfile.OpenOptions{})
	is(t, err, ndfile.ErrFormat, "/folder")
	_, err = Format.Open(ctx, mem, "/folder", ndfile.OpenOptions{Shared: true})
	is(t, err, ndfile.ErrArgument, "")
	for _, path := range []string{"/file", "/folder", "/folder/"} {
		_, err := Format.Create(ctx, mem, path, ndfile.CreateOptions{})
		if ndfile.KindOf(err) != ndfile.ErrExists {
			t.Errorf("Create over %s: %v", path, err)
		}
	}
	if len(files(t, mem, "/")) != 3 {
		t.Errorf("%v", files(t, mem, "/"))
	}
}

// TestForeignFiles: a root that holds something else is not replaced, and a column
// that does is not removed.
func TestForeignFiles(t *testing.T) {
	mem := load(t, "testdata/roots/t_basic", "/t")
	put(t, mem, "/t/a/data/README", "mine")
	before := files(t, mem, "/")
	_, err := Format.Create(ctx, mem, "/t", ndfile.CreateOptions{})
	if ndfile.KindOf(err) != ndfile.ErrExists || !strings.Contains(err.Error(), "/t/a/data/README") {
		t.Error(err)
	}
	f := open(t, mem, "/t", ndfile.Update)
	is(t, f.(ndfile.Remover).Remove(ctx, "a"), ndfile.ErrExists, "/t/a/data/README")
	_, err = f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{23}})
	is(t, err, ndfile.ErrNameExists, "")
	ok(t, mem.Mkdir("/t/new"))
	_, err = f.Add(ctx, "new", ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{23}})
	is(t, err, ndfile.ErrExists, "/t/new")
	ok(t, mem.Rmdir("/t/new"))
	ok(t, f.Close(ctx))
	for path, text := range files(t, mem, "/") {
		if before[path] != text {
			t.Errorf("%s changed", path)
		}
	}
	ok(t, mem.Remove("/t/a/data/README"))
	f = open(t, mem, "/t", ndfile.Update)
	ok(t, f.(ndfile.Remover).Remove(ctx, "a"))
	ok(t, f.Close(ctx))
	if len(files(t, mem, "/t")) >= len(before) || string(get(t, mem, "/t/__rootdirs__")) != "{\"names\": [\"zz\", \"m\"]}\n" {
		t.Errorf("%v", files(t, mem, "/t"))
	}
	noLeftovers(t, mem, "/t")
}

// links are the places in a root that a symbolic link can stand in.
var links = []string{"__rootdirs__", "__attrs__", "zz", "zz/meta", "zz/data", "zz/meta/sizes", "zz/meta/storage", "zz/__attrs__", "zz/data/__0.blp"}

// TestLinks: symbolic links are followed when that is asked for, and refused
// otherwise, in reading, writing and repairing.
func TestLinks(t *testing.T) {
	for _, link := range links {
		t.Run(strings.ReplaceAll(link, "/", "-"), func(t *testing.T) {
			mem := load(t, "testdata/roots/t_basic", "/t")
			ok(t, mem.Rename("/t/"+link, "/elsewhere"))
			ok(t, mem.Symlink("/elsewhere", "/t/"+link))
			ok(t, mem.Symlink("/t", "/root"))
			before := files(t, mem, "/")
			readAs := func(opt ndfile.OpenOptions) error {
				f, err := Format.Open(ctx, mem, "/root", opt)
				if err != nil {
					return err
				}
				defer f.Abort()
				return readFile(f)
			}
			for _, mode := range []ndfile.Mode{ndfile.ReadOnly, ndfile.Update} {
				ok(t, readAs(ndfile.OpenOptions{FollowSymlinks: true, Mode: mode}))
				is(t, readAs(ndfile.OpenOptions{Mode: mode}), ndfile.ErrNotSupported, "/root/"+link)
			}
			found := 0
			ok(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/root", ndfile.VerifyOptions{Repair: true}, func(p ndfile.Problem) {
				if p.Path == "/root/"+link {
					found++
				}
			}))
			if found == 0 {
				t.Error("Verify does not report it")
			}
			ok(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/root", ndfile.VerifyOptions{FollowSymlinks: true}, func(p ndfile.Problem) { t.Error(p) }))
			for path, text := range files(t, mem, "/") {
				if before[path] != text {
					t.Errorf("%s changed", path)
				}
			}
		})
	}
}

// TestFIFOs: what would wait for ever is refused.
func TestFIFOs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs FIFOs")
	}
	for _, at := range links {
		root := t.TempDir() + "/t"
		ok(t, os.CopyFS(root, os.DirFS("testdata/roots/t_basic")))
		ok(t, os.RemoveAll(root+"/"+at))
		ok(t, syscall.Mkfifo(root+"/"+at, 0o666))
		if err := readRoot(root); err == nil || !strings.Contains(err.Error(), root+"/"+at) {
			t.Errorf("%s: %v", at, err)
		}
		problems := 0
		ok(t, Format.(ndfile.Verifier).Verify(ctx, ndfile.OS, root, ndfile.VerifyOptions{Repair: true}, func(ndfile.Problem) { problems++ }))
		if problems == 0 {
			t.Errorf("%s: Verify does not report it", at)
		}
	}
}

// TestStrayFiles: a table may hold files with the names of a carray's folders.
func TestStrayFiles(t *testing.T) {
	mem := load(t, "testdata/roots/t_basic", "/t")
	put(t, mem, "/t/meta", "mine")
	put(t, mem, "/t/data", "mine")
	if m, err := Format.Detect(ctx, mem, "/t"); m != ndfile.Certain || err != nil {
		t.Errorf("%v, %v", m, err)
	}
	ok(t, open(t, mem, "/t", ndfile.Update).Close(ctx))
	for _, p := range verify(t, mem, "/t", true) {
		if p.Class != ndfile.Foreign || p.Repair != "" {
			t.Errorf("%+v", p)
		}
	}
}

// TestLimits: metadata texts and their nesting are bounded.
func TestLimits(t *testing.T) {
	mem := load(t, "testdata/roots/t_basic", "/t")
	put(t, mem, "/t/__attrs__", `{"a": "`+strings.Repeat("x", 20<<10)+`", "b": [[[[]]]]}`)
	for _, c := range []struct {
		limits ndfile.Limits
		kind   *ndfile.ErrorKind
	}{
		{ndfile.Limits{}, nil}, {ndfile.Limits{MaxHeader: 20 << 10}, ndfile.ErrLimit}, {ndfile.Limits{MaxHeader: 21 << 10}, nil},
		{ndfile.Limits{MaxDepth: 4}, ndfile.ErrLimit}, {ndfile.Limits{MaxDepth: 5}, nil},
	} {
		f, err := Format.Open(ctx, mem, "/t", ndfile.OpenOptions{Limits: c.limits})
		if c.kind != nil {
			is(t, err, c.kind, "/t/__attrs__")
			continue
		}
		ok(t, err)
		if f.Attrs().Len() != 2 {
			t.Errorf("%d attributes", f.Attrs().Len())
		}
	}
}
