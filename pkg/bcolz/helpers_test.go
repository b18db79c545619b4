package bcolz

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// ok ends the test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// is checks the kind of an error, and that it names a file.
func is(t testing.TB, err error, kind *ndfile.ErrorKind, path string) {
	t.Helper()
	var e *ndfile.Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("%v; expected %s", err, kind.C)
	}
	if path != "" && e.Path != path {
		t.Fatalf("%v; expected %s in %s", err, kind.C, path)
	}
}

// load copies a folder from disk into a file system in memory.
func load(t testing.TB, from, to string) *ndfile.Mem {
	t.Helper()
	mem := ndfile.NewMem()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := to + path[len(from):]
		if d.IsDir() {
			return mem.Mkdir(at)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return mem.WriteFile(at, [][]byte{text}, ndfile.WriteOptions{Commit: ndfile.CommitDirect})
	})
	ok(t, err)
	return mem
}

// open opens a root of a test.
func open(t testing.TB, fsys ndfile.FS, path string, mode ndfile.Mode) ndfile.File {
	t.Helper()
	f, err := Format.Open(ctx, fsys, path, ndfile.OpenOptions{Mode: mode})
	ok(t, err)
	return f
}

func array(t testing.TB, f ndfile.File, name string) ndfile.Array {
	t.Helper()
	a, err := f.Array(name)
	ok(t, err)
	return a
}

// readAll reads a whole array as it is stored.
func readAll(ctx context.Context, a ndfile.Array) ([]byte, error) {
	s := a.Spec()
	b, err := ndarray.NewBuffer(s.DType, s.Shape)
	if err != nil {
		return nil, err
	}
	return b.Data, a.ReadBox(ctx, ndarray.Full(s.Shape), b)
}

// buffer is the memory of a number of elements.
func buffer(d ndarray.DType, data []byte, shape ...int64) ndarray.Buffer {
	return ndarray.Buffer{DType: d, Shape: shape, Data: data}
}

// files reads all files below a folder.
func files(t testing.TB, fsys ndfile.FS, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(dir, below string)
	walk = func(dir, below string) {
		entries, err := fsys.ReadDir(dir)
		ok(t, err)
		for _, e := range entries {
			path := dir + "/" + e.Name
			if e.Mode == vfs.Dir {
				all[below+e.Name+"/"] = ""
				walk(path, below+e.Name+"/")
				continue
			}
			all[below+e.Name] = string(get(t, fsys, path))
		}
	}
	walk(dir, "")
	return all
}

// get reads a file.
func get(t testing.TB, fsys ndfile.FS, path string) []byte {
	t.Helper()
	f, err := fsys.Open(path)
	ok(t, err)
	defer f.Close()
	size, err := f.Size()
	ok(t, err)
	text := make([]byte, size)
	if size > 0 {
		_, err = f.ReadAt(text, 0)
		ok(t, err)
	}
	return text
}

// put writes a file.
func put(t testing.TB, fsys ndfile.FS, path, text string) {
	t.Helper()
	ok(t, fsys.WriteFile(path, [][]byte{[]byte(text)}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}))
}

// edit replaces a part of a file, which must be there.
func update(t testing.TB, fsys ndfile.FS, path, old, new string) {
	t.Helper()
	text := get(t, fsys, path)
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s has no %q: %s", path, old, text)
	}
	put(t, fsys, path, string(bytes.Replace(text, []byte(old), []byte(new), 1)))
}

// noLeftovers checks that a folder holds nothing with a temporary name.
func noLeftovers(t testing.TB, fsys ndfile.FS, dir string) {
	t.Helper()
	for path := range files(t, fsys, dir) {
		if slices.ContainsFunc(filepath.SplitList(path), vfs.IsTempName) || vfs.IsTempName(filepath.Base(path)) {
			t.Errorf("%s/%s is left", dir, path)
		}
	}
}
