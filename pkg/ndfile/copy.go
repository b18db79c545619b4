package ndfile

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Copy copies all elements of an array into another of the same shape and dtype (its
// byte order may differ), as [Convert] does: block by block, and encoded chunks as they
// are where both arrays can exchange them. After an error the elements of dst are old ones
// or new ones. Missing elements are ErrMasked where dst has no mask. progress may be nil;
// it is as in ConvertOptions.
func Copy(ctx context.Context, dst, src Array, progress func(done, total int64) bool) error {
	from, to := src.Spec(), dst.Spec()
	switch {
	case from.NoData || to.NoData:
		return NewError(ErrNoData, "")
	case !slices.Equal(from.Shape, to.Shape):
		return NewError(ErrShape, "the shape "+shapeText(from.Shape)+", expected "+shapeText(to.Shape))
	case !from.DType.Native().Equal(to.DType.Native()):
		return NewError(ErrDType, "elements of type "+from.DType.String()+", expected "+to.DType.String())
	}
	c := conversion{opt: ConvertOptions{Progress: progress}}
	defer c.free()
	from.Masked = from.Masked && to.Masked // else what is missing is an error
	p := pair{carried: &carried{spec: from, add: to, read: from.DType, write: from.DType}, c: &c, a: src}
	p.into(dst)
	c.total = p.bytes()
	if err := c.progress(0); err != nil {
		return err
	}
	return p.copy(ctx)
}

// pair is an array on both sides.
type pair struct {
	*carried
	c      *conversion
	a, b   Array // source and destination
	stored Spec  // of the destination
	// failed: the source could not be read.
	failed bool
}

// into sets the destination.
func (p *pair) into(b Array) { p.b, p.stored = b, b.Spec() }

// reading notes that an error is one of the source.
func (p *pair) reading(err error) error {
	p.failed = p.failed || err != nil
	return err
}

// located names the side and the array that an error belongs to.
func (p *pair) located(err error) error {
	if p.failed {
		return Locate(err, p.c.src, p.from, p.from != "")
	}
	return Locate(err, p.c.dst, p.to, p.to != "")
}

func (p *pair) copy(ctx context.Context) error {
	switch {
	case p.spec.NoData:
		return nil
	case p.write.IsVar():
		return p.texts(ctx, func(t textBlock) error {
			w, ok := p.b.(Strings)
			if !ok {
				return NewError(ErrInternal, "the array of variable length does not write strings")
			}
			if !p.add.Masked {
				t.mask = nil
			}
			return w.WriteStrings(ctx, t.box, t.offsets, t.data, t.mask)
		})
	}
	if src, dst := p.chunked(); src != nil {
		if w, ok := dst.(ShardWriter); ok && p.stored.Shards != nil {
			return p.copyShards(ctx, src, w)
		}
		return p.copyChunks(ctx, src, dst)
	}
	tiles := p.tiles(math.MaxInt64)
	copied, err := p.copyBlocks(ctx, tiles.all())
	if copied == 0 && errors.Is(err, ErrOrder) {
		_, err = p.copyBlocks(ctx, RowBlocks(p.spec.Shape, p.write.Size, convertBytes))
	}
	return err
}

// tiles are the blocks of an array of fixed size: chunks of the destination, of
// those that take more than maxUnit bytes parts, or else of the source.
func (p *pair) tiles(maxUnit int64) tiling {
	unit, most := readUnit(&p.stored, maxUnit), int64(convertBytes)
	if unit == nil {
		unit = readUnit(&p.spec, convertBytes)
	}
	if unit == nil {
		most = flatBytes
	}
	return newTiling(ndarray.Full(p.spec.Shape), unit, p.write.Size, most)
}

func (p *pair) copyBlocks(ctx context.Context, blocks iter.Seq[ndarray.Box]) (copied int, err error) {
	for box := range blocks {
		if err := p.copyBlock(ctx, box); err != nil {
			return copied, err
		}
		copied++
	}
	return copied, nil
}

// copyBlock copies the elements of a box.
func (p *pair) copyBlock(ctx context.Context, box ndarray.Box) error {
	b, mask, err := p.readSource(ctx, box)
	if err != nil {
		return err
	}
	b.DType = p.write
	if mask == nil || !p.add.Masked {
		err = p.b.WriteBox(ctx, box, b)
	} else if w, ok := p.b.(Masked); ok {
		err = w.WriteMasked(ctx, box, b, mask)
	} else {
		err = NewError(ErrInternal, "the masked array does not write masks")
	}
	if err != nil {
		return err
	}
	return p.c.progress(int64(len(b.Data)))
}

// readSource reads a box of elements of fixed size, with a mask where some can be
// missing, in the conversion's memory.
func (p *pair) readSource(ctx context.Context, box ndarray.Box) (b ndarray.Buffer, mask []byte, err error) {
	n, err := ndarray.NBytes(box.Count, p.read.Size)
	if err != nil {
		return b, nil, err
	}
	data, err := sized(&p.c.data, n)
	if err != nil {
		return b, nil, err
	}
	b = ndarray.Buffer{DType: p.read, Shape: box.Count, Data: data}
	if p.spec.Masked {
		if mask, err = sized(&p.c.mask, n/int64(max(1, p.read.Size))); err != nil {
			return b, nil, err
		}
	}
	return b, mask, p.reading(readBlock(ctx, p.a, box, b, mask))
}

// chunked gives both arrays if the chunks of the one can be those of the other.
func (p *pair) chunked() (src, dst Chunked) {
	src, ok1 := p.a.(Chunked)
	dst, ok2 := p.b.(Chunked)
	b := &p.stored
	if ok1 && ok2 && src.ChunkEncoding() == dst.ChunkEncoding() && b.DType.Equal(p.spec.DType) &&
		p.spec.Chunks != nil && slices.Equal(b.Chunks, p.spec.Chunks) && !p.spec.Masked {
		return src, dst
	}
	return nil, nil
}

// chunkCopy takes encoded chunks of the source as they are.
type chunkCopy struct {
	*pair
	src      Chunked
	whole    int64 // bytes of a chunk
	sameFill bool
	sizes    []int // of the chunks that readShard read; -1 is none
	bytes    int   // where the next of them is
}

func (p *pair) newChunkCopy(src Chunked) (c chunkCopy, err error) {
	c = chunkCopy{pair: p, src: src, sameFill: bytes.Equal(fillOf(&p.spec), fillOf(&p.stored))}
	c.whole, err = ndarray.NBytes(p.spec.Chunks, p.spec.DType.Size)
	return c, err
}

// read gives the stored bytes of a chunk, nil for one that is on neither side. ok tells
// whether they can be those of the destination.
func (c *chunkCopy) read(ctx context.Context, index []int64) (raw []byte, ok bool, err error) {
	raw, size, err := c.src.ReadChunk(ctx, index, c.c.raw)
	if err != nil {
		return nil, false, c.reading(err)
	}
	if cap(raw) > cap(c.c.raw) {
		c.c.raw = raw[:cap(raw)]
	}
	if raw == nil {
		return nil, c.sameFill, nil
	}
	return raw, size == c.whole || c.whole > convertBytes, nil
}

// copyChunks copies chunk by chunk: as they are, or else element by element.
func (p *pair) copyChunks(ctx context.Context, src, dst Chunked) error {
	from, err := p.newChunkCopy(src)
	if err != nil {
		return err
	}
	index := make([]int64, len(p.spec.Chunks))
	chunks := tiling{box: ndarray.Full(p.spec.Shape), cell: p.spec.Chunks}
	for box := range chunks.all() {
		for axis, start := range box.Start {
			index[axis] = start / p.spec.Chunks[axis]
		}
		raw, copied, err := from.read(ctx, index)
		if err != nil {
			return err
		}
		if copied && raw != nil {
			if err = dst.WriteChunk(ctx, index, raw); err != nil && !errors.Is(err, ErrNotSupported) {
				return err
			}
			copied = err == nil
		}
		if err := p.done(ctx, box, copied); err != nil {
			return err
		}
	}
	return nil
}

// copyShards copies shard by shard: the chunks as they are, or else element by element.
func (p *pair) copyShards(ctx context.Context, src Chunked, dst ShardWriter) error {
	from, err := p.newChunkCopy(src)
	if err != nil {
		return err
	}
	shards := p.stored.Shards
	index := make([]int64, len(shards))
	tiles := tiling{box: ndarray.Full(p.spec.Shape), cell: shards}
	for box := range tiles.all() {
		copied, err := from.readShard(ctx, box)
		if err != nil {
			return err
		}
		if copied && len(from.sizes) > 0 {
			for axis, start := range box.Start {
				index[axis] = start / shards[axis]
			}
			if err = dst.WriteShard(ctx, index, from.next); err != nil && !errors.Is(err, ErrNotSupported) {
				return err
			}
			copied = err == nil
		}
		if err := p.done(ctx, box, copied); err != nil {
			return err
		}
	}
	return nil
}

// readShard reads the stored bytes of all chunks in a box, which next gives. They are
// read before, since both arrays may be of one file. ok is as in read.
func (c *chunkCopy) readShard(ctx context.Context, box ndarray.Box) (ok bool, err error) {
	c.sizes, c.bytes = c.sizes[:0], 0
	stored := 0
	index := make([]int64, len(box.Start))
	chunks := tiling{box: box, cell: c.spec.Chunks}
	for part := range chunks.all() {
		for axis, start := range part.Start {
			index[axis] = start / c.spec.Chunks[axis]
		}
		raw, ok, err := c.read(ctx, index)
		if err != nil || !ok {
			return false, err
		}
		if raw == nil {
			c.sizes = append(c.sizes, -1)
			continue
		}
		all, err := c.c.data.Grown(max(c.bytes+len(raw), min(2*c.bytes, c.bytes+convertBytes)), c.bytes)
		if err != nil {
			return false, NewError(ErrNoMemory, "").Because(err)
		}
		copy(all[c.bytes:], raw)
		c.sizes = append(c.sizes, len(raw))
		c.bytes += len(raw)
		stored++
	}
	if c.bytes = 0; stored == 0 {
		c.sizes = c.sizes[:0]
	}
	return true, nil
}

// next gives the chunks that readShard read.
func (c *chunkCopy) next([]int64) ([]byte, error) {
	n := c.sizes[0]
	if c.sizes = c.sizes[1:]; n < 0 {
		return nil, nil
	}
	all, err := c.c.data.Sized(c.bytes + n) // it is there
	c.bytes += n
	return all[c.bytes-n : c.bytes : c.bytes], err
}

// done counts a box whose elements were copied, and copies them if they were not.
func (p *pair) done(ctx context.Context, box ndarray.Box, copied bool) error {
	if !copied {
		t := newTiling(box, p.stored.Chunks, p.write.Size, convertBytes)
		_, err := p.copyBlocks(ctx, t.all())
		return err
	}
	n, _ := ndarray.NBytes(box.Count, p.write.Size) // no more than of the array
	return p.c.progress(n)
}

// fillOf is the value of elements that were never written.
func fillOf(s *Spec) []byte {
	if s.Fill == nil {
		return make([]byte, s.DType.Size)
	}
	return s.Fill
}
