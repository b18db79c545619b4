package chunk

import (
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// textChunk is a decoded chunk of elements of variable length, all of it in memory.
type textChunk struct {
	plain  mem.Buffer // as the codec vlen-utf8 has it
	places mem.Buffer // of the elements in plain, 4 bytes each
}

// keepTexts is the largest chunk, decoded, that is kept for the next read.
const keepTexts = 4 << 20

// len is the number of elements.
func (c *textChunk) len() int { return len(c.places.B) / 4 }

// text is an element.
func (c *textChunk) text(i int) []byte {
	p := binary.NativeEndian.Uint32(c.places.B[4*i:])
	n := binary.LittleEndian.Uint32(c.plain.B[p:])
	return c.plain.B[p+4:][:n:n]
}

// free gives the memory back, of a chunk that is not kept.
func (c *textChunk) free() {
	c.plain.Free()
	c.places.Free()
}

// look checks plain and notes the places.
func (c *textChunk) look(a *Array) error {
	t := textReader{buf: c.plain.B, hi: len(c.plain.B), utf8: a.utf8()}
	count := a.size / TextID.Size
	if err := t.begin(count); err != nil {
		return err
	}
	places, err := c.places.Extend(4 * count)
	for i := 0; err == nil && i < count; i++ {
		binary.NativeEndian.PutUint32(places[4*i:], uint32(t.lo))
		_, err = t.next(nil)
	}
	return err
}

// utf8 tells that elements are text, not bytes.
func (a *Array) utf8() bool { return a.Codec.(texts).Elements().DType.Kind == ndarray.VarString }

// textReader gives the elements of a chunk one by one, and checks them.
type textReader struct {
	r      io.Reader // nil: buf holds all
	buf    []byte    // lo to hi was read from r
	lo, hi int
	utf8   bool
	seen   int        // elements
	memory mem.Buffer // of buf
}

// begin looks at the number of elements.
func (t *textReader) begin(count int) error {
	if err := t.need(4); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint32(t.buf[t.lo:]); int64(n) != int64(count) {
		return ndfile.NewError(ndfile.ErrCorrupt, "a chunk of "+strconv.Itoa(int(n))+" elements, expected "+strconv.Itoa(int(count)))
	}
	t.lo += 4
	return nil
}

// need sees to it that buf has n bytes, a few.
func (t *textReader) need(n int) error {
	for t.hi-t.lo < n {
		if t.r == nil {
			return ndfile.NewError(ndfile.ErrCorrupt, "the elements of a chunk end too early, in element "+strconv.Itoa(int(t.seen)))
		}
		t.hi = copy(t.buf, t.buf[t.lo:t.hi])
		t.lo = 0
		n, err := t.r.Read(t.buf[t.hi:])
		if t.hi += n; err == io.EOF && n == 0 {
			t.r = nil
		} else if err != nil && err != io.EOF {
			return ndfile.CodecError(err, 0)
		}
	}
	return nil
}

// next reads an element of n bytes. to, where it is not nil, gives memory for it.
func (t *textReader) next(to func(n int) ([]byte, error)) (n int, err error) {
	if err := t.need(4); err != nil {
		return 0, err
	}
	n = int(binary.LittleEndian.Uint32(t.buf[t.lo:]))
	t.lo += 4
	var dst []byte
	if to != nil {
		if dst, err = to(n); err != nil {
			return n, err
		}
	}
	for left := n; left > 0; {
		if err := t.need(min(left, utf8.UTFMax)); err != nil {
			return n, err
		}
		part := t.buf[t.lo:min(t.hi, t.lo+left)]
		if t.utf8 {
			if len(part) < left { // up to the beginning of a character
				for i := 1; i < utf8.UTFMax && i < len(part); i++ {
					if tail := part[len(part)-i:]; utf8.RuneStart(tail[0]) {
						if !utf8.FullRune(tail) {
							part = part[:len(part)-i]
						}
						break
					}
				}
			}
			if !utf8.Valid(part) {
				return n, ndfile.NewError(ndfile.ErrCorrupt, "element "+strconv.Itoa(int(t.seen))+" of a chunk is not UTF-8")
			}
		}
		dst = dst[copy(dst, part):]
		t.lo, left = t.lo+len(part), left-len(part)
	}
	t.seen++
	return n, nil
}

// end reads what follows the elements, which says nothing but that the chunk is good.
func (t *textReader) end() error {
	for t.r != nil {
		t.lo = t.hi
		if err := t.need(1); err != nil && t.r != nil {
			return err
		}
	}
	return nil
}

// openTexts gives the elements of the worker's chunk: in memory where they are kept or
// small, or where whole says so, else as a reader, for which the worker's file stays
// open. found is false where the chunk was never written. The caller closes the worker,
// and frees what is not kept.
func (w *worker) openTexts(ctx context.Context, a *Array, whole bool) (c *textChunk, t *textReader, found bool, err error) {
	number, changes := a.Number(w.index), a.textChanges.Load()
	if last := a.lastTexts.Load(); last != nil && last.number == number && last.changes == changes {
		return last.chunk, nil, true, nil
	}
	if found, err = w.open(ctx, a, w.index, a.size, true); err != nil || !found {
		return nil, nil, found, err
	}
	if err = w.readAll(ctx); err == nil {
		c, t, err = w.decodeTexts(a, whole)
	}
	if err != nil {
		w.close()
		return nil, nil, false, located(ndfile.CodecError(err, int64(w.from)), w.name)
	}
	if c != nil && len(c.plain.B)+len(c.places.B) <= keepTexts {
		if c, err = c.kept(); err != nil {
			return nil, nil, false, err
		}
		a.lastTexts.Store(&lastTexts{number, changes, c})
	}
	return c, t, true, nil
}

// kept is a copy of a small chunk that nobody has to free.
func (c *textChunk) kept() (*textChunk, error) {
	k := new(textChunk)
	var err error
	if k.plain.B, err = mem.Make[byte](len(c.plain.B), 1); err == nil {
		k.places.B, err = mem.Make[byte](len(c.places.B), 1)
	}
	copy(k.plain.B, c.plain.B)
	copy(k.places.B, c.places.B)
	c.free()
	return k, err
}

// decodeTexts is openTexts of an encoded chunk, which is in memory.
func (w *worker) decodeTexts(a *Array, whole bool) (_ *textChunk, _ *textReader, err error) {
	chain, raw := a.Codec.(texts), w.raw[w.from:w.end()]
	c := new(textChunk)
	defer func() {
		if err != nil {
			c.free()
		}
	}()
	switch {
	case whole || !chain.Streams():
		most := ndfile.MaxChunk()
		if !whole {
			most = w.mostMemory()
		}
		if err = chain.AppendDecodedTo(&c.plain, raw, most); err == nil {
			err = c.look(a)
		}
		return c, nil, err
	}
	if w.decoding, err = chain.stream(raw, w.mostMemory()); err != nil {
		return nil, nil, err
	}
	for len(c.plain.B) < keepTexts {
		room, err := c.plain.Extend(64 << 10)
		if err != nil {
			return nil, nil, err
		}
		n, err := io.ReadFull(w.decoding, room)
		c.plain.B = c.plain.B[:len(c.plain.B)-len(room)+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			w.endStream()
			return c, nil, c.look(a)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, &textReader{r: w.decoding, buf: c.plain.B, hi: len(c.plain.B), utf8: a.utf8(), memory: c.plain}, nil
}

// checkTextChunk is CheckChunk of texts.
func (a *Array) checkTextChunk(ctx context.Context, index []int64) error {
	return a.visit(ctx, index, func(w *worker) error {
		if err := w.readAll(ctx); err != nil {
			return err
		}
		c, t, err := w.decodeTexts(a, false)
		if err != nil {
			return ndfile.CodecError(err, int64(w.from))
		}
		if c != nil { // it was looked at
			c.free()
			return nil
		}
		defer t.memory.Free()
		count := a.size / TextID.Size
		if err := t.begin(count); err != nil {
			return err
		}
		for i := range count {
			if i&0xffff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if _, err := t.next(nil); err != nil {
				return err
			}
		}
		return t.end()
	})
}
