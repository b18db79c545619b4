package chunk

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Elements of variable length: an Array with TextID as its DType, OfTexts as its Codec
// and a text as its Fill. Its boxes are of numbers that stand for texts during one call; only
// ReadTexts, WriteTexts and what does not look at elements may be called.

// TextID is the DType of an Array of texts.
var TextID = ndarray.DType{Kind: ndarray.Uint, Order: ndarray.NativeOrder, Size: 8}

// OfTexts gives the Codec of a chain of elements of variable length.
func OfTexts(c *codec.Chain) Codec { return texts{chain{c}} }

// texts is the Codec. A chunk decodes to as many numbers as it has elements, which
// say nothing.
type texts struct{ chain }

// Open takes all n bytes as the chunk.
func (t texts) Open(head []byte, n int64) (Encoded, error) {
	e, err := t.chain.Open(head, n)
	count, _ := ndarray.Count(t.Elements().Shape) // was counted
	e.Size, e.Block, e.Stream, e.Whole = int(count)*TextID.Size, 1, false, false
	return e, err
}

// Decode is never called: textReader and textChunk have the elements.
func (t texts) Decode([]byte, []byte, int, int) error { return errMore }

func (a *Array) isTexts() bool {
	_, ok := a.Codec.(texts)
	return ok
}

// lastTexts is the chunk that was decoded last, for reads one by one.
type lastTexts struct {
	number  int64
	changes uint64
	chunk   *textChunk
}

// ids numbers the elements of a chunk from first on.
func (w *worker) ids(n int, first uint64) ([]byte, error) {
	plain, err := w.plain.Sized(n * TextID.Size)
	for i := range len(plain) / TextID.Size {
		binary.NativeEndian.PutUint64(plain[i*TextID.Size:], first+uint64(i))
	}
	return plain, err
}

// ReadTexts is ndfile.Strings.ReadStrings. It goes through the chunks twice: for the
// lengths, and for the texts. Those that are not small are decoded twice.
func (a *Array) ReadTexts(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (need int64, err error) {
	if err := box.Check(a.shape); err != nil {
		return 0, err
	}
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return 0, err
	}
	if int64(len(offsets)) != n+1 || mask != nil && int64(len(mask)) != n {
		return 0, fmt.Errorf("%w: room for %d offsets, expected %d", ndarray.ErrShape, len(offsets), n+1)
	}
	clear(mask)
	r := &textRead{held: map[int64]*textChunk{}}
	// The lengths come to lie where the ends will be.
	over := func(numbers []int64) ndarray.Buffer {
		return ndarray.Buffer{DType: TextID, Shape: box.Count, Data: ndarray.Of(numbers).Data}
	}
	ends := over(offsets[1:])
	if err := r.each(ctx, a, box, ends, r.lengths); err != nil {
		return 0, err
	}
	offsets[0] = 0
	for i := range n {
		var ok bool
		if offsets[i+1], ok = ndarray.Add(offsets[i], offsets[i+1]); !ok {
			return 0, ndfile.NewError(ndfile.ErrLimit, "texts of more than 2^63 bytes")
		}
	}
	if need = offsets[n]; need > int64(len(data)) {
		return need, ndfile.NewError(ndfile.ErrBuffer, fmt.Sprintf("%d bytes of texts, room for %d", need, len(data)))
	}
	if need > 0 {
		r.ends, r.data = ends.Data, data
		err = r.each(ctx, a, box, over(offsets[:n]), r.texts)
	}
	return need, err
}

// WriteTexts is ndfile.Strings.WriteStrings without a mask.
func (a *Array) WriteTexts(ctx context.Context, box ndarray.Box, offsets []int64, data []byte) error {
	if err := box.Check(a.shape); err != nil {
		return err
	}
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	if err := a.checkTexts(n, offsets, data); err != nil {
		return err
	}
	which, err := ndarray.NewBuffer(TextID, box.Count)
	if err != nil {
		return err
	}
	for i := range n {
		binary.NativeEndian.PutUint64(which.Data[8*i:], uint64(i))
	}
	s := a.newSelection(box, which)
	defer s.release()
	for j := range s.n {
		err := one(ctx, func(w *worker, _ int64) error {
			w.locate(s, j)
			return a.exclusively(ctx, w.index, func() error {
				count := a.size / TextID.Size
				var old *textChunk
				opt := a.Write
				if !w.inside {
					opt.Commit = vfs.CommitAtomic
					found, free, err := w.loadTexts(ctx, a, &old)
					if err != nil {
						return err
					}
					defer free()
					if !found {
						old = nil
					}
				}
				ids, err := w.ids(count, uint64(n))
				if err != nil {
					return err
				}
				if err := ndarray.Copy(w.in(a, ids, 0), w.buf); err != nil {
					return err
				}
				return w.storeTexts(a, w.index, ids, opt, func(id uint64) []byte {
					if id < uint64(n) {
						return data[offsets[id]:offsets[id+1]]
					}
					if old == nil {
						return a.Fill
					}
					return old.text(int(id - uint64(n)))
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTexts checks elements that are to be written.
func (a *Array) checkTexts(n int64, offsets []int64, data []byte) error {
	if int64(len(offsets)) != n+1 || offsets[0] < 0 || !slices.IsSorted(offsets) || offsets[n] > int64(len(data)) {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("expected %d offsets that grow up to %d at the most", n+1, len(data)))
	}
	if a.Codec.(texts).Elements().DType.Kind != ndarray.VarString {
		return nil
	}
	for i := range n {
		if !utf8.Valid(data[offsets[i]:offsets[i+1]]) {
			return ndfile.NewError(ndfile.ErrValue, fmt.Sprintf("element %d is not UTF-8", i))
		}
	}
	return nil
}

// loadTexts gives all elements of the worker's chunk; found is false where it was never
// written. free is called when they are not used any more.
func (w *worker) loadTexts(ctx context.Context, a *Array, c **textChunk) (found bool, free func(), err error) {
	*c, _, found, err = w.openTexts(ctx, a, true)
	w.close()
	return found, func() {
		if k := *c; k != nil && len(k.plain.B)+len(k.places.B) > keepTexts {
			k.free()
		}
	}, err
}

// storeTexts writes the chunk of the texts that numbers stand for. Its lock is held.
func (w *worker) storeTexts(a *Array, index []int64, ids []byte, opt vfs.WriteOptions, text func(id uint64) []byte) error {
	size := 4
	for i := 0; i < len(ids); i += TextID.Size {
		size += 4 + len(text(binary.NativeEndian.Uint64(ids[i:])))
	}
	if err := checkWhole(size, 0); err != nil {
		return err
	}
	var memory mem.Buffer
	defer memory.Free()
	plain, err := memory.Extend(size)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(plain, uint32(len(ids)/TextID.Size))
	for at := 4; len(ids) > 0; ids = ids[TextID.Size:] {
		t := text(binary.NativeEndian.Uint64(ids))
		binary.LittleEndian.PutUint32(plain[at:], uint32(len(t)))
		at += 4 + copy(plain[at+4:], t)
	}
	w.rawMem.Reset()
	raw, err := a.Codec.Encode(&w.rawMem, plain, w.threads())
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	a.textChanges.Add(1)
	err = w.storeRaw(a, index, raw, opt)
	a.textChanges.Add(1)
	return err
}

// refillTexts is RefillChunk, where inside is how many elements along each axis stay.
func (a *Array) refillTexts(ctx context.Context, index, inside []int64) error {
	return one(ctx, func(w *worker, _ int64) error {
		return a.exclusively(ctx, index, func() error {
			return w.keptTexts(ctx, a, index, inside, func(old *textChunk, kept []byte) error {
				opt := a.Write
				opt.Commit = vfs.CommitAtomic
				return w.storeTexts(a, index, kept, opt, func(id uint64) []byte {
					if id < uint64(old.len()) {
						return old.text(int(id))
					}
					return a.Fill
				})
			})
		})
	})
}

// keptTexts has do look at a chunk, if there is one, with the numbers of its elements
// as textsInside gives them.
func (w *worker) keptTexts(ctx context.Context, a *Array, index, inside []int64, do func(old *textChunk, kept []byte) error) error {
	w.index = append(w.space[0][:0], index...)
	var old *textChunk
	found, free, err := w.loadTexts(ctx, a, &old)
	if err != nil || !found {
		return err
	}
	defer free()
	var memory mem.Buffer
	defer memory.Free()
	kept, err := w.textsInside(a, &memory, old.len(), inside)
	if err != nil {
		return err
	}
	return do(old, kept)
}

// textsInside numbers the n elements of a chunk that lie in its first places along
// each axis, in some memory; the others have a number that is none.
func (w *worker) textsInside(a *Array, memory *mem.Buffer, n int, inside []int64) ([]byte, error) {
	ids, err := w.ids(n, 0)
	if err != nil {
		return nil, err
	}
	kept, err := memory.Extend(len(ids))
	if err != nil {
		return nil, err
	}
	for i := range kept {
		kept[i] = 0xff // stands for the fill value
	}
	from := ndarray.Buffer{DType: TextID, Shape: inside, Strides: a.strides, Data: ids}
	to := from
	to.Data = kept
	return kept, ndarray.Copy(to, from)
}

// clearedTexts is Cleared, where inside is how many elements along each axis the
// shape has.
func (a *Array) clearedTexts(ctx context.Context, index, inside []int64) (clear bool, err error) {
	clear = true
	err = one(ctx, func(w *worker, _ int64) error {
		unlock, err := a.reading(index)
		if err != nil {
			return err
		}
		if unlock != nil {
			defer unlock()
		}
		return w.keptTexts(ctx, a, index, inside, func(old *textChunk, kept []byte) error {
			for i := range old.len() {
				if binary.NativeEndian.Uint64(kept[i*TextID.Size:]) == math.MaxUint64 && !bytes.Equal(old.text(i), a.Fill) {
					clear = false
					break
				}
			}
			return nil
		})
	})
	return clear, err
}
