package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/storetest"
)

func TestMem(t *testing.T) {
	storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader { return storetest.Filled(values) })
}

// TestCounter: a store without the abilities passes too.
func TestCounter(t *testing.T) {
	storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
		return storetest.Count(storetest.Filled(values))
	})
}

func TestOfFS(t *testing.T) {
	t.Run("map", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
			m := fstest.MapFS{}
			for key, value := range values {
				m[key] = &fstest.MapFile{Data: value, ModTime: time.Unix(1, 0)}
			}
			return store.OfFS(m)
		})
	})
	t.Run("dir", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
			dir := t.TempDir()
			for key, value := range values {
				path := filepath.Join(dir, filepath.FromSlash(key))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, value, 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			return store.OfFS(os.DirFS(dir))
		})
	})
	t.Run("streams", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
			m := fstest.MapFS{}
			for key, value := range values {
				m[key] = &fstest.MapFile{Data: value}
			}
			return store.OfFS(streams{m})
		})
	})
}

// streams has files that can only be read from the beginning on.
type streams struct{ fstest.MapFS }

func (s streams) Open(name string) (fs.File, error) {
	f, err := s.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	return struct{ fs.File }{f}, nil
}

func (s streams) ReadDir(name string) ([]fs.DirEntry, error) { return s.MapFS.ReadDir(name) }

func TestOfReaderAt(t *testing.T) {
	r := store.OfReaderAt("k", bytes.NewReader([]byte("0123456789")), 10)
	buf := make([]byte, 4)
	if n, info, err := r.Get(t.Context(), "k", -3, buf); n != 3 || info.Size != 10 || err != nil || string(buf[:n]) != "789" {
		t.Errorf("%q, %v, %v", buf[:n], info, err)
	}
	if n, _, err := r.Get(t.Context(), "k", 10, buf); n != 0 || err != nil {
		t.Errorf("at the end: %d bytes, error %v", n, err)
	}
	if _, _, err := r.Get(t.Context(), "x", 0, buf); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestRequests: what is read together is one request where that is shorter, and what
// is far away is not read.
func TestRequests(t *testing.T) {
	large := make([]byte, 10<<20)
	for i := range large {
		large[i] = byte(i >> 5)
	}
	c := storetest.Count(storetest.Filled(map[string][]byte{"k": large}))
	v, err := store.Open(t.Context(), c, "k")
	if err != nil {
		t.Fatal(err)
	}
	if log, _ := c.Taken(); len(log) != 0 {
		t.Errorf("to open a value takes %v", log)
	}
	for _, test := range []struct {
		parts []int64 // offset, length, ...
		want  []string
	}{
		{[]int64{100, 10, 110, 10, 500, 5}, []string{"get k 100+405"}},
		{[]int64{500, 5, 100, 10, 102, 3}, []string{"get k 100+405"}},
		{[]int64{0, 10, 300 << 10, 10}, []string{"get k 0+10", "get k 307200+10"}},
		{[]int64{0, 5 << 20, 5 << 20, 4 << 20}, []string{"get k 0+5242880", "get k 5242880+4194304"}},
		{[]int64{0, 9 << 20}, []string{"get k 0+9437184"}},
		{[]int64{7, 0}, nil},
	} {
		var parts []store.Part
		for i := 0; i < len(test.parts); i += 2 {
			parts = append(parts, store.Part{Off: test.parts[i], Dst: make([]byte, test.parts[i+1])})
		}
		if err := store.ReadParts(t.Context(), v, parts); err != nil {
			t.Fatal(err)
		}
		log, _ := c.Taken()
		slices.Sort(log)
		if !slices.Equal(log, test.want) {
			t.Errorf("%v takes %v, expected %v", test.parts, log, test.want)
		}
		for _, p := range parts {
			if !bytes.Equal(p.Dst, large[p.Off:][:len(p.Dst)]) {
				t.Errorf("%v: wrong at %d", test.parts, p.Off)
			}
		}
	}
}

// TestChanged: parts of different values are not put together.
func TestChanged(t *testing.T) {
	m := storetest.Filled(map[string][]byte{"k": []byte("old value")})
	_, rest, err := store.Hold(t.Context(), m, "k", make([]byte, 3))
	if err != nil {
		t.Fatal(err)
	}
	m.Put(t.Context(), "k", [][]byte{[]byte("new value")}, store.Condition{})
	if _, err := store.ReadFull(t.Context(), rest, make([]byte, 3), 3); !errors.Is(err, store.ErrChanged) {
		t.Errorf("the rest of a value that was replaced: error %v", err)
	}
	if err := store.ReadParts(t.Context(), rest, []store.Part{{Off: 3, Dst: make([]byte, 3)}}); !errors.Is(err, store.ErrChanged) {
		t.Errorf("parts of a value that was replaced: error %v", err)
	}
}

// TestFailing: the first error of several requests comes back, a panic too, and
// nothing hangs.
func TestFailing(t *testing.T) {
	broken := errors.New("broken")
	for _, panics := range []bool{false, true} {
		f := &storetest.Failing{Reader: storetest.Filled(map[string][]byte{"k": make([]byte, 32<<20)}), Fail: func(i int, _ string) error {
			if i >= 5 && panics {
				panic("odd")
			}
			if i >= 5 {
				return broken
			}
			return nil
		}}
		v, _ := store.Open(t.Context(), f, "k")
		var parts []store.Part
		for off := range int64(31) {
			parts = append(parts, store.Part{Off: off << 20, Dst: make([]byte, 10)})
		}
		err := store.ReadParts(t.Context(), v, parts)
		if err == nil || !panics && !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	}
	v, _ := store.Open(t.Context(), storetest.Filled(map[string][]byte{"k": make([]byte, 32<<20)}), "k")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.ReadParts(ctx, v, []store.Part{{Off: 0, Dst: make([]byte, 1)}, {Off: 9 << 20, Dst: make([]byte, 1)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

func TestReadAll(t *testing.T) {
	values := map[string][]byte{"a": []byte("short"), "b": bytes.Repeat([]byte("long"), 20_000), "c": {}}
	c := storetest.Count(storetest.Filled(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		got, err := store.ReadAll(t.Context(), c, key, 1<<20)
		log, _ := c.Taken()
		if err != nil || !bytes.Equal(got, values[key]) || len(log) > 1 && key != "b" || len(log) > 2 {
			t.Errorf("%s: %d bytes, error %v, requests %v", key, len(got), err, log)
		}
	}
	var limit *store.LimitError
	if _, err := store.ReadAll(t.Context(), c, "b", 79_999); !errors.As(err, &limit) || limit.Size != 80_000 || limit.Key != "b" {
		t.Errorf("a value that is too large: error %v", err)
	}
}

func TestValidKey(t *testing.T) {
	for key, want := range map[string]bool{"a": true, "a/b.c/0": true, "..a": true, "": false, "/": false, "a/": false, "a//b": false, "a/../b": false, ".": false, "a\x00b": false} {
		if store.ValidKey(key) != want {
			t.Errorf("ValidKey(%q) is not %v", key, want)
		}
	}
}

// A store is any type with a Get: here one that makes its values up.
func ExampleReader() {
	var r store.Reader = squares{}
	buf := make([]byte, 10)
	n, info, err := r.Get(context.Background(), "12", 0, buf)
	fmt.Println(string(buf[:n]), info.Size, err)
	_, err = store.ReadAll(context.Background(), r, "twelve", 100)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// 144 3 <nil>
	// true
}

type squares struct{}

func (squares) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	var n int
	if _, err := fmt.Sscanf(key, "%d", &n); err != nil {
		return 0, store.Info{}, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	value := fmt.Sprint(n * n)
	size := int64(len(value))
	return copy(dst, value[store.Start(off, size):]), store.Info{Size: size}, nil
}
