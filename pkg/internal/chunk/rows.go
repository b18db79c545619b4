package chunk

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/store"
)

const (
	// smallSpan is how much is read, and kept, rather than just the rows of a piece.
	smallSpan = 16 << 10
	// minRow is the shortest row in bytes that is read on its own: the kernel takes
	// longer for shorter ones than a copy does.
	minRow = 128
)

// readRows reads a piece of an open chunk that holds the elements as they are: row
// after row straight into the buffer, and nothing that lies between. done is false
// where that does not pay, and nothing was read.
func (w *worker) readRows(ctx context.Context, s *selection) (done bool, err error) {
	if !w.Stored || s.a.remote || s.match != equal || w.hi-w.lo <= smallSpan || w.rest == nil || w.straight(s) {
		return false, nil
	}
	row, axes := w.rowOf()
	if row < minRow {
		return false, nil
	}
	w.ranges = w.ranges[:0]
	var index [64]int64
	for from, to := int64(w.from+w.Data+w.lo), w.buf.Offset; ; {
		w.ranges = append(w.ranges, store.Part{Off: from, Dst: w.buf.Data[to : to+row]})
		axis := axes - 1
		for ; axis >= 0; axis-- {
			from, to = from+w.strides[axis], to+w.buf.Strides[axis]
			if index[axis]++; index[axis] < w.count[axis] {
				break
			}
			from, to = from-index[axis]*w.strides[axis], to-index[axis]*w.buf.Strides[axis]
			index[axis] = 0
		}
		if axis < 0 {
			return true, located(flat.ReadParts(ctx, w.rest, w.ranges), w.name)
		}
	}
}

// rowOf is how many bytes of the piece follow each other in the chunk and in the
// buffer, and how many axes are left then.
func (p *piece) rowOf() (row int64, axes int) {
	row = int64(p.buf.DType.Size)
	for axes = len(p.count); axes > 0; axes-- {
		n := p.count[axes-1]
		if n > 1 && (p.strides[axes-1] != row || p.buf.Strides[axes-1] != row) {
			break
		}
		row *= n
	}
	return row, axes
}
