package chunk

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// tail holds the rows behind the stored ones: fewer than would complete a chunk.
type tail struct {
	mu      sync.RWMutex // of the elements; what else changes, changes alone
	rows    int64
	data    []byte // these rows, and room for more
	checked bool   // the last chunk in a file, which they will join, is good
}

// tailRows is the bytes of n rows of the tail, from some row on.
func (a *Array) tailRows(from, n int64) []byte {
	return a.tail.data[from*a.strides[0] : (from+n)*a.strides[0]]
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
	if a.stored[0]%chunk != 0 && !a.tail.checked {
		if err := a.CheckChunk(ctx, a.lastIndex()); err != nil {
			return false, err
		}
		a.tail.checked = true
	}

	room := chunk - a.stored[0]%chunk - a.tail.rows // until the chunk is full
	taken := min(n, room)                           // rows of src that go into the tail
	if room == chunk && n >= chunk {
		taken = 0
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
	a.tail.rows = left
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
		a.tail.data = append(make([]byte, 0, min(max(2*len(a.tail.data), need), a.size)), a.tail.data...)
		a.tail.data = a.tail.data[:cap(a.tail.data)]
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
	return each(ctx, n, func(w *worker, j int64) error {
		rows, err := rowsOf(src, from+j*a.Chunks[0], a.Chunks[0])
		if err != nil {
			return err
		}
		plain := rows.Bytes()
		if plain == nil || !rows.DType.Equal(a.DType) {
			w.plain = sized(w.plain, a.size)
			plain = w.plain
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
	a.tail.rows, a.tail.checked = 0, true
	return nil
}

// join writes the last chunk: the rows that are in its file and n of the tail.
func (w *worker) join(ctx context.Context, a *Array, n int64) error {
	index := a.lastIndex()
	old := int(a.stored[0] % a.Chunks[0] * a.strides[0])
	return a.exclusively(ctx, index, func() error {
		opt, added := a.Write, a.tailRows(0, n)
		opt.Commit = vfs.CommitAtomic
		size := a.size
		if a.ShortLast {
			size = old + len(added)
		}
		w.plain = sized(w.plain, size)
		if old == 0 {
			opt.Commit = vfs.CommitDirect // nobody looks at it yet
		} else if err := w.load(ctx, a, index, old); err != nil {
			return err
		}
		copy(w.plain[old:], added)
		a.fill(w.plain[old+len(added):])
		return w.store(a, index, w.plain, opt)
	})
}
