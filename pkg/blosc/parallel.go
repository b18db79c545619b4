package blosc

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// minParallel is the least data for which starting a goroutine pays.
const minParallel = 256 << 10

// parallelBytes is the most that the blocks which are worked on at a time have
// together, unless one has more.
const parallelBytes = 16 << 20

// maxThreads is the most that C-Blosc takes, too.
const maxThreads = 256

// workers is the number of goroutines for n bytes, no more than asked.
func workers(threads, n int) int {
	if n < minParallel {
		return 1
	}
	return min(max(threads, 1), maxThreads)
}

// serialBlocks calls f for each block in [first, end) until one fails.
func serialBlocks(first, end int, f func(st *state, k int) error) (err error) {
	st := states.Get().(*state)
	defer func() {
		st.release()
		if p := recover(); p != nil {
			none, ok := p.(noMemory)
			if !ok {
				panic(p)
			}
			err = none.error
		}
	}()
	for k := first; k < end; k++ {
		if err := f(st, k); err != nil {
			return err
		}
	}
	return nil
}

// parallelBlocks is serialBlocks on up to n goroutines, of which the caller's
// is one. Blocks start in order. It gives the error of the first block among
// those that failed, and no new block starts after that.
func parallelBlocks(first, end, n int, f func(st *state, k int) error) error {
	n = min(n, end-first)
	var (
		next   atomic.Int64
		failed atomic.Bool
		wg     sync.WaitGroup
		mu     sync.Mutex
		worst  = end
		result error
	)
	next.Store(int64(first))
	work := func() {
		st := states.Get().(*state)
		defer st.release()
		for !failed.Load() {
			k := int(next.Add(1)) - 1
			if k >= end {
				return
			}
			if err := safely(f, st, k); err != nil {
				failed.Store(true)
				mu.Lock()
				if k < worst {
					worst, result = k, err
				}
				mu.Unlock()
			}
		}
	}
	wg.Add(n - 1)
	for range n - 1 {
		go func() { defer wg.Done(); work() }()
	}
	work()
	wg.Wait()
	return result
}

// safely turns a panic into an error: nobody could recover it from another
// goroutine.
func safely(f func(*state, int) error, st *state, k int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if none, ok := p.(noMemory); ok {
				err = none.error
				return
			}
			err = errorf(ErrInternal, "block %d: panic: %v\n%s", k, p, debug.Stack())
		}
	}()
	return f(st, k)
}
