package ndfile

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// textBlock is a block of rows as strings of variable length: element i is
// data[offsets[i]:offsets[i+1]]. mask is nil where nothing can be missing. The
// memory is used again for the next block.
type textBlock struct {
	box     ndarray.Box
	offsets []int64
	data    []byte
	mask    []byte
}

// texts reads the source in blocks of rows as strings, which it may have in fixed
// size.
func (p *pair) texts(ctx context.Context, emit func(textBlock) error) error {
	for box := range RowBlocks(p.spec.Shape, p.read.Size, convertBytes) {
		if err := p.textRows(ctx, box, emit); err != nil {
			return err
		}
	}
	return nil
}

// textRows gives a block of rows, in halves where its strings are long.
func (p *pair) textRows(ctx context.Context, box ndarray.Box, emit func(textBlock) error) error {
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	t := textBlock{box: box}
	if t.offsets, err = mem.Make[int64](int(n)+1, 8); err != nil {
		return err
	}
	if p.read.IsVar() {
		need, err := p.readTexts(ctx, &t)
		if err != nil {
			return err
		}
		if need > convertBytes && len(box.Count) > 0 && box.Count[0] > 1 {
			half := ndarray.Box{Start: slices.Clone(box.Start), Count: slices.Clone(box.Count)}
			half.Count[0] /= 2
			if err := p.textRows(ctx, half, emit); err != nil {
				return err
			}
			half.Start[0] += half.Count[0]
			half.Count[0] = box.Count[0] - half.Count[0]
			return p.textRows(ctx, half, emit)
		}
		if t.data, err = sized(&p.c.data, need); err != nil {
			return err
		}
		if _, err := p.readTexts(ctx, &t); err != nil {
			return err
		}
	} else {
		b, mask, err := p.readSource(ctx, box)
		if err == nil {
			t.mask = mask
			t.data, err = fixedTexts(b, t.offsets)
		}
		if err != nil {
			return p.reading(err)
		}
	}
	if err := emit(t); err != nil {
		return err
	}
	return p.c.progress(n * varItemSize)
}

// readTexts fills a block, with a t.data that is too small only its offsets and
// mask, and tells the size of all strings.
func (p *pair) readTexts(ctx context.Context, t *textBlock) (need int64, err error) {
	s, ok := p.a.(Strings)
	if !ok {
		return 0, NewError(ErrInternal, "the array of variable length does not read strings")
	}
	if p.spec.Masked && t.mask == nil {
		if t.mask, err = mem.Make[byte](len(t.offsets)-1, 1); err != nil {
			return 0, err
		}
	}
	need, err = s.ReadStrings(ctx, t.box, t.offsets, t.data, t.mask)
	if errors.Is(err, ErrBuffer) && t.data == nil {
		err = nil
	}
	return need, p.reading(err)
}

// textBytes is how many bytes the texts of a box take.
func textBytes(ctx context.Context, a Strings, box ndarray.Box, masked bool) (int64, error) {
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return 0, err
	}
	offsets, err := mem.Make[int64](int(n)+1, 8)
	if err != nil {
		return 0, err
	}
	var mask []byte
	if masked {
		if mask, err = mem.Make[byte](int(n), 1); err != nil {
			return 0, err
		}
	}
	need, err := a.ReadStrings(ctx, box, offsets, nil, mask)
	if errors.Is(err, ErrBuffer) {
		err = nil
	}
	return need, err
}

// fixedTexts gives fixed strings without the NULs at their end, as bytes or, of
// characters, as UTF-8, in the memory of their elements. A lone surrogate becomes
// WTF-8; a number that is no character is ErrValue.
func fixedTexts(b ndarray.Buffer, offsets []int64) ([]byte, error) {
	size, n := b.DType.Size, 0
	if b.DType.Swapped() {
		ndarray.SwapBytes(b.Data, b.DType)
	}
	for i := range offsets[1:] {
		if b.DType.Kind == ndarray.Bytes {
			n += copy(b.Data[n:], bytes.TrimRight(b.Data[i*size:(i+1)*size], "\x00"))
		} else {
			length, bad, ok := ndarray.NarrowText(b.Data[n:], b.Data[i*size:], size, true)
			if !ok {
				return nil, NewError(ErrValue, "a string holds the number "+strconv.FormatUint(uint64(bad), 10)+", which is no character")
			}
			n += length
		}
		offsets[i+1] = int64(n)
	}
	return b.Data[:n], nil
}

// writeTexts writes elements of S as byte strings, those of U as texts.
func writeTexts(ctx context.Context, a Strings, to ndarray.DType, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	d := src.DType
	if !(d.Kind == ndarray.Unicode && to.Kind == ndarray.VarString || d.Kind == ndarray.Bytes && to.Kind == ndarray.VarBytes) {
		return NewError(ErrDType, "no exact conversion from "+d.String()+" to "+to.String()+"; texts are written by WriteStrings (ndf_array_write_strings)")
	}
	b, err := ndarray.NewBuffer(d.Native(), src.Shape)
	if err == nil {
		err = ndarray.Copy(b, src)
	}
	if err != nil {
		return err
	}
	offsets, err := ndarray.Make[int64](int64(len(b.Data)/max(1, d.Size)) + 1)
	if err != nil {
		return err
	}
	data, err := fixedTexts(b, offsets)
	if err != nil {
		return err
	}
	return a.WriteStrings(ctx, box, offsets, data, mask)
}

// FixedTexts makes strings of variable length, element i of which is
// data[offsets[i]:offsets[i+1]], elements of a fixed dtype d, S or U, in native byte
// order. free, never nil, gives their memory back. What would not come back is ErrValue, with its position: a string that is
// longer, or has NULs at its end; other bytes than UTF-8 in U, and than ASCII in S
// where they are text.
func FixedTexts(d ndarray.DType, offsets []int64, data []byte, text bool) (b ndarray.Buffer, free func(), err error) {
	m := new(mem.Block)
	if d.Kind != ndarray.Bytes && !(d.Kind == ndarray.Unicode && text) {
		return b, m.Free, NewError(ErrDType, "strings of variable length cannot become elements of "+d.String())
	}
	b = ndarray.Buffer{DType: d.Native(), Shape: []int64{int64(len(offsets) - 1)}}
	size, err := ndarray.NBytes(b.Shape, d.Size)
	if err == nil {
		b.Data, err = sized(m, size)
	}
	if err == nil {
		err = putTexts(b, offsets, data, text)
	}
	return b, m.Free, err
}

// putTexts is FixedTexts into memory that is there, of S or U.
func putTexts(b ndarray.Buffer, offsets []int64, data []byte, text bool) error {
	d := b.DType
	if d.Kind == ndarray.Unicode {
		if i := ndarray.WidenTexts(b.Data, d.Size, offsets, data); i >= 0 {
			return misfit(int64(i), data[offsets[i]:offsets[i+1]], d)
		}
		return nil
	}
	for i := range len(offsets) - 1 {
		e := data[offsets[i]:offsets[i+1]]
		if len(e) > d.Size || len(e) > 0 && e[len(e)-1] == 0 || text && !ascii(e) {
			return misfit(int64(i), e, d)
		}
		dst := b.Data[i*d.Size : (i+1)*d.Size]
		clear(dst[copy(dst, e):])
	}
	return nil
}

func ascii(e []byte) bool {
	for _, c := range e {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func misfit(i int64, e []byte, d ndarray.DType) error {
	const most = 60
	shown := strconv.Quote(string(e[:min(len(e), most)]))
	if len(e) > most {
		shown += "..."
	}
	return NewError(ErrValue, "row "+strconv.FormatInt(i, 10)+": "+shown+" cannot be stored as "+d.String())
}
