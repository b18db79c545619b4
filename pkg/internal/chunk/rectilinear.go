package chunk

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Run is chunks of one extent that follow each other along an axis.
type Run struct{ Extent, Count int64 }

// Rectilinear is an array whose chunks have different extents along an axis. One run
// along each axis cuts out a regular grid: a part, which is an Array. It is only
// read. Its methods, but for Forget, may be called from several goroutines at once.
type Rectilinear struct {
	shape []int64
	dtype ndarray.DType
	axes  [][]span
	size  int // bytes of the largest chunk
	open  func(shape, chunks, first []int64) (*Array, error)

	mu   sync.Mutex
	last []part // the one that was made last is the last
}

// maxParts is how many parts are kept: each has a cache.
const maxParts = 4

// part is the Array of the runs at, one an axis.
type part struct {
	at    []int
	array *Array
}

// span is a run with its place along the axis.
type span struct {
	Run
	start, end int64 // its elements within the array
	first      int64 // the index of its first chunk
}

// NewRectilinear makes an array of the runs along each axis, which reach to the end of
// shape or beyond and do not overflow. open makes the Array of a part, given the
// index that its first chunk has in the whole grid. Errors: ErrCorrupt.
func NewRectilinear(shape []int64, dtype ndarray.DType, runs [][]Run, open func(shape, chunks, first []int64) (*Array, error)) (*Rectilinear, error) {
	r := &Rectilinear{shape: slices.Clone(shape), dtype: dtype, axes: make([][]span, len(shape)), open: open}
	largest := make([]int64, len(shape))
	for axis, extent := range shape {
		s := span{}
		for _, s.Run = range runs[axis] {
			if s.start >= extent {
				break
			}
			s.end = extent
			if most := ceilDiv(extent-s.start, s.Extent); s.Count < most {
				s.end = s.start + s.Extent*s.Count
			} else {
				s.Count = most
			}
			r.axes[axis] = append(r.axes[axis], s)
			largest[axis] = max(largest[axis], s.Extent)
			s.start, s.first = s.end, s.first+s.Count
		}
		if s.start != extent {
			return nil, ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("axis %d: chunks of %d elements in all, expected %d or more", axis, s.start, extent))
		}
	}
	size, err := ndarray.NBytes(largest, dtype.Size)
	r.size = int(size)
	return r, err
}

// Forget drops what is known of the files: the folder is another one.
func (r *Rectilinear) Forget() {
	for _, p := range r.last {
		p.array.Forget()
	}
	r.last = nil
}

// Grid is the number of chunks along each axis.
func (r *Rectilinear) Grid() []int64 {
	grid := make([]int64, len(r.axes))
	for axis, spans := range r.axes {
		if len(spans) > 0 {
			last := &spans[len(spans)-1]
			grid[axis] = last.first + last.Count
		}
	}
	return grid
}

// Has tells whether a chunk lies in the grid.
func (r *Rectilinear) Has(index []int64) bool {
	for axis, n := range r.Grid() {
		if index[axis] < 0 || index[axis] >= n {
			return false
		}
	}
	return true
}

// ReadBox is Array.ReadBox.
func (r *Rectilinear) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if err := checkBox(r.shape, &box, &dst, &r.dtype, &dst.DType); err != nil {
		return err
	}
	if dst.Strides == nil {
		dst.Strides, _ = ndarray.AppendStrides(nil, dst.Shape, dst.DType.Size) // dst was checked
	}
	cuts, n := make([][]cut, len(r.axes)), int64(1)
	for axis := range r.axes {
		cuts[axis] = r.cuts(&box, axis)
		n *= int64(len(cuts[axis]))
	}
	if n == 1 {
		return r.readPart(ctx, cuts, 0, &box, &dst)
	}
	return each(ctx, n, 2*r.size, func(_ *worker, j int64) error { return r.readPart(ctx, cuts, j, &box, &dst) })
}

// cut is what a run has of a box along an axis: count elements from start of the run
// on, which are those from at on in the box.
type cut struct {
	run              int
	start, count, at int64
}

func (r *Rectilinear) cuts(box *ndarray.Box, axis int) []cut {
	var cuts []cut
	spans, start, count, step := r.axes[axis], box.Start[axis], box.Count[axis], int64(1)
	if count > 1 && box.Step != nil {
		step = box.Step[axis]
	}
	run := sort.Search(len(spans), func(i int) bool { return spans[i].end > start })
	for at := int64(0); at < count; run++ {
		s := &spans[run]
		from := start + at*step
		if from >= s.end { // a step over it
			continue
		}
		n := min(count-at, 1+(s.end-1-from)/step)
		cuts = append(cuts, cut{run, from - s.start, n, at})
		at += n
	}
	return cuts
}

// readPart reads combination j of the cuts.
func (r *Rectilinear) readPart(ctx context.Context, cuts [][]cut, j int64, box *ndarray.Box, dst *ndarray.Buffer) error {
	nd := len(cuts)
	at := make([]int, nd)
	numbers := make([]int64, 2*nd)
	in := ndarray.Box{Start: numbers[:nd], Count: numbers[nd:], Step: box.Step}
	to := *dst
	to.Shape = in.Count
	for axis := nd - 1; axis >= 0; axis-- {
		n := int64(len(cuts[axis]))
		c := &cuts[axis][j%n]
		j /= n
		at[axis], in.Start[axis], in.Count[axis] = c.run, c.start, c.count
		to.Offset += c.at * dst.Strides[axis]
	}
	a, err := r.part(at)
	if err != nil {
		return err
	}
	return a.ReadBox(ctx, in, to)
}

// part gives the Array of some runs.
func (r *Rectilinear) part(at []int) (*Array, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.last {
		if slices.Equal(p.at, at) {
			return p.array, nil
		}
	}
	nd := len(at)
	numbers := make([]int64, 3*nd)
	shape, chunks, first := numbers[:nd], numbers[nd:2*nd], numbers[2*nd:]
	for axis, i := range at {
		s := &r.axes[axis][i]
		shape[axis], chunks[axis], first[axis] = s.end-s.start, s.Extent, s.first
	}
	a, err := r.open(shape, chunks, first)
	if err != nil {
		return nil, err
	}
	if len(r.last) == maxParts {
		r.last[0].array.Forget()
		r.last = slices.Delete(r.last, 0, 1)
	}
	r.last = append(r.last, part{at, a})
	return a, nil
}

// CheckChunk is Array.CheckChunk.
func (r *Rectilinear) CheckChunk(ctx context.Context, index []int64) error {
	if len(index) != len(r.axes) || !r.Has(index) {
		return ndfile.NewError(ndfile.ErrBounds, fmt.Sprintf("chunk %v, the grid is %v", slices.Clone(index), r.Grid()))
	}
	at, local := make([]int, len(index)), slices.Clone(index)
	for axis, spans := range r.axes {
		at[axis] = sort.Search(len(spans), func(i int) bool { return spans[i].first+spans[i].Count > index[axis] })
		local[axis] -= spans[at[axis]].first
	}
	a, err := r.part(at)
	if err != nil {
		return err
	}
	return a.CheckChunk(ctx, local)
}
