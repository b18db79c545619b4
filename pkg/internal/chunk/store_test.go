package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/storetest"
)

// inStore is an array of one chunk of 8 MiB in a store.
func inStore(t *testing.T, m *store.Mem, file []byte, size int64, around func(store.Reader) store.Reader) *Array {
	if _, err := m.Put(ctx, "d/c.0", [][]byte{file}, store.Condition{}); err != nil {
		t.Fatal(err)
	}
	return newArray(t, vfs.OfStore(around(m)), []int64{size}, []int64{size}, func(a *Array) { a.Codec = Blosc{} })
}

// TestStoreRequests: a whole chunk is one request, large or not. Of a large one a part
// takes two: its beginning, and the blocks.
func TestStoreRequests(t *testing.T) {
	const size = 8 << 20
	plain := noise(rand.New(rand.NewPCG(3, 4)), size)
	file := encode(t, plain, blosc.LZ4, 5)
	var c *storetest.Counter
	a := inStore(t, store.NewMem(), file, size, func(r store.Reader) store.Reader { c = storetest.Count(r); return c })
	for _, test := range []struct {
		start, count int64
		requests     int
		bytes        int64
	}{{0, size, 1, int64(len(file))}, {7 << 20, 100, 2, 2 << 20}, {100, 100, 1, 2 << 20}, {200, 10, 0, 0}} {
		got, err := read(a, test.start, test.count, 1)
		if err != nil || !bytes.Equal(got, plain[test.start:][:test.count]) {
			t.Errorf("%d from %d: wrong (%v)", test.count, test.start, err)
		}
		if log, n := c.Taken(); len(log) > test.requests || n > test.bytes {
			t.Errorf("%d from %d: %d bytes in %v, expected at most %d bytes in %d requests", test.count, test.start, n, log, test.bytes, test.requests)
		}
	}
}

// replacing is a store in which a chunk is replaced after its first read, n times.
type replacing struct {
	store.Reader
	m    *store.Mem
	with [][]byte
}

func (r *replacing) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	n, info, err := r.Reader.Get(ctx, key, off, dst)
	if off == 0 && len(r.with) > 0 {
		r.m.Put(ctx, key, r.with[:1], store.Condition{})
		r.with = r.with[1:]
	}
	return n, info, err
}

// TestStoreChanges: a chunk that is replaced between two requests is read again, and
// not for ever.
func TestStoreChanges(t *testing.T) {
	const size = 8 << 20
	var plain, files [][]byte
	for i := range 4 {
		plain = append(plain, noise(rand.New(rand.NewPCG(3, uint64(i))), size))
		files = append(files, encode(t, plain[i], blosc.LZ4, 5))
	}
	for changes := range 4 {
		m := store.NewMem()
		a := inStore(t, m, files[0], size, func(r store.Reader) store.Reader {
			return &replacing{r, m, files[1 : 1+changes]}
		})
		got, err := read(a, 7<<20, 100, 1)
		if changes < maxTries && (err != nil || !bytes.Equal(got, plain[changes][7<<20:][:100])) || changes == maxTries && !errors.Is(err, store.ErrChanged) {
			t.Errorf("%d changes: %v", changes, err)
		}
	}
}

// TestStoreContext: the context of a read reaches the store.
func TestStoreContext(t *testing.T) {
	type key struct{}
	var got any
	a := inStore(t, store.NewMem(), encode(t, make([]byte, 1000), blosc.LZ4, 5), 1000, func(r store.Reader) store.Reader {
		return seeing{r, func(ctx context.Context) { got = ctx.Value(key{}) }}
	})
	dst, _ := ndarray.NewBuffer(a.DType, []int64{1000})
	if err := a.ReadBox(context.WithValue(ctx, key{}, "mine"), ndarray.Full([]int64{1000}), dst); err != nil || fmt.Sprint(got) != "mine" {
		t.Errorf("%v, %v", got, err)
	}
}

type seeing struct {
	store.Reader
	see func(ctx context.Context)
}

func (s seeing) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	s.see(ctx)
	return s.Reader.Get(ctx, key, off, dst)
}
