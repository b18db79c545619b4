package chunk

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// commits are the ways to write, each on a real file system and in memory.
func commits(t *testing.T, test func(t *testing.T, open func(chunks, shape []int64) *Array)) {
	for name, commit := range map[string]vfs.Commit{"atomic": vfs.CommitAtomic, "direct": vfs.CommitDirect} {
		for _, real := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", in memory"}[real], func(t *testing.T) {
				fsys, folder := vfs.FS(vfs.NewMem()), "/d"
				if real {
					fsys, folder = vfs.OS, t.TempDir()+"/d"
				}
				test(t, func(chunks, shape []int64) *Array {
					return newArray(t, fsys, chunks, shape, func(a *Array) {
						a.Folder, a.AppendPath, a.Write.Commit = folder, pathIn(folder, "/"), commit
					})
				})
			})
		}
	}
}

// TestSharedChunks: writers of different elements of the same chunks, by two
// Arrays on one folder, lose nothing.
func TestSharedChunks(t *testing.T) {
	commits(t, func(t *testing.T, open func(chunks, shape []int64) *Array) {
		arrays := []*Array{open([]int64{5, 4}, []int64{10, 10}), open([]int64{5, 4}, []int64{20, 10})}
		var writers sync.WaitGroup
		for k := range int64(4) {
			writers.Go(func() {
				for column := range int64(10) {
					box := ndarray.Box{Start: []int64{k, column}, Count: []int64{3, 1}, Step: []int64{4, 1}}
					if k > 1 {
						box.Count[0] = 2
					}
					src := bytesOf(bytes.Repeat([]byte{byte(10*k + column)}, int(box.Count[0])), box.Count...)
					if err := arrays[k%2].WriteBox(ctx, box, src); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		for i, v := range mustRead(t, open([]int64{5, 4}, []int64{10, 10})) {
			if row, column := i/10, i%10; int(v) != 10*(row%4)+column {
				t.Fatalf("element %d,%d is %d", row, column, v)
			}
		}
	})
}

// TestReadBesideWrite: a chunk is read as it was before or after a write, also
// out of what is kept, and whoever wrote it reads what he wrote.
func TestReadBesideWrite(t *testing.T) {
	commits(t, func(t *testing.T, open func(chunks, shape []int64) *Array) {
		a := open([]int64{100}, []int64{300})
		var done atomic.Bool
		var readers, writers sync.WaitGroup
		for k := range int64(2) {
			readers.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(k), 0))
				last := [3]byte{}
				for !done.Load() {
					chunk, n := rng.Int64N(3), 2+rng.Int64N(98)
					got, err := read(a, 100*chunk+rng.Int64N(101-n), n, 1)
					if err != nil {
						t.Error(err)
						return
					}
					if !bytes.Equal(got, bytes.Repeat(got[:1], len(got))) || got[0] < last[chunk] {
						t.Errorf("after %d of chunk %d: %v", last[chunk], chunk, got)
						return
					}
					last[chunk] = got[0]
				}
			})
		}
		for chunk := range int64(3) {
			writers.Go(func() {
				for v := range byte(50) {
					err := a.WriteBox(ctx, ndarray.Box{Start: []int64{100 * chunk}, Count: []int64{100}}, bytesOf(bytes.Repeat([]byte{v}, 100), 100))
					if err != nil {
						t.Error(err)
					}
					if got, err := read(a, 100*chunk+int64(v), 1, 1); err != nil || got[0] != v {
						t.Errorf("wrote %d, read %v, %v", v, got, err)
					}
				}
			})
		}
		writers.Wait()
		done.Store(true)
		readers.Wait()
	})
}

// TestTailBesideWrite: rows that are not flushed can be read and written from
// several goroutines.
func TestTailBesideWrite(t *testing.T) {
	a := newArray(t, vfs.NewMem(), []int64{100}, []int64{0}, func(a *Array) { a.Sparse, a.ShortLast = false, true })
	if _, err := a.AppendRows(ctx, bytesOf(make([]byte, 150), 150)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for k := range int64(4) {
		all.Go(func() {
			for i := 80 + k; i < 150; i += 4 {
				if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{i}, Count: []int64{1}}, bytesOf([]byte{byte(i)}, 1)); err != nil {
					t.Error(err)
				}
				if got, err := read(a, i, 1, 1); err != nil || got[0] != byte(i) {
					t.Errorf("element %d: %v, %v", i, got, err)
				}
			}
		})
	}
	all.Wait()
	if err := a.FlushRows(ctx); err != nil {
		t.Fatal(err)
	}
	for i, v := range mustRead(t, a) {
		if i >= 80 && int(v) != i {
			t.Errorf("element %d is %d", i, v)
		}
	}
}

// TestLock: every write of a chunk is inside the format's lock, and nothing else.
func TestLock(t *testing.T) {
	held := map[string]bool{}
	calls, refuse := 0, error(nil)
	var mu sync.Mutex
	a := newArray(t, vfs.NewMem(), []int64{4}, []int64{10}, func(a *Array) {
		a.Lock = func(_ context.Context, index []int64) (func() error, error) {
			mu.Lock()
			defer mu.Unlock()
			key := string(a.AppendPath(nil, index))
			if held[key] {
				t.Errorf("%s is locked twice", key)
			}
			if refuse != nil {
				return nil, refuse
			}
			held[key] = true
			calls++
			return func() error { mu.Lock(); defer mu.Unlock(); held[key] = false; return nil }, nil
		}
	})
	if _, err := a.AppendRows(ctx, bytesOf(make([]byte, 4), 4)); err != nil {
		t.Error(err)
	}
	steps := []struct {
		what  string
		locks int
		do    func() error
	}{
		{"write", 4, func() error { return a.WriteBox(ctx, ndarray.Full([]int64{14}), bytesOf(make([]byte, 14), 14)) }},
		{"read", 0, func() error { _, err := readAll(a); return err }},
		{"refill", 1, func() error { return a.Refill(ctx, []int64{10}) }},
		{"write a chunk", 1, func() error {
			raw, _, err := a.ReadChunk(ctx, []int64{0}, nil)
			if err != nil {
				return err
			}
			return a.WriteChunk(ctx, []int64{1}, raw)
		}},
	}
	if err := a.FlushRows(ctx); err != nil {
		t.Error(err)
	}
	for _, s := range steps {
		calls = 0
		if err := s.do(); err != nil || calls != s.locks {
			t.Errorf("%s: %d locks, want %d; error %v", s.what, calls, s.locks, err)
		}
	}
	refuse = errors.New("somebody else has it")
	if err := a.WriteBox(ctx, ndarray.Full([]int64{14}), bytesOf(bytes.Repeat([]byte{1}, 14), 14)); !errors.Is(err, refuse) {
		t.Errorf("write without the lock: %v", err)
	}
	if got := mustRead(t, a); !bytes.Equal(got, make([]byte, 14)) {
		t.Errorf("written without the lock: %v", got)
	}
}

// TestCancel: a context that ends stops the call between chunks.
func TestCancel(t *testing.T) {
	a := newArray(t, vfs.NewMem(), []int64{1}, []int64{100}, nil)
	over, cancel := context.WithCancel(ctx)
	cancel()
	dst := bytesOf(make([]byte, 100), 100)
	for what, err := range map[string]error{"read": a.ReadBox(over, ndarray.Full(dst.Shape), dst), "write": a.WriteBox(over, ndarray.Full(dst.Shape), dst),
		"check": a.CheckChunk(over, []int64{0})} {
		if ndfile.KindOf(err) != ndfile.ErrCanceled {
			t.Errorf("%s: %v", what, err)
		}
	}
	over, cancel = context.WithCancel(ctx)
	a.Lock = func(_ context.Context, index []int64) (func() error, error) {
		if index[0] == 10 {
			cancel()
		}
		return func() error { return nil }, nil
	}
	if err := a.WriteBox(over, ndarray.Full(dst.Shape), dst); ndfile.KindOf(err) != ndfile.ErrCanceled {
		t.Error(err)
	}
	if _, err := a.FS.Stat("/d/c.99"); err == nil {
		t.Error("all chunks were written")
	}
}
