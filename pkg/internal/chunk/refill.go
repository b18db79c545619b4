package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
			found, err := w.open(ctx, a, index, size, true)
			if err != nil || !found {
				return err
			}
			defer w.close()
			plain, err := w.whole(size, 0)
			if err != nil {
				return err
			}
			if err := w.decode(ctx, a, plain, 0); err != nil {
				return err
			}
			changed, err := a.fillOutside(plain, inside.Count)
			if err != nil || !changed && w.Size == size {
				return err
			}
			opt := a.Write
			opt.Commit = vfs.CommitAtomic
			return w.store(a, index, plain, opt)
		})
	})
}

// fillOutside sets the elements of a chunk, as far as it is in plain, that do not lie
// in its first places along each axis to the fill value, and tells whether any of
// them had another.
func (a *Array) fillOutside(plain []byte, inside []int64) (changed bool, err error) {
	elem := a.Fill
	if elem == nil {
		elem = make([]byte, a.DType.Size)
	}
	shape := slices.Clone(a.Chunks)
	if a.Order != nil { // as they lie in memory
		stored := make([]int64, len(shape))
		for i, axis := range a.Order {
			shape[i], stored[i] = a.Chunks[axis], inside[axis]
		}
		inside = stored
	} else if len(shape) > 0 {
		shape[0] = int64(len(plain)) / a.strides[0]
	}
	outside := ndarray.Full(shape)
	for axis := range shape {
		outside.Start[axis], outside.Count[axis] = inside[axis], shape[axis]-inside[axis]
		err := outside.Runs(shape, func(first, n, step, _ int64) error {
			at, size, apart := first*int64(a.DType.Size), n*int64(a.DType.Size), int64(0)
			if step > 1 {
				size, apart = size/n, step*int64(a.DType.Size)
			}
			for end := at + (n-1)*apart; ; at += apart {
				if p := plain[at : at+size]; !repeats(p, elem) {
					changed = true
					repeat(p, elem)
				}
				if apart == 0 || at == end {
					return nil
				}
			}
		})
		if err != nil {
			return changed, err
		}
		outside.Start[axis], outside.Count[axis] = 0, inside[axis] // those before were seen
	}
	return changed, nil
}

// repeats tells whether p is copies of elem.
func repeats(p, elem []byte) bool {
	return len(p) == 0 || bytes.HasPrefix(p, elem) && bytes.Equal(p[len(elem):], p[:len(p)-len(elem)])
}

// Cleared tells whether the file of a chunk holds nothing but the fill value
// outside of shape, which it need not touch. A file that does not exist does.
func (a *Array) Cleared(ctx context.Context, index, shape []int64) (clear bool, err error) {
	inside := make([]int64, len(shape))
	for axis := range shape {
		inside[axis] = max(0, a.extent(shape, axis, index[axis]))
	}
	if a.isTexts() {
		return a.clearedTexts(ctx, index, inside)
	}
	clear = true
	err = a.visit(ctx, index, func(w *worker) error {
		plain, err := w.whole(w.Size, 0)
		if err != nil {
			return err
		}
		if err := w.decode(ctx, a, plain, 0); err != nil {
			return err
		}
		changed, err := a.fillOutside(plain, inside)
		clear = !changed
		return err
	})
	return clear, err
}
