package ndfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
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

// fixedTexts gives fixed strings without the NULs at their end, as bytes or, of
// characters, as UTF-8. A lone surrogate becomes WTF-8; a number that is no
// character is ErrValue.
func fixedTexts(b ndarray.Buffer, offsets []int64) (data []byte, err error) {
	size := b.DType.Size
	for i := range offsets[1:] {
		e := b.Data[i*size : (i+1)*size]
		if b.DType.Kind == ndarray.Bytes {
			data = append(data, bytes.TrimRight(e, "\x00")...)
		} else if data, err = appendCharacters(data, e, b.DType.Swapped()); err != nil {
			return nil, err
		}
		offsets[i+1] = int64(len(data))
	}
	return data, nil
}

// appendCharacters appends one string of UCS4 in native or the other byte order.
func appendCharacters(dst, e []byte, swapped bool) ([]byte, error) {
	word := binary.NativeEndian.Uint32
	if swapped {
		word = func(b []byte) uint32 { return bits.ReverseBytes32(binary.NativeEndian.Uint32(b)) }
	}
	for len(e) > 0 && word(e[len(e)-4:]) == 0 {
		e = e[:len(e)-4]
	}
	for ; len(e) > 0; e = e[4:] {
		switch c := word(e); {
		case c > utf8.MaxRune:
			return nil, NewError(ErrValue, "a string holds the number "+strconv.FormatUint(uint64(c), 10)+", which is no character")
		case c >= 0xd800 && c < 0xe000:
			dst = append(dst, 0xed, byte(0x80|c>>6&0x3f), byte(0x80|c&0x3f))
		default:
			dst = utf8.AppendRune(dst, rune(c))
		}
	}
	return dst, nil
}

// FixedTexts makes strings of variable length, element i of which is
// data[offsets[i]:offsets[i+1]], elements of a fixed dtype d, S or U, in native byte
// order. What would not come back is ErrValue, with its position: a string that is
// longer, or has NULs at its end; other bytes than UTF-8 in U, and than ASCII in S
// where they are text.
func FixedTexts(d ndarray.DType, offsets []int64, data []byte, text bool) (ndarray.Buffer, error) {
	b := ndarray.Buffer{DType: d.Native()}
	if d.Kind != ndarray.Bytes && !(d.Kind == ndarray.Unicode && text) {
		return b, NewError(ErrDType, "strings of variable length cannot become elements of "+d.String())
	}
	n := int64(len(offsets) - 1)
	b.Shape = []int64{n}
	size, err := ndarray.NBytes(b.Shape, d.Size)
	if err != nil {
		return b, err
	}
	if b.Data, err = NewBytes(int(size)); err != nil {
		return b, err
	}
	if d.Kind == ndarray.Unicode {
		width := d.Size / 4
		chars := view[uint32](b.Data)
		for i := range n {
			if !putCharacters(chars[int(i)*width:int(i+1)*width], data[offsets[i]:offsets[i+1]]) {
				return b, misfit(i, data[offsets[i]:offsets[i+1]], d)
			}
		}
		return b, nil
	}
	for i := range n {
		e := data[offsets[i]:offsets[i+1]]
		if len(e) > d.Size || len(e) > 0 && e[len(e)-1] == 0 || text && !ascii(e) {
			return b, misfit(i, e, d)
		}
		copy(b.Data[int(i)*d.Size:], e)
	}
	return b, nil
}

// putCharacters stores UTF-8 as UCS4, if it fits.
func putCharacters(dst []uint32, e []byte) bool {
	if len(e) > 0 && e[len(e)-1] == 0 {
		return false
	}
	n := 0
	for i, c := range e { // of ASCII
		if c >= utf8.RuneSelf {
			e = e[i:]
			break
		}
		if i == len(dst) {
			return false
		}
		dst[i] = uint32(c)
		if n = i + 1; n == len(e) {
			return true
		}
	}
	for len(e) > 0 {
		r, size := utf8.DecodeRune(e)
		if n == len(dst) || r == utf8.RuneError && size == 1 {
			return false
		}
		dst[n], e, n = uint32(r), e[size:], n+1
	}
	return true
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
