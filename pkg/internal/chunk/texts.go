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
	e.Size, e.Block = int(count)*TextID.Size, max(int(count), 1)*TextID.Size
	return e, err
}

// Decode checks the chunk.
func (t texts) Decode(dst, raw []byte, _, _ int) error {
	_, err := t.AppendDecoded(nil, raw)
	clear(dst)
	return err
}

// elements splits what the chunk decodes to.
func (t texts) elements(raw []byte) ([][]byte, error) {
	plain, err := t.AppendDecoded(nil, raw)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(plain) // codecs checked it, and all lengths
	list := make([][]byte, n)
	for i, p := 0, plain[4:]; i < len(list); i++ {
		end := 4 + binary.LittleEndian.Uint32(p)
		list[i], p = p[4:end:end], p[end:]
	}
	return list, nil
}

func (a *Array) isTexts() bool {
	_, ok := a.Codec.(texts)
	return ok
}

// lastTexts is the chunk that was decoded last, for reads one by one.
type lastTexts struct {
	number  int64
	changes uint64
	list    [][]byte
}

// loadTexts gives the elements of the worker's chunk; found is false where it was
// never written.
func (w *worker) loadTexts(ctx context.Context, a *Array) (list [][]byte, found bool, err error) {
	number, changes := a.Number(w.index), a.textChanges.Load()
	if last := a.lastTexts.Load(); last != nil && last.number == number && last.changes == changes {
		return last.list, true, nil
	}
	if found, err = w.open(ctx, a, w.index, a.size, true); err != nil || !found {
		return nil, found, err
	}
	defer w.close()
	if err := w.readAll(ctx); err != nil {
		return nil, false, located(err, w.name)
	}
	if list, err = a.Codec.(texts).elements(w.raw[w.from:w.end()]); err != nil {
		return nil, false, located(ndfile.CodecError(err, int64(w.from)), w.name)
	}
	a.lastTexts.Store(&lastTexts{number, changes, list})
	return list, true, nil
}

// ids numbers the elements of a chunk from first on.
func (w *worker) ids(n int, first uint64) ([]byte, error) {
	plain, err := w.plain.Sized(n * TextID.Size)
	for i := range len(plain) / TextID.Size {
		binary.NativeEndian.PutUint64(plain[i*TextID.Size:], first+uint64(i))
	}
	return plain, err
}

// ReadTexts is ndfile.Strings.ReadStrings.
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
	which, err := ndarray.NewBuffer(TextID, box.Count)
	if err != nil {
		return 0, err
	}
	pool := [][]byte{a.Fill} // a number is its place here
	s := a.newSelection(box, which)
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
			list, found, err := w.loadTexts(ctx, a)
			if err != nil || !found {
				return err
			}
			first := uint64(len(pool))
			pool = append(pool, list...)
			ids, err := w.ids(len(list), first)
			if err != nil {
				return err
			}
			return w.deliver(s, ids, 0)
		})
		if err != nil {
			return 0, err
		}
	}
	text := func(i int64) []byte { return pool[binary.NativeEndian.Uint64(which.Data[8*i:])] }
	offsets[0] = 0
	for i := range n {
		offsets[i+1] = offsets[i] + int64(len(text(i)))
	}
	if need = offsets[n]; need > int64(len(data)) {
		return need, ndfile.NewError(ndfile.ErrBuffer, fmt.Sprintf("%d bytes of texts, room for %d", need, len(data)))
	}
	for i := range n {
		copy(data[offsets[i]:], text(i))
	}
	return need, nil
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
				list := slices.Repeat([][]byte{a.Fill}, count)
				opt := a.Write
				if !w.inside {
					opt.Commit = vfs.CommitAtomic
					old, found, err := w.loadTexts(ctx, a)
					if err != nil {
						return err
					}
					if found {
						list = old
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
					return list[id-uint64(n)]
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

// storeTexts writes the chunk of the texts that numbers stand for. Its lock is held.
func (w *worker) storeTexts(a *Array, index []int64, ids []byte, opt vfs.WriteOptions, text func(id uint64) []byte) error {
	plain := binary.LittleEndian.AppendUint32(w.elem[:0], uint32(len(ids)/TextID.Size))
	for ; len(ids) > 0; ids = ids[TextID.Size:] {
		t := text(binary.NativeEndian.Uint64(ids))
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(t))), t...)
	}
	w.elem = plain
	raw, err := a.Codec.Encode(w.raw[:0], plain, w.threads())
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
			w.index = append(w.space[0][:0], index...)
			list, found, err := w.loadTexts(ctx, a)
			if err != nil || !found {
				return err
			}
			kept, err := w.textsInside(a, len(list), inside)
			if err != nil {
				return err
			}
			opt := a.Write
			opt.Commit = vfs.CommitAtomic
			return w.storeTexts(a, index, kept, opt, func(id uint64) []byte {
				if id < uint64(len(list)) {
					return list[id]
				}
				return a.Fill
			})
		})
	})
}

// textsInside numbers the n elements of a chunk that lie in its first places along
// each axis; the others have a number that is none.
func (w *worker) textsInside(a *Array, n int, inside []int64) ([]byte, error) {
	ids, err := w.ids(n, 0)
	if err != nil {
		return nil, err
	}
	kept := slices.Repeat([]byte{0xff}, len(ids)) // stands for the fill value
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
		w.index = append(w.space[0][:0], index...)
		list, found, err := w.loadTexts(ctx, a)
		if err != nil || !found {
			return err
		}
		kept, err := w.textsInside(a, len(list), inside)
		if err != nil {
			return err
		}
		for i, text := range list {
			if binary.NativeEndian.Uint64(kept[i*TextID.Size:]) == math.MaxUint64 && !bytes.Equal(text, a.Fill) {
				clear = false
				break
			}
		}
		return nil
	})
	return clear, err
}
