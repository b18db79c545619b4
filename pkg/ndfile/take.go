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
	// takeSpan is the most bytes between rows that are read at once, for each
	// thread; a single row may take more.
	takeSpan = 16 << 20
	// takeGap is how many bytes between two rows cost less to read than another read.
	takeGap = 16 << 10
)

// Take reads rows (positions along axis 0) into dst, in the order given; a row may
// come more than once. dst.Shape[0] is len(rows), the other extents are those of
// the array, and its dtype is as in Array.ReadBox. Neighbouring rows are read at
// once and, where the array has chunks whose rows take at most 16 MiB, all rows of
// a chunk: each is decoded once. Scratch memory is at most 16 MiB, or one row, for each thread.
//
// A negative row, or one behind the last, is ErrBounds before anything is read.
// Missing elements are ErrMasked. After an error the content of dst is undefined.
func Take(ctx context.Context, a Array, rows []int64, dst ndarray.Buffer) error {
	return take(ctx, a, rows, dst, nil)
}

// take is Take with a mask as in Masked.ReadMasked; nil is none.
func take(ctx context.Context, a Array, rows []int64, dst ndarray.Buffer, mask []byte) error {
	spec := a.Spec()
	t, err := newTaker(a, &spec, rows, dst, mask)
	if err != nil || len(rows) == 0 || t.elems == 0 {
		return err
	}
	if t.order == nil && rows[len(rows)-1]-rows[0] == int64(len(rows))-1 {
		return t.read(ctx, rows[0], int64(len(rows)), t.dst, mask)
	}
	var once sync.Once
	var failed error
	var scratch blocks
	defer scratch.free()
	ends := t.spans()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = Parallel{}.Each(ctx, int64(len(ends)), func(ctx context.Context, _ int, i int64) {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		buf := scratch.get()
		defer scratch.put(buf)
		if err := t.takeSpan(ctx, from, ends[i], buf); err != nil {
			once.Do(func() { failed = err; cancel() })
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// blocks is memory that the workers of a call take turns with.
type blocks struct {
	mu   sync.Mutex
	idle []*mem.Block
}

func (b *blocks) get() *mem.Block {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.idle)
	if n == 0 {
		return new(mem.Block)
	}
	block := b.idle[n-1]
	b.idle = b.idle[:n-1]
	return block
}

func (b *blocks) put(block *mem.Block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = append(b.idle, block)
}

// free gives everything back, when all work is done.
func (b *blocks) free() {
	for _, block := range b.idle {
		block.Free()
	}
}

// taker is one call of Take.
type taker struct {
	array Array
	spec  *Spec
	rows  []int64
	order []int // positions in rows, by rising row; nil: they rise already and none comes twice
	dst   ndarray.Buffer
	whole bool   // the bytes of a row follow each other in dst, as they do in the array
	mask  []byte // of dst
	elems int64  // in a row
	size  int64  // bytes of a row in dst
	chunk int64  // rows in a chunk; 0: there are no chunks, or they are too large to be read at once
}

func newTaker(a Array, spec *Spec, rows []int64, dst ndarray.Buffer, mask []byte) (*taker, error) {
	switch {
	case spec.NoData:
		return nil, NewError(ErrNoData, "")
	case len(spec.Shape) == 0:
		return nil, NewError(ErrShape, "a scalar has no rows")
	case len(dst.Shape) != len(spec.Shape) || dst.Shape[0] != int64(len(rows)) || !slices.Equal(dst.Shape[1:], spec.Shape[1:]):
		want := append([]int64{int64(len(rows))}, spec.Shape[1:]...)
		return nil, NewError(ErrShape, "the buffer for the rows: expected shape "+shapeText(want)+", found "+shapeText(dst.Shape))
	}
	if err := dst.Check(); err != nil {
		return nil, err
	}
	elems, err := ndarray.Count(spec.Shape[1:])
	if err != nil {
		return nil, err
	}
	t := &taker{array: a, spec: spec, rows: rows, dst: dst, mask: mask, elems: elems}
	if dst.Strides == nil {
		if t.dst.Strides, err = ndarray.AppendStrides(nil, dst.Shape, dst.DType.Size); err != nil {
			return nil, err
		}
	}
	t.size, t.whole = int64(dst.DType.Size), true
	for axis := len(dst.Shape) - 1; axis > 0; axis-- {
		t.whole = t.whole && (dst.Shape[axis] < 2 || t.dst.Strides[axis] == t.size)
		t.size = saturated(t.size, dst.Shape[axis])
	}
	if spec.Chunks != nil && saturated(spec.Chunks[0], t.size) <= takeSpan {
		t.chunk = spec.Chunks[0]
	}
	rising, last := true, int64(-1)
	for i, r := range rows {
		if r < 0 || r >= spec.Shape[0] {
			return nil, NewError(ErrBounds, "row number "+strconv.Itoa(i)+" of the list: expected 0 to "+strconv.FormatInt(spec.Shape[0]-1, 10)+", found "+strconv.FormatInt(r, 10))
		}
		rising = rising && r > last
		last = r
	}
	if !rising {
		if t.order, err = mem.Make[int](len(rows), 8); err != nil {
			return nil, err
		}
		for i := range t.order {
			t.order[i] = i
		}
		slices.SortStableFunc(t.order, func(i, j int) int { return cmp.Compare(rows[i], rows[j]) })
	}
	return t, nil
}

// place is the position in rows of the i-th row by rising order.
func (t *taker) place(i int) int {
	if t.order == nil {
		return i
	}
	return t.order[i]
}

// spans cuts the rows in rising order into groups that are read at once, and gives
// the end of each.
func (t *taker) spans() (ends []int) {
	first, last := t.rows[t.place(0)], t.rows[t.place(0)]
	for i := range t.rows {
		row := t.rows[t.place(i)]
		near := saturated(row-last, t.size) <= takeGap
		if t.chunk > 0 {
			near = row/t.chunk == last/t.chunk
		}
		if row != last && (!near || saturated(row-first+1, t.size) > takeSpan) {
			ends = append(ends, i)
			first = row
		}
		last = row
	}
	return append(ends, len(t.rows))
}

// takeSpan reads a group of rows, straight into dst where they lie there as they
// do in the array.
func (t *taker) takeSpan(ctx context.Context, from, to int, scratch *mem.Block) error {
	first := t.rows[t.place(from)]
	n := t.rows[t.place(to-1)] - first + 1
	if t.order == nil && n == int64(to-from) {
		dst, err := t.dst.Sub(rowBox(t.dst.Shape, int64(from), n))
		if err != nil {
			return err
		}
		return t.read(ctx, first, n, dst, t.maskOf(from, int(n)))
	}
	bytes, ok := ndarray.Mul(n*t.elems, int64(t.dst.DType.Size))
	if !ok {
		return NewError(ErrLimit, "a row takes more than 2^63 bytes")
	}
	masked := int64(0)
	if t.mask != nil {
		masked = n * t.elems
	}
	memory, err := sized(scratch, bytes+masked)
	if err != nil {
		return err
	}
	data, mask := memory[:bytes], memory[bytes:]
	if t.mask == nil {
		mask = nil
	}
	span := ndarray.Buffer{DType: t.dst.DType, Shape: slices.Clone(t.dst.Shape), Data: data}
	span.Shape[0] = n
	if err := t.read(ctx, first, n, span, mask); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		at := t.place(i)
		row := t.rows[at] - first
		if mask != nil {
			copy(t.maskOf(at, 1), mask[row*t.elems:(row+1)*t.elems])
		}
		if t.whole {
			t.putRow(int64(at), data[row*t.size:(row+1)*t.size])
			continue
		}
		if err := t.copyRow(int64(at), span, row); err != nil {
			return err
		}
	}
	return nil
}

// putRow copies a row whose bytes follow each other in dst, too.
func (t *taker) putRow(to int64, row []byte) {
	dst := t.dst.Data[t.dst.Offset+to*t.dst.Strides[0]:]
	switch len(row) { // columns of records
	case 4:
		*(*[4]byte)(dst) = [4]byte(row)
	case 8:
		*(*[8]byte)(dst) = [8]byte(row)
	default:
		copy(dst, row)
	}
}

// copyRow copies a row of span into dst where its bytes are apart.
func (t *taker) copyRow(to int64, span ndarray.Buffer, row int64) error {
	dst, err := t.dst.Sub(rowBox(t.dst.Shape, to, 1))
	if err != nil {
		return err
	}
	src, err := span.Sub(rowBox(span.Shape, row, 1))
	if err != nil {
		return err
	}
	return ndarray.Copy(dst, src)
}

// maskOf is the part of the mask that belongs to n rows of dst.
func (t *taker) maskOf(row, n int) []byte {
	if t.mask == nil {
		return nil
	}
	return t.mask[int64(row)*t.elems : int64(row+n)*t.elems]
}

func (t *taker) read(ctx context.Context, first, n int64, dst ndarray.Buffer, mask []byte) error {
	return readBlock(ctx, t.array, rowBox(t.spec.Shape, first, n), dst, mask)
}

// rowBox is the box of n rows of an array.
func rowBox(shape []int64, first, n int64) ndarray.Box {
	box := ndarray.Full(shape)
	box.Start[0], box.Count[0] = first, n
	return box
}

// readBlock is Array.ReadBox, or Masked.ReadMasked where there is a mask.
func readBlock(ctx context.Context, a Array, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	if mask == nil {
		return a.ReadBox(ctx, box, dst)
	}
	m, ok := a.(Masked)
	if !ok {
		return NewError(ErrInternal, "the array says that elements can be missing, but does not read masks")
	}
	return m.ReadMasked(ctx, box, dst, mask)
}

// shapeText is a shape for messages, as a JSON list.
func shapeText(shape []int64) string {
	b := []byte{'['}
	for i, n := range shape {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}
