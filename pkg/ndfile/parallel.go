package ndfile

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Parallel says how [Parallel.Each] works through a list.
type Parallel struct {
	// Threads is the most work that is done at a time; 0 is what [SetThreads] says.
	Threads int
	// Progress, where it is set, is called in the calling goroutine at the
	// start, when others begin to help, then about every 50 ms, and at the end.
	// False cancels.
	Progress func(done, total int64) bool
}

// defaultThreads is the setting of SetThreads.
var defaultThreads atomic.Int64

// SetThreads sets how many threads work at a time on one call, where the call
// does not say it itself: [Parallel.Threads] is 0. 0 or less is GOMAXPROCS, which
// is the default. It is for the whole process, may be called at any time from
// any goroutine, and does not affect calls that have started.
func SetThreads(n int) { defaultThreads.Store(int64(n)) }

// Threads is how many threads work at a time on a call that does not say it itself.
func Threads() int {
	if n := int(defaultThreads.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

const (
	// Starting goroutines pays when there is more work than this, as can be told
	// after having worked for a while.
	aloneFor      = 500 * time.Microsecond
	triedFor      = 50 * time.Microsecond
	progressEvery = 50 * time.Millisecond
)

// Each calls work for 0 <= i < n, each once, beginning in rising order, with
// the number of the worker that does it: below Threads, and at no time twice.
// The calling goroutine begins alone and gets help when the rest will take long.
// ErrCanceled says that ctx ended or Progress wanted so, and that some i were
// left out. A panic of work is passed on to the caller.
func (p Parallel) Each(ctx context.Context, n int64, work func(ctx context.Context, worker int, i int64)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := run{ctx: ctx, cancel: cancel, n: n, work: work}
	if p.Progress != nil && !p.Progress(0, n) {
		return NewError(ErrCanceled, "")
	}
	for start := time.Now(); r.step(0); {
		took, done := time.Since(start), r.done.Load()
		if took > triedFor && float64(took)*float64(n-done) > float64(aloneFor)*float64(done) {
			break
		}
	}
	threads := p.Threads
	if threads <= 0 {
		threads = Threads()
	}
	threads = int(min(int64(threads), n-r.next.Load()))
	if p.Progress != nil {
		r.start(0, threads)
		r.watch(p.Progress)
	} else {
		r.start(1, threads)
		r.all(0)
		r.workers.Wait()
	}
	if v := r.panicked.Load(); v != nil {
		panic(*v)
	}
	if r.done.Load() < n {
		return NewError(ErrCanceled, "")
	}
	if p.Progress != nil {
		p.Progress(n, n)
	}
	return nil
}

// run is one call of Each.
type run struct {
	ctx      context.Context
	cancel   context.CancelFunc
	n        int64
	work     func(ctx context.Context, worker int, i int64)
	next     atomic.Int64 // the first that nobody has taken
	done     atomic.Int64
	workers  sync.WaitGroup
	panicked atomic.Pointer[any]
}

// step does the next piece of work. False: there is none.
func (r *run) step(worker int) bool {
	if r.ctx.Err() != nil {
		return false
	}
	i := r.next.Add(1) - 1
	if i >= r.n {
		return false
	}
	r.work(r.ctx, worker, i)
	r.done.Add(1)
	return true
}

// all works until nothing is left. A panic ends all workers.
func (r *run) all(worker int) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked.CompareAndSwap(nil, &v)
			r.cancel()
		}
	}()
	for r.step(worker) {
	}
}

// start starts workers.
func (r *run) start(from, to int) {
	for worker := from; worker < to; worker++ {
		r.workers.Go(func() { r.all(worker) })
	}
}

// watch reports progress until all workers have ended.
func (r *run) watch(progress func(done, total int64) bool) {
	ended := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(ended)
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		if r.ctx.Err() == nil && !progress(r.done.Load(), r.n) {
			r.cancel() // and ask no more
		}
		select {
		case <-ended:
			return
		case <-tick.C:
		}
	}
}
