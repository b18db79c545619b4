package ndfile

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/mem"
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
	// ShardSize is how arrays lie in shards in the destination: 0 as in the source,
	// NoShards not at all; else as many chunks make a shard as take about so many bytes
	// decoded. ErrNotSupported where the destination has no shards.
	ShardSize int64
	// Storage, where it is set, chooses how arrays are stored in the destination: it is
	// called with the name of each in the source and with what would be asked of the
	// destination, in which it may change Chunks, Shards and Codecs.
	// Arrays are stored so or refused; chunks larger than 16 MiB take their size in memory.
	Storage func(name string, spec *Spec) error
	// NoCheck leaves out the comparison at the end.
	NoCheck bool
	// Overwrite allows that the destination exists.
	Overwrite bool
	// WriteOptions say how the destination becomes visible; Exclusive does not
	// count.
	WriteOptions
	Limits Limits
	// FollowSymlinks and DefaultFill are as in OpenOptions, for the source.
	FollowSymlinks bool
	DefaultFill    bool
	// Progress, where it is set, is called in the calling goroutine, at the start
	// and after each block, with bytes of elements (16 for one of variable length;
	// all count twice where they are compared). False cancels.
	Progress func(done, total int64) bool
}

// NoShards, as ConvertOptions.ShardSize, has each chunk lie in a file of its own.
const NoShards = -1

// convertBytes is the most that a block takes in memory while it is converted. It
// is exceeded by a chunk of the destination, by a row where that takes whole rows
// only, and by a string, which are larger alone.
const convertBytes = 16 << 20

// flatBytes is the most that a block takes where neither side has chunks: then it is in a
// processor's cache when it is written.
const flatBytes = 512 << 10

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
// Data move in blocks of at most 16 MiB, two of them while they are compared; chunks that
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
	if err := writable(opt.FS, dst); err != nil {
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
	c.free()
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

func (c *conversion) free() {
	c.data.Free()
	c.mask.Free()
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
	return Open(ctx, []Format{f}, path, OpenOptions{FS: c.opt.FS, Format: f.Name(), Limits: c.opt.Limits, FollowSymlinks: c.opt.FollowSymlinks, DefaultFill: c.opt.DefaultFill})
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
	// All are declared before the first is written: a format whose header comes first
	// knows then where their elements will be.
	added := make([]Array, len(c.plan.arrays))
	for i := range c.plan.arrays {
		it := &c.plan.arrays[i]
		var err error
		if added[i], err = dst.Add(ctx, it.to, it.add); err != nil {
			return Locate(err, c.dst, it.to, it.to != "")
		}
	}
	for i, b := range added {
		it := &c.plan.arrays[i]
		a, err := src.Array(it.from)
		if err != nil {
			return Locate(err, c.src, it.from, src.Kind() != Single)
		}
		p := pair{carried: it, c: c, a: a}
		p.into(b)
		if err := p.copy(ctx); err != nil {
			return p.located(err)
		}
	}
	return nil
}
