// Package storetest has the tests that every store should pass ([Run]), and stores
// around others for tests: one that counts requests ([Counter]) and one that fails
// ([Failing]).
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndfile/ndfile/pkg/store"
)

// Run tests a store: make gives one that holds the values, or is told to be empty.
// What it implements beside [store.Reader] is tested too. Values are of at most
// 3 MiB.
func Run(t *testing.T, make func(t *testing.T, values map[string][]byte) store.Reader) {
	t.Run("Get", func(t *testing.T) { testGet(t, make(t, values())) })
	t.Run("Missing", func(t *testing.T) { testMissing(t, make(t, values())) })
	t.Run("Canceled", func(t *testing.T) { testCanceled(t, make(t, values())) })
	t.Run("Hold", func(t *testing.T) { testHold(t, make(t, values())) })
	t.Run("Parts", func(t *testing.T) { testParts(t, make(t, values())) })
	t.Run("List", func(t *testing.T) {
		if l, ok := make(t, values()).(store.Lister); ok {
			testList(t, l)
		}
	})
	t.Run("Put", func(t *testing.T) {
		r := make(t, nil)
		if w, ok := r.(store.Writer); ok {
			testPut(t, r, w)
		}
	})
}

// large is the value of that name.
var large = sync.OnceValue(func() []byte {
	p := make([]byte, 3<<20)
	for i := range p {
		p[i] = byte(i * 7 >> 3)
	}
	return p
})

// values are what the stores under test hold.
func values() map[string][]byte {
	return map[string][]byte{"a": []byte("0123456789"), "empty": {}, "f/b": []byte("below"), "f/g/c": []byte("deep"), "large": large()}
}

func testGet(t *testing.T, r store.Reader) {
	all := values()
	for key, value := range all {
		size := int64(len(value))
		for _, off := range []int64{0, 1, 9, size / 2, size - 1, size, size + 5, -1, -10, -size, -size - 3} {
			if off < 0 && size == 0 {
				continue
			}
			for _, n := range []int{0, 1, 4, len(value), len(value) + 7} {
				dst := bytes.Repeat([]byte{0xEE}, n+1)
				got, info, err := r.Get(t.Context(), strings.Clone(key), off, dst[:n])
				want := value[store.Start(off, size):]
				want = want[:min(n, len(want))]
				if err != nil || got != len(want) || info.Size != size || !bytes.Equal(dst[:got], want) || dst[n] != 0xEE {
					t.Errorf("Get(%q, %d) of %d bytes: %d bytes, size %d, error %v; expected %d bytes, size %d", key, off, n, got, info.Size, err, len(want), size)
				}
			}
		}
		_, one, _ := r.Get(t.Context(), key, 0, nil)
		if _, two, _ := r.Get(t.Context(), key, 0, nil); one != two {
			t.Errorf("Get(%q) twice: %v, then %v", key, one, two)
		}
	}
}

func testMissing(t *testing.T, r store.Reader) {
	for _, key := range []string{"b", "f", "f/none", "a/b", "none/none", "f/b/x", "", "/a", "a/", "f//b", "f/../a", "./a", "..", strings.Repeat("x", 300)} {
		for _, off := range []int64{0, 3, -3} {
			if n, _, err := r.Get(t.Context(), key, off, make([]byte, 4)); !errors.Is(err, fs.ErrNotExist) || n != 0 {
				t.Errorf("Get(%q): %d bytes, error %v; expected one that is fs.ErrNotExist", key, n, err)
			}
		}
		if _, rest, err := store.Hold(t.Context(), r, key, make([]byte, 4)); !errors.Is(err, fs.ErrNotExist) || rest != nil {
			t.Errorf("Hold(%q): %v, error %v; expected one that is fs.ErrNotExist", key, rest, err)
		}
	}
}

func testCanceled(t *testing.T, r store.Reader) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Get(ctx, "a", 0, make([]byte, 4)); !errors.Is(err, context.Canceled) {
		t.Errorf("Get under a context that is canceled: error %v", err)
	}
}

func testHold(t *testing.T, r store.Reader) {
	for key, value := range values() {
		for _, n := range []int{0, 3, len(value), len(value) + 1} {
			head := make([]byte, n)
			got, rest, err := store.Hold(t.Context(), r, key, head)
			if err != nil || got != min(n, len(value)) || !bytes.Equal(head[:got], value[:got]) {
				t.Errorf("Hold(%q) of %d bytes: %d bytes, error %v", key, n, got, err)
			}
			if rest == nil {
				if got < len(value) {
					t.Errorf("Hold(%q) of %d bytes of %d: nothing is held", key, got, len(value))
				}
				continue
			}
			if size, err := rest.Size(); size != int64(len(value)) || err != nil {
				t.Errorf("%q: size %d, error %v; expected %d", key, size, err, len(value))
			}
			tail := make([]byte, len(value)-got)
			if _, err := store.ReadFull(t.Context(), rest, tail, int64(got)); err != nil || !bytes.Equal(tail, value[got:]) {
				t.Errorf("%q from byte %d on: error %v", key, got, err)
			}
			if len(value) > 4 {
				end := make([]byte, 4)
				if _, err := store.ReadFull(t.Context(), rest, end, -4); err != nil || !bytes.Equal(end, value[len(value)-4:]) {
					t.Errorf("the last bytes of %q: %q, error %v", key, end, err)
				}
			}
			if n, err := store.ReadFull(t.Context(), rest, make([]byte, 2), int64(len(value))-1); len(value) > 0 && (n != 1 || err != io.ErrUnexpectedEOF) {
				t.Errorf("%q over its end: %d bytes, error %v", key, n, err)
			}
			if err := rest.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func testParts(t *testing.T, r store.Reader) {
	value := values()["large"]
	v, err := store.Open(t.Context(), r, "large")
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, offs := range [][]int64{{}, {0}, {5, 5, 0}, {1 << 20, 0, 20, 2 << 20, 1<<20 + 100}, {3<<20 - 50}} {
		var parts []store.Part
		for i, off := range offs {
			parts = append(parts, store.Part{Off: off, Dst: make([]byte, 50-5*i)}, store.Part{Off: off})
		}
		if err := store.ReadParts(t.Context(), v, parts); err != nil {
			t.Errorf("parts at %v: %v", offs, err)
		}
		for _, p := range parts {
			if !bytes.Equal(p.Dst, value[p.Off:p.Off+int64(len(p.Dst))]) {
				t.Errorf("parts at %v: wrong at %d", offs, p.Off)
			}
		}
	}
	over := []store.Part{{Off: 3, Dst: make([]byte, 3)}, {Off: 3<<20 - 2, Dst: make([]byte, 3)}}
	if err := store.ReadParts(t.Context(), v, over); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a part over the end: error %v", err)
	}
}

func testList(t *testing.T, l store.Lister) {
	for folder, want := range map[string]string{"": "a empty f/ large", "f": "b g/", "f/g": "c", "none": ""} {
		var names []string
		err := l.List(t.Context(), folder, func(e store.Entry) error {
			if e.Folder {
				e.Name += "/"
			}
			names = append(names, e.Name)
			return nil
		})
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want || err != nil && (want != "" || !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("List(%q): %q, error %v; expected %q", folder, got, err, want)
		}
	}
	stop := errors.New("stop")
	if err := l.List(t.Context(), "", func(store.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("List: error %v, expected that of the function", err)
	}
}

func testPut(t *testing.T, r store.Reader, w store.Writer) {
	ctx := t.Context()
	put := func(key, text string, when store.Condition) error {
		t.Helper()
		_, err := w.Put(ctx, key, [][]byte{[]byte(text[:1]), nil, []byte(text[1:])}, when)
		return err
	}
	want := func(key, text string) {
		t.Helper()
		if got, err := store.ReadAll(ctx, r, key, 100); string(got) != text || err != nil {
			t.Errorf("%q: %q, error %v; expected %q", key, got, err, text)
		}
	}
	if err := errors.Join(put("x/y/z", "first", store.Condition{}), put("x/y/z", "second", store.Condition{}), put("new", "value", store.Condition{Absent: true})); err != nil {
		t.Fatal(err)
	}
	want("x/y/z", "second")
	if err := put("new", "other", store.Condition{Absent: true}); !errors.Is(err, store.ErrCondition) {
		t.Errorf("Put of a value that is there, if absent: error %v", err)
	}
	want("new", "value")
	_, info, err := r.Get(ctx, "new", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := put("new", "third", store.Condition{Tag: info.Tag + "x"}); !errors.Is(err, store.ErrCondition) && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Put over another tag: error %v", err)
	}
	want("new", "value")
	if info.Tag != "" {
		if err := put("new", "third", store.Condition{Tag: info.Tag}); !errors.Is(err, errors.ErrUnsupported) {
			if err != nil {
				t.Errorf("Put over its tag: error %v", err)
			}
			want("new", "third")
		}
	}
	if err := put("../out", "text", store.Condition{}); err == nil {
		t.Error(`Put("../out") is possible`)
	}
	if err := errors.Join(w.Delete(ctx, "new"), w.Delete(ctx, "new"), w.Delete(ctx, "x/y/none")); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Get(ctx, "new", 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a value that was deleted: error %v", err)
	}
}

// Filled gives a store in memory with values.
func Filled(values map[string][]byte) *store.Mem {
	m := store.NewMem()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, err := m.Put(context.Background(), key, [][]byte{values[key]}, store.Condition{}); err != nil {
			panic(fmt.Sprintf("%q: %v", key, err))
		}
	}
	return m
}
