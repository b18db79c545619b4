package ndfile

import (
	"time"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Spec describes an array: of a file that exists, or one to be added.
type Spec struct {
	// DType is the stored dtype. Its byte order is the one on disk.
	DType ndarray.DType
	// Shape is row-major; empty for a scalar.
	Shape []int64
	// NoData marks an array that has metadata but neither shape nor data (ds
	// variables with .size null). Reading it is ErrNoData.
	NoData bool
	// Masked says that elements can be missing. To Add it is a permission: an
	// array in which nothing turns out to be missing is stored plain.
	Masked bool
	// Dims are the names of the axes, nil when not given.
	Dims []string
	// Attrs are the attributes given to Add, may be nil.
	Attrs *Attrs
	// Extra is what the array's own metadata holds beyond the fields above, in
	// the format's own terms (ds: the variable's header object, key order
	// included). Passed to Add of the same format it is written back.
	Extra *Attrs
	// Chunks is the shape of a chunk where the array is stored in chunks
	// ([Chunked]), else nil, also where chunks have several shapes (rectilinear
	// grids of zarr3). To Add it is a wish of the caller, nil leaves it to
	// the format; formats that cut only the first axis take the other extents
	// from Shape.
	Chunks []int64
	// Shards is the shape of a shard: the chunks that lie in one file. nil: each
	// chunk has a file. Shards are multiples of Chunks along each axis.
	Shards []int64
	// Codecs make the bytes of a chunk of its elements, the first one first. To Add,
	// nil leaves it to the format; an empty list stores elements as they are. Of Blosc
	// alone there is a short form: [Compression].
	Codecs []codec.Spec
	// Fill is the value of elements that were never written, as the bytes of
	// one element of DType. Nil to Add means the format's default, which is
	// zero; nil in an existing array means that there is none: such elements
	// are undefined to others and zero here.
	Fill []byte
	// ExpectedRows is a hint to Add: the extent that the first axis is expected
	// to grow to, for the choice of Chunks. 0: the extent in Shape.
	ExpectedRows int64
}

// Mode says what an existing file is opened for.
type Mode uint8

const (
	// ReadOnly is mode r.
	ReadOnly Mode = iota
	// Update is mode r+.
	Update
)

// Limits bound what a file from a stranger can make the library allocate.
// Zero fields mean the defaults.
type Limits struct {
	// MaxHeader is the longest header or metadata text in bytes; 64 MiB.
	MaxHeader int64
	// MaxDepth is the deepest nesting of metadata; 200.
	MaxDepth int
}

// DefaultMaxHeader is Limits.MaxHeader where it is zero.
const DefaultMaxHeader = 64 << 20

// Header is MaxHeader or its default.
func (l Limits) Header() int64 {
	if l.MaxHeader > 0 {
		return l.MaxHeader
	}
	return DefaultMaxHeader
}

// OpenOptions are the options of Open.
type OpenOptions struct {
	// FS is the file system; nil is OS. Formats get it as an argument, not here.
	FS FS
	// Format names the format; "" goes by the content.
	Format string
	Mode   Mode
	Limits Limits
	// FollowSymlinks lets the files and folders inside a store be symbolic
	// links, which can lead anywhere; otherwise they are refused. The path
	// itself may always be one.
	FollowSymlinks bool
	// DefaultFill takes elements that equal the value which the format fills what was
	// never written with for missing, in arrays that name no such value themselves. It
	// is for NetCDF, and has no effect elsewhere.
	DefaultFill bool

	// The rest is for Update. One writer at a time has a store open for changes:
	// others wait for up to Timeout and then get ErrBusy, which names the holder.
	// Readers are never kept out.

	// Shared is for writers of regions who share the store with each other:
	// chunks are locked one by one, and changes of shape, arrays and attributes
	// are ErrNotSupported, except in early zarr, whose protocol has them.
	Shared bool
	// Timeout is how long to wait for other writers; 0 is 5 seconds, less than 0
	// is not at all.
	Timeout time.Duration
	// Progress, where it is set, is called about every 50 ms while Open waits,
	// with the milliseconds until then and in all; false is ErrCanceled.
	Progress func(done, total int64) bool
	// RequireLock makes it ErrNotSupported when the file system has no locks;
	// otherwise the store is opened without ([Locked] tells). The lock is then one that
	// other machines see too which have the folder by network.
	RequireLock bool
	// Sync has everything that is written synced to the disk: data before the
	// metadata that tell of them, then the folder.
	Sync bool
}

// DefaultFillKey is the member of an array's Extra that is true if
// OpenOptions.DefaultFill makes elements of it missing. In a new file of the same
// format missing elements then have the same value.
const DefaultFillKey = "default_fill"

// CreateOptions are the options of Create.
type CreateOptions struct {
	// FS is the file system; nil is OS. Formats get it as an argument, not here.
	FS FS
	// Format names the format; "" goes by the extension.
	Format string
	// WriteOptions say how the file becomes visible.
	WriteOptions
	// Attrs are the file's attributes to begin with, may be nil.
	Attrs *Attrs
	// Extra are metadata of the file in the terms of the format, as [FileExtra] of a
	// file of the same format gives them; nil: none.
	Extra *Attrs
	// Trailing are bytes to follow the data ([Trailer]), at most DefaultMaxHeader;
	// nil writes none. They must stay as they are until the file is closed.
	Trailing []byte
	// Timeout and Progress are as in [OpenOptions], where a store is replaced that
	// others have open for changes.
	Timeout  time.Duration
	Progress func(done, total int64) bool
}

// SaveOptions are the options of Save.
type SaveOptions = CreateOptions
