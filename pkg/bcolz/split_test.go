package bcolz

import (
	"errors"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var splitter = Format.(ndfile.Splitter)

func parts(rows ...int64) (list []ndfile.Part) {
	for i, n := range rows {
		list = append(list, ndfile.Part{Path: "/part" + string(rune('a'+i)), Rows: n})
	}
	return list
}

// TestSplitBytes: files are copied as they are, also what is unusual in them; only
// meta/sizes is new.
func TestSplitBytes(t *testing.T) {
	mem := load(t, "testdata/roots/header_reserved", "/c") // 25 rows in chunks of 10
	put(t, mem, "/c/__attrs__", "{ \"b\" : 1,\"a\":2 }")
	update(t, mem, "/c/"+storageFile, `"dflt": 0}`, `"dflt": 0, "note": "kept"}`)
	put(t, mem, "/c/data/__0.blp", string(get(t, mem, "/c/data/__0.blp"))+"behind the chunk")
	ok(t, splitter.Split(ctx, mem, "/c", parts(10, 0, 15), ndfile.SplitOptions{}))
	whole := files(t, mem, "/c")
	expected := func(sizes string, chunks ...string) map[string]string {
		m := map[string]string{"meta/": "", "data/": "", "__attrs__": whole["__attrs__"], storageFile: whole[storageFile], sizesFile: sizes + "\n"}
		for i, from := range chunks {
			m["data/__"+decimal(i)+".blp"] = whole["data/"+from]
		}
		return m
	}
	plain := expected(`{"shape": [10], "nbytes": 40, "cbytes": 112}`, "__0.blp")
	for path, want := range map[string]map[string]string{
		"/parta": plain,
		"/partb": expected(`{"shape": [0], "nbytes": 0, "cbytes": 40}`),
		"/partc": expected(`{"shape": [15], "nbytes": 60, "cbytes": 96}`, "__1.blp", "__2.blp"),
	} {
		if got := files(t, mem, path); !maps.Equal(got, want) {
			t.Errorf("%s:\n%q\nexpected\n%q", path, got, want)
		}
	}
	ok(t, splitter.Concat(ctx, mem, []string{"/parta", "/partb", "/partc"}, "/again", ndfile.SplitOptions{}))
	again := files(t, mem, "/again")
	again[sizesFile], whole[sizesFile] = "", "" // cbytes counts what is behind the chunk
	if !maps.Equal(again, whole) {
		t.Errorf("joined:\n%q\nexpected\n%q", again, whole)
	}
}

// TestSplitTable cuts where all columns have chunks that end.
func TestSplitTable(t *testing.T) {
	mem := table(t, ndfile.WriteOptions{})
	err := splitter.Split(ctx, mem, "/t", parts(10, 15), ndfile.SplitOptions{})
	is(t, err, ndfile.ErrShape, "/t")
	if !strings.Contains(err.Error(), "row 10 is not between chunks; nearest are row 0") {
		t.Error(err)
	}
	f := open(t, mem, "/t", ndfile.Update)
	ok(t, f.(ndfile.Remover).Remove(ctx, "c"))
	ok(t, f.Close(ctx))
	err = splitter.Split(ctx, mem, "/t", parts(19, 6), ndfile.SplitOptions{})
	if is(t, err, ndfile.ErrShape, "/t"); !strings.Contains(err.Error(), "row 19 is not between chunks; nearest are row 0 and row 20") {
		t.Error(err)
	}
	ok(t, splitter.Split(ctx, mem, "/t", parts(20, 5), ndfile.SplitOptions{}))
	ok(t, splitter.Concat(ctx, mem, []string{"/parta", "/partb"}, "/again", ndfile.SplitOptions{}))
	for path, text := range files(t, mem, "/t") {
		if got := string(get2(t, mem, "/again/"+path)); got != text {
			t.Errorf("%s: %q, expected %q", path, got, text)
		}
	}
	is(t, splitter.Concat(ctx, mem, []string{"/partb", "/parta"}, "/x", ndfile.SplitOptions{}), ndfile.ErrShape, "/partb")
	is(t, splitter.Concat(ctx, mem, []string{"/parta", "/parta/a"}, "/x", ndfile.SplitOptions{}), ndfile.ErrShape, "/parta/a")
	is(t, splitter.Concat(ctx, mem, []string{"/t"}, "/t", ndfile.SplitOptions{}), ndfile.ErrArgument, "/t")
	if _, err := mem.Lstat("/x"); err == nil {
		t.Error("something was made")
	}
}

// get2 is get for files, and nothing for folders.
func get2(t testing.TB, fsys ndfile.FS, path string) []byte {
	if strings.HasSuffix(path, "/") {
		return nil
	}
	return get(t, fsys, path)
}

// TestSplitDamage: damaged chunks are not passed on.
func TestSplitDamage(t *testing.T) {
	for _, name := range []string{"chunk_missing", "chunk_empty", "chunk_cut", "chunk_cut2", "bad_magic", "blpk_version", "blpk_nchunks", "chunk_nbytes", "chunk_small", "chunk_big", "chunk_dir",
		"last_missing", "shape_longer", "last_short"} {
		mem := load(t, "testdata/malformed/"+name, "/c")
		before := files(t, mem, "/")
		err := splitter.Split(ctx, mem, "/c", parts(20, array(t, open(t, mem, "/c", ndfile.ReadOnly), "").Spec().Shape[0]-20), ndfile.SplitOptions{})
		if err == nil || !strings.Contains(err.Error(), "/c/data/__") {
			t.Errorf("%s: %v", name, err)
		}
		if after := files(t, mem, "/"); !maps.Equal(before, after) {
			t.Errorf("%s: something was made", name)
		}
	}
}

// TestSplitFaults makes each call fail, and all calls from each on: a part is
// whole or not there, and what it is made of does not change.
func TestSplitFaults(t *testing.T) {
	base := func() *ndfile.Mem {
		mem := table(t, ndfile.WriteOptions{Sync: true})
		f := open(t, mem, "/t", ndfile.Update)
		ok(t, f.(ndfile.Remover).Remove(ctx, "c"))
		ok(t, f.Close(ctx))
		return mem
	}
	for name, do := range map[string]func(fsys ndfile.FS, opt ndfile.SplitOptions) error{
		"split": func(fsys ndfile.FS, opt ndfile.SplitOptions) error {
			return splitter.Split(ctx, fsys, "/t", parts(20, 5), opt)
		},
		"concat": func(fsys ndfile.FS, opt ndfile.SplitOptions) error {
			return splitter.Concat(ctx, fsys, []string{"/t"}, "/parta", opt)
		},
	} {
		mem := base()
		opt := ndfile.SplitOptions{WriteOptions: ndfile.WriteOptions{Sync: true}}
		// cbytes is a guess where the size of a file cannot be learned.
		plain := func(mem *ndfile.Mem, path string) map[string]string {
			all := files(t, mem, path)
			for path, text := range all {
				all[path] = cbytesNumber.ReplaceAllString(text, "")
			}
			return all
		}
		whole := files(t, mem, "/t")
		ok(t, do(mem, opt))
		want := map[string]map[string]string{}
		for _, p := range parts(0, 0) {
			if _, err := mem.Lstat(p.Path); err == nil {
				want[p.Path] = plain(mem, p.Path)
			}
		}
		check := func(mem *ndfile.Mem, all bool) {
			t.Helper()
			for path, content := range want {
				_, err := mem.Lstat(path)
				if err == nil && !maps.Equal(plain(mem, path), content) {
					t.Fatalf("%s: %s is not whole", name, path)
				}
				if all && err != nil {
					t.Fatalf("%s: %s: %v", name, path, err)
				}
			}
		}
		check(mem.CrashClone(), true)
		for i, ended := int64(0), false; !ended; i++ {
			for _, from := range []bool{false, true} {
				mem := base()
				mem.Record()
				fault := vfs.NewFault(mem)
				if from {
					fault.FailFrom(i, syscall.EIO)
				} else {
					fault.FailAt(i, syscall.EIO)
				}
				err := do(fault, opt)
				if err != nil && !errors.Is(err, syscall.EIO) {
					t.Fatalf("%s, call %d: %v", name, i, err)
				}
				ended = err == nil && fault.Count() <= i
				check(mem, err == nil)
				check(mem.CrashClone(), err == nil)
				for seed := range uint64(4) {
					check(mem.Cut(vfs.PowerCut{Seed: uint64(i)<<3 + seed, Ordered: seed%2 == 1, Block: 64}).Disk(), err == nil)
				}
				if !maps.Equal(files(t, mem, "/t"), whole) {
					t.Fatalf("%s, call %d: the source changed", name, i)
				}
			}
		}
	}
}

// TestSplitLinks: parts can be made of links to chunks, where they are followed.
func TestSplitLinks(t *testing.T) {
	mem := load(t, "testdata/roots/exact", "/c")
	chunk := string(get(t, mem, "/c/data/__1.blp"))
	ok(t, mem.Rename("/c/data/__1.blp", "/elsewhere"))
	ok(t, mem.Symlink("/elsewhere", "/c/data/__1.blp"))
	is(t, splitter.Split(ctx, mem, "/c", parts(40), ndfile.SplitOptions{}), ndfile.ErrNotSupported, "/c/data/__1.blp")
	ok(t, splitter.Split(ctx, mem, "/c", parts(40), ndfile.SplitOptions{FollowSymlinks: true}))
	if info, err := mem.Lstat("/parta/data/__1.blp"); err != nil || !info.Mode.IsRegular() || string(get(t, mem, "/parta/data/__1.blp")) != chunk {
		t.Errorf("%+v, %v", info, err)
	}
}
