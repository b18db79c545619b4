package ndfile

import (
	"iter"
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// varItemSize is what an element of variable length counts in the size of a block.
const varItemSize = 16

// tiling cuts a box of an array into tiles: boxes that each lie in one cell of a
// regular grid on the array, in row-major order.
type tiling struct {
	box ndarray.Box
	// cell is the extent of a cell along each axis, in elements of the array.
	cell []int64
}

// newTiling makes the cells as large as maxBytes allow for elements of itemsize
// bytes (0: of variable length), counting those that the box takes. A cell is a
// whole number of units, at least one, along each axis; unit nil is single
// elements. The box fits its array and the extents of unit are positive.
func newTiling(box ndarray.Box, unit []int64, itemsize int, maxBytes int64) tiling {
	if itemsize == 0 {
		itemsize = varItemSize
	}
	t := tiling{box: box, cell: make([]int64, len(box.Count))}
	most := max(1, maxBytes/int64(itemsize)) // elements in a tile
	n := int64(1)
	for axis := range t.cell {
		t.cell[axis] = 1
		if unit != nil {
			t.cell[axis] = unit[axis]
		}
		n = saturated(n, t.taken(axis))
	}
	// The last axes are taken whole as far as there is room, and of the one before
	// them as much as fits.
	for axis := len(t.cell) - 1; axis >= 0 && n <= most; axis-- {
		others := n / t.taken(axis)
		if room := most / others; room < box.Count[axis] {
			t.cell[axis] *= max(1, saturated(room, t.step(axis))/t.cell[axis])
			break
		}
		t.cell[axis] = math.MaxInt64
		n = others * t.taken(axis)
	}
	return t
}

// saturated multiplies positive numbers; the product is cut to an int64.
func saturated(a, b int64) int64 {
	if p, ok := ndarray.Mul(a, b); ok {
		return p
	}
	return math.MaxInt64
}

func (t *tiling) step(axis int) int64 {
	if t.box.Step == nil {
		return 1
	}
	return t.box.Step[axis]
}

// taken is the number of elements of the box, at least 1, that a cell holds along an axis.
func (t *tiling) taken(axis int) int64 {
	return max(1, min(t.box.Count[axis], (t.cell[axis]-1)/t.step(axis)+1))
}

// end is the element of the box, counted along an axis, behind the tile that
// begins with element from.
func (t *tiling) end(axis int, from int64) int64 {
	start, step := t.box.Start[axis], t.step(axis)
	at := start + from*step // an element of the array: no overflow
	last := (at/t.cell[axis]+1)*t.cell[axis] - 1
	if last < at { // beyond an int64
		return t.box.Count[axis]
	}
	return min(t.box.Count[axis], (last-start)/step+1)
}

// count is the number of tiles, at most what an int64 holds. It takes no longer
// for huge extents than for small ones.
func (t *tiling) count() int64 {
	n := int64(1)
	for axis, count := range t.box.Count {
		if count == 0 {
			return 0
		}
		along := count // a step over a whole cell: one element each
		if first, step := t.box.Start[axis], t.step(axis); step <= t.cell[axis] {
			along = (first+(count-1)*step)/t.cell[axis] - first/t.cell[axis] + 1
		}
		n = saturated(n, along)
	}
	return n
}

// all gives the tiles. They share memory: each is valid until the next.
func (t *tiling) all() iter.Seq[ndarray.Box] {
	return func(yield func(ndarray.Box) bool) {
		ndim := len(t.cell)
		tile := ndarray.Box{Start: make([]int64, ndim), Count: make([]int64, ndim), Step: t.box.Step}
		from := make([]int64, ndim) // the tile's first element, counted in the box
		set := func(axis int, first int64) {
			from[axis] = first
			tile.Start[axis] = t.box.Start[axis] + first*t.step(axis)
			tile.Count[axis] = t.end(axis, first) - first
		}
		for axis, count := range t.box.Count {
			if count == 0 {
				return
			}
			set(axis, 0)
		}
		for yield(tile) {
			axis := ndim - 1
			for ; axis >= 0; axis-- {
				if next := from[axis] + tile.Count[axis]; next < t.box.Count[axis] {
					set(axis, next)
					break
				}
				set(axis, 0)
			}
			if axis < 0 {
				return
			}
		}
	}
}

// readUnit is the unit to read an array by: its chunks, so that each is decoded
// once; of chunks that take more than maxBytes as many rows as fit, along the
// first axes.
func readUnit(spec *Spec, maxBytes int64) []int64 {
	if spec.Chunks == nil {
		return nil
	}
	if spec.Shards != nil { // which are written as a whole
		return cutChunks(spec.Shards, spec.DType.Size, maxBytes)
	}
	return cutChunks(spec.Chunks, spec.DType.Size, maxBytes)
}

// cutChunks makes chunks of elements of size bytes smaller, along the first axes,
// until they take at most maxBytes or are single elements. What fits stays as it is.
func cutChunks(chunks []int64, size int, maxBytes int64) []int64 {
	cut := slices.Clone(chunks)
	for axis := range cut {
		row := int64(max(1, size)) // bytes of the rest at a place along this axis
		for _, n := range cut[axis+1:] {
			row = saturated(row, n)
		}
		cut[axis] = min(cut[axis], max(1, maxBytes/row))
	}
	return cut
}

// shardsOf is the shape of a shard of about size bytes decoded, of the chunks of spec;
// nil where that is one chunk, and for elements of variable length.
func shardsOf(spec *Spec, size int64) []int64 {
	if size < 0 || spec.Chunks == nil || len(spec.Chunks) == 0 || spec.DType.IsVar() {
		return nil
	}
	chunk := int64(max(1, spec.DType.Size))
	for _, n := range spec.Chunks {
		chunk = saturated(chunk, n)
	}
	shards, room := slices.Clone(spec.Chunks), size/chunk
	for axis := len(shards) - 1; axis >= 0 && room > 1; axis-- {
		all := max(1, (spec.Shape[axis]-1)/spec.Chunks[axis]+1)
		n := min(room, all)
		shards[axis] = saturated(shards[axis], n)
		if room /= n; n < all {
			break
		}
	}
	if slices.Equal(shards, spec.Chunks) {
		return nil
	}
	return shards
}
