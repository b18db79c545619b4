package chunk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/cache"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/store"
)

// ReadBox is ndfile.Array.ReadBox. After an error the content of dst is
// unspecified.
func (a *Array) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if err := a.check(&box, &dst, &a.DType, &dst.DType); err != nil {
		return err
	}
	if a.tail.rows > 0 {
		return a.splitTail(box, dst, func(box ndarray.Box, dst ndarray.Buffer) error {
			return a.readStored(ctx, box, dst)
		}, a.readTail)
	}
	return a.readStored(ctx, box, dst)
}

// check verifies a box and its memory, and that elements of type from can become
// elements of type to.
func (a *Array) check(box *ndarray.Box, buf *ndarray.Buffer, from, to *ndarray.DType) error {
	return checkBox(a.shape, box, buf, from, to)
}

func checkBox(shape []int64, box *ndarray.Box, buf *ndarray.Buffer, from, to *ndarray.DType) error {
	if err := box.Check(shape); err != nil {
		return err
	}
	if !slices.Equal(box.Count, buf.Shape) {
		return fmt.Errorf("%w: the buffer has shape %v, the box %v", ndarray.ErrShape, slices.Clone(buf.Shape), slices.Clone(box.Count))
	}
	if err := buf.Check(); err != nil {
		return err
	}
	return ndarray.CopyRun(nil, 0, *to, nil, 0, *from, 0) // fails if there is no exact conversion
}

// readStored is ReadBox of what the files hold. Everything has been checked.
func (a *Array) readStored(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	s := a.newSelection(box, dst)
	defer s.release()
	if a.Shards != nil && s.n > 0 {
		return a.readShards(ctx, s)
	}
	switch s.n {
	case 0:
		return nil
	case 1:
		return one(ctx, func(w *worker, _ int64) error { return w.readPiece(ctx, s, 0) })
	}
	return each(ctx, s.n, a.readMemory(), func(w *worker, j int64) error { return w.readPiece(ctx, s, j) })
}

// readMemory is about what reading a piece takes, in bytes.
func (a *Array) readMemory() int {
	if c, ok := a.Codec.(chain); ok && a.size <= freeBlock || ok && !c.Streams() {
		return 2*a.size + int(c.Scratch())
	}
	return min(2*a.size, windowBytes)
}

// readPiece reads piece j of a selection. A chunk that is replaced in a store between
// two requests for it is read again.
func (w *worker) readPiece(ctx context.Context, s *selection, j int64) error {
	for try := 1; ; try++ {
		if err := w.tryPiece(ctx, s, j); try == maxTries || !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}

// maxTries is how often a chunk is read that others replace.
const maxTries = 3

func (w *worker) tryPiece(ctx context.Context, s *selection, j int64) error {
	a := s.a
	w.locate(s, j)
	// A small part of a chunk is kept, unless all that is read with it would
	// drive out everything else.
	part := w.items*int64(a.DType.Size) <= int64(a.size)/2 && !w.inside
	room := int(cache.Limit() / s.n)
	keep, gap, changes := part && w.hi-w.lo <= room, cache.None, uint64(0)
	if keep {
		var win *cache.Window
		if win, gap, changes = a.cache.Get(a.Number(w.index), w.lo, w.hi); win != nil {
			defer win.Release()
			return w.deliver(s, win.Data, win.Lo)
		}
	}

	unlock, err := a.reading(w.index)
	if err != nil {
		return err
	}
	if unlock != nil {
		defer unlock()
	}
	found, err := w.open(ctx, a, w.index, a.sizeIn(a.stored, w.index), !part)
	if err != nil {
		return err
	}
	if !found {
		return w.fillPiece(a)
	}
	defer w.close()

	if done, err := w.readRows(ctx, s); done || err != nil {
		return err
	}
	if keep {
		if lo, hi := w.around(gap, room); hi-lo <= room && (!w.Stream || hi-lo <= windowBytes) {
			win, err := cache.New(a.Number(w.index), lo, hi-lo)
			if err != nil {
				return err
			}
			defer win.Release()
			if err := w.decode(ctx, a, win.Data, lo); err != nil {
				return err
			}
			a.cache.Put(win, changes)
			return w.deliver(s, win.Data, lo)
		}
	}
	if w.hi-w.lo > windowBytes && !w.straight(s) && 2*min(int64(w.hi-w.lo), w.items*int64(w.Block)) > int64(w.Size) {
		if err := w.readAll(ctx); err != nil { // once, for all windows
			return located(err, w.name)
		}
	}
	return w.readWindows(ctx, s)
}

// windowBytes is the most that is decoded at a time for a piece that does not lie
// in the buffer as in the chunk.
const windowBytes = 4 << 20

// readWindows reads the piece from the open chunk: straight into the buffer, or
// window by window.
func (w *worker) readWindows(ctx context.Context, s *selection) error {
	if w.straight(s) {
		p := w.memory()
		if err := w.decode(ctx, s.a, p, w.lo); err != nil {
			return err
		}
		if s.match == swapped {
			ndarray.SwapBytes(p, s.a.DType)
		}
		return nil
	}
	if most := max(windowBytes, w.Block); w.hi-w.lo > most && w.items > 1 {
		return w.cut(s, most, func() error { return w.readWindows(ctx, s) })
	}
	plain, err := w.plain.Sized(w.hi - w.lo)
	if err != nil {
		return err
	}
	if err := w.decode(ctx, s.a, plain, w.lo); err != nil {
		return err
	}
	return w.deliver(s, plain, w.lo)
}

// cut makes the piece smaller, along the axis with several elements that lie farthest
// from each other, so that it spans at most so many bytes of the chunk, if single places
// along the axis do, and calls do for each part in turn, as they lie in the chunk.
func (p *piece) cut(s *selection, most int, do func() error) error {
	axis := 0
	for i, n := range p.count {
		if n > 1 && (p.count[axis] == 1 || p.strides[i] > p.strides[axis]) {
			axis = i
		}
	}
	whole := *p
	count, stride := p.count[axis], p.strides[axis]
	span := p.hi - p.lo - int((count-1)*stride) // of one place
	n := max(1, 1+int64(most-span)/stride)
	for at := int64(0); at < count; at += n {
		m := min(n, count-at)
		p.count[axis] = m
		p.lo = whole.lo + int(at*stride)
		p.hi = p.lo + span + int((m-1)*stride)
		p.items = whole.items / count * m
		p.buf.Offset = whole.buf.Offset + at*s.strides[axis]
		p.dense = p.buf.IsContiguous()
		if err := do(); err != nil {
			return err
		}
	}
	p.count[axis] = count
	p.lo, p.hi, p.items, p.buf, p.dense = whole.lo, whole.hi, whole.items, whole.buf, whole.dense
	return nil
}

// around is what is decoded of an open chunk in order to keep it: the blocks that
// the piece touches, or all of the chunk when that has room and other parts of
// it were read before, gap bytes away. Of elements as they are it is some around the piece then.
func (w *worker) around(gap, room int) (lo, hi int) {
	block := w.Block
	known := gap < cache.Near || w.Whole && gap != cache.None // what stops early would begin again each time
	if known && w.Stored {
		block = cache.Near
	} else if known && w.Size <= room && !w.Stream {
		return 0, w.Size
	}
	lo = w.lo - w.lo%block
	blocks := (w.hi-1-lo)/block + 1
	hi = min(lo+blocks*block, w.Size)
	if w.StopsEarly { // no further than is wanted, and a little more
		hi = min(hi, w.hi+cache.Near/8)
	}
	return lo, hi
}

// straight reports whether the piece is bytes that follow each other in the chunk
// and in the buffer, the same ones but perhaps for byte order.
func (p *piece) straight(s *selection) bool {
	return p.dense && s.a.Order == nil && s.match != other && int64(p.hi-p.lo) == p.items*int64(p.buf.DType.Size)
}

// deliver copies the piece out of the bytes of its chunk from byte lo on.
func (p *piece) deliver(s *selection, data []byte, lo int) error {
	if s.match == equal && p.straight(s) {
		copy(p.memory(), data[p.lo-lo:])
		return nil
	}
	return ndarray.Copy(p.buf, p.in(s.a, data, lo))
}

// ReadChunk is ndfile.Chunked.ReadChunk. An index outside of the grid is
// ErrBounds, a chunk with rows that are not flushed ErrOrder.
func (a *Array) ReadChunk(ctx context.Context, index []int64, buf []byte) (raw []byte, size int64, err error) {
	err = a.visit(ctx, index, func(w *worker) error {
		n, end := w.Encoded.Encoded, w.from+w.Encoded.Encoded
		if raw = buf; len(raw) < n {
			if raw, err = mem.Make[byte](n, 1); err != nil {
				return err
			}
		}
		raw, size = raw[:n], int64(w.Size)
		have := copy(raw, w.raw[w.from:min(w.have, end)])
		return flat.ReadFull(ctx, w.rest, raw[have:], int64(w.from+have))
	})
	if err != nil {
		return nil, 0, err
	}
	return raw, size, nil
}

// CheckChunk reads and decodes a whole chunk and throws the elements away. A
// chunk that is missing where it may be is good.
func (a *Array) CheckChunk(ctx context.Context, index []int64) error {
	if a.isTexts() {
		return a.checkTextChunk(ctx, index)
	}
	return a.visit(ctx, index, func(w *worker) error {
		if err := w.readAll(ctx); err != nil || w.Stored {
			return err
		}
		if err := w.checkBlock(false); err != nil && !w.Stream {
			return err
		}
		window := max(windowBytes-windowBytes%w.Block, w.Block)
		for off := 0; off < w.Size; off += window {
			plain, err := w.plain.Sized(min(window, w.Size-off))
			if err != nil {
				return err
			}
			if err := w.decode(ctx, a, plain, off); err != nil {
				return err
			}
		}
		return nil
	})
}

// visit opens a chunk of the grid; a missing one is left out.
func (a *Array) visit(ctx context.Context, index []int64, do func(w *worker) error) error {
	if err := a.checkIndex(index); err != nil {
		return err
	}
	return one(ctx, func(w *worker, _ int64) error {
		unlock, err := a.reading(index)
		if err != nil {
			return err
		}
		if unlock != nil {
			defer unlock()
		}
		found, err := w.open(ctx, a, index, a.sizeIn(a.stored, index), true)
		if err != nil || !found {
			return err
		}
		defer w.close()
		return located(do(w), w.name)
	})
}
