package main

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

func mustAdd(t *testing.T, tab *table, k kind, object any) handle {
	t.Helper()
	h, err := tab.add(k, object)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHandleLayout(t *testing.T) {
	h := makeHandle(0xab, kindArray, 0xcdef01, 0x234567)
	if h != 0xab02cdef01234567 || h.epoch() != 0xab || h.kind() != kindArray || h.index() != 0x234567 {
		t.Errorf("layout: %#x", uint64(h))
	}
}

// No handle is ever given twice, against a model that knows all handles that were ever made.
func TestHandlesModel(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	tab := new(table)
	open := map[handle]int{}
	var list []handle // all ever made
	for i := range 20000 {
		if random.IntN(3) > 0 || len(list) == 0 {
			k := kindFile + kind(random.IntN(2))
			h := mustAdd(t, tab, k, i)
			if _, dup := open[h]; dup || h == 0 {
				t.Fatalf("handle %#x given twice", uint64(h))
			}
			open[h] = i
			list = append(list, h)
			continue
		}
		h := list[random.IntN(len(list))]
		want, live := open[h]
		if live && want < 0 {
			live = false
		}
		got, err := tab.get(h.kind(), h)
		if live != (err == nil) || live && got != want {
			t.Fatalf("get %#x: %v, %v; live %v, want %v", uint64(h), got, err, live, want)
		}
		if other := kindFile + kindArray - h.kind(); live {
			if _, err := tab.get(other, h); !errors.Is(err, ndfile.ErrHandle) {
				t.Fatalf("the wrong kind: %v", err)
			}
		}
		if _, err := tab.take(h.kind(), h); live != (err == nil) {
			t.Fatalf("take %#x: %v, live %v", uint64(h), err, live)
		}
		open[h] = -1
	}
}

// A slot whose generation would wrap is not used again.
func TestGenerationNeverWraps(t *testing.T) {
	tab := new(table)
	h := mustAdd(t, tab, kindFile, 1)
	if _, err := tab.take(kindFile, h); err != nil {
		t.Fatal(err)
	}
	tab.slot(0).generation = maxGeneration - 1
	last := mustAdd(t, tab, kindFile, 2)
	if last.index() != 0 || last.kind() != kindFile || last>>indexBits&maxGeneration != maxGeneration {
		t.Fatalf("last handle of the slot: %#x", uint64(last))
	}
	if _, err := tab.take(kindFile, last); err != nil {
		t.Fatal(err)
	}
	if h := mustAdd(t, tab, kindFile, 3); h.index() == 0 {
		t.Errorf("the slot is used again: %#x", uint64(h))
	}
	if tab.count() != 1 {
		t.Errorf("count %d", tab.count())
	}
}

func TestHandleErrors(t *testing.T) {
	tab := &table{epoch: 2}
	f, a := mustAdd(t, tab, kindFile, "f"), mustAdd(t, tab, kindArray, "a")
	closed := mustAdd(t, tab, kindFile, "c")
	if _, err := tab.take(kindFile, closed); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    handle
		k    kind
		want *ndfile.ErrorKind
		text string
	}{
		{0, kindFile, ndfile.ErrHandle, "0 where the handle of a file"},
		{a, kindFile, ndfile.ErrHandle, "an array handle where the handle of a file"},
		{f, kindArray, ndfile.ErrHandle, "a file handle where the handle of an array"},
		{closed, kindFile, ndfile.ErrHandle, "closed"},
		{f + 1<<indexBits, kindFile, ndfile.ErrHandle, "closed"},
		{f - 1<<56, kindFile, ndfile.ErrForked, "fork"},
		{f + 1<<56, kindFile, ndfile.ErrHandle, "no handle"},
		{makeHandle(2, 9, 1, 0), kindFile, ndfile.ErrHandle, "no handle"},
		{makeHandle(2, kindFile, 1, 1<<indexBits-1), kindFile, ndfile.ErrHandle, "no handle"},
	} {
		_, err := tab.get(c.k, c.h)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%#x as %v: %v, expected %s %q", uint64(c.h), c.k, err, c.want.C, c.text)
		}
	}
}

// Of many closers of one handle one succeeds, and readers see the object or an error.
func TestHandlesInParallel(t *testing.T) {
	tab := new(table)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 200 {
		h := mustAdd(t, tab, kindFile, "x")
		closed := 0
		for range 4 {
			wg.Go(func() {
				if o, err := tab.get(kindFile, h); err == nil && o != "x" {
					t.Errorf("object %v", o)
				}
				if _, err := tab.take(kindFile, h); err == nil {
					mu.Lock()
					closed++
					mu.Unlock()
				}
				if _, err := tab.add(kindArray, "y"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if closed != 1 {
			t.Fatalf("closed %d times", closed)
		}
	}
}
