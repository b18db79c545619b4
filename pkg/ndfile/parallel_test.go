package ndfile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Each number is done once, by workers below the limit, none of which works twice at a time.
func TestEach(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 7} {
		for _, n := range []int64{0, 1, 5, 500} {
			for _, progress := range []func(int64, int64) bool{nil, func(int64, int64) bool { return true }} {
				done := make([]atomic.Int32, n)
				busy := make([]atomic.Int32, 64)
				err := Parallel{Threads: threads, Progress: progress}.Each(t.Context(), n, func(_ context.Context, worker int, i int64) {
					if busy[worker].Add(1) != 1 || threads > 0 && worker >= threads {
						t.Errorf("%d threads: worker %d", threads, worker)
					}
					done[i].Add(1)
					time.Sleep(10 * time.Microsecond)
					busy[worker].Add(-1)
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range done {
					if done[i].Load() != 1 {
						t.Fatalf("%d threads, %d of %d: done %d times", threads, i, n, done[i].Load())
					}
				}
			}
		}
	}
}

// What the process wants counts where the call has no wish of its own.
func TestSetThreads(t *testing.T) {
	defer SetThreads(0)
	workers := func(threads, want int) int {
		var mu sync.Mutex
		seen := map[int]bool{}
		count := func(worker int) int {
			mu.Lock()
			defer mu.Unlock()
			seen[worker] = true
			return len(seen)
		}
		err := Parallel{Threads: threads}.Each(t.Context(), 20, func(_ context.Context, worker int, i int64) {
			if i == 0 {
				time.Sleep(2 * aloneFor)
			}
			for start := time.Now(); i > 0 && count(worker) < want && time.Since(start) < 10*time.Second; {
				time.Sleep(time.Millisecond)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(seen)
	}
	for _, test := range []struct{ process, call, want int }{{1, 0, 1}, {3, 0, 3}, {1, 3, 3}, {3, 1, 1}, {-1, 2, 2}} {
		SetThreads(test.process)
		if got := workers(test.call, test.want); got != test.want {
			t.Errorf("%d of the process, %d of the call: %d workers", test.process, test.call, got)
		}
	}
}

// Long work is shared.
func TestEachIsParallel(t *testing.T) {
	meet := make(chan struct{})
	err := Parallel{Threads: 2}.Each(t.Context(), 3, func(_ context.Context, _ int, i int64) {
		switch i {
		case 0:
			time.Sleep(2 * aloneFor)
		case 1:
			meet <- struct{}{} // nobody comes unless another worker does
		case 2:
			<-meet
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// Progress and the end of the context leave out the rest.
func TestEachCancel(t *testing.T) {
	for _, threads := range []int{1, 4} {
		var calls, last int64
		worked := atomic.Int64{}
		err := Parallel{Threads: threads, Progress: func(done, total int64) bool {
			if total != 1<<40 || done < last || calls == 0 && done != 0 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			calls, last = calls+1, done
			return calls < 3
		}}.Each(t.Context(), 1<<40, func(context.Context, int, int64) { worked.Add(1); time.Sleep(time.Millisecond) })
		if !errors.Is(err, ErrCanceled) || calls != 3 || worked.Load() == 0 {
			t.Errorf("%d calls, %d worked: %v", calls, worked.Load(), err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	err := Parallel{}.Each(over, 3, func(context.Context, int, int64) { t.Error("worked") })
	if !errors.Is(err, ErrCanceled) {
		t.Error(err)
	}
}

// A panic of any worker reaches the caller, after the others have ended.
func TestEachPanic(t *testing.T) {
	for _, bad := range []int64{0, 99} {
		func() {
			defer func() {
				if v := recover(); v != "bad" {
					t.Errorf("recovered %v", v)
				}
			}()
			Parallel{Threads: 4}.Each(t.Context(), 1000, func(_ context.Context, _ int, i int64) {
				time.Sleep(20 * time.Microsecond)
				if i == bad {
					panic("bad")
				}
			})
		}()
	}
}
