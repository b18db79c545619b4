package zarr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The order of writes. Elements outside of the shape can be in the files of
// edge chunks and of chunks outside of the grid: writers of release 0.4 leave
// them when an array shrinks, and so does one of ours that is killed. What comes
// into view when an array grows must be fill values, therefore:
//
//   - growing clears what is outside of the old shape, then writes the metadata:
//     the shape may be wrong, so that what is there is moved aside first;
//   - shrinking removes consolidated metadata, which would have what is gone, writes
//     the metadata, then clears what is outside of the new shape;
//   - appending clears, writes the elements, then the metadata.
//
// What is about to come is noted before anything is written outside of the shape or
// the shape cut.
//
// Whenever it stops, the metadata and what is inside of their shape are the old
// ones or the new ones.

// Resize implements [ndfile.Resizer]. With locks it goes by the shape on disk,
// which another process may have changed.
func (a *array) Resize(ctx context.Context, shape []int64) error {
	if g := a.file.within; g != nil && a.shrinks(shape) {
		g.Lock()
		defer g.Unlock()
		if err := g.dropCopies(ctx); err != nil {
			return g.Located(err)
		}
	}
	return a.change(ctx, func() error { return a.resize(ctx, slices.Clone(shape)) })
}

// shrinks tells whether another shape cuts something off.
func (a *array) shrinks(shape []int64) bool {
	a.file.RLock()
	defer a.file.RUnlock()
	for axis, n := range a.file.meta.shape {
		if axis < len(shape) && shape[axis] < n {
			return true
		}
	}
	return false
}

// Append implements [ndfile.Resizer]. The elements are on disk when it returns.
func (a *array) Append(ctx context.Context, axis int, src ndarray.Buffer) error {
	return a.change(ctx, func() error { return a.append(ctx, axis, src) })
}

// change runs what changes the shape: alone, and locked.
func (a *array) change(ctx context.Context, do func() error) (err error) {
	f := a.file
	f.Lock()
	defer f.Unlock()
	begin := f.Begin
	if f.protocol() {
		begin = func(context.Context) error { return f.Check(true) }
	}
	if err = begin(ctx); err == nil {
		err = a.writable()
	}
	if err != nil {
		return f.Located(err)
	}
	if f.protocol() {
		unlock, err := f.lockName(ctx, f.version.meta)
		if err != nil {
			return f.Located(err)
		}
		defer func() { err = errors.Join(err, unlock()) }()
		if err := a.refresh(ctx); err != nil {
			return f.Located(err)
		}
	} else if err := f.unchanged(ctx); err != nil {
		return f.Located(err)
	}
	if err = a.settleLeft(ctx); err == nil {
		err = do()
	}
	if err == nil {
		f.Settle()
	}
	return f.Located(err)
}

// unchanged fails with ErrBusy when somebody else was at work on the metadata.
func (f *file) unchanged(ctx context.Context) error {
	if f.Mode != edit.Updating {
		return nil
	}
	return edit.Unchanged(ctx, &f.files, f.path(f.version.meta), f.metaText)
}

// refresh takes over the shape that is on disk.
func (a *array) refresh(ctx context.Context) error {
	f := a.file
	now, err := f.readMeta(ctx)
	if err != nil {
		return err
	}
	if !now.dtype.Equal(f.meta.dtype) || !slices.Equal(now.chunks, f.meta.chunks) {
		return ndfile.NewError(ndfile.ErrBusy, "another array took the place of this one while it was open").On(f.path(f.version.meta))
	}
	f.meta = now
	a.cleared, a.ours = nil, nil
	return a.setChunks(now.shape)
}

func (a *array) resize(ctx context.Context, shape []int64) error {
	f := a.file
	old := f.meta.shape
	if len(shape) != len(old) {
		return fmt.Errorf("%w: expected %d axes, found %d", ndarray.ErrShape, len(old), len(shape))
	}
	if _, err := ndarray.NBytes(shape, f.meta.dtype.Size); err != nil {
		return err
	}
	if slices.Equal(shape, old) {
		return ctx.Err()
	}
	both := slices.Clone(shape) // what is in the old and in the new shape
	for axis := range both {
		both[axis] = min(both[axis], old[axis])
	}
	if !slices.Equal(both, shape) {
		if err := a.clearToGrow(ctx, shape); err != nil {
			return err
		}
	}
	cuts := !slices.Equal(both, old)
	if cuts && a.file.Mode == edit.Updating { // what the chunks that are cut hold behind the end is nobody's to drop
		edges, err := a.outside(old, old, nil)
		if err == nil {
			_, err = a.keep(ctx, edges, old, old)
		}
		if err != nil {
			return err
		}
		a.ours = a.largest(a.ours, old)
		if f.within == nil && f.version.caps&ndfile.CapGroups != 0 {
			if err := f.copies.drop(ctx, &f.store, false, f.Write); err != nil {
				return err
			}
		}
	}
	f.intend(shape)
	if err := a.setShape(ctx, shape); err != nil || !cuts {
		return err
	}
	cleared := a.cleared
	a.cleared = nil
	err := a.clear(ctx, both, old, nil, false)
	if err == nil {
		a.cleared = a.largest(cleared, old)
	}
	return err
}

func (a *array) append(ctx context.Context, axis int, src ndarray.Buffer) error {
	f := a.file
	old := f.meta.shape
	if axis < 0 || axis >= len(old) {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("axis: expected 0 to %d, found %d", len(old)-1, axis))
	}
	if len(src.Shape) != len(old) {
		return fmt.Errorf("%w: expected %d axes, found %d", ndarray.ErrShape, len(old), len(src.Shape))
	}
	shape, box := slices.Clone(old), ndarray.Full(src.Shape)
	for i, n := range src.Shape {
		if i != axis && n != old[i] {
			return fmt.Errorf("%w: axis %d: expected an extent of %d, found %d", ndarray.ErrShape, i, old[i], n)
		}
	}
	var ok bool
	if shape[axis], ok = ndarray.Add(old[axis], src.Shape[axis]); !ok {
		return fmt.Errorf("%w: axis %d: extents %d and %d", ndarray.ErrShape, axis, old[axis], src.Shape[axis])
	}
	box.Start[axis] = old[axis]
	if _, err := ndarray.NBytes(shape, f.meta.dtype.Size); err != nil {
		return err
	}
	if src.Shape[axis] == 0 {
		return src.Check()
	}
	if err := a.clearToGrow(ctx, shape); err != nil {
		return err
	}
	if err := a.setChunks(shape); err != nil {
		return err
	}
	f.intend(shape)
	err := a.elements().WriteBox(ctx, box, src)
	if err == nil {
		err = a.setShape(ctx, shape)
	}
	if err != nil {
		a.cleared = nil
		a.setChunks(old)
		a.takeBack(context.WithoutCancel(ctx), old, shape)
	}
	return err
}

// takeBack removes the chunks of an append that failed: on a full disk they would
// keep it full. What cannot be removed does no harm. Where the metadata count them,
// which can be after a failed sync, they stay.
func (a *array) takeBack(ctx context.Context, old, shape []int64) {
	if a.file.Mode != edit.Creating {
		if now, err := a.file.readMeta(ctx); err != nil || !slices.Equal(now.shape, old) {
			return
		}
	}
	present, err := a.outside(old, shape, nil)
	if err != nil {
		return
	}
	for index := range present {
		if !a.touches(old, index) {
			a.remove(index)
		}
	}
}

// setShape writes the metadata with another shape and takes it over.
func (a *array) setShape(ctx context.Context, shape []int64) error {
	m := *a.file.meta
	m.setShape(shape)
	if a.file.Mode != edit.Creating { // else Close writes them
		if err := a.file.unchanged(ctx); err != nil {
			return err
		}
		if err := a.file.writeDocument(a.file.version.meta, m.doc, a.file.Write); err != nil {
			return err
		}
	}
	a.file.meta = &m
	return a.setChunks(shape)
}

// clearToGrow clears what the array would come to have with a larger shape.
func (a *array) clearToGrow(ctx context.Context, shape []int64) error {
	if err := a.clear(ctx, a.file.meta.shape, shape, a.cleared, a.file.Mode == edit.Updating); err != nil {
		return err
	}
	a.cleared = a.largest(a.cleared, shape)
	return nil
}

// largest is known if it has all of the chunks of shape, else all of these.
func (a *array) largest(known, shape []int64) []int64 {
	whole := make([]int64, len(shape))
	larger := known != nil
	for axis, n := range shape {
		c := a.chunks.Chunks[axis]
		if rest := n % c; rest > 0 {
			n = min(n, math.MaxInt64-c) + c - rest
		}
		whole[axis] = n
		larger = larger && known[axis] >= n
	}
	if larger {
		return known
	}
	return whole
}

// clear sets what the files hold within all, but outside of shape, to the fill
// value: chunks that shape does not touch are deleted. known is a.cleared where
// that still holds for this shape, else nil. keep: what is cleared is moved aside.
func (a *array) clear(ctx context.Context, shape, all, known []int64, keep bool) error {
	if a.dirty.Swap(false) {
		known = nil
	}
	present, err := a.outside(shape, all, known)
	if err == nil && keep {
		if present, err = a.keep(ctx, present, shape, all); err == nil {
			a.ours = a.largest(a.ours, all)
		}
	}
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, edges := range []bool{false, true} { // what is deleted makes room for what is written
		for index := range present {
			err := ctx.Err()
			switch {
			case err != nil || a.touches(shape, index) != edges:
			case edges:
				err = a.chunks.RefillChunk(ctx, index, shape)
			default:
				if err = a.remove(index); err == nil && a.file.Write.Sync {
					path := a.file.chunkPath(nil, index)
					folders[string(path[:bytes.LastIndexByte(path, '/')])] = true
				}
			}
			if err != nil {
				return err
			}
		}
	}
	for folder := range folders { // what is gone must not come back into view
		if err := a.file.files.SyncDir(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// maxProbes is up to how many chunks are looked for one by one. Beyond that it
// is cheaper to list the folder.
const maxProbes = 1000

// outside gives the chunks that clear has to look at: those that reach over the
// edge of shape or lie in all only; where something is known to be clear, those
// of all that are not.
func (a *array) outside(shape, all, known []int64) (iter.Seq[[]int64], error) {
	wanted := func(yield func([]int64) bool) {
		if known != nil {
			a.chunks.Dropped(all, known)(yield)
			return
		}
		more := true
		for index := range a.chunks.Edges(shape) {
			if more = yield(index); !more {
				return
			}
		}
		a.chunks.Dropped(all, shape)(yield)
	}
	n := 0
	for range wanted {
		if n++; n > maxProbes {
			break
		}
	}
	if n <= maxProbes {
		return wanted, nil
	}
	var found [][]int64
	err := a.file.eachFile(&a.file.meta.keys, func(rel string, _ vfs.FileMode) error {
		index := make([]int64, len(shape))
		if a.file.meta.keys.parse(index, rel) && (known == nil || !a.touches(known, index)) &&
			(a.touches(all, index) || a.touches(shape, index)) && !a.fills(shape, index) {
			found = append(found, index)
		}
		return nil
	})
	return slices.Values(found), err
}

// touches tells whether an array of some shape has elements in a chunk, fills
// whether the chunk has no others.
func (a *array) touches(shape, index []int64) bool {
	if a.parts != nil { // the shape never changes
		return a.parts.Has(index)
	}
	for axis, i := range index {
		if n := shape[axis]; n == 0 || i > (n-1)/a.chunks.Chunks[axis] {
			return false
		}
	}
	return true
}

func (a *array) fills(shape, index []int64) bool {
	for axis, i := range index {
		if i >= shape[axis]/a.chunks.Chunks[axis] {
			return false
		}
	}
	return true
}

// remove deletes the file of a chunk, if there is one.
func (a *array) remove(index []int64) error {
	err := a.file.files.Remove(string(a.file.chunkPath(nil, index)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
