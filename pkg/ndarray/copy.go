package ndarray

import (
	"fmt"
	"slices"
)

// op is what happens to an element on its way.
type op uint8

const (
	opCopy    op = iota // the same bytes
	opSwap              // the same words in the other byte order
	opConvert           // numbers that are not complex, widened
	opComplex           // to a complex number from one or from a part
	opPad               // Bytes and Unicode, padded
	opRecord            // field by field
)

// kernel copies evenly spaced elements. It is made once and run many times.
type kernel struct {
	op       op
	size     int // bytes of an element, for opCopy and opSwap
	word     int // bytes of a word, for opSwap
	to, from *DType
}

// plan finds the kernel for two types. Inside run it is called again for the parts
// of a type that it has accepted as a whole, and does not fail.
func plan(to, from *DType) (kernel, error) {
	k := kernel{size: to.Size, word: to.word(), to: to, from: from}
	if err := checkFixed(from); err != nil {
		return k, err
	}
	if err := checkFixed(to); err != nil {
		return k, err
	}
	switch {
	case !canConvert(from, to):
		return k, fmt.Errorf("%w: no exact conversion from %s to %s", ErrDType, *from, *to)
	case from.same(to, false):
		k.op = opCopy
	case from.Kind == Record:
		k.op = opRecord
	case from.Kind == to.Kind && from.Size == to.Size:
		k.op = opSwap
	case from.Kind == Bytes || from.Kind == Unicode:
		k.op = opPad
	case to.Kind == Complex:
		k.op = opComplex
	default:
		k.op = opConvert
	}
	return k, nil
}

// run copies n elements, from byte s of src on and ss bytes apart to byte d of dst
// on and ds bytes apart. The caller has checked that they lie inside.
func (k kernel) run(dst []byte, d, ds int, src []byte, s, ss, n int) {
	switch k.op {
	case opCopy:
		copyRun(dst, d, ds, src, s, ss, k.size, n)
	case opSwap:
		k.swap(dst, d, ds, src, s, ss, n)
	case opConvert:
		convert(dst, d, ds, k.to, src, s, ss, k.from, n)
	case opComplex:
		toPart, fromPart := part(k.to), part(k.from)
		parts, _ := plan(&toPart, &fromPart)
		if k.from.Kind == Complex && ds == k.to.Size && ss == k.from.Size {
			parts.run(dst, d, toPart.Size, src, s, fromPart.Size, 2*n)
			return
		}
		parts.run(dst, d, ds, src, s, ss, n)
		if k.from.Kind == Complex {
			parts.run(dst, d+toPart.Size, ds, src, s+fromPart.Size, ss, n)
		} else {
			clearRun(dst, d+toPart.Size, ds, toPart.Size, n)
		}
	case opPad:
		head, size := *k.to, k.from.Size
		head.Size = size
		text, _ := plan(&head, k.from)
		text.run(dst, d, ds, src, s, ss, n)
		clearRun(dst, d+size, ds, k.to.Size-size, n)
	case opRecord:
		for i := range k.to.Fields {
			to, from := &k.to.Fields[i], &k.from.Fields[i]
			field, _ := plan(&to.DType, &from.DType)
			size, count := to.DType.Size, to.count()
			d, s := d+to.Offset, s+from.Offset
			if count > n { // the longer of the two loops goes inside
				for j := range n {
					field.run(dst, d+j*ds, size, src, s+j*ss, size, count)
				}
			} else {
				for j := range count {
					field.run(dst, d+j*size, ds, src, s+j*size, ss, n)
				}
			}
		}
	}
}

func clearRun(dst []byte, d, ds, size, n int) {
	for ; n > 0; n-- {
		clear(dst[d : d+size])
		d += ds
	}
}

func copyRun(dst []byte, d, ds int, src []byte, s, ss, size, n int) {
	if ds == size && ss == size {
		copy(dst[d:d+n*size], src[s:s+n*size])
		return
	}
	if last := n - 1; last > 0 && size > 0 {
		// The kernels do not check: both ends of what they touch are looked at here.
		_, _ = dst[min(d, d+last*ds):max(d, d+last*ds)+size], src[min(s, s+last*ss):max(s, s+last*ss)+size]
		done := strideFast(dst, d, ds, src, s, ss, size, n)
		d, s, n = d+done*ds, s+done*ss, n-done
	}
	switch size {
	case 1:
		for ; n > 0; n-- {
			dst[d] = src[s]
			d, s = d+ds, s+ss
		}
	case 2:
		for ; n > 0; n-- {
			native.PutUint16(dst[d:], native.Uint16(src[s:]))
			d, s = d+ds, s+ss
		}
	case 4:
		for ; n > 0; n-- {
			native.PutUint32(dst[d:], native.Uint32(src[s:]))
			d, s = d+ds, s+ss
		}
	case 8:
		for ; n > 0; n-- {
			native.PutUint64(dst[d:], native.Uint64(src[s:]))
			d, s = d+ds, s+ss
		}
	default:
		for ; n > 0; n-- {
			copy(dst[d:d+size], src[s:s+size])
			d, s = d+ds, s+ss
		}
	}
}

// swapBlock is the memory in which elements that lie apart are swapped, and
// fewElements the number for which filling it is not worth while.
const swapBlock, fewElements = 2 << 10, 8

func (k kernel) swap(dst []byte, d, ds int, src []byte, s, ss, n int) {
	size := k.size
	switch {
	case ds == size && ss == size:
		swapRun(dst[d:d+n*size], src[s:s+n*size], k.word)
	case n < fewElements || fewElements*size > swapBlock:
		for ; n > 0; n-- {
			swapRun(dst[d:d+size], src[s:s+size], k.word)
			d, s = d+ds, s+ss
		}
	default:
		k.swapApart(dst, d, ds, src, s, ss, n)
	}
}

func (k kernel) swapApart(dst []byte, d, ds int, src []byte, s, ss, n int) {
	var block [swapBlock]byte
	for n > 0 {
		m := min(n, swapBlock/k.size)
		b := block[:m*k.size]
		copyRun(b, 0, k.size, src, s, ss, k.size, m)
		swapRun(b, b, k.word)
		copyRun(dst, d, ds, b, 0, k.size, k.size, m)
		d, s, n = d+m*ds, s+m*ss, n-m
	}
}

// CopyRun copies n evenly spaced elements and converts them as [Copy] does: the
// inner loop for code that walks an array itself. Strides are in bytes. Element 0
// is at the start of its slice; where a stride is negative, it is at the end of
// the slice, and the others come before it. Strides do not matter for n <= 1.
// Elements in dst must not overlap each other or src. It fails with [ErrDType] where there is
// no exact conversion, with [ErrBounds] where the slices are too short, with
// [ErrShape] where dstStride is 0.
func CopyRun(dst []byte, dstStride int64, to DType, src []byte, srcStride int64, from DType, n int64) error {
	k, err := plan(&to, &from)
	if err != nil || n == 0 {
		return err
	}
	d, ok := runStart(len(dst), dstStride, to.Size, n)
	if !ok {
		return runError("destination", len(dst), dstStride, to.Size, n)
	}
	s, ok := runStart(len(src), srcStride, from.Size, n)
	if !ok {
		return runError("source", len(src), srcStride, from.Size, n)
	}
	if n > 1 && dstStride == 0 && to.Size > 0 {
		return fmt.Errorf("%w: destination: %d elements with a stride of 0", ErrShape, n)
	}
	k.run(dst, d, int(dstStride), src, s, int(srcStride), int(n))
	return nil
}

// runStart is the place of element 0 of a run in a slice of a length; ok is false
// when the run does not fit.
func runStart(length int, stride int64, size int, n int64) (start int, ok bool) {
	reach := int64(0)
	if n > 1 {
		if reach, ok = Mul(n-1, max(stride, -stride)); !ok {
			return 0, false
		}
	}
	if n < 0 || size > length || reach > int64(length-size) {
		return 0, false
	}
	if n > 1 && stride < 0 {
		return length - size, true
	}
	return 0, true
}

func runError(side string, length int, stride int64, size int, n int64) error {
	return fmt.Errorf("%w: %s: expected %d elements of %d bytes, %d bytes apart, found %d bytes",
		ErrBounds, side, n, size, stride, length)
}

// axis is one axis of a copy: its extent and the strides in bytes.
type axis struct{ n, ds, ss int }

// Copy copies all elements of src to dst, which has the same shape, converting
// byte order and widening exactly where the types differ; see [CanConvert]. Both
// may be strided in any way; src may repeat elements by strides of 0, dst may not.
// Memory shared between dst and src is not supported: the result is undefined,
// though never outside of dst. It fails with [ErrShape], [ErrDType] and as
// [Buffer.Check] does, before anything is written.
func Copy(dst, src Buffer) error {
	if !slices.Equal(dst.Shape, src.Shape) {
		return fmt.Errorf("%w: copy: expected %s, found %s", ErrShape, shapeText(dst.Shape), shapeText(src.Shape))
	}
	if err := dst.Check(); err != nil {
		return fmt.Errorf("copy to: %w", err)
	}
	if err := src.Check(); err != nil {
		return fmt.Errorf("copy from: %w", err)
	}
	k, err := plan(&dst.DType, &src.DType)
	if err != nil {
		return err
	}
	if dst.DType.Size == 0 || slices.Contains(dst.Shape, 0) {
		return nil
	}
	var few [8]axis // more axes than these after merging are rare, and allocated
	axes, d, s, err := copyAxes(few[:0], &dst, &src)
	if err != nil {
		return err
	}
	// A row of plain bytes is one larger element of the rows' array.
	if last := len(axes) - 1; last > 0 && k.op == opCopy && axes[last].ds == k.size && axes[last].ss == k.size {
		k.size *= axes[last].n
		axes = axes[:last]
	}
	k.walk(dst.Data, d, src.Data, s, axes)
	return nil
}

// copyAxes gives the axes of a checked, non-empty copy in the best order: of
// extents above 1, destination strides positive and falling, neighbours merged.
// d and s are the places of the first element in that order.
func copyAxes(axes []axis, dst, src *Buffer) (_ []axis, d, s int, err error) {
	d, s = int(dst.Offset), int(src.Offset)
	dpacked, spacked := int64(dst.DType.Size), int64(src.DType.Size)
	for i := len(dst.Shape) - 1; i >= 0; i-- {
		n := int(dst.Shape[i])
		a := axis{n, int(dst.stride(i, dpacked)), int(src.stride(i, spacked))}
		dpacked, spacked = dpacked*int64(n), spacked*int64(n)
		if n == 1 {
			continue
		}
		if a.ds == 0 {
			return nil, 0, 0, fmt.Errorf("%w: copy to: axis %d has %d elements with a stride of 0", ErrShape, i, n)
		}
		if a.ds < 0 { // walk the axis backwards
			d, s = d+(n-1)*a.ds, s+(n-1)*a.ss
			a.ds, a.ss = -a.ds, -a.ss
		}
		at := len(axes)
		axes = append(axes, a)
		for ; at > 0 && axes[at-1].ds > a.ds; at-- {
			axes[at] = axes[at-1]
		}
		axes[at] = a
	}
	// So far the smallest stride is first; merge, then turn around.
	kept := axes[:0]
	for _, a := range axes {
		if last := len(kept) - 1; last >= 0 && a.ds == kept[last].ds*kept[last].n && a.ss == kept[last].ss*kept[last].n {
			kept[last].n *= a.n
		} else {
			kept = append(kept, a)
		}
	}
	slices.Reverse(kept)
	// Bring the axis along which src is densest next to the last one: the two are
	// what walk does in tiles.
	if last := len(kept) - 1; last > 1 {
		dense := last
		for i := range kept {
			if kept[i].ss != 0 && abs(kept[i].ss) < abs(kept[dense].ss) {
				dense = i
			}
		}
		if dense < last-1 {
			a := kept[dense]
			copy(kept[dense:last-1], kept[dense+1:last])
			kept[last-1] = a
		}
	}
	return kept, d, s, nil
}

func abs(x int) int { return max(x, -x) }

// walk copies what the axes span.
func (k kernel) walk(dst []byte, d int, src []byte, s int, axes []axis) {
	switch len(axes) {
	case 0:
		k.run(dst, d, k.size, src, s, k.size, 1)
	case 1:
		k.run(dst, d, axes[0].ds, src, s, axes[0].ss, axes[0].n)
	case 2:
		k.plane(dst, d, src, s, axes[0], axes[1])
	default:
		for range axes[0].n {
			k.walk(dst, d, src, s, axes[1:])
			d, s = d+axes[0].ds, s+axes[0].ss
		}
	}
}

// plane copies two axes, the inner one in runs. Where src is denser along the
// outer axis, as in a transpose, it goes by tiles that stay in the cache, and
// along whichever axis makes runs worth their call.
func (k kernel) plane(dst []byte, d int, src []byte, s int, outer, inner axis) {
	const tile, short = 32, 16
	rows, cols := outer.n, inner.n
	if abs(outer.ss) < abs(inner.ss) {
		size := k.from.Size
		if k.op == opCopy {
			size = k.size // more than an element where axes were merged
		}
		if outer.ss == size && min(outer.n, inner.n) >= short {
			if r, c := transposeShape(size); r > 0 {
				k.transpose(dst, d, src, s, outer, inner, size, r, c)
				return
			}
		}
		if rows, cols = tile, tile; inner.n < short && outer.n > inner.n {
			outer, inner = inner, outer
			rows, cols = short, tile*tile
		}
	}
	for i := 0; i < outer.n; i += rows {
		for j := 0; j < inner.n; j += cols {
			n := min(cols, inner.n-j)
			d, s := d+i*outer.ds+j*inner.ds, s+i*outer.ss+j*inner.ss
			for range min(rows, outer.n-i) {
				k.run(dst, d, inner.ds, src, s, inner.ss, n)
				d, s = d+outer.ds, s+outer.ss
			}
		}
	}
}

// transposeTile is the elements along both axes of a tile of a transpose.
const transposeTile = 32

// transpose is plane where the elements of src lie without gaps along the outer
// axis. Tiles whose elements change on their way are transposed aside first.
func (k kernel) transpose(dst []byte, d int, src []byte, s int, outer, inner axis, size, rows, cols int) {
	same := k.op == opCopy && inner.ds == size
	var aside [transposeTile * transposeTile * 8]byte
	for i := 0; i < outer.n; i += transposeTile {
		ni := min(transposeTile, outer.n-i)
		for j := 0; j < inner.n; j += transposeTile {
			nj := min(transposeTile, inner.n-j)
			d, s := d+i*outer.ds+j*inner.ds, s+i*size+j*inner.ss
			if same {
				transposeOne(dst, d, outer.ds, src, s, inner.ss, size, ni, nj, rows, cols)
				continue
			}
			transposeOne(aside[:], 0, nj*size, src, s, inner.ss, size, ni, nj, rows, cols)
			for i := range ni {
				k.run(dst, d+i*outer.ds, inner.ds, aside[:], i*nj*size, size, nj)
			}
		}
	}
}

// transposeOne makes ni rows of nj elements of nj rows of ni elements, all without
// gaps between the elements.
func transposeOne(dst []byte, d, ds int, src []byte, s, ss, size, ni, nj, rows, cols int) {
	// The kernels do not check: the corners of what they touch are looked at here.
	last := s + (nj-1)*ss
	_, _ = dst[d:d+(ni-1)*ds+nj*size], src[min(s, last):max(s, last)+ni*size]
	wholeI, wholeJ := ni-ni%cols, nj-nj%rows
	if wholeI > 0 {
		for j := 0; j < wholeJ; j += rows {
			transposeFast(dst, d+j*size, ds, src, s+j*ss, ss, size, wholeI)
		}
	}
	for j := wholeJ; j < nj; j++ {
		copyRun(dst, d+j*size, ds, src, s+j*ss, size, size, wholeI)
	}
	for i := wholeI; i < ni; i++ {
		copyRun(dst, d+i*ds, size, src, s+i*size, ss, size, nj)
	}
}
