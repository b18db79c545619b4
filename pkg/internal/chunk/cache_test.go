package chunk

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/cache"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// opens counts the files that are opened for reading.
type opens struct {
	vfs.FS
	n atomic.Int64
}

func (o *opens) ReadSmall(ctx context.Context, path string, buf []byte) (int, vfs.File, error) {
	o.n.Add(1)
	return o.FS.ReadSmall(ctx, path, buf)
}

// cached is 4 MiB of int32 that count from 0, in chunks of 64 KiB.
func cached(t testing.TB, change func(a *Array)) (*Array, *opens) {
	o := &opens{FS: vfs.NewMem()}
	const n = 1 << 20
	a := newArray(t, o, []int64{16 << 10}, []int64{n}, func(a *Array) {
		a.DType = ndarray.MustParse("<i4")
		a.Codec = Blosc{Codec: blosc.LZ4, Level: 1, Shuffle: blosc.ByteShuffle, TypeSize: 4}
		if change != nil {
			change(a)
		}
	})
	data := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(i))
	}
	if err := a.WriteBox(ctx, ndarray.Full(a.Shape()), ndarray.Buffer{DType: a.DType, Shape: a.Shape(), Data: data}); err != nil {
		t.Fatal(err)
	}
	return a, o
}

// TestCache: small reads of the same chunks open their files at most twice.
func TestCache(t *testing.T) {
	a, o := cached(t, nil)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		i := rng.Int64N(1 << 20)
		got, err := read(a, i, 1, 1)
		if err != nil || int64(binary.LittleEndian.Uint32(got)) != i {
			t.Fatalf("element %d: %v, %v", i, got, err)
		}
	}
	if n := o.n.Load(); n > 2*64 {
		t.Errorf("%d files opened for 64 chunks", n)
	}
	o.n.Store(0)
	if _, err := readAll(a); err != nil || o.n.Load() != 64 {
		t.Errorf("reading all opened %d files", o.n.Load())
	}
	o.n.Store(0)
	read(a, 5, 1, 1)
	if o.n.Load() != 0 {
		t.Error("reading all drove out what was kept")
	}
	if err := a.SetShape([]int64{1 << 19}); err != nil {
		t.Fatal(err)
	}
	if read(a, 5, 1, 1); o.n.Load() == 0 {
		t.Error("another shape, and nothing was read again")
	}
}

// TestCacheBound: what is kept stays below the limit, and a scan in small steps
// does not read chunks again and again.
func TestCacheBound(t *testing.T) {
	const limit = 8 << 20
	cache.SetLimit(limit)
	defer cache.SetLimit(cache.DefaultLimit)
	a, o := cached(t, func(a *Array) { a.Chunks = []int64{256 << 10} }) // 1 MiB
	a.shape[0], a.stored[0] = 1<<40, 1<<40                              // the other chunks are missing or linked to these
	for chunk := range int64(4) {
		for copyTo := int64(1); copyTo < 5; copyTo++ {
			file := make([]byte, 2<<20)
			n, _, _ := o.FS.ReadSmall(ctx, string(a.AppendPath(nil, []int64{chunk})), file)
			o.FS.WriteFile(string(a.AppendPath(nil, []int64{chunk + 4*copyTo})), [][]byte{file[:n]}, vfs.WriteOptions{})
		}
	}
	for at := int64(0); at < 20<<18; at += 1000 {
		got, err := read(a, at, 10, 100)
		if err != nil || int64(binary.LittleEndian.Uint32(got)) != at%(1<<20) {
			t.Fatalf("elements from %d: %v, %v", at, got, err)
		}
		if used := cache.Stats().Used; used > limit || a.cache.Used() > used {
			t.Fatalf("%d bytes kept, of this array %d", used, a.cache.Used())
		}
	}
	if n := o.n.Load(); n > 20*4 {
		t.Errorf("%d files opened for 20 chunks", n)
	}
	if used := a.cache.Used(); used < limit/2 {
		t.Errorf("only %d bytes kept", used)
	}
	before := cache.Stats().Used
	if a.Forget(); a.cache.Used() != 0 || before-cache.Stats().Used < limit/2 {
		t.Errorf("%d bytes kept after Forget", a.cache.Used())
	}
}

// TestKeptReadAllocs: reading an item of a chunk that is kept allocates nothing.
func TestKeptReadAllocs(t *testing.T) {
	a, _ := cached(t, nil)
	for _, name := range []string{"<i4", ">i4", "<f8"} {
		dst, _ := ndarray.NewBuffer(ndarray.MustParse(name), []int64{3})
		box := ndarray.Box{Start: []int64{70_000}, Count: []int64{3}, Step: []int64{2}}
		n := testing.AllocsPerRun(200, func() {
			if err := a.ReadBox(ctx, box, dst); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("as %s: %v allocations", name, n)
		}
	}
}
