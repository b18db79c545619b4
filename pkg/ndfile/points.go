package ndfile

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

const (
	// pointSpan is the most bytes of an array without chunks that are read at once for
	// the points in them.
	pointSpan = 1 << 20
	// minScattered is the least number of points, and mostScattered the most bytes at
	// each, that a Scattered array is asked for.
	minScattered  = 16
	mostScattered = 4 << 10
)

// ReadPoints reads elements by their positions into dst, in the order given. A position
// counts the combinations of indexes along the first axes, row-major; along the axes
// behind them everything is read. With all axes it is one element, with one axis a row,
// as in [Take]. dst.Shape is len(points), then the extents of the other axes. mask is as
// in Masked.ReadMasked; nil: missing elements are ErrMasked. Of an array in chunks each
// is decoded once. Scratch memory is at most 16 MiB, or what one position stands for, for
// each thread.
//
// A position outside is ErrBounds before anything is read. After an error the content of
// dst and mask is undefined.
func ReadPoints(ctx context.Context, a Array, axes int, points []int64, dst ndarray.Buffer, mask []byte) error {
	spec := a.Spec()
	if axes < 1 || axes > len(spec.Shape) {
		return NewError(ErrShape, "positions along "+strconv.Itoa(axes)+" axes, the array has "+strconv.Itoa(len(spec.Shape)))
	}
	lead, err := ndarray.Count(spec.Shape[:axes])
	if err != nil {
		return err
	}
	r := pointReader{array: a, spec: &spec, axes: axes, points: points, dst: dst, mask: mask}
	if err := r.check(lead); err != nil || len(points) == 0 || r.elems == 0 {
		return err
	}
	isRun := points[len(points)-1]-points[0] == int64(len(points))-1 // perhaps
	if s, ok := a.(Scattered); ok && r.flat != nil && len(points) >= minScattered && r.size <= mostScattered && !(axes == 1 && isRun) {
		done, err := s.ReadScattered(ctx, points, r.elems, dst)
		if done || err != nil {
			clear(mask)
			return err
		}
	}
	if axes == 1 {
		return take(ctx, a, points, dst, mask)
	}
	return r.read(ctx)
}

// pointReader is one call of ReadPoints.
type pointReader struct {
	array  Array
	spec   *Spec
	axes   int
	points []int64
	dst    ndarray.Buffer
	flat   []byte // the bytes of dst where it is contiguous
	mask   []byte
	elems  int64 // at a position
	size   int64 // bytes of them in dst

	block []int64 // extents, along the first axes, of what is read at once
	order []int32 // the points by their blocks
	ends  []int   // in order, of each block with points
}

// check checks everything and sets elems and size.
func (r *pointReader) check(lead int64) error {
	rest := r.spec.Shape[r.axes:]
	switch {
	case r.spec.NoData:
		return NewError(ErrNoData, "")
	case len(r.points) > 1<<31-1:
		return NewError(ErrLimit, strconv.Itoa(len(r.points))+" positions; at most 2147483647 at once")
	case len(r.dst.Shape) != 1+len(rest) || r.dst.Shape[0] != int64(len(r.points)) || !slices.Equal(r.dst.Shape[1:], rest):
		want := append([]int64{int64(len(r.points))}, rest...)
		return NewError(ErrShape, "the buffer for the elements: expected shape "+shapeText(want)+", found "+shapeText(r.dst.Shape))
	}
	if err := r.dst.Check(); err != nil {
		return err
	}
	var err error
	if r.elems, err = ndarray.Count(rest); err != nil {
		return err
	}
	if r.elems > 0 {
		r.size = saturated(r.elems, int64(r.dst.DType.Size))
	}
	r.flat = r.dst.Bytes()
	for i, p := range r.points {
		if p < 0 || p >= lead {
			return NewError(ErrBounds, "position number "+strconv.Itoa(i)+" of the list: expected 0 to "+strconv.FormatInt(lead-1, 10)+", found "+strconv.FormatInt(p, 10))
		}
	}
	return nil
}

// read reads block by block.
func (r *pointReader) read(ctx context.Context) error {
	if err := r.group(); err != nil {
		return err
	}
	var once sync.Once
	var failed error
	var scratch blocks
	defer scratch.free()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := Parallel{}.Each(ctx, int64(len(r.ends)), func(ctx context.Context, _ int, i int64) {
		from := 0
		if i > 0 {
			from = r.ends[i-1]
		}
		buf := scratch.get()
		defer scratch.put(buf)
		if err := r.readBlock(ctx, r.order[from:r.ends[i]], buf); err != nil {
			once.Do(func() { failed = err; cancel() })
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// setBlock chooses what is read at once: a chunk, or whole rows.
func (r *pointReader) setBlock() {
	most := int64(pointSpan)
	r.block = slices.Clone(r.spec.Shape[:r.axes])
	if r.spec.Chunks != nil {
		most = takeSpan
		copy(r.block, r.spec.Chunks)
	}
	for axis := range r.block {
		for r.block[axis] > 1 && r.blockBytes() > most {
			r.block[axis] = (r.block[axis] + 1) / 2
		}
	}
}

func (r *pointReader) blockBytes() int64 {
	n := r.size
	for _, extent := range r.block {
		n = saturated(n, extent)
	}
	return n
}

// group sorts the points by the blocks that they lie in.
func (r *pointReader) group() (err error) {
	r.setBlock()
	keys, err := mem.Make[int64](len(r.points), 8)
	if err != nil {
		return err
	}
	if r.order, err = mem.Make[int32](len(r.points), 4); err != nil {
		return err
	}
	sorted := true
	for i, p := range r.points {
		keys[i] = r.key(p)
		r.order[i] = int32(i)
		sorted = sorted && (i == 0 || keys[i] >= keys[i-1])
	}
	if !sorted {
		r.sort(keys)
	}
	for i := 1; i < len(r.order); i++ {
		if keys[r.order[i]] != keys[r.order[i-1]] {
			r.ends = append(r.ends, i)
		}
	}
	r.ends = append(r.ends, len(r.order))
	return nil
}

// sort orders the points by their keys, and keeps the order of those with the same key.
func (r *pointReader) sort(keys []int64) {
	most := slices.Max(keys)
	if most > 4*int64(len(keys))+1024 {
		slices.SortStableFunc(r.order, func(i, j int32) int { return cmp.Compare(keys[i], keys[j]) })
		return
	}
	first := make([]int32, most+2) // place in order of the first point with each key
	for _, key := range keys {
		first[key+1]++
	}
	for key := range most {
		first[key+1] += first[key]
	}
	for i, key := range keys {
		r.order[first[key]] = int32(i)
		first[key]++
	}
}

// key is the number of the block that a point lies in.
func (r *pointReader) key(p int64) int64 {
	key, scale := int64(0), int64(1)
	for axis := r.axes - 1; axis >= 0; axis-- {
		extent := r.spec.Shape[axis]
		key += p % extent / r.block[axis] * scale
		scale *= (extent-1)/r.block[axis] + 1
		p /= extent
	}
	return key
}

// readBlock reads the smallest box around some points and picks them out of it.
func (r *pointReader) readBlock(ctx context.Context, these []int32, scratch *mem.Block) error {
	box := ndarray.Full(r.spec.Shape)
	low, high := box.Start[:r.axes], box.Count[:r.axes]
	for k, i := range these {
		p := r.points[i]
		for axis := r.axes - 1; axis >= 0; axis-- {
			at := p % r.spec.Shape[axis]
			p /= r.spec.Shape[axis]
			if k == 0 || at < low[axis] {
				low[axis] = at
			}
			if k == 0 || at > high[axis] {
				high[axis] = at
			}
		}
	}
	for axis := range high {
		high[axis] -= low[axis] - 1
	}
	span := ndarray.Buffer{DType: r.dst.DType, Shape: slices.Clone(box.Count)}
	n, err := ndarray.Count(span.Shape)
	if err != nil {
		return err
	}
	bytes, ok := ndarray.Mul(n, int64(span.DType.Size))
	if !ok {
		return NewError(ErrLimit, "what one position stands for takes more than 2^63 bytes")
	}
	masked := int64(0)
	if r.mask != nil {
		masked = n
	}
	memory, err := sized(scratch, bytes+masked)
	if err != nil {
		return err
	}
	span.Data = memory[:bytes]
	var mask []byte
	if r.mask != nil {
		mask = memory[bytes:]
	}
	if err := readBlock(ctx, r.array, box, span, mask); err != nil {
		return err
	}
	for _, i := range these {
		if err := r.pick(int64(i), &box, span, mask); err != nil {
			return err
		}
	}
	return nil
}

// pick copies point i out of a box.
func (r *pointReader) pick(i int64, box *ndarray.Box, span ndarray.Buffer, mask []byte) error {
	p, at, scale := r.points[i], int64(0), int64(1)
	for axis := r.axes - 1; axis >= 0; axis-- {
		at += (p%r.spec.Shape[axis] - box.Start[axis]) * scale
		scale *= box.Count[axis]
		p /= r.spec.Shape[axis]
	}
	if mask != nil {
		copy(r.mask[i*r.elems:(i+1)*r.elems], mask[at*r.elems:(at+1)*r.elems])
	}
	if r.flat != nil {
		copy(r.flat[i*r.size:(i+1)*r.size], span.Data[at*r.size:])
		return nil
	}
	dst, err := r.dst.Sub(rowBox(r.dst.Shape, i, 1))
	if err != nil {
		return err
	}
	src := ndarray.Buffer{DType: span.DType, Shape: dst.Shape, Data: span.Data[at*r.size : (at+1)*r.size]}
	return ndarray.Copy(dst, src)
}
