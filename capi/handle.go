package main

import (
	"sync"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// handle names an open object: epoch 8 bits | kind 8 | generation 24 | index 24. 0 is never one.
//
// The index is a slot of the table. The generation counts the objects that had the slot; a slot that has seen the
// last generation is not used again, so no handle ever names two objects. The epoch counts forks.
type handle uint64

// kind is the kind of object that a handle names.
type kind uint8

const (
	kindFile kind = iota + 1
	kindArray
	kindMap
	kindStream
)

// String is the kind with its article, for messages.
func (k kind) String() string {
	switch k {
	case kindFile:
		return "a file"
	case kindArray:
		return "an array"
	case kindMap:
		return "a map"
	case kindStream:
		return "a stream"
	}
	return "an unknown"
}

const (
	indexBits      = 24
	generationBits = 24
	maxGeneration  = 1<<generationBits - 1

	segmentBits = 12
	segmentSize = 1 << segmentBits
)

func makeHandle(epoch uint8, k kind, generation, index uint32) handle {
	return handle(epoch)<<56 | handle(k)<<48 | handle(generation)<<indexBits | handle(index)
}

func (h handle) epoch() uint8  { return uint8(h >> 56) }
func (h handle) kind() kind    { return kind(h >> 48) }
func (h handle) index() uint32 { return uint32(h) & (1<<indexBits - 1) }

// entry is one object and its handle. It does not change, so readers need no lock.
type entry struct {
	handle handle
	object any
}

// slot holds the entry of an open object, nil when there is none.
type slot struct {
	entry      atomic.Pointer[entry]
	generation uint32 // of the last entry; guarded by table.mu
}

// table maps handles to objects. Looking up takes no lock; adding and taking hold mu for a moment, never during I/O.
// Segments of slots are made as needed and stay.
type table struct {
	epoch    uint8
	segments [1 << (indexBits - segmentBits)]atomic.Pointer[[segmentSize]slot]
	live     atomic.Int64

	mu   sync.Mutex
	free []uint32 // slots to be used again
	next uint32   // slots from here on were never used
}

// handles are the open objects of this process. The first call makes the table: then the epoch is known.
var handles = sync.OnceValue(func() *table { return &table{epoch: epoch()} })

// slot gives the slot of an index; nil when it was never used.
func (t *table) slot(index uint32) *slot {
	seg := t.segments[index>>segmentBits].Load()
	if seg == nil {
		return nil
	}
	return &seg[index%segmentSize]
}

// add makes a handle for an object.
func (t *table) add(k kind, object any) (handle, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var index uint32
	if n := len(t.free); n > 0 {
		index = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		if t.next == 1<<indexBits {
			return 0, ndfile.NewError(ndfile.ErrLimit, "too many open files and arrays")
		}
		index = t.next
		t.next++
		if seg := &t.segments[index>>segmentBits]; seg.Load() == nil {
			seg.Store(new([segmentSize]slot))
		}
	}
	s := t.slot(index)
	s.generation++
	h := makeHandle(t.epoch, k, s.generation, index)
	s.entry.Store(&entry{h, object})
	t.live.Add(1)
	return h, nil
}

// get looks up the object of a handle.
func (t *table) get(k kind, h handle) (any, error) {
	if s := t.slot(h.index()); s != nil {
		if e := s.entry.Load(); e != nil && e.handle == h && h.kind() == k {
			return e.object, nil
		}
	}
	return nil, t.refuse(k, h)
}

// take is get, and makes the handle invalid. Of several calls with one handle one succeeds.
func (t *table) take(k kind, h handle) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	object, err := t.get(k, h)
	if err != nil {
		return nil, err
	}
	s := t.slot(h.index())
	s.entry.Store(nil)
	if s.generation < maxGeneration {
		t.free = append(t.free, h.index())
	}
	t.live.Add(-1)
	return object, nil
}

// count is the number of open handles.
func (t *table) count() int64 { return t.live.Load() }

// refuse says why h is not a handle of kind k.
func (t *table) refuse(k kind, h handle) error {
	switch {
	case h == 0:
		return ndfile.NewError(ndfile.ErrHandle, "0 where the handle of "+k.String()+" is expected")
	case h.epoch() < t.epoch:
		return ndfile.NewError(ndfile.ErrForked, ndfile.ErrForked.Text)
	case h.epoch() > t.epoch || (h.kind() < kindFile || h.kind() > kindStream) || t.slot(h.index()) == nil:
		return ndfile.NewError(ndfile.ErrHandle, "a number that is no handle where the handle of "+k.String()+" is expected")
	case h.kind() != k:
		return ndfile.NewError(ndfile.ErrHandle, h.kind().String()+" handle where the handle of "+k.String()+" is expected")
	}
	return errClosed(k)
}

// errClosed says that a handle was closed.
func errClosed(k kind) error {
	return ndfile.NewError(ndfile.ErrHandle, "the handle of "+k.String()+" that is closed already")
}

// find looks up the object of a handle.
func find[T any](k kind, h handle) (object T, err error) {
	o, err := handles().get(k, h)
	if err == nil {
		object = o.(T)
	}
	return object, err
}

// take is find, and makes the handle invalid.
func take[T any](k kind, h handle) (object T, err error) {
	o, err := handles().take(k, h)
	if err == nil {
		object = o.(T)
	}
	return object, err
}
