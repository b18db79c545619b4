package ndfile

import "github.com/ndfile/ndfile/pkg/ndarray"

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
	// FS is the file system; nil is OS.
	FS FS
	// Format names the format; "" goes by the content.
	Format string
	Mode   Mode
	Limits Limits
}

// CreateOptions are the options of Create.
type CreateOptions struct {
	// FS is the file system; nil is OS.
	FS FS
	// Format names the format; "" goes by the extension.
	Format string
	// WriteOptions say how the file becomes visible.
	WriteOptions
	// Attrs are the file's attributes to begin with, may be nil.
	Attrs *Attrs
	// Trailing are bytes to follow the data ([Trailer]), at most DefaultMaxHeader;
	// nil writes none. They must stay as they are until the file is closed.
	Trailing []byte
}

// SaveOptions are the options of Save.
type SaveOptions = CreateOptions
