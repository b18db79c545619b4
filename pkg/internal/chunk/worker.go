package chunk

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/store"
)

// worker is the memory of one goroutine for one chunk at a time.
type worker struct {
	piece
	source
	shares int64      // workers that the processors are shared by
	path   []byte     // of the chunk's file
	raw    []byte     // what that holds, in rawMem
	rawMem mem.Buffer // for a file, read or made
	plain  mem.Block  // for elements of the chunk
	elem   []byte     // one element
	parts  []Part
	ranges []store.Part
	header [64]byte
	shard  openShard
	list   []shardPiece
	out    shardFile // a shard that is made
	files  [2][]byte // the parts of a file that is written
}

var workers = sync.Pool{New: func() any { return new(worker) }}

func newWorker() *worker { return workers.Get().(*worker) }

func (w *worker) release() {
	w.shard.close()
	w.rawMem.FreeLarge()
	w.plain.FreeLarge()
	if w.raw = nil; cap(w.elem) > mem.Large {
		w.elem = nil
	}
	clear(w.ranges[:cap(w.ranges)])
	w.buf, w.files, w.source = ndarray.Buffer{}, [2][]byte{}, source{}
	workers.Put(w)
}

// threads is how many goroutines the codec may use.
func (w *worker) threads() int {
	return int(max(1, int64(runtime.GOMAXPROCS(0))/w.shares))
}

// room makes raw n bytes long. The first kept ones stay.
func (w *worker) room(n, kept int) (err error) {
	err = w.rawMem.Sized(n, kept)
	w.raw = w.rawMem.B
	return err
}

// setPath makes the path of the chunk's file. It is valid until the next one.
func (w *worker) setPath(a *Array, index []int64) string {
	w.path = a.AppendPath(w.path[:0], index)
	return unsafe.String(unsafe.SliceData(w.path), len(w.path))
}

// sharedBytes is the most that the workers of a call take, beside the first.
const sharedBytes = 32 << 20

// each calls work for 0 <= j < n, on several goroutines where that pays, and where
// the pieces, which take about size bytes of memory each, are not too large. The
// error is the one of the smallest j among those that failed; no new j is begun
// after the first.
func each(ctx context.Context, n int64, size int, work func(w *worker, j int64) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		worst = n
		first error
	)
	threads := ndfile.Threads()
	threads = int(min(int64(threads), n, max(1, int64(sharedBytes/max(size, 1)))))
	err := ndfile.Parallel{Threads: threads}.Each(ctx, n, func(_ context.Context, _ int, j int64) {
		w := newWorker()
		defer w.release()
		w.shares = int64(threads)
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
	w.shares = 1
	return work(w, 0)
}
