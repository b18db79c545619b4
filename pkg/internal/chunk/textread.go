package chunk

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// textRead is one call of ReadTexts.
type textRead struct {
	held       map[int64]*textChunk // chunks that were decoded, by their piece
	heldBytes  int
	ends, data []byte
}

// nextText reads the next element of a chunk, of n bytes. to, where it is not nil, gives
// memory for it.
type nextText func(to func(n int) ([]byte, error)) (n int, err error)

// windowFunc does something with the elements of a worker's window.
type windowFunc func(w *worker, s *selection, next nextText) error

// heldTexts is the most of decoded chunks that a call holds until it needs them again.
const heldTexts = 16 << 20

// each calls do for the windows of the pieces of a selection, in order.
func (r *textRead) each(ctx context.Context, a *Array, box ndarray.Box, buf ndarray.Buffer,
	do windowFunc) error {
	s := a.newSelection(box, buf)
	defer s.release()
	for j := range s.n {
		err := one(ctx, func(w *worker, _ int64) error {
			w.locate(s, j)
			unlock, err := a.reading(w.index)
			if err != nil {
				return err
			}
			if unlock != nil {
				defer unlock()
			}
			return r.piece(ctx, w, s, j, do)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *textRead) piece(ctx context.Context, w *worker, s *selection, j int64,
	do windowFunc) error {
	a := s.a
	c, found := r.held[j], true
	var t *textReader
	if c == nil {
		var err error
		if c, t, found, err = w.openTexts(ctx, a, false); err != nil {
			return err
		}
		defer w.close()
		switch size := 0; {
		case t != nil:
			defer t.memory.Free()
			if err := t.begin(a.size / TextID.Size); err != nil {
				return located(err, w.name)
			}
		case found:
			if size = len(c.plain.B) + len(c.places.B); size > keepTexts {
				defer c.free()
			} else if s.n > 1 && r.heldBytes+size <= heldTexts {
				r.held[j], r.heldBytes = c, r.heldBytes+size
			}
		}
	}
	in := &textWindows{a: a, w: w, c: c, t: t, found: found}
	return in.each(ctx, s, do)
}

// textWindows goes through the elements of a chunk: those in memory, those of a reader,
// or fill values.
type textWindows struct {
	a     *Array
	w     *worker
	c     *textChunk
	t     *textReader
	found bool
	at    int // the next element
}

func (in *textWindows) next(to func(n int) ([]byte, error)) (n int, err error) {
	text := in.a.Fill
	switch {
	case in.t != nil:
		if n, err = in.t.next(to); err != nil {
			err = located(err, in.w.name)
		}
		in.at++
		return n, err
	case in.found:
		text = in.c.text(in.at)
	}
	in.at++
	if to != nil {
		var dst []byte
		dst, err = to(len(text))
		copy(dst, text)
	}
	return len(text), err
}

// each cuts the worker's piece into windows.
func (in *textWindows) each(ctx context.Context, s *selection, do windowFunc) error {
	w := in.w
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.hi-w.lo > windowBytes && w.items > 1 {
		return w.cut(s, windowBytes, func() error { return in.each(ctx, s, do) })
	}
	first := w.lo / TextID.Size
	if in.t == nil {
		in.at = first
	}
	for in.at < first {
		if in.at&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := in.next(nil); err != nil {
			return err
		}
	}
	return do(w, s, in.next)
}

// lengths delivers the lengths of the texts of a window.
func (r *textRead) lengths(w *worker, s *selection, next nextText) error {
	lens, err := w.plain.Sized(w.hi - w.lo)
	for i := 0; err == nil && i < len(lens); i += TextID.Size {
		var n int
		n, err = next(nil)
		binary.NativeEndian.PutUint64(lens[i:], uint64(n))
	}
	if err != nil {
		return err
	}
	return w.deliver(s, lens, w.lo)
}

// texts copies the texts of a window to the places that are in the selection's buffer.
func (r *textRead) texts(w *worker, s *selection, next nextText) error {
	size := w.hi - w.lo
	both, err := w.plain.Sized(2 * size)
	if err != nil {
		return err
	}
	starts, ends := both[:size], both[size:]
	for i := range starts {
		starts[i] = 0xff // of an element that nobody wants
	}
	if err := ndarray.Copy(w.in(s.a, starts, w.lo), w.buf); err != nil {
		return err
	}
	to := w.buf
	to.Data = r.ends
	if err := ndarray.Copy(w.in(s.a, ends, w.lo), to); err != nil {
		return err
	}
	for i := 0; i < size; i += TextID.Size {
		start := binary.NativeEndian.Uint64(starts[i:])
		var memory func(n int) ([]byte, error)
		if start != math.MaxUint64 {
			memory = func(n int) ([]byte, error) {
				end := binary.NativeEndian.Uint64(ends[i:])
				if end-start != uint64(n) {
					return nil, ndfile.NewError(ndfile.ErrCorrupt, "the chunk has changed while it was read")
				}
				return r.data[start:end], nil
			}
		}
		if _, err := next(memory); err != nil {
			return err
		}
	}
	return nil
}
