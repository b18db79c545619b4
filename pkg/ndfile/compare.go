package ndfile

import (
	"bytes"
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// compare opens source and destination again and compares what was to be carried.
func (c *conversion) compare(ctx context.Context) error {
	src, err := c.open(ctx, c.plan.from, c.src)
	if err != nil {
		return Locate(err, c.src, "", false)
	}
	defer src.Abort()
	w := written{conversion: c}
	defer w.close()
	dst, err := w.file(ctx, false)
	if err != nil {
		return Locate(err, c.dst, "", false)
	}
	if err := c.compareFile(ctx, dst); err != nil {
		return Locate(err, c.dst, "", false)
	}
	for i := range c.plan.arrays {
		it := &c.plan.arrays[i]
		a, err := src.Array(it.from)
		if err != nil {
			return Locate(err, c.src, it.from, src.Kind() != Single)
		}
		p := pair{carried: it, c: c, a: a}
		b, err := w.array(ctx, it)
		if err == nil {
			p.into(b)
			err = p.compare(ctx)
		}
		if err != nil {
			return p.located(err)
		}
	}
	return nil
}

// written is the destination, opened again: as it is, and with what was never written
// missing, once that is asked for.
type written struct {
	*conversion
	files [2]File
}

func (w *written) file(ctx context.Context, defaultFill bool) (f File, err error) {
	i := 0
	if defaultFill {
		i = 1
	}
	if w.files[i] == nil {
		c := *w.conversion
		c.opt.DefaultFill = defaultFill
		w.files[i], err = c.open(ctx, c.plan.to, c.dst)
	}
	return w.files[i], err
}

// array gives an array with the same elements missing as it was asked for.
func (w *written) array(ctx context.Context, it *carried) (Array, error) {
	byDefault, _ := it.add.Extra.Get(DefaultFillKey)
	on, _ := byDefault.Bool()
	f, err := w.file(ctx, on)
	if err != nil {
		return nil, err
	}
	return f.Array(it.to)
}

func (w *written) close() {
	for _, f := range w.files {
		if f != nil {
			f.Abort()
		}
	}
}

// differs is the error of a comparison.
func differs(what string) error {
	return NewError(ErrCorrupt, "after the conversion "+what+" differs from the source")
}

// compareFile compares what is not in arrays.
func (c *conversion) compareFile(ctx context.Context, dst File) error {
	want := make([]string, len(c.plan.arrays))
	for i := range want {
		want[i] = c.plan.arrays[i].to
	}
	names := slices.Clone(dst.Names())
	slices.Sort(want)
	slices.Sort(names)
	if !slices.Equal(names, want) {
		return differs("the list of arrays")
	}
	if c.plan.create.Attrs != nil && !sameAttrs(dst.Attrs(), c.plan.create.Attrs) {
		return differs("the attributes of the file")
	}
	for _, g := range c.plan.groups {
		t, ok := dst.(Tree)
		if !ok {
			return differs("the list of groups")
		}
		attrs, err := t.GroupAttrs(ctx, g.name)
		if err != nil {
			return Locate(err, "", g.name, true)
		}
		if !sameAttrs(attrs, g.attrs) {
			return Locate(differs("the attributes of a group"), "", g.name, true)
		}
	}
	if t, ok := dst.(Trailer); ok && c.plan.create.Trailing != nil {
		trailing, err := t.Trailing(ctx)
		if err != nil {
			return err
		}
		if !bytes.Equal(trailing, c.plan.create.Trailing) {
			return differs("what follows the data")
		}
	}
	return nil
}

// compare compares the array in the destination with the one in the source.
func (p *pair) compare(ctx context.Context) error {
	b := &p.stored
	switch {
	case b.NoData != p.spec.NoData:
		return differs("whether there is data")
	case !slices.Equal(b.Shape, p.spec.Shape):
		return differs("the shape")
	case p.add.Dims != nil && !slices.Equal(b.Dims, p.add.Dims):
		return differs("the list of axes")
	case p.add.Attrs != nil && !sameAttrs(p.b.Attrs(), p.add.Attrs):
		return differs("an attribute")
	case p.spec.NoData:
		return nil
	case p.write.IsVar():
		return p.texts(ctx, func(t textBlock) error { return p.compareTexts(ctx, t) })
	}
	if done, err := p.compareMapped(ctx); done || err != nil {
		return err
	}
	var otherMem mem.Block
	defer otherMem.Free()
	var otherMask []byte
	tiles := p.tiles(convertBytes)
	for box := range tiles.all() {
		src, mask, err := p.readSource(ctx, box)
		if err != nil {
			return err
		}
		other, err := sized(&otherMem, int64(len(src.Data)))
		if err != nil {
			return err
		}
		dst := ndarray.Buffer{DType: p.write, Shape: box.Count, Data: other}
		if otherMask = nil; b.Masked {
			if otherMask, err = mem.Make[byte](len(other)/p.write.Size, 1); err != nil {
				return err
			}
		}
		if err := readBlock(ctx, p.b, box, dst, otherMask); err != nil {
			return err
		}
		if p.write.Kind == ndarray.Bool {
			normal(src.Data)
			normal(other)
		}
		if i := firstDifference(src.Data, other, p.write.Size); i >= 0 {
			return differs("element " + shapeText(position(box, i)))
		}
		if i := p.maskDifference(mask, otherMask); i >= 0 {
			return differs("whether element " + shapeText(position(box, i)) + " is missing")
		}
		if err := p.c.progress(int64(len(other))); err != nil {
			return err
		}
	}
	return nil
}

// mostCompared is the most of an array that is compared in memory mapped from both files:
// addresses can be few, and what was touched counts as the process's memory.
const mostCompared = 64 << 20

// compareMapped compares elements that lie in both files alike where they are, which takes
// half the time of copying them first. done is false where that cannot be.
func (p *pair) compareMapped(ctx context.Context) (done bool, err error) {
	a, ok1 := p.a.(Mapper)
	b, ok2 := p.b.(Mapper)
	n, err := ndarray.NBytes(p.spec.Shape, p.write.Size)
	if !ok1 || !ok2 || err != nil || n > mostCompared || p.spec.Masked || p.stored.Masked || p.write.Kind == ndarray.Bool ||
		!p.spec.DType.Equal(p.stored.DType) {
		return false, nil
	}
	src, unmap, err := a.Map(ctx)
	if err != nil {
		return false, nil // the ordinary way tells what is wrong
	}
	defer unmap()
	dst, unmapDst, err := b.Map(ctx)
	if err != nil {
		return false, nil
	}
	defer unmapDst()
	for len(src) > 0 && len(src) == len(dst) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		part, other := src[:min(len(src), convertBytes)], dst[:min(len(src), convertBytes)]
		same := false
		err := vfs.Guarded(part, func() error {
			return vfs.Guarded(other, func() error { same = bytes.Equal(part, other); return nil })
		})
		if err != nil || !same {
			return false, nil
		}
		if err := p.c.progress(int64(len(part))); err != nil {
			return false, err
		}
		src, dst = src[len(part):], dst[len(part):]
	}
	return len(src) == len(dst), nil
}

// compareTexts compares a block of strings of the source with the destination.
func (p *pair) compareTexts(ctx context.Context, t textBlock) error {
	var mask []byte
	if p.b.Spec().Masked {
		var err error
		if mask, err = mem.Make[byte](len(t.offsets)-1, 1); err != nil {
			return err
		}
	}
	offsets, err := mem.Make[int64](len(t.offsets), 8)
	if err != nil {
		return err
	}
	data, err := ReadAllStrings(ctx, p.b, t.box, offsets, mask)
	if err != nil {
		return err
	}
	for i := range offsets[1:] {
		if !bytes.Equal(t.data[t.offsets[i]:t.offsets[i+1]], data[offsets[i]:offsets[i+1]]) {
			return differs("element " + shapeText(position(t.box, i)))
		}
	}
	if i := p.maskDifference(t.mask, mask); i >= 0 {
		return differs("whether element " + shapeText(position(t.box, i)) + " is missing")
	}
	return nil
}

// maskDifference is the first position where masks differ, or -1; a nil mask is
// one of zeros. Where the mask was not carried the destination has none.
func (p *pair) maskDifference(src, dst []byte) int {
	if !p.add.Masked {
		src = nil
	}
	for i := range max(len(src), len(dst)) {
		if (src != nil && src[i] != 0) != (dst != nil && dst[i] != 0) {
			return i
		}
	}
	return -1
}

// normal makes bools 0 or 1: any other byte is true as well.
func normal(bools []byte) {
	for i, b := range bools {
		if b > 1 {
			bools[i] = 1
		}
	}
}

// firstDifference is the first element of two arrays that differs, or -1.
func firstDifference(a, b []byte, size int) int {
	if bytes.Equal(a, b) {
		return -1
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	return i / size
}

// position is the place in the array of element i of a box without steps.
func position(box ndarray.Box, i int) []int64 {
	at, rest := slices.Clone(box.Start), int64(i)
	for axis := len(at) - 1; axis >= 0; axis-- {
		at[axis] += rest % box.Count[axis]
		rest /= box.Count[axis]
	}
	return at
}

// sameAttrs compares attributes, whatever the order of the keys.
func sameAttrs(a, b *Attrs) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		key, v := a.At(i)
		w, ok := b.Get(key)
		if !ok || !sameValue(v, w) {
			return false
		}
	}
	return true
}

func sameValue(v, w Value) bool {
	if v.Kind() != w.Kind() {
		return false
	}
	switch v.Kind() {
	case pyjson.KindObject:
		return sameAttrs(v.Object(), w.Object())
	case pyjson.KindList:
		return slices.EqualFunc(v.Items(), w.Items(), sameValue)
	}
	return v.Equal(w)
}
