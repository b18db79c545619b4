package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Refill sets all elements of existing chunk files that lie outside shape, but
// within chunks that it touches, to the fill value: what is cut off must not
// come back when the array grows. shape is the old or the new one, whichever is
// smaller along each axis. Where there are too many Edges to look for each, a
// format goes by what is in the folder, and RefillChunk.
func (a *Array) Refill(ctx context.Context, shape []int64) error {
	for index := range a.Edges(shape) {
		if err := a.RefillChunk(ctx, index, shape); err != nil {
			return err
		}
	}
	return nil
}

// RefillChunk is Refill for one chunk, any within the grid of shape. A file that
// is as it should be is not written.
func (a *Array) RefillChunk(ctx context.Context, index, shape []int64) error {
	if err := a.checkShape(shape); err != nil {
		return err
	}
	inside := ndarray.Box{Start: make([]int64, len(shape)), Count: make([]int64, len(shape))}
	for axis := range shape {
		if inside.Count[axis] = a.extent(shape, axis, index[axis]); inside.Count[axis] < 1 || index[axis] < 0 {
			return ndfile.NewError(ndfile.ErrBounds, fmt.Sprintf("chunk %v is outside of the shape %v", index, shape))
		}
	}
	if a.isTexts() {
		return a.refillTexts(ctx, index, inside.Count)
	}
	return one(ctx, func(w *worker, _ int64) error {
		if a.Sparse { // a chunk that does not exist needs no lock
			if _, err := a.FS.Stat(w.setPath(a, index)); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
		return a.exclusively(ctx, index, func() error {
			size := a.sizeIn(shape, index)
			found, err := w.open(a, index, size, true)
			if err != nil || !found {
				return err
			}
			defer w.close()
			w.before, w.plain = sized(w.before, size), sized(w.plain, size)
			if err := w.decode(ctx, a, w.before, 0); err != nil {
				return err
			}
			a.fill(w.plain)
			from := ndarray.Buffer{DType: a.DType, Shape: inside.Count, Strides: a.strides, Data: w.before}
			to := from
			to.Data = w.plain
			if err := ndarray.Copy(to, from); err != nil {
				return err
			}
			if w.Size == size && bytes.Equal(w.plain, w.before) {
				return nil
			}
			opt := a.Write
			opt.Commit = vfs.CommitAtomic
			return w.store(a, index, w.plain, opt)
		})
	})
}
