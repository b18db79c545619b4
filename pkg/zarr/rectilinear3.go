package zarr

import (
	"context"
	"fmt"

	"github.com/ndfile/ndfile/pkg/internal/chunk"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The chunk grid "rectilinear" of Zarr 3. Its member chunk_shapes has an item for each
// axis: the extent of all chunks, or a list of extents and of [extent, count] in
// any order. Source: its specification in zarr-extensions.

// rectilinear is the array as others see it. No one shape is that of its chunks:
// it is neither [ndfile.Chunked] nor [ndfile.Resizer].
type rectilinear struct{ ndfile.Array }

// readRectilinear3 reads the extents. Where each axis has one for all chunks, the
// grid is regular.
func (m *metadata) readRectilinear3(conf *pyjson.Object) error {
	if err := onlyKeys("chunk_grid", conf, "kind", "chunk_shapes"); err != nil {
		return err
	}
	kind, _ := conf.Get("kind")
	if word, ok := kind.Str(); !ok || word != "inline" {
		return ndfile.NewError(ndfile.ErrNotSupported, "chunk_grid: a rectilinear grid of the kind "+metafile.Short(kind)+" is not supported")
	}
	list, _ := conf.Get("chunk_shapes")
	items := list.Items()
	if list.Kind() != pyjson.KindList || len(items) != len(m.shape) {
		return wrongGrid("chunk_shapes with an item for each of %d axes, found %s", len(m.shape), metafile.Short(list))
	}
	m.chunks = make([]int64, len(items))
	runs, regular := make([][]chunk.Run, len(items)), true
	for axis, item := range items {
		if n, ok := item.Int64(); ok {
			if n < 1 {
				return wrongGrid("chunk_shapes of 1 or more, found %d for axis %d", n, axis)
			}
			runs[axis] = []chunk.Run{{Extent: n, Count: max(0, m.shape[axis])/n + 1}}
			m.chunks[axis] = n
			continue
		}
		regular = false
		var err error
		if runs[axis], m.chunks[axis], err = readRuns(item, axis, m.shape[axis]); err != nil {
			return err
		}
	}
	if !regular {
		m.runs = runs
	}
	return nil
}

// readRuns reads the chunks along an axis. Chunks of one extent become one run,
// however many they are; those behind the end of the array are left out. largest
// is the largest extent of the others, or of all where the array is empty.
func readRuns(v pyjson.Value, axis int, extent int64) (runs []chunk.Run, largest int64, err error) {
	if v.Kind() != pyjson.KindList || len(v.Items()) == 0 {
		return nil, 0, wrongGrid("an integer or a list of extents in chunk_shapes, found %s for axis %d", metafile.Short(v), axis)
	}
	total := int64(0)
	for _, item := range v.Items() {
		run, ok := readRun(item)
		if !ok {
			return nil, 0, wrongGrid("extents or [extent, count] in chunk_shapes, all 1 or more, found %s for axis %d", metafile.Short(item), axis)
		}
		before := total
		n, ok := ndarray.Mul(run.Extent, run.Count)
		if ok {
			total, ok = ndarray.Add(total, n)
		}
		if !ok {
			return nil, 0, wrongGrid("less than 2^63 elements in chunk_shapes, found more for axis %d", axis)
		}
		switch last := len(runs) - 1; {
		case before >= extent && before > 0:
		case last >= 0 && runs[last].Extent == run.Extent:
			runs[last].Count += run.Count
		default:
			runs, largest = append(runs, run), max(largest, run.Extent)
		}
	}
	if total < extent {
		return nil, 0, wrongGrid("chunk_shapes for the %d elements of axis %d, found them for %d", extent, axis, total)
	}
	return runs, largest, nil
}

// readRun reads one extent, or [extent, count].
func readRun(v pyjson.Value) (run chunk.Run, ok bool) {
	run.Count = 1
	if run.Extent, ok = v.Int64(); !ok {
		pair := v.Items()
		if len(pair) != 2 {
			return run, false
		}
		var hasCount bool
		run.Extent, ok = pair[0].Int64()
		run.Count, hasCount = pair[1].Int64()
		ok = ok && hasCount
	}
	return run, ok && run.Extent >= 1 && run.Count >= 1
}

func wrongGrid(expected string, args ...any) error {
	return ndfile.NewError(ndfile.ErrCorrupt, "chunk_grid: expected "+fmt.Sprintf(expected, args...))
}

// newParts makes the elements of an array on a rectilinear grid. The codecs are
// bound to one shape of chunks, so that each part has its own.
func (f *file) newParts(stored ndarray.DType) (*chunk.Rectilinear, error) {
	if f.meta.dtype.IsVar() {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "elements of variable length on a rectilinear chunk grid are not supported").On(f.path(f.version.meta))
	}
	return chunk.NewRectilinear(f.meta.shape, stored, f.meta.runs, func(shape, chunks, first []int64) (*chunk.Array, error) {
		m := *f.meta
		m.shape, m.chunks, m.first, m.runs = shape, chunks, first, nil
		m.codec, m.order, m.layout, m.inner = nil, nil, nil, nil
		if err := m.bind(f.version.zarr); err != nil {
			return nil, ndfile.Locate(err, f.path(f.version.meta), "", false)
		}
		one := &file{store: f.store, meta: &m}
		a, err := one.newArray()
		if err != nil {
			return nil, err
		}
		return a.elements(), nil
	})
}

// grid is the number of chunks along each axis.
func (a *array) grid() []int64 {
	if a.parts != nil {
		return a.parts.Grid()
	}
	return a.chunks.Grid()
}

// checkChunk decodes a chunk, or a shard.
func (a *array) checkChunk(ctx context.Context, index []int64) error {
	if a.parts != nil {
		return a.parts.CheckChunk(ctx, index)
	}
	return a.chunks.CheckChunk(ctx, index)
}
