package flat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/store"
)

const (
	// maxPiece is the most that is transferred by way of a buffer, or changed
	// behind a transfer: what a second-level cache keeps until it is read again.
	maxPiece = 256 << 10
	// maxTransfer is the most that one pread or pwrite transfers to or from the
	// caller's memory: the context is looked at between them. With pieces of 1 MiB
	// Go's scheduler would give the thread's place away and back at each of them.
	maxTransfer = 16 << 20
	// maxGap is the largest hole between two runs that is read rather than
	// skipped: reading it costs less than another system call.
	maxGap = 32 << 10
	// maxRuns bounds the runs that one pread serves.
	maxRuns = 256
)

// Block says where an array lies. Its methods may be called from several
// goroutines at once, writes as far as their boxes do not overlap.
type Block struct {
	File vfs.File
	// Offset is the place of the first element in bytes from the start of File.
	Offset int64
	// DType is the type on disk, of fixed size.
	DType ndarray.DType
	// Shape is that of the array, which lies row-major unless Fortran is set.
	Shape []int64
	// Fortran: the first axis varies fastest.
	Fortran bool
	// Opaque: elements of kind Raw are also read and written as records of their
	// size, whose bytes stay as they are.
	Opaque bool
	// Mapped is where scattered elements are copied from; nil: they are read.
	Mapped *Mapped
}

// ReadBox copies a box of the array into dst, whose shape is box.Count and whose
// dtype is the array's up to byte order or an exact widening of it. A file that
// ends before the array does is ndfile.ErrCorrupt, with the offset, as soon as
// the box reaches behind its end. Box and buffer are checked as in package
// ndarray. After an error the content of dst is unspecified.
func (l *Block) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	l, view, err := l.view(&box, &dst)
	if err != nil {
		return err
	}
	if !ndarray.CanConvert(l.DType, dst.DType) {
		return noConversion(l.DType, dst.DType)
	}
	if l.Mapped != nil {
		if done, err := l.Mapped.copyBox(l, &box, dst); done {
			return err
		}
	}
	b := &batch{l: l, dst: view, same: l.DType.Equal(dst.DType)}
	if !b.same && l.DType.IsSwapOf(dst.DType) {
		b.same, b.swap = true, true
	}
	defer b.release()
	err = box.Runs(l.Shape, func(first, n, step, k int64) error {
		return b.add(ctx, run{first, n, step, k})
	})
	if err != nil {
		return err
	}
	return b.flush(ctx)
}

// view checks everything about a box and its memory but the types. Of a layout in
// Fortran order it gives the one in row-major order that it is with its axes
// reversed, and reverses those of box and memory.
func (l *Block) view(box *ndarray.Box, buf *ndarray.Buffer) (*Block, View, error) {
	if !slices.Equal(box.Count, buf.Shape) {
		return nil, View{}, fmt.Errorf("%w: the buffer has shape %v, the box %v", ndarray.ErrShape, buf.Shape, box.Count)
	}
	n, err := ndarray.NBytes(l.Shape, l.DType.Size)
	if err != nil {
		return nil, View{}, err
	}
	if _, ok := ndarray.Add(l.Offset, n); !ok {
		return nil, View{}, ndfile.NewError(ndfile.ErrCorrupt, "the array ends beyond 2^63 bytes").At(l.Offset)
	}
	if l.Opaque && l.DType.Kind == ndarray.Raw && buf.DType.Kind == ndarray.Record && buf.DType.Size == l.DType.Size {
		buf.DType = l.DType
	}
	if l.Fortran {
		if l, err = l.turned(box, buf); err != nil {
			return nil, View{}, err
		}
	}
	v, err := NewView(*buf)
	return l, v, err
}

func noConversion(from, to ndarray.DType) error {
	return fmt.Errorf("%w: no exact conversion from %s to %s", ndarray.ErrDType, from, to)
}

// run is n elements from flat index first on, step apart, which take the
// positions from k on in the box.
type run struct{ first, n, step, k int64 }

// end is the flat index behind the last element.
func (r *run) end() int64 { return r.first + (r.n-1)*r.step + 1 }

// batch collects runs that one pread can serve.
type batch struct {
	l          *Block
	dst        View
	same, swap bool // the types are equal up to byte order; all words are in the other one
	runs       [maxRuns]run
	n          int
	lo, hi     int64 // the flat indexes that the runs span
	scratch    *[]byte
}

// add takes a run of any length, cut so that its pieces fit one pread.
func (b *batch) add(ctx context.Context, r run) error {
	size := int64(b.l.DType.Size)
	if size == 0 {
		return nil
	}
	if b.same && r.step == 1 && r.n*size > maxGap {
		if p, ok := b.dst.Run(r.k, r.n); ok { // no need of a buffer
			return b.straight(ctx, p, r.first)
		}
	}
	most := maxPiece / size / r.step
	if (r.step-1)*size > maxGap {
		most = 1
	}
	for most = max(most, 1); r.n > 0; {
		piece := run{r.first, min(r.n, most), r.step, r.k}
		if err := b.queue(ctx, piece); err != nil {
			return err
		}
		r.first, r.n, r.k = r.first+piece.n*r.step, r.n-piece.n, r.k+piece.n
	}
	return nil
}

func (b *batch) queue(ctx context.Context, r run) error {
	size := int64(b.l.DType.Size)
	if b.n > 0 && (b.n == maxRuns || (r.first-b.hi)*size > maxGap || (r.end()-b.lo)*size > maxPiece) {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	if b.n == 0 {
		b.lo = r.first
	}
	b.runs[b.n] = r
	b.n++
	b.hi = r.end()
	return nil
}

// flush reads what was collected.
func (b *batch) flush(ctx context.Context) error {
	if b.n == 0 {
		return nil
	}
	runs := b.runs[:b.n]
	b.n = 0
	size := int64(b.l.DType.Size)
	at, n := b.l.Offset+b.lo*size, (b.hi-b.lo)*size
	if b.same && len(runs) == 1 && runs[0].step == 1 {
		if p, ok := b.dst.Run(runs[0].k, runs[0].n); ok {
			return b.straight(ctx, p, runs[0].first)
		}
	}
	p, err := b.buffer(n)
	if err != nil {
		return err
	}
	if err := ReadFull(ctx, b.l.File, p, at); err != nil {
		return err
	}
	for _, r := range runs {
		if err := b.dst.Put(r.k, p[(r.first-b.lo)*size:], r.step*size, b.l.DType, r.n); err != nil {
			return err
		}
	}
	return nil
}

// straight reads elements from flat index first on into the caller's memory.
func (b *batch) straight(ctx context.Context, p []byte, first int64) error {
	at := b.l.Offset + first*int64(b.l.DType.Size)
	if !b.swap {
		return ReadFull(ctx, b.l.File, p, at)
	}
	return readSwapped(ctx, b.l.File, p, at, b.l.DType)
}

// readSwapped is ReadFull of elements that are in the other byte order.
func readSwapped(ctx context.Context, f vfs.File, p []byte, off int64, d ndarray.DType) error {
	if isShared(f, len(p)) {
		return readShared(ctx, f, p, off, d.Size, func(part []byte) { ndarray.SwapBytes(part, d) })
	}
	piece := max(maxPiece/d.Size, 1) * d.Size
	for len(p) > 0 {
		m := min(piece, len(p))
		if err := ReadFull(ctx, f, p[:m], off); err != nil {
			return err
		}
		ndarray.SwapBytes(p[:m], d)
		p, off = p[m:], off+int64(m)
	}
	return nil
}

// pieces holds buffers of maxPiece bytes.
var pieces = sync.Pool{New: func() any { p := make([]byte, maxPiece); return &p }}

// buffer gives n bytes: from the pool, but for single elements above maxPiece.
func (b *batch) buffer(n int64) ([]byte, error) {
	if n > maxPiece {
		return ndfile.NewBytes(int(n))
	}
	if b.scratch == nil {
		b.scratch = pieces.Get().(*[]byte)
	}
	return (*b.scratch)[:n], nil
}

func (b *batch) release() {
	if b.scratch != nil {
		pieces.Put(b.scratch)
	}
}

// WriteBox stores src, whose shape is box.Count, into the box; src has the
// array's dtype up to byte order or one that widens to it exactly. The file
// grows as needed. After an error the box may be written in part.
func (l *Block) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	l, view, err := l.view(&box, &src)
	if err != nil {
		return err
	}
	if !ndarray.CanConvert(src.DType, l.DType) {
		return noConversion(src.DType, l.DType)
	}
	size := int64(l.DType.Size)
	if size == 0 {
		return box.Check(l.Shape)
	}
	b := batch{l: l}
	defer b.release()
	equal := src.DType.Equal(l.DType)
	most := max(maxPiece/size, 1)
	return box.Runs(l.Shape, func(first, n, step, k int64) error {
		if p, ok := view.Run(k, n); ok && equal && step == 1 {
			return WriteFull(ctx, l.File, p, l.Offset+first*size)
		}
		for n > 0 {
			m := min(n, most)
			p, err := b.buffer(m * size)
			if err != nil {
				return err
			}
			if err := view.Get(p, l.DType, k, m); err != nil {
				return err
			}
			if err := l.scatter(ctx, p, first, m, step); err != nil {
				return err
			}
			first, n, k = first+m*step, n-m, k+m
		}
		return nil
	})
}

// scatter writes n packed elements step apart. What lies between them is not
// touched: another writer may be there.
func (l *Block) scatter(ctx context.Context, p []byte, first, n, step int64) error {
	size := int64(l.DType.Size)
	if step == 1 {
		return WriteFull(ctx, l.File, p, l.Offset+first*size)
	}
	for i := range n {
		if err := WriteFull(ctx, l.File, p[i*size:(i+1)*size], l.Offset+(first+i*step)*size); err != nil {
			return err
		}
	}
	return nil
}

// Map gives the bytes of the whole array, read-only, as vfs.File.Map does. They
// are aligned no better than Offset. An array that is not in the machine's byte
// order or in Fortran order, and a file system that cannot map, are
// ndfile.ErrNotSupported; one that the file is too short for is ndfile.ErrCorrupt.
func (l *Block) Map() (data []byte, unmap func() error, err error) {
	if l.Fortran {
		return nil, nil, ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: stored in Fortran order")
	}
	if l.DType.Swapped() {
		return nil, nil, ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: stored as "+l.DType.String()+", which is not this machine's byte order")
	}
	n, err := ndarray.NBytes(l.Shape, l.DType.Size)
	if err != nil {
		return nil, nil, err
	}
	have, err := l.File.Size()
	if err != nil {
		return nil, nil, err
	}
	if end, ok := ndarray.Add(l.Offset, n); !ok || end > have {
		return nil, nil, tooShort(n, l.Offset, have)
	}
	if n == 0 {
		return nil, func() error { return nil }, nil
	}
	data, unmap, err = l.File.Map(l.Offset, n)
	if errors.Is(err, vfs.ErrNoMap) {
		err = ndfile.NewError(ndfile.ErrNotSupported, "").Because(err)
	}
	return data, unmap, err
}

// ReadFull reads len(p) bytes at off in pieces of bounded size, by several threads where
// there are many, and looks at ctx before each. A file that ends before is
// ndfile.ErrCorrupt.
func ReadFull(ctx context.Context, f store.Value, p []byte, off int64) error {
	if isShared(f, len(p)) {
		return readShared(ctx, f, p, off, 1, nil)
	}
	return readOnce(ctx, f, p, off)
}

// ReadParts is ReadFull of several ranges, in as few requests as is best.
func ReadParts(ctx context.Context, f store.Value, parts []store.Part) error {
	err := store.ReadParts(ctx, f, parts)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ndfile.NewError(ndfile.ErrCorrupt, "the file ends before what is read of it does").Because(err)
	}
	return err
}

func tooShort(n, off, size int64) error {
	return ndfile.NewError(ndfile.ErrCorrupt, "expected "+strconv.FormatInt(n, 10)+" bytes, but the file ends at byte "+
		strconv.FormatInt(size, 10)).At(off)
}

// WriteFull writes p at off in pieces of bounded size and looks at ctx before
// each.
func WriteFull(ctx context.Context, f vfs.File, p []byte, off int64) error {
	for len(p) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.WriteAt(p[:min(len(p), maxTransfer)], off)
		if err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}
