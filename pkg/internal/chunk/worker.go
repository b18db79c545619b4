package chunk

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// worker is the memory of one goroutine for one chunk at a time.
type worker struct {
	piece
	source
	pieces int64  // of the call, of which this is one
	path   []byte // of the chunk's file
	raw    []byte // what that holds
	plain  []byte // the chunk's elements
	before []byte // the same before a change, or an element
	parts  []Part
	header [64]byte
	files  [2][]byte // the parts of a file that is written
}

var workers = sync.Pool{New: func() any { return new(worker) }}

// keepScratch bounds what a pooled buffer may hold on to, in bytes.
const keepScratch = 16 << 20

func newWorker() *worker { return workers.Get().(*worker) }

func (w *worker) release() {
	for _, p := range []*[]byte{&w.raw, &w.plain, &w.before} {
		if cap(*p) > keepScratch {
			*p = nil
		}
	}
	w.buf, w.files, w.source = ndarray.Buffer{}, [2][]byte{}, source{}
	workers.Put(w)
}

// threads is how many goroutines the codec may use.
func (w *worker) threads() int {
	return int(max(1, int64(runtime.GOMAXPROCS(0))/w.pieces))
}

// sized gives n bytes, in the memory of p if it is large enough. What they hold
// is anything.
func sized(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, n)
	}
	return p[:n]
}

// grown is sized, and keeps what p holds.
func grown(p []byte, n int) []byte {
	if cap(p) < n {
		q := make([]byte, n)
		copy(q, p)
		return q
	}
	return p[:n]
}

// setPath makes the path of the chunk's file. It is valid until the next one.
func (w *worker) setPath(a *Array, index []int64) string {
	w.path = a.AppendPath(w.path[:0], index)
	return unsafe.String(unsafe.SliceData(w.path), len(w.path))
}

// each calls work for 0 <= j < n, on several goroutines where that pays. The
// error is the one of the smallest j among those that failed; no new j is begun
// after the first.
func each(ctx context.Context, n int64, work func(w *worker, j int64) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		worst = n
		first error
	)
	err := ndfile.Parallel{}.Each(ctx, n, func(_ context.Context, _ int, j int64) {
		w := newWorker()
		defer w.release()
		w.pieces = n
		if err := work(w, j); err != nil {
			cancel()
			mu.Lock()
			defer mu.Unlock()
			if j < worst {
				worst, first = j, err
			}
		}
	})
	if first != nil {
		return first
	}
	return err
}

// one is each for a single piece, which may use all threads for itself.
func one(ctx context.Context, work func(w *worker, j int64) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := newWorker()
	defer w.release()
	w.pieces = 1
	return work(w, 0)
}
