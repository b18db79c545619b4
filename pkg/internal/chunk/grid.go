package chunk

import (
	"iter"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// selection is a box over the grid, with the memory that its elements come from
// or go to.
type selection struct {
	a       *Array
	buf     ndarray.Buffer
	strides []int64 // of buf
	match   match
	axes    []axis
	n       int64 // chunks that hold elements of the box

	strideSpace [ndarray.MaxNDim]int64
	axisSpace   [ndarray.MaxNDim]axis
}

// match says how the dtype of a buffer compares with the array's.
type match uint8

const (
	other   match = iota // converted
	swapped              // the same but for byte order, of every word
	equal
)

func compare(a, b *ndarray.DType) match {
	switch {
	case a.Equal(*b):
		return equal
	case a.IsSwapOf(*b):
		return swapped
	}
	return other
}

var selections = sync.Pool{New: func() any { return new(selection) }}

// newSelection is for a box that passed Box.Check for the stored shape, and its
// buffer. The caller releases it.
func (a *Array) newSelection(box ndarray.Box, buf ndarray.Buffer) *selection {
	s := selections.Get().(*selection)
	s.a, s.buf, s.strides = a, buf, buf.Strides
	if s.strides == nil {
		s.strides, _ = ndarray.AppendStrides(s.strideSpace[:0], buf.Shape, buf.DType.Size) // buf was checked
	}
	s.match = compare(&a.DType, &buf.DType)
	s.axes, s.n = s.axisSpace[:0], 1
	for i := range a.stored {
		x := newAxis(&box, i, a.stored[i], a.Chunks[i])
		s.axes = append(s.axes, x)
		s.n *= x.chunks
	}
	return s
}

func (s *selection) release() {
	s.a, s.buf, s.strides = nil, ndarray.Buffer{}, nil // they are the caller's
	selections.Put(s)
}

// axis is one axis of a selection.
type axis struct {
	start, count, step int64 // of the box
	extent, chunk      int64 // of the array and of a chunk
	first              int64 // the first chunk that holds selected elements
	chunks             int64 // how many chunks do; 0 for an empty box
}

func newAxis(box *ndarray.Box, i int, extent, chunk int64) axis {
	x := axis{start: box.Start[i], count: box.Count[i], step: 1, extent: extent, chunk: chunk}
	if x.count > 1 && box.Step != nil {
		x.step = box.Step[i]
	}
	switch x.first = x.start / chunk; {
	case x.count == 0:
	case x.step > chunk: // one element each, and chunks between are skipped
		x.chunks = x.count
	default:
		x.chunks = (x.start+(x.count-1)*x.step)/chunk - x.first + 1
	}
	return x
}

// part is what chunk j of those that hold selected elements has of them: its
// index, count elements from its element from on, which are those from at on in
// the box.
func (x *axis) part(j int64) (index, from, count, at int64) {
	if x.step > x.chunk {
		i := x.start + j*x.step
		return i / x.chunk, i % x.chunk, 1, j
	}
	index = x.first + j
	base := index * x.chunk
	if base > x.start {
		at = 1 + (base-x.start-1)/x.step
	}
	from = x.start + at*x.step - base
	left := min(x.chunk, x.extent-base) - from
	return index, from, min(x.count-at, 1+(left-1)/x.step), at
}

// piece is what a chunk has of a selection. It is part of a worker and lives
// until the worker's next piece.
type piece struct {
	index   []int64 // of the chunk
	count   []int64 // elements along each axis
	strides []int64 // of these elements in the chunk, in bytes
	lo, hi  int     // the bytes of the chunk that they span
	items   int64   // elements
	inside  bool    // these are all of the chunk that lies in the array
	buf     ndarray.Buffer
	dense   bool // buf has no gaps

	space [3][ndarray.MaxNDim]int64
}

// locate finds piece j of a selection.
func (p *piece) locate(s *selection, j int64) {
	nd := len(s.axes)
	p.index, p.count, p.strides = p.space[0][:nd], p.space[1][:nd], p.space[2][:nd]
	p.lo, p.hi, p.items, p.inside = 0, s.a.DType.Size, 1, true
	p.buf = ndarray.Buffer{DType: s.buf.DType, Shape: p.count, Strides: s.strides, Data: s.buf.Data, Offset: s.buf.Offset}
	for i := nd - 1; i >= 0; i-- {
		x := &s.axes[i]
		index, from, count, at := x.part(j % x.chunks)
		j /= x.chunks
		stride := s.a.strides[i]
		p.lo += int(from * stride)
		p.hi += int(from * stride)
		if p.strides[i] = 0; count > 1 {
			p.strides[i] = stride * x.step
			p.hi += int((count - 1) * p.strides[i])
		}
		p.index[i], p.count[i] = index, count
		p.items *= count
		p.inside = p.inside && count == min(x.chunk, x.extent-index*x.chunk)
		p.buf.Offset += at * s.strides[i]
	}
	p.dense = p.buf.IsContiguous()
}

// in is the piece seen in the bytes of its chunk from byte lo on.
func (p *piece) in(a *Array, data []byte, lo int) ndarray.Buffer {
	return ndarray.Buffer{DType: a.DType, Shape: p.count, Strides: p.strides, Data: data, Offset: int64(p.lo - lo)}
}

// memory is the bytes of the buffer of a dense piece.
func (p *piece) memory() []byte {
	n := p.items * int64(p.buf.DType.Size)
	return p.buf.Data[p.buf.Offset : p.buf.Offset+n : p.buf.Offset+n]
}

// Number tells a chunk from the others of the array. It does not change when the
// array grows along axis 0.
func (a *Array) Number(index []int64) int64 {
	n := int64(0)
	for i, k := range index {
		n = n*a.grid[i] + k
	}
	return n
}

// Dropped gives the chunks that an array of shape old has and one of shape new
// does not. The slice is valid until the next one.
func (a *Array) Dropped(old, new []int64) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		from, to := a.gridOf(old), a.gridOf(new)
		lo, hi := make([]int64, len(from)), slices.Clone(from)
		// Those that fall off along an axis, but not along one before.
		for axis := range from {
			if to[axis] < from[axis] {
				lo[axis] = to[axis]
				if !indices(lo, hi, yield) {
					return
				}
				lo[axis], hi[axis] = 0, to[axis]
			}
		}
	}
}

// Edges gives the chunks that an array of some shape fills in part only: what
// Refill works on. The slice is valid until the next one.
func (a *Array) Edges(shape []int64) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		lo, hi := make([]int64, len(shape)), a.gridOf(shape)
		// The last ones along an axis, but not along one before.
		for axis, n := range shape {
			if n%a.Chunks[axis] != 0 {
				lo[axis] = hi[axis] - 1
				if !indices(lo, hi, yield) {
					return
				}
				lo[axis], hi[axis] = 0, hi[axis]-1
			}
		}
	}
}

// indices goes through all indexes from lo to hi, without hi. False: yield wanted
// no more.
func indices(lo, hi []int64, yield func([]int64) bool) bool {
	for axis := range lo {
		if lo[axis] >= hi[axis] {
			return true
		}
	}
	index := slices.Clone(lo)
	for {
		if !yield(index) {
			return false
		}
		axis := len(index) - 1
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < hi[axis] {
				break
			}
			index[axis] = lo[axis]
		}
		if axis < 0 {
			return true
		}
	}
}
