package chunk

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// tail holds the rows behind the stored ones: fewer than would complete a chunk.
type tail struct {
	mu      sync.RWMutex // of the elements; what else changes, changes alone
	rows    int64
	data    []byte // these rows, and room for more, in mem
	mem     *mem.Block
	checked bool // the last chunk in a file, which they will join, is good
}

// tailRows is the bytes of n rows of the tail, from some row on.
func (a *Array) tailRows(from, n int64) []byte {
	return a.tail.data[from*a.strides[0] : (from+n)*a.strides[0]]
}

// room makes the tail's memory at least n bytes, of which the first kept ones stay.
func (t *tail) room(a *Array, n, kept int) (err error) {
	if t.mem == nil {
		t.mem = new(mem.Block)
		runtime.AddCleanup(a, (*mem.Block).Free, t.mem) // of an array that nobody flushed
	}
	if n > len(t.data) {
		var data []byte
		if data, err = t.mem.Grown(n, kept); err == nil {
			t.data = data
		}
	}
	return err
}

// clear forgets the rows. Large memory is given back.
func (t *tail) clear() {
	t.rows = 0
	if t.mem != nil && cap(t.data) > mem.Large {
		t.mem.Free()
		t.data = nil
	}
}

// splitTail cuts a checked box, and its memory, at the end of the stored rows.
// stored is called for what lies before, memory for what lies behind, which is
// the elements at of the tail.
func (a *Array) splitTail(box ndarray.Box, buf ndarray.Buffer, stored func(ndarray.Box, ndarray.Buffer) error,
	memory func(at, buf ndarray.Buffer) error) error {
	step := int64(1)
	if box.Step != nil {
		step = box.Step[0]
	}
	before := min(ceilDiv(max(a.stored[0]-box.Start[0], 0), step), box.Count[0])
	if before == box.Count[0] {
		return stored(box, buf)
	}
	part := ndarray.Box{Start: make([]int64, len(box.Count)), Count: slices.Clone(box.Count)}
	if before > 0 {
		part.Count[0] = before
		sub, err := buf.Sub(part)
		if err != nil {
			return err
		}
		if err := stored(ndarray.Box{Start: box.Start, Count: sub.Shape, Step: box.Step}, sub); err != nil {
			return err
		}
	}
	part.Start[0], part.Count[0] = before, box.Count[0]-before
	sub, err := buf.Sub(part)
	if err != nil {
		return err
	}
	shape := slices.Clone(a.stored)
	shape[0] = a.tail.rows
	behind := ndarray.Box{Start: slices.Clone(box.Start), Count: part.Count, Step: box.Step}
	behind.Start[0] += before*step - a.stored[0]
	at, err := ndarray.Buffer{DType: a.DType, Shape: shape, Data: a.tailRows(0, a.tail.rows)}.Sub(behind)
	if err != nil {
		return err
	}
	return memory(at, sub)
}

// readTail copies elements of the tail.
func (a *Array) readTail(at, dst ndarray.Buffer) error {
	a.tail.mu.RLock()
	defer a.tail.mu.RUnlock()
	return ndarray.Copy(dst, at)
}

// writeTail sets elements of the tail.
func (a *Array) writeTail(at, src ndarray.Buffer) error {
	a.tail.mu.Lock()
	defer a.tail.mu.Unlock()
	return ndarray.Copy(at, src)
}

// Unflushed is the number of rows that are in memory only.
func (a *Array) Unflushed() int64 { return a.tail.rows }

// Completes tells whether AppendRows of n rows would write a chunk.
func (a *Array) Completes(n int64) bool {
	chunk := a.Chunks[0]
	return n >= chunk-a.stored[0]%chunk-a.tail.rows
}

// AppendRows puts rows behind the last (along axis 0). Only axis 0 may be cut
// into chunks: otherwise it is ErrNotSupported. Whole chunks are written at once:
// nobody looks at them before the format's metadata count them. The rest stays
// in memory, where reads and writes find it, until FlushRows. full tells that a
// chunk was completed, so that now is a good time to flush. The shape grows.
//
// The first rows that will join a chunk which has some already wait until that
// one has been read: a damaged one is ErrCorrupt at once. After an error the
// array is as before; files of chunks behind its end may be left.
func (a *Array) AppendRows(ctx context.Context, src ndarray.Buffer) (full bool, err error) {
	if err := a.checkRows(&src); err != nil {
		return false, err
	}
	n := src.Shape[0]
	if n == 0 {
		return false, nil
	}
	shape := slices.Clone(a.shape)
	total, ok := ndarray.Add(shape[0], n)
	shape[0] = total
	if _, err := ndarray.NBytes(shape, a.DType.Size); err != nil || !ok {
		return false, ndfile.NewError(ndfile.ErrShape, fmt.Sprintf("%d rows and %d more are too many", a.shape[0], n))
	}
	chunk := a.Chunks[0]
	room := chunk - a.stored[0]%chunk - a.tail.rows // until the chunk is full
	taken := min(n, room)                           // rows of src that go into the tail
	if room == chunk && n >= chunk {
		taken = 0
	}
	if taken > 0 {
		if err := a.checkJoin(a.tail.rows + taken); err != nil {
			return false, err
		}
	}
	if a.stored[0]%chunk != 0 && !a.tail.checked {
		if err := a.CheckChunk(ctx, a.lastIndex()); err != nil {
			return false, err
		}
		a.tail.checked = true
	}

	if err := a.copyRows(a.tail.rows, &src, 0, taken); err != nil {
		return false, err
	}
	if n < room {
		a.tail.rows += n
		a.shape = shape
		return false, nil
	}
	index := a.lastIndex()
	if taken > 0 {
		if err := one(ctx, func(w *worker, _ int64) error { return w.join(ctx, a, a.tail.rows+taken) }); err != nil {
			return false, err
		}
		index[0]++
	}
	whole := (n - taken) / chunk
	if err := a.appendChunks(ctx, &src, taken, whole, index); err != nil {
		return false, err
	}
	left := n - taken - whole*chunk
	if err := a.copyRows(0, &src, n-left, left); err != nil {
		return false, err
	}
	a.shape, a.stored = shape, slices.Clone(shape)
	a.stored[0] = total - left
	a.grid = a.gridOf(a.stored)
	if a.tail.rows = left; left == 0 {
		a.tail.clear()
	}
	return true, nil
}

// lastIndex is the chunk that the first row of the tail belongs to.
func (a *Array) lastIndex() []int64 {
	index := make([]int64, len(a.stored))
	index[0] = a.stored[0] / a.Chunks[0]
	return index
}

// checkRows verifies what is to be appended.
func (a *Array) checkRows(src *ndarray.Buffer) error {
	if len(a.shape) == 0 || a.Order != nil || !slices.Equal(a.shape[1:], a.Chunks[1:]) {
		return ndfile.NewError(ndfile.ErrNotSupported, fmt.Sprintf("rows of an array of shape %v in chunks of %v", a.shape, a.Chunks))
	}
	if len(src.Shape) != len(a.shape) || !slices.Equal(src.Shape[1:], a.shape[1:]) {
		return fmt.Errorf("%w: rows of shape %v for an array of shape %v", ndarray.ErrShape, slices.Clone(src.Shape), a.shape)
	}
	if err := src.Check(); err != nil {
		return err
	}
	return ndarray.CopyRun(nil, 0, a.DType, nil, 0, src.DType, 0) // fails if there is no exact conversion
}

// copyRows copies n rows of src to the tail, as its rows from at on.
func (a *Array) copyRows(at int64, src *ndarray.Buffer, from, n int64) error {
	if n == 0 {
		return nil
	}
	if need := int((at + n) * a.strides[0]); need > len(a.tail.data) {
		if err := a.tail.room(a, min(max(2*len(a.tail.data), need), a.size), int(at*a.strides[0])); err != nil {
			return err
		}
	}
	rows, err := rowsOf(src, from, n)
	if err != nil {
		return err
	}
	return ndarray.Copy(ndarray.Buffer{DType: a.DType, Shape: rows.Shape, Data: a.tailRows(at, n)}, rows)
}

// rowsOf is n rows of a buffer from some row on.
func rowsOf(b *ndarray.Buffer, from, n int64) (ndarray.Buffer, error) {
	if n == b.Shape[0] {
		return *b, nil
	}
	box := ndarray.Box{Start: make([]int64, len(b.Shape)), Count: slices.Clone(b.Shape)}
	box.Start[0], box.Count[0] = from, n
	return b.Sub(box)
}

// appendChunks writes n whole chunks of the rows of src from some row on. Their
// indexes begin with index.
func (a *Array) appendChunks(ctx context.Context, src *ndarray.Buffer, from, n int64, index []int64) error {
	if n == 0 {
		return nil
	}
	opt := a.Write
	opt.Commit = vfs.CommitDirect
	return each(ctx, n, 2*a.size, func(w *worker, j int64) error {
		rows, err := rowsOf(src, from+j*a.Chunks[0], a.Chunks[0])
		if err != nil {
			return err
		}
		plain := rows.Bytes()
		if plain == nil || !rows.DType.Equal(a.DType) {
			if plain, err = w.plain.Sized(a.size); err != nil {
				return err
			}
			if err := ndarray.Copy(ndarray.Buffer{DType: a.DType, Shape: rows.Shape, Data: plain}, rows); err != nil {
				return err
			}
		}
		at := slices.Clone(index)
		at[0] += j
		return a.exclusively(ctx, at, func() error { return w.store(a, at, plain, opt) })
	})
}

// FlushRows writes the rows that AppendRows keeps in memory. The old file of the
// last chunk is replaced in one step by one that begins with the same rows.
func (a *Array) FlushRows(ctx context.Context) error {
	if a.tail.rows == 0 {
		return nil
	}
	if err := one(ctx, func(w *worker, _ int64) error { return w.join(ctx, a, a.tail.rows) }); err != nil {
		return err
	}
	a.stored = a.shape
	a.grid = a.gridOf(a.stored)
	a.tail.clear()
	a.tail.checked = true
	return nil
}

// joined is the bytes of the rows that the last chunk has already, and of the whole
// chunk when n rows of the tail join them.
func (a *Array) joined(n int64) (old, size int) {
	old, size = int(a.stored[0]%a.Chunks[0]*a.strides[0]), a.size
	if a.ShortLast {
		size = old + int(n*a.strides[0])
	}
	return old, size
}

// checkJoin refuses rows for a chunk that would be too large to be written.
func (a *Array) checkJoin(n int64) error {
	_, size := a.joined(n)
	return checkWhole(size, int(n*a.strides[0]))
}

// join writes the last chunk: the rows that are in its file and n of the tail. It
// is put together in the tail's memory, where the rows are again at the end.
func (w *worker) join(ctx context.Context, a *Array, n int64) error {
	index := a.lastIndex()
	old, size := a.joined(n)
	added := int(n * a.strides[0])
	if err := a.tail.room(a, size, added); err != nil {
		return err
	}
	return a.exclusively(ctx, index, func() error {
		data, opt := a.tail.data[:size], a.Write
		opt.Commit = vfs.CommitDirect // nobody looks at it yet
		if old > 0 {
			opt.Commit = vfs.CommitAtomic
			copy(data[old:], data[:added])
			defer func() { copy(data, data[old:old+added]) }()
			if err := w.load(ctx, a, index, data[:old]); err != nil {
				return err
			}
		}
		a.fill(data[old+added:])
		return w.store(a, index, data, opt)
	})
}
