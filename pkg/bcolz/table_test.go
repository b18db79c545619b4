package bcolz

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var (
	i4 = ndarray.MustParse("<i4")
	f8 = ndarray.MustParse("<f8")
)

// counting is n rows of rising bytes.
func counting(d ndarray.DType, from byte, n int64, rest ...int64) ndarray.Buffer {
	b, err := ndarray.NewBuffer(d, append([]int64{n}, rest...))
	if err != nil {
		panic(err)
	}
	for i := range b.Data {
		b.Data[i] = from + byte(i/d.Size)
	}
	return b
}

// table makes a table of columns a, b, c with 25 rows in chunks of 10, 4 and 100.
func table(t testing.TB, opt ndfile.WriteOptions) *ndfile.Mem {
	t.Helper()
	mem := ndfile.NewMem()
	f, err := Format.Create(ctx, mem, "/t", ndfile.CreateOptions{WriteOptions: opt})
	ok(t, err)
	for i, name := range []string{"a", "b", "c"} {
		d := []ndarray.DType{i4, f8, i4}[i]
		a, err := f.Add(ctx, name, ndfile.Spec{DType: d, Shape: []int64{25}, Chunks: []int64{[]int64{10, 4, 100}[i]}})
		ok(t, err)
		ok(t, a.WriteBox(ctx, ndarray.Full([]int64{25}), counting(d, byte(i), 25)))
	}
	ok(t, f.Close(ctx))
	return mem
}

// rows are n rows for it.
func rows(n int64) []ndarray.Buffer {
	return []ndarray.Buffer{counting(i4, 100, n), counting(f8, 101, n), counting(i4, 102, n)}
}

// recorder notes what appears and goes.
type recorder struct {
	ndfile.FS
	log []string
}

func (r *recorder) Rename(old, new string) error {
	r.log = append(r.log, "-> "+strings.TrimPrefix(new, "/t/"))
	return r.FS.Rename(old, new)
}

func (r *recorder) RenameNoReplace(old, new string) error {
	what := "-> " + strings.TrimPrefix(new, "/t/")
	if vfs.IsTempName(path.Base(new)) {
		what = strings.TrimPrefix(old, "/t/") + " -> aside"
	}
	r.log = append(r.log, what)
	return r.FS.RenameNoReplace(old, new)
}

func (r *recorder) CreatePrivate(path string) (vfs.File, error) {
	if !strings.Contains(path, ".ndf-tmp-") {
		r.log = append(r.log, "= "+strings.TrimPrefix(path, "/t/"))
	}
	return r.FS.CreatePrivate(path)
}

func (r *recorder) Create(path string, excl bool) (vfs.File, error) {
	if !strings.Contains(path, ".ndf-tmp-") {
		r.log = append(r.log, "= "+strings.TrimPrefix(path, "/t/"))
	}
	return r.FS.Create(path, excl)
}

func (r *recorder) Remove(path string) error {
	if !strings.Contains(path, ".ndf-tmp-") {
		r.log = append(r.log, "x "+strings.TrimPrefix(path, "/t/"))
	}
	return r.FS.Remove(path)
}

// WriteFile goes step by step through the methods above.
func (r *recorder) WriteFile(path string, parts [][]byte, opt ndfile.WriteOptions) error {
	w, err := vfs.NewReplace(r, path, opt)
	if err != nil {
		return err
	}
	off := int64(0)
	for _, p := range parts {
		n, err := w.File().WriteAt(p, off)
		if err != nil {
			return err
		}
		off += int64(n)
	}
	return w.Commit()
}

// TestOrder looks at the order in which files appear (->), are written in place
// (=) and go (x).
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f ndfile.File) error
		want []string
	}{
		{"append", func(f ndfile.File) error { return f.(ndfile.RowResizer).AppendRows(ctx, rows(2)) },
			[]string{"-> a/data/__2.blp", "-> b/data/__6.blp", "-> c/data/__0.blp", "-> c/meta/sizes", "-> b/meta/sizes", "-> a/meta/sizes"}},
		{"append chunks", func(f ndfile.File) error { return f.(ndfile.RowResizer).AppendRows(ctx, rows(7)) },
			[]string{"-> a/data/__2.blp", "-> b/data/__6.blp", "= b/data/__7.blp", "= a/data/__3.blp", "-> c/data/__0.blp", "-> c/meta/sizes", "-> b/meta/sizes", "-> a/meta/sizes"}},
		{"grow", func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 30) },
			[]string{"-> a/data/__2.blp", "-> b/data/__6.blp", "= b/data/__7.blp", "-> c/data/__0.blp", "-> c/meta/sizes", "-> b/meta/sizes", "-> a/meta/sizes"}},
		{"shrink", func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 13) },
			[]string{"-> a/meta/sizes", "-> b/meta/sizes", "-> c/meta/sizes", "x a/data/__2.blp", "-> a/data/__1.blp", "x b/data/__6.blp", "x b/data/__5.blp", "x b/data/__4.blp",
				"-> b/data/__3.blp", "-> c/data/__0.blp"}},
		{"shrink to nothing", func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 0) },
			[]string{"-> a/meta/sizes", "-> b/meta/sizes", "-> c/meta/sizes", "x a/data/__2.blp", "x a/data/__1.blp", "x a/data/__0.blp", "x b/data/__6.blp", "x b/data/__5.blp",
				"x b/data/__4.blp", "x b/data/__3.blp", "x b/data/__2.blp", "x b/data/__1.blp", "x b/data/__0.blp", "x c/data/__0.blp"}},
		{"add", func(f ndfile.File) error {
			_, err := f.Add(ctx, "n", ndfile.Spec{DType: i4, Shape: []int64{25}})
			return err
		}, []string{"-> n", "-> __rootdirs__"}},
		{"remove", func(f ndfile.File) error { return f.(ndfile.Remover).Remove(ctx, "a") }, []string{"-> __rootdirs__", "a -> aside"}},
		{"attributes", func(f ndfile.File) error {
			f.Attrs().Set("k", ndfile.StringValue("v"))
			array(t, f, "b").Attrs().Set("k", ndfile.StringValue("v"))
			array(t, f, "c").Attrs()
			return nil
		}, []string{"-> b/__attrs__", "-> __attrs__"}},
		{"region", func(f ndfile.File) error {
			box := ndarray.Full([]int64{2})
			box.Start[0] = 9
			return array(t, f, "a").WriteBox(ctx, box, counting(i4, 7, 2))
		}, []string{"-> a/data/__0.blp", "-> a/data/__1.blp"}},
		{"nothing", func(f ndfile.File) error { return f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{}) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{FS: table(t, ndfile.WriteOptions{})}
			f := open(t, r, "/t", ndfile.Update)
			ok(t, c.do(f))
			ok(t, f.Close(ctx))
			if !slices.Equal(r.log, c.want) {
				t.Errorf("%q\nexpected\n%q", r.log, c.want)
			}
		})
	}
}

// bcolzRows is what bcolz sees of a table: as many rows of each column as the
// first one counts. Every reader of the format must be able to read them.
func bcolzRows(t testing.TB, fsys ndfile.FS) (all string) {
	t.Helper()
	d := disk{metafile.NewFiles(fsys, false, ndfile.Limits{})}
	doc, err := d.document(ctx, "/t/"+rootdirsFile)
	ok(t, err)
	names, err := parseRootdirs(doc)
	ok(t, err)
	n := int64(-1)
	for _, name := range names {
		f := open(t, fsys, "/t/"+name, ndfile.ReadOnly)
		a := array(t, f, "")
		s := a.Spec()
		if n < 0 {
			n = s.Shape[0]
		}
		box := ndarray.Full(s.Shape)
		box.Count[0] = n
		b, err := ndarray.NewBuffer(s.DType, box.Count)
		ok(t, err)
		if err := a.ReadBox(ctx, box, b); err != nil {
			t.Fatalf("bcolz reads %d rows, but column %s has %d: %v", n, name, s.Shape[0], err)
		}
		all += fmt.Sprintf("%s %s %x\n", name, ndfile.AppendJSON(nil, a.Attrs()), b.Data)
	}
	return fmt.Sprintf("%s%x", all, get(t, fsys, "/t/"+attrsFile))
}

// ourRows is what we see of it.
func ourRows(t testing.TB, fsys ndfile.FS) (all string) {
	t.Helper()
	f := open(t, fsys, "/t", ndfile.ReadOnly)
	defer f.Close(ctx)
	for _, name := range f.Names() {
		a := array(t, f, name)
		data, err := readAll(ctx, a)
		ok(t, err)
		all += fmt.Sprintf("%s %s %x\n", name, ndfile.AppendJSON(nil, a.Attrs()), data)
	}
	return fmt.Sprintf("%s%x", all, get(t, fsys, "/t/"+attrsFile))
}

// TestCrash kills the process at every call of the file system. What is left is
// the old table or the new one, to bcolz and to us, also after a power failure;
// and it can be repaired and goes on.
func TestCrash(t *testing.T) {
	for name, do := range map[string]func(f ndfile.File) error{
		"append":       func(f ndfile.File) error { return f.(ndfile.RowResizer).AppendRows(ctx, rows(3)) },
		"append more":  func(f ndfile.File) error { return f.(ndfile.RowResizer).AppendRows(ctx, rows(30)) },
		"grow":         func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 47) },
		"shrink":       func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 7) },
		"shrink, edge": func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 20) },
		"empty":        func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, 0) },
		"remove":       func(f ndfile.File) error { return f.(ndfile.Remover).Remove(ctx, "a") },
		"add": func(f ndfile.File) error {
			a, err := f.Add(ctx, "n", ndfile.Spec{DType: f8, Shape: []int64{25}, Chunks: []int64{6}})
			if err != nil {
				return err
			}
			return a.WriteBox(ctx, ndarray.Full([]int64{25}), counting(f8, 3, 25))
		},
		"attributes": func(f ndfile.File) error { f.Attrs().Set("k", ndfile.StringValue("v")); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			run := func(stop int64) (*ndfile.Mem, error) {
				mem := table(t, ndfile.WriteOptions{Sync: true})
				fault := vfs.NewFault(mem)
				if stop >= 0 {
					fault.FailFrom(stop, syscall.EIO)
				}
				f, err := Format.Open(ctx, fault, "/t", ndfile.OpenOptions{Mode: ndfile.Update})
				if err != nil {
					return mem, err
				}
				if err = do(f); err == nil {
					err = f.Close(ctx)
				}
				f.Abort() // the process ends, and with it the lock
				return mem, err
			}
			old := ourRows(t, table(t, ndfile.WriteOptions{}))
			done, err := run(-1)
			ok(t, err)
			new := ourRows(t, done)
			noLeftovers(t, done, "/t")
			if old == new || bcolzRows(t, done) != new {
				t.Fatal("the new state is not as it should be")
			}
			for stop := int64(0); ; stop++ {
				mem, err := run(stop)
				if err == nil {
					break
				}
				if !errors.Is(err, syscall.EIO) {
					t.Fatalf("call %d: %v", stop, err)
				}
				for _, left := range []*ndfile.Mem{mem, mem.CrashClone()} {
					ours, theirs := ourRows(t, left), bcolzRows(t, left)
					if ours != old && ours != new || theirs != old && theirs != new {
						t.Fatalf("call %d: neither the old table nor the new one; the same to bcolz: %t", stop, ours == theirs)
					}
					_, err := mend(left)
					ok(t, err)
					if again := ourRows(t, left); again != ours {
						t.Fatalf("call %d: a repair changed what there is", stop)
					}
					f := open(t, left, "/t", ndfile.Update)
					n := f.(ndfile.RowResizer).Rows()
					ok(t, f.(ndfile.RowResizer).ResizeRows(ctx, n+60))
					for _, name := range f.Names() {
						a := array(t, f, name)
						box := ndarray.Full([]int64{60})
						box.Start[0] = n
						b, err := ndarray.NewBuffer(a.Spec().DType, box.Count)
						ok(t, err)
						ok(t, a.ReadBox(ctx, box, b))
						if strings.Trim(string(b.Data), "\x00") != "" {
							t.Fatalf("call %d: %s grows with old values: %x", stop, name, b.Data)
						}
					}
					ok(t, f.Close(ctx))
				}
			}
		})
	}
}

// mend repairs the table and counts the problems.
func mend(fsys ndfile.FS) (n int, err error) {
	err = Format.(ndfile.Verifier).Verify(ctx, fsys, "/t", ndfile.VerifyOptions{Repair: true}, func(p ndfile.Problem) {
		n++
		if err == nil && p.Repair != "" && !p.Repaired {
			err = errors.New(p.Msg)
		}
	})
	return n, err
}

// TestFlushWhenFull: rows become visible to others as soon as a chunk of any
// column is full, and not before.
func TestFlushWhenFull(t *testing.T) {
	mem := table(t, ndfile.WriteOptions{})
	f := open(t, mem, "/t", ndfile.Update)
	seen := func() int64 {
		g := open(t, mem, "/t", ndfile.ReadOnly)
		defer g.Close(ctx)
		for _, name := range g.Names() {
			_, err := readAll(ctx, array(t, g, name))
			ok(t, err)
		}
		return g.(ndfile.RowResizer).Rows()
	}
	want := []int64{25, 25, 28, 28, 30, 30, 32, 32} // b: chunks of 4, a: of 10
	for i, n := range want {
		ok(t, f.(ndfile.RowResizer).AppendRows(ctx, rows(1)))
		if got := seen(); got != n {
			t.Errorf("after %d rows others see %d, expected %d", 26+i, got, n)
		}
	}
	ok(t, f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{}))
	if got := seen(); got != 33 {
		t.Errorf("after Flush others see %d", got)
	}
	ok(t, f.(ndfile.RowResizer).AppendRows(ctx, rows(2)))
	ok(t, f.Abort())
	if got := seen(); got != 33 {
		t.Errorf("after Abort others see %d", got)
	}
}

// TestAppendFails makes each call fail once while rows are appended: there are as
// many as before, and the next append goes on from there.
func TestAppendFails(t *testing.T) {
	for i := int64(0); ; i++ {
		mem := table(t, ndfile.WriteOptions{})
		fault := vfs.NewFault(mem)
		f := open(t, fault, "/t", ndfile.Update)
		r := f.(ndfile.RowResizer)
		ok(t, r.AppendRows(ctx, rows(1))) // waits in memory
		fault.FailAt(fault.Count()+i, syscall.ENOSPC)
		before := fault.Count()
		err := r.AppendRows(ctx, rows(16))
		if err == nil && fault.Count()-before <= i {
			break
		}
		want := int64(42)
		if err != nil {
			want = 26
		}
		if r.Rows() != want {
			t.Fatalf("call %d, %v: %d rows, expected %d", i, err, r.Rows(), want)
		}
		ok(t, r.AppendRows(ctx, rows(5)))
		ok(t, f.Close(ctx))
		g := open(t, mem, "/t", ndfile.ReadOnly)
		for k, name := range g.Names() {
			data, err := readAll(ctx, array(t, g, name))
			ok(t, err)
			b := counting(array(t, g, name).Spec().DType, byte(k), 25).Data
			b = append(b, rows(1)[k].Data...)
			if want == 42 {
				b = append(b, rows(16)[k].Data...)
			}
			b = append(b, rows(5)[k].Data...)
			if string(data) != string(b) {
				t.Fatalf("call %d: column %s has other rows", i, name)
			}
		}
		noLeftovers(t, mem, "/t")
	}
}

// TestSingleAttrs: a carray has one set of attributes.
func TestSingleAttrs(t *testing.T) {
	attrs := func(kv ...string) *ndfile.Attrs {
		a := ndfile.NewAttrs()
		for i := 0; i < len(kv); i += 2 {
			a.Set(kv[i], ndfile.StringValue(kv[i+1]))
		}
		return a
	}
	mem := ndfile.NewMem()
	f, err := Format.Create(ctx, mem, "/c", ndfile.CreateOptions{Attrs: attrs("a", "1")})
	ok(t, err)
	mine := f.Attrs()
	_, err = f.Add(ctx, "", ndfile.Spec{DType: i4, Shape: []int64{3}, Attrs: attrs("b", "2", "a", "other")})
	is(t, err, ndfile.ErrValue, "/c")
	_, err = f.Add(ctx, "", ndfile.Spec{DType: i4, Shape: []int64{3}, Attrs: attrs("b", "2", "a", "1")})
	ok(t, err)
	mine.Set("c", ndfile.StringValue("3"))
	ok(t, f.Close(ctx))
	if got := string(get(t, mem, "/c/__attrs__")); got != `{"a": "1", "b": "2", "c": "3"}`+"\n" {
		t.Errorf("%s", got)
	}
}

// TestBadDflt: an array whose default is no element can be read and written, but
// not grown.
func TestBadDflt(t *testing.T) {
	mem := load(t, "testdata/roots/exact", "/c")
	update(t, mem, "/c/"+storageFile, `"dflt": 0`, `"dflt": "spam"`)
	f := open(t, mem, "/c", ndfile.Update)
	a := array(t, f, "")
	is(t, a.(ndfile.Resizer).Resize(ctx, []int64{50}), ndfile.ErrCorrupt, "/c/"+storageFile)
	ok(t, a.(ndfile.Resizer).Append(ctx, 0, counting(i4, 1, 3)))
	ok(t, a.(ndfile.Resizer).Resize(ctx, []int64{41}))
	ok(t, f.Close(ctx))
}

// TestUnknownCompression: metadata that no writer could follow do not matter to
// readers.
func TestUnknownCompression(t *testing.T) {
	mem := load(t, "testdata/roots/exact", "/c")
	update(t, mem, "/c/"+storageFile, `"lz4"`, `"future"`)
	f := open(t, mem, "/c", ndfile.ReadOnly)
	_, err := readAll(ctx, array(t, f, ""))
	ok(t, err)
	spec := array(t, f, "").Spec()
	if got := string(ndfile.AppendCodecs(nil, &spec)); !strings.Contains(got, `"future"`) {
		t.Error(got)
	}
	if c, ok := spec.Compression(); ok {
		t.Errorf("the short form of a codec that is not known is %+v", c)
	}
	_, err = Format.Open(ctx, mem, "/c", ndfile.OpenOptions{Mode: ndfile.Update})
	is(t, err, ndfile.ErrNotSupported, "/c/"+storageFile)
}

// TestForeignChunks: WriteChunk takes only what bcolz can read.
func TestForeignChunks(t *testing.T) {
	mem := load(t, "testdata/roots/exact", "/c")
	f := open(t, mem, "/c", ndfile.Update)
	defer f.Close(ctx)
	c := array(t, f, "").(ndfile.Chunked)
	raw, size, err := c.ReadChunk(ctx, []int64{0}, nil)
	if err != nil || size != 80 {
		t.Fatal(size, err)
	}
	ok(t, c.WriteChunk(ctx, []int64{1}, raw))
	for _, change := range []func(raw []byte){
		func(raw []byte) { raw[3] = 1 },                // element size
		func(raw []byte) { raw[2] = raw[2]&31 | 2<<5 }, // snappy
		func(raw []byte) { raw[0] = 5 },                // Blosc2
	} {
		bad := slices.Clone(raw)
		change(bad)
		is(t, c.WriteChunk(ctx, []int64{1}, bad), ndfile.ErrNotSupported, "/c")
	}
}
