package ndfile

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// ConvertOptions are the options of [Convert].
type ConvertOptions struct {
	// FS is the file system of both; nil is OS.
	FS FS
	// From names the format of the source; "" goes by the content.
	From string
	// To names the format of the destination; "" goes by the extension.
	To string
	// Name is one array of the source, which alone is converted. Where the source
	// is a single array it is the name of that in the destination; "" is "data".
	Name string
	// AllowLoss converts also what the destination cannot hold all of.
	AllowLoss bool
	// NoCheck leaves out the comparison at the end.
	NoCheck bool
	// Overwrite allows that the destination exists.
	Overwrite bool
	// WriteOptions say how the destination becomes visible; Exclusive does not
	// count.
	WriteOptions
	Limits Limits
	// FollowSymlinks is as in OpenOptions.
	FollowSymlinks bool
	// Progress, where it is set, is called in the calling goroutine, at the start
	// and after each block, with bytes of elements (16 for one of variable length;
	// all count twice where they are compared). False cancels.
	Progress func(done, total int64) bool
}

// convertBytes is the most that a block takes in memory while it is converted. It
// is exceeded by a chunk of the destination, by a row where that takes whole rows
// only, and by a string, which are larger alone.
const convertBytes = 16 << 20

// Convert copies a file into one of another format, or of the same.
//
// What the destination has no place for is found before anything is written, and
// is ErrLoss, with all losses in the message and as the first result, unless
// opt.AllowLoss is set. Byte order is no loss, nor is the way in which elements are
// stored: chunks, compression and fill value go along where the destination has
// them. Metadata in the format's own terms (Spec.Extra) go along within a format.
//
// A source that is a single array is called "data" in a dataset. Of a dataset or
// table, a destination that is a single array takes the only array or opt.Name,
// else ErrArgument. Where the destination can be both, a single array stays one,
// and opt.Name of a dataset becomes one. Groups go along with their attributes.
//
// Data move in blocks of 16 MiB, two of them while they are compared; chunks that
// both sides encode alike are copied as they are. The destination appears when it is
// whole, or not at all. Afterwards both are opened again and compared, bit by bit;
// a difference is ErrCorrupt, and the destination stays for you to look at.
//
// A destination that exists is ErrExists unless opt.Overwrite is set. One that is
// the source itself is converted in place, if the destination's format is a
// [Migrator] for it, else ErrArgument.
func Convert(ctx context.Context, formats []Format, src, dst string, opt ConvertOptions) ([]Loss, error) {
	if opt.FS == nil {
		opt.FS = OS
	}
	fsys, err := mounted(ctx, opt.FS, src, opt.Limits)
	if err != nil {
		return nil, err
	}
	from, err := formatToRead(ctx, formats, fsys, src, opt.From)
	if err != nil {
		return nil, err
	}
	to, err := formatToWrite(formats, dst, opt.To)
	if err != nil {
		return nil, err
	}
	same, err := samePlace(opt.FS, src, dst, opt.Overwrite)
	switch {
	case err != nil:
		return nil, err
	case same:
		return nil, migrate(ctx, from, to, dst, opt)
	case to.Caps()&CapCreate == 0:
		return nil, NewError(ErrNotSupported, "the format "+to.Name()+" cannot be written").On(dst)
	}
	c := conversion{src: src, dst: dst, opt: opt}
	err = c.run(ctx, from, to)
	c.data.Free()
	c.mask.Free()
	if c.plan == nil {
		return nil, err
	}
	return c.plan.losses, err
}

// samePlace tells whether the destination is the source.
func samePlace(fsys FS, src, dst string, overwrite bool) (bool, error) {
	a, err := fsys.Stat(src)
	if err != nil {
		return false, Locate(err, src, "", false)
	}
	b, err := fsys.Stat(dst)
	switch {
	case KindOf(err) == ErrNotFound:
		return false, nil
	case err != nil:
		return false, Locate(err, dst, "", false)
	case a.Dev == b.Dev && a.Ino == b.Ino:
		return true, nil
	case !overwrite:
		return false, NewError(ErrExists, "").On(dst)
	}
	return false, nil
}

// migrate converts in place.
func migrate(ctx context.Context, from, to Format, path string, opt ConvertOptions) error {
	if m, ok := to.(Migrator); ok {
		fsys := opt.FS
		opt.FS = nil
		return Locate(m.Migrate(ctx, fsys, path, from, opt), path, "", false)
	}
	if from.Name() == to.Name() {
		return NewError(ErrArgument, "source and destination are the same, and of the format "+to.Name()+" already").On(path)
	}
	return NewError(ErrArgument, "source and destination are the same, and the format "+to.Name()+" cannot take it over in place").On(path)
}

// conversion is one call of Convert.
type conversion struct {
	src, dst    string
	opt         ConvertOptions
	plan        *plan
	done, total int64

	data, mask mem.Block // memory for one block
	raw        []byte    // and for an encoded chunk
}

func (c *conversion) run(ctx context.Context, from, to Format) error {
	src, err := c.open(ctx, from, c.src)
	if err != nil {
		return Locate(err, c.src, "", false)
	}
	defer src.Abort()
	if c.plan, err = newPlan(ctx, src, from, to, &c.opt); err != nil {
		return Locate(err, c.src, "", false)
	}
	if len(c.plan.losses) > 0 && !c.opt.AllowLoss {
		return Locate(c.plan.err(), c.src, "", false)
	}
	for i := range c.plan.arrays {
		c.total += c.plan.arrays[i].bytes()
	}
	if !c.opt.NoCheck {
		c.total *= 2
	}
	if err := c.progress(0); err != nil {
		return err
	}
	create := c.plan.create
	create.WriteOptions = c.opt.WriteOptions
	create.Exclusive = !c.opt.Overwrite
	dst, err := to.Create(ctx, c.opt.FS, c.dst, create)
	if err != nil {
		return Locate(err, c.dst, "", false)
	}
	if err := c.write(ctx, src, dst); err != nil {
		dst.Abort()
		return err
	}
	if err := dst.Close(ctx); err != nil {
		return Locate(err, c.dst, "", false)
	}
	if c.opt.NoCheck {
		return nil
	}
	return c.compare(ctx)
}

// open opens one of the files for reading.
func (c *conversion) open(ctx context.Context, f Format, path string) (File, error) {
	return Open(ctx, []Format{f}, path, OpenOptions{FS: c.opt.FS, Format: f.Name(), Limits: c.opt.Limits, FollowSymlinks: c.opt.FollowSymlinks})
}

// progress counts n more bytes.
func (c *conversion) progress(n int64) error {
	c.done += n
	if c.opt.Progress != nil && !c.opt.Progress(c.done, c.total) {
		return NewError(ErrCanceled, "")
	}
	return nil
}

// write copies all arrays. Errors say on which side they are.
func (c *conversion) write(ctx context.Context, src, dst File) error {
	for _, g := range c.plan.groups {
		t, ok := dst.(Tree)
		if !ok {
			return NewError(ErrInternal, "the file has no groups").On(c.dst)
		}
		if err := t.AddGroup(ctx, g.name, g.attrs); err != nil {
			return Locate(err, c.dst, g.name, true)
		}
	}
	for i := range c.plan.arrays {
		it := &c.plan.arrays[i]
		a, err := src.Array(it.from)
		if err != nil {
			return Locate(err, c.src, it.from, src.Kind() != Single)
		}
		p := pair{carried: it, c: c, a: a}
		if p.b, err = dst.Add(ctx, it.to, it.add); err == nil {
			err = p.copy(ctx)
		}
		if err != nil {
			return p.located(err)
		}
	}
	return nil
}

// pair is an array on both sides.
type pair struct {
	*carried
	c    *conversion
	a, b Array // source and destination
	// failed: the source could not be read.
	failed bool
}

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
	b := p.b.Spec()
	unit := readUnit(&b, maxUnit)
	if unit == nil {
		unit = readUnit(&p.spec, convertBytes)
	}
	return newTiling(ndarray.Full(p.spec.Shape), unit, p.write.Size, convertBytes)
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
	b := p.b.Spec()
	if ok1 && ok2 && src.ChunkEncoding() == dst.ChunkEncoding() && b.DType.Equal(p.spec.DType) &&
		p.spec.Chunks != nil && slices.Equal(b.Chunks, p.spec.Chunks) && b.Shards == nil && !p.spec.Masked {
		return src, dst
	}
	return nil, nil
}

// copyChunks copies chunk by chunk: as they are, or else element by element.
func (p *pair) copyChunks(ctx context.Context, src, dst Chunked) error {
	whole, err := ndarray.NBytes(p.spec.Chunks, p.spec.DType.Size)
	if err != nil {
		return err
	}
	b := p.b.Spec()
	sameFill := bytes.Equal(fillOf(&p.spec), fillOf(&b))
	index := make([]int64, len(p.spec.Chunks))
	chunks := tiling{box: ndarray.Full(p.spec.Shape), cell: p.spec.Chunks}
	for box := range chunks.all() {
		for axis, start := range box.Start {
			index[axis] = start / p.spec.Chunks[axis]
		}
		raw, size, err := src.ReadChunk(ctx, index, p.c.raw)
		if err != nil {
			return p.reading(err)
		}
		if cap(raw) > cap(p.c.raw) {
			p.c.raw = raw[:cap(raw)]
		}
		copied := raw == nil && sameFill // never written on either side
		if raw != nil && (size == whole || whole > convertBytes) {
			err := dst.WriteChunk(ctx, index, raw)
			if err != nil && !errors.Is(err, ErrNotSupported) {
				return err
			}
			copied = err == nil
		}
		if !copied {
			err = p.copyBlock(ctx, box)
		} else {
			n, _ := ndarray.NBytes(box.Count, p.write.Size) // no more than of the chunk
			err = p.c.progress(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fillOf is the value of elements that were never written.
func fillOf(s *Spec) []byte {
	if s.Fill == nil {
		return make([]byte, s.DType.Size)
	}
	return s.Fill
}
