package ds

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// output collects bytes: in buf alone, or block by block in a file.
type output struct {
	buf  []byte
	file vfs.File // nil: buf has room for everything
	off  int64    // where buf begins in file
	last [1]byte  // the last byte of some bits
}

// write takes what does not fit into the block straight from the caller's memory.
func (o *output) write(ctx context.Context, p []byte) error {
	if len(p) <= cap(o.buf)-len(o.buf) {
		o.buf = append(o.buf, p...)
		return nil
	}
	if o.file == nil {
		return errChanged()
	}
	if err := o.flush(ctx); err != nil {
		return err
	}
	if len(p) < cap(o.buf) {
		o.buf = append(o.buf, p...)
		return nil
	}
	err := flat.WriteFull(ctx, o.file, p, o.off)
	o.off += int64(len(p))
	return err
}

// flush writes the block to the file.
func (o *output) flush(ctx context.Context) error {
	err := flat.WriteFull(ctx, o.file, o.buf, o.off)
	o.off += int64(len(o.buf))
	o.buf = o.buf[:0]
	return err
}

// pos is the number of bytes so far; with a file, the position in it.
func (o *output) pos() int64 { return o.off + int64(len(o.buf)) }

// input is elements in the caller's memory: of a whole variable or of some rows.
type input struct {
	count int64
	view  flat.View     // elements of fixed size
	dtype ndarray.DType // of those
	mask  []byte        // nil: nothing is missing
	// offsets delimit strings in text; without them, fixed-size Bytes or
	// Unicode elements are the strings.
	offsets []int64
	text    []byte
}

// newInput checks the caller's memory against a shape.
func newInput(shape []int64, data ndarray.Buffer, mask []byte) (in input, err error) {
	if !slices.Equal(data.Shape, shape) {
		return in, ndfile.NewError(ndfile.ErrShape, "the data do not have the shape of their place")
	}
	if err := checkMask(mask, shape); err != nil {
		return in, err
	}
	if in.view, err = flat.NewView(data); err != nil {
		return in, err
	}
	in.count, _ = ndarray.Count(shape)
	in.dtype, in.mask = data.DType, mask
	return in, nil
}

// newStrings is newInput for elements of variable length.
func newStrings(shape []int64, offsets []int64, text, mask []byte) (in input, err error) {
	if err := checkMask(mask, shape); err != nil {
		return in, err
	}
	n, err := ndarray.Count(shape)
	if err != nil {
		return in, err
	}
	if int64(len(offsets))-1 != n {
		return in, ndfile.NewError(ndfile.ErrShape, strconv.Itoa(len(offsets))+" offsets for "+strconv.FormatInt(n, 10)+" strings; one more is expected")
	}
	last := int64(0)
	for i, off := range offsets {
		if off < last || off > int64(len(text)) {
			return in, ndfile.NewError(ndfile.ErrBounds, "offset "+strconv.Itoa(i)+" is "+strconv.FormatInt(off, 10)+
				": offsets must not fall, nor pass the "+strconv.Itoa(len(text))+" bytes of data")
		}
		last = off
	}
	return input{count: n, offsets: offsets, text: text, mask: mask}, nil
}

// isMissing reports whether element k is missing.
func (in *input) isMissing(k int64) bool { return in.mask != nil && in.mask[k] != 0 }

// present counts the elements that are not missing.
func (in *input) present() int64 {
	if in.mask == nil {
		return in.count
	}
	return int64(bytes.Count(in.mask, []byte{0}))
}

// str gives string k; characters of fixed size are turned to UTF-8 in space.
func (in *input) str(space []byte, k int64) ([]byte, error) {
	if in.offsets != nil {
		return in.text[in.offsets[k]:in.offsets[k+1]], nil
	}
	p := in.view.At(k)
	if in.dtype.Kind == ndarray.Bytes {
		return bytes.TrimRight(p, "\x00"), nil
	}
	return appendUTF8(space[:0], p, in.dtype.Swapped(), k)
}

// appendUTF8 turns an element of UCS4 characters into UTF-8, without the NULs at
// its end, as numpy has it.
func appendUTF8(dst, p []byte, swapped bool, k int64) ([]byte, error) {
	if swapped {
		p = bytes.Clone(p)
		ndarray.SwapBytes(p, ndarray.DType{Kind: ndarray.Unicode, Size: len(p)})
	}
	dst = slices.Grow(dst, len(p))
	n, bad, ok := ndarray.NarrowText(dst[len(dst):cap(dst)], p, len(p), false)
	if !ok {
		return nil, ndfile.NewError(ndfile.ErrValue, "element "+strconv.FormatInt(k, 10)+" has no UTF-8: it holds the character 0x"+strconv.FormatUint(uint64(bad), 16))
	}
	return dst[:len(dst)+n], nil
}

// textLength adds up the bytes of the strings that are present, and checks texts.
func (in *input) textLength(ctx context.Context, c code) (sum int64, err error) {
	var space []byte
	for k := range in.count {
		if k%windowElems == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		if in.isMissing(k) {
			continue
		}
		p, err := in.str(space, k)
		if err != nil {
			return 0, err
		}
		if in.offsets == nil {
			space = p // keep what has grown
		} else if c == unicodeCode && !utf8.Valid(p) {
			return 0, ndfile.NewError(ndfile.ErrValue, "element "+strconv.FormatInt(k, 10)+" is not UTF-8")
		}
		sum += int64(len(p))
	}
	return sum, nil
}

// encoder writes the parts of one variable. Bits that do not fill a byte wait for
// the next rows.
type encoder struct {
	dtype ndarray.DType // on disk
	bits  packer
}

// mask writes the mask.
func (c *encoder) mask(ctx context.Context, out *output, mask []byte) error {
	w := windows.Get().(*window)
	defer windows.Put(w)
	for len(mask) > 0 {
		m := mask[:min(len(mask), windowElems)]
		mask = mask[len(m):]
		if err := out.write(ctx, c.bits.pack(w.text[:0], m)); err != nil {
			return err
		}
	}
	return c.finish(ctx, out)
}

// finish writes the bits that are left.
func (c *encoder) finish(ctx context.Context, out *output) error {
	if c.bits.count == 0 {
		return nil
	}
	out.last[0] = c.bits.byte
	c.bits = packer{}
	return out.write(ctx, out.last[:])
}

// data writes the elements of fixed size that are present, bool ones as bits.
func (c *encoder) data(ctx context.Context, out *output, in *input) error {
	if in.count == 0 {
		return nil
	}
	size := int64(c.dtype.Size)
	if in.mask == nil && c.dtype.Kind != ndarray.Bool && in.dtype.Equal(c.dtype) {
		if p, ok := in.view.Run(0, in.count); ok {
			return out.write(ctx, p)
		}
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	for lo := int64(0); lo < in.count; lo += windowElems {
		m := min(windowElems, in.count-lo)
		p := w.data[:m*size]
		if err := in.view.Get(p, c.dtype, lo, m); err != nil {
			return err
		}
		if in.mask != nil {
			p = p[:ndarray.Squeeze(p, in.mask[lo:lo+m], int(size))]
		}
		if c.dtype.Kind == ndarray.Bool {
			p = c.bits.pack(w.text[:0], p)
		}
		if err := out.write(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// lengths writes the lengths of the strings that are present.
func (c *encoder) lengths(ctx context.Context, out *output, in *input) error {
	w := windows.Get().(*window)
	defer windows.Put(w)
	p := w.data[:0]
	space := w.text[:0]
	for k := range in.count {
		if in.isMissing(k) {
			continue
		}
		s, err := in.str(space, k)
		if err != nil {
			return err
		}
		p = binary.LittleEndian.AppendUint64(p, uint64(len(s)))
		if len(p) == len(w.data) {
			if err := out.write(ctx, p); err != nil {
				return err
			}
			p = p[:0]
		}
	}
	return out.write(ctx, p)
}

// text writes the bytes of the strings that are present.
func (c *encoder) text(ctx context.Context, out *output, in *input) error {
	if in.offsets != nil {
		return in.writeText(ctx, out)
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	for k := range in.count {
		if in.isMissing(k) {
			continue
		}
		s, err := in.str(w.text[:0], k)
		if err != nil {
			return err
		}
		if err := out.write(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// writeText writes strings that follow each other in one piece.
func (in *input) writeText(ctx context.Context, out *output) error {
	from := in.offsets[0]
	for k := range in.count {
		if !in.isMissing(k) || in.offsets[k] == in.offsets[k+1] {
			continue
		}
		if err := out.write(ctx, in.text[from:in.offsets[k]]); err != nil {
			return err
		}
		from = in.offsets[k+1]
	}
	return out.write(ctx, in.text[from:in.offsets[in.count]])
}
