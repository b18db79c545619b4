package cache

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// TestStaleWindow: what a reader decoded before a write is not kept after it.
func TestStaleWindow(t *testing.T) {
	var c Cache
	_, _, changes := c.Get(1, 0, 10)
	w := must(New(1, 0, 10))
	c.BeginChange(1)
	c.Put(w, changes)
	c.EndChange()
	c.Put(w, changes)
	w.Release()
	if w, gap, _ := c.Get(1, 0, 10); w != nil || gap != None {
		t.Error("kept what was read before a change")
	}
	_, _, changes = c.Get(1, 0, 10)
	w = must(New(1, 0, 10))
	copy(w.Data, "0123456789")
	c.Put(w, changes)
	held, _, _ := c.Get(1, 2, 5)
	w.Release()
	c.BeginChange(1)
	c.EndChange()
	clear(must(New(2, 0, 10)).Data) // must not be the memory that is still in use
	if held == nil || !bytes.Equal(held.Data, []byte("0123456789")) {
		t.Errorf("a window in use changed: %v", held)
	}
	held.Release()
	if next := must(New(2, 0, 10)); &next.Data[0] != &held.Data[0] {
		t.Error("memory is not used again")
	}
}

// must is a window that could be had.
func must(w *Window, err error) *Window {
	if err != nil {
		panic(err)
	}
	return w
}

// TestLimit: several caches, used by several goroutines, keep what was used last and
// never more than the limit; every window holds what was put; nothing is lost or left.
func TestLimit(t *testing.T) {
	defer SetLimit(DefaultLimit)
	before := mem.InUse()
	SetLimit(4 << 20)
	var caches [5]Cache
	var wait sync.WaitGroup
	for seed := range uint64(4) {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for i := range 3000 {
				c, key := &caches[rng.IntN(len(caches))], rng.Int64N(30)
				if i%100 == 99 {
					c.BeginChange(key)
					c.EndChange()
				}
				if i%1000 == 0 {
					SetLimit(2<<20 + rng.Int64N(4<<20))
				}
				w, _, changes := c.Get(key, 5, 10)
				if w == nil {
					w = must(New(key, 0, 10+rng.IntN(600<<10)))
					w.Data[5], w.Data[9] = byte(key), byte(key)
					c.Put(w, changes)
				}
				if w.Data[5] != byte(key) || w.Data[9] != byte(key) {
					t.Errorf("the window of chunk %d has other elements", key)
				}
				w.Release()
			}
		})
	}
	wait.Wait()
	sum := int64(0)
	for i := range caches {
		sum += caches[i].Used()
	}
	if s := Stats(); s.Used != sum || sum > s.Limit || sum < 1<<20 || s.Hits == 0 || s.Misses == 0 {
		t.Errorf("%d bytes are kept: %+v", sum, s)
	}
	if SetLimit(0); Stats().Used != 0 || mem.InUse() != before {
		t.Errorf("kept without a limit: %+v, %d bytes of memory", Stats(), mem.InUse()-before)
	}
}
