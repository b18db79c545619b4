// Package mem gives memory for large buffers. Go's heap ends the process when the
// operating system has no more; what is large comes from outside of it, and is an
// error then. It is freed when its owner says so.
package mem

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
)

// Large is the size in bytes above which the memory of blocks is not Go's.
const Large = 256 << 10

const (
	// largeLook is the same for Look and Make, whose memory is Go's.
	largeLook = 1 << 20
	// keep is the most bytes that are kept for whoever asks next. Fresh memory
	// costs more than what it is used for, often.
	keep = 16 << 20
	// granule is what sizes are rounded up to.
	granule = 64 << 10
)

// Block is a buffer of one owner. The zero value is empty. It is not for several
// goroutines at once.
type Block struct {
	p      []byte
	mapped bool
}

// Sized gives n bytes, of which any may have any value, in the memory that the
// block has if that is enough. What was given before is no longer valid. The error
// is syscall.ENOMEM, and the block is empty then.
func (b *Block) Sized(n int) ([]byte, error) {
	if cap(b.p) < n {
		b.Free()
		var err error
		if b.p, b.mapped, err = get(n); err != nil {
			return nil, err
		}
	}
	return b.p[:n], nil
}

// Grown is Sized, and the first kept bytes stay as they are. After an error the
// block is as before.
func (b *Block) Grown(n, kept int) ([]byte, error) {
	if cap(b.p) < n {
		p, mapped, err := get(n)
		if err != nil {
			return nil, err
		}
		copy(p[:kept], b.p[:cap(b.p)])
		b.Free()
		b.p, b.mapped = p, mapped
	}
	return b.p[:n], nil
}

// Cap is how many bytes the block has room for.
func (b *Block) Cap() int { return cap(b.p) }

// Free gives the memory back. The block is empty afterwards, and may be used again.
func (b *Block) Free() {
	if b.mapped {
		put(b.p)
	}
	b.p, b.mapped = nil, false
}

// FreeLarge gives the memory back if it is large.
func (b *Block) FreeLarge() {
	if b.mapped {
		b.Free()
	}
}

// pool holds what is kept.
var pool struct {
	sync.Mutex
	blocks [][]byte // the oldest first
	bytes  int
}

var inUse atomic.Int64

// InUse is the bytes of large blocks that have an owner. It is for tests.
func InUse() int64 { return inUse.Load() }

// fault is for tests.
var fault atomic.Pointer[func(n int) bool]

// SetFault has every request for n large bytes fail for which f is true; nil is
// none. It is for tests.
func SetFault(f func(n int) bool) {
	if f == nil {
		fault.Store(nil)
		return
	}
	fault.Store(&f)
}

// Unfaulted does something in which nothing is made to fail. It is for tests.
func Unfaulted(do func() error) error {
	f := fault.Swap(nil)
	defer fault.Store(f)
	return do()
}

// get gives n bytes or more.
func get(n int) (p []byte, mapped bool, err error) {
	if n <= Large {
		return make([]byte, max(n, 16)), false, nil // aligned for any element
	}
	if err := failing(n); err != nil {
		return nil, false, err
	}
	if p = kept(n); p == nil {
		size := (n + granule - 1) / granule * granule
		if p, err = allocate(size); err != nil {
			drop() // what is kept may be what is missing
			p, err = allocate(size)
		}
		if err != nil {
			return nil, false, none(n)
		}
	}
	inUse.Add(int64(cap(p)))
	return p, true, nil
}

func failing(n int) error {
	if f := fault.Load(); f != nil && (*f)(n) {
		return none(n)
	}
	return nil
}

func none(n int) error { return fmt.Errorf("%d bytes of memory: %w", n, syscall.ENOMEM) }

// kept finds a kept block of n to 2 n bytes.
func kept(n int) []byte {
	pool.Lock()
	defer pool.Unlock()
	best := -1
	for i, p := range pool.blocks {
		if cap(p) >= n && cap(p)/2 <= n && (best < 0 || cap(p) < cap(pool.blocks[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	p := pool.blocks[best]
	pool.blocks = append(pool.blocks[:best], pool.blocks[best+1:]...)
	pool.bytes -= cap(p)
	return p
}

// put keeps a block, in the place of older ones.
func put(p []byte) {
	p = p[:cap(p)]
	inUse.Add(-int64(len(p)))
	if len(p) > keep {
		release(p)
		return
	}
	pool.Lock()
	defer pool.Unlock()
	pool.blocks = append(pool.blocks, p)
	for pool.bytes += len(p); pool.bytes > keep; pool.blocks = pool.blocks[1:] {
		pool.bytes -= len(pool.blocks[0])
		release(pool.blocks[0])
	}
}

// drop gives back what is kept.
func drop() {
	pool.Lock()
	defer pool.Unlock()
	for _, p := range pool.blocks {
		release(p)
	}
	pool.blocks, pool.bytes = nil, 0
}

// Look fails if there are no addresses for n more bytes of Go's heap, and for what the
// heap grows by: it comes before what others allocate. Between the look and the
// allocation somebody else can take them.
func Look(n int) error {
	const arena = 64 << 20
	if n <= largeLook {
		return nil
	}
	if err := failing(n); err != nil {
		return err
	}
	probe, err := allocate((n+granule-1)/granule*granule + arena)
	if err != nil {
		return none(n)
	}
	release(probe)
	return nil
}

// Make is make for n elements of size bytes that stay in Go's heap: where a block
// has no owner that could free it; there is a Look before it.
func Make[T any](n, size int) ([]T, error) {
	bytes := n * size
	if n < 0 || size > 0 && bytes/size != n {
		return nil, none(n)
	}
	if err := Look(bytes); err != nil {
		return nil, err
	}
	return make([]T, n), nil
}
