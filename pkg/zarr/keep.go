package zarr

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// keep keeps, in a folder beside the store, what chunks hold outside of shape and
// an array of the shape all would come to have: a writer may have been stopped, or
// the shape is damaged, and nothing tells which. Chunks that shape does not touch
// are moved there, and with the first of them all others; the rest is copied. It
// gives those of the chunks in present that are to be cleared.
func (a *array) keep(ctx context.Context, present iter.Seq[[]int64], shape, all []int64) (iter.Seq[[]int64], error) {
	f := a.file
	larger, err := a.withShape(all)
	if err != nil {
		return nil, err
	}
	var found [][]int64
	var steps []aside.Step
	behind := false
	for index := range present {
		path, edge := string(f.chunkPath(nil, index)), a.touches(shape, index)
		_, err := f.files.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		clear, in := false, larger
		if edge {
			in = a
		}
		if err == nil {
			clear, err = in.chunks.Cleared(ctx, index, shape)
		}
		if err != nil && !edge {
			err = unlessDamaged(err)
		}
		if err != nil {
			return nil, err
		}
		if clear && edge {
			continue
		}
		found = append(found, slices.Clone(index))
		switch {
		case clear, a.ours != nil && a.touches(a.ours, index):
		case edge:
			text, err := aside.Read(f.files.FS, path)
			if err != nil {
				return nil, err
			}
			steps = append(steps, aside.Step{Path: path, Text: text})
		default:
			behind = true
		}
	}
	if behind {
		moves, err := a.behind(shape)
		if err != nil {
			return nil, err
		}
		steps = append(steps, moves...)
	}
	store := f.root
	if f.of != "" {
		store = f.of // beside the group, not in it
	}
	return slices.Values(found), aside.Apply(f.files.FS, store, steps)
}

// behind is how all chunks that shape does not touch are moved aside.
func (a *array) behind(shape []int64) (moves []aside.Step, err error) {
	index := make([]int64, len(shape))
	err = a.file.eachFile(&a.file.meta.keys, func(rel string, mode vfs.FileMode) error {
		if mode != vfs.Dir && a.file.meta.keys.parse(index, rel) && !a.touches(shape, index) {
			moves = append(moves, aside.Step{Path: a.file.dataPath() + "/" + rel})
		}
		return nil
	})
	return moves, err
}

// withShape is the array as it would be with another shape, for looking at chunks.
func (a *array) withShape(shape []int64) (*array, error) {
	m := *a.file.meta
	m.shape = shape
	f := file{store: a.file.store, meta: &m}
	return f.newArray()
}
