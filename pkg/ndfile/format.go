package ndfile

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Kind says what a file holds.
type Kind uint8

const (
	// Single is a file that is one array. Its only name is "".
	Single Kind = iota + 1
	// Dataset is a file of named arrays of any shapes.
	Dataset
	// Table is a file of named columns of one length.
	Table
)

// String gives the name used by every API: "array", "dataset" or "table".
func (k Kind) String() string {
	switch k {
	case Single:
		return "array"
	case Dataset:
		return "dataset"
	case Table:
		return "table"
	}
	return "unknown"
}

// Caps is the set of things a format can do.
type Caps uint32

const (
	// CapCreate: new files can be written.
	CapCreate Caps = 1 << iota
	// CapUpdate: an existing file can be opened for changes (mode r+).
	CapUpdate
	// CapWriteOnce: each array is written once, whole or as consecutive
	// blocks of rows; the file becomes visible when it is closed.
	CapWriteOnce
	// CapFileAttrs: the file carries attributes.
	CapFileAttrs
	// CapArrayAttrs: each array carries attributes.
	CapArrayAttrs
	// CapDims: the axes of an array can have names.
	CapDims
	// CapMasked: elements can be missing; arrays implement [Masked].
	CapMasked
	// CapStrings: elements of variable length; arrays implement [Strings].
	CapStrings
	// CapOneShot: the format implements [OneShot].
	CapOneShot
	// CapMap: arrays implement [Mapper].
	CapMap
	// CapTrailing: files implement [Trailer] and CreateOptions.Trailing counts.
	CapTrailing
	// CapChunked: arrays are stored in chunks and implement [Chunked]; the
	// Chunks, Compression and Fill of a Spec count.
	CapChunked
	// CapResize: arrays of single-array files implement [Resizer].
	CapResize
	// CapRows: the format has tables; they implement [RowResizer].
	CapRows
	// CapRemove: files implement [Remover].
	CapRemove
	// CapVerify: the format implements [Verifier].
	CapVerify
	// CapSplit: the format implements [Splitter].
	CapSplit
)

// capNames are the words for the bits of Caps, in bit order.
var capNames = [...]string{"create", "update", "write-once", "file-attrs", "array-attrs", "dims", "masked", "strings", "one-shot", "map", "trailing", "chunked", "resize", "rows", "remove", "verify", "split"}

// Names lists the set as words, in a fixed order.
func (c Caps) Names() []string {
	var names []string
	for i, n := range capNames {
		if c&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Match is how sure a format is that a path is one of its files.
type Match uint8

const (
	// NoMatch: the content is something else.
	NoMatch Match = iota
	// Possible: nothing speaks against it (an old file without a magic, say).
	Possible
	// Certain: the content carries the format's signature.
	Certain
)

// Format is one on-disk format. Implementations are stateless values, safe
// for concurrent use.
type Format interface {
	// Name is the format's name in every API ("ds").
	Name() string
	// Extensions are the file name endings, with the dot, in lower case; the
	// first is the usual one.
	Extensions() []string
	Caps() Caps
	// Detect looks at the content, never at the name. A path that does not
	// exist is an error; one that cannot be this format is NoMatch.
	Detect(ctx context.Context, fsys FS, path string) (Match, error)
	// Open opens an existing file. The format keeps no reference to path.
	Open(ctx context.Context, fsys FS, path string, opt OpenOptions) (File, error)
	// Create starts a new file, which appears at path when it is closed.
	Create(ctx context.Context, fsys FS, path string, opt CreateOptions) (File, error)
}

// File is an open file or folder. After Close and Abort, Kind, Names, Attrs and
// Array.Spec answer as before; every method of the file and of its arrays that gives
// an error gives ErrHandle, whatever its arguments.
type File interface {
	// Kind is what the file holds. In a format that has both arrays and tables
	// (CapRows) the first Add to a new file decides: the name "" makes a Single,
	// any other a Table; until then it is a Table.
	Kind() Kind
	// Names lists the arrays in file order; for [Single] it is [""]. The
	// caller must not change the slice.
	Names() []string
	// Array gives the array of that name. An unknown name is ErrName.
	Array(name string) (Array, error)
	// Add declares a new array. The format keeps a copy of spec.
	Add(ctx context.Context, name string, spec Spec) (Array, error)
	// Attrs are the file's attributes. Changes count when the file is closed;
	// on a file open for reading they are lost.
	Attrs() *Attrs
	// Close commits what was written and releases the file. After an error of
	// a file being created nothing of it is left, and the old one is intact.
	Close(ctx context.Context) error
	// Abort releases the file without committing. It leaves nothing of a
	// created file.
	Abort() error
}

// Array is one array of an open file. It stays usable until the file is
// closed.
type Array interface {
	// Spec describes the array. The caller must not change what it points to.
	Spec() Spec
	// ReadBox copies the box into dst, whose shape is box.Count. The dtype of
	// dst is the array's up to byte order, or an exact widening of it
	// (ndarray.CanConvert). Missing elements in the box are ErrMasked.
	ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error
	// WriteBox stores src, whose shape is box.Count, into the box.
	WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error
	// Attrs are the array's attributes, with the rules of File.Attrs.
	Attrs() *Attrs
}

// Masked is an Array whose elements can be missing.
type Masked interface {
	// ReadMasked is ReadBox with a mask: one byte an element of the box in
	// row-major order, 1 = missing. Data under the mask is zeroed.
	ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error
	// WriteMasked is WriteBox with a mask of the same layout; what src holds
	// under the mask is not stored. A nil mask means nothing is missing.
	WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error
}

// Strings is an Array of dtype "bytes" or "str".
type Strings interface {
	// ReadStrings reads the n elements of the box in row-major order: element
	// i is data[offsets[i]:offsets[i+1]], and len(offsets) is n+1. mask is as
	// in ReadMasked (missing elements are empty) and may be nil, which makes a
	// missing element ErrMasked. need is the number of bytes of all elements;
	// if data is shorter the error is ErrBuffer, and offsets and mask are
	// filled nevertheless.
	ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) (need int64, err error)
	// WriteStrings stores elements laid out as ReadStrings gives them.
	WriteStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) error
}

// Mapper is an Array that can lie in memory as it is on disk.
type Mapper interface {
	// Map gives the array's bytes, read-only and valid until unmap is called,
	// also after the file is closed. Arrays that are masked, of variable
	// length, or not in the machine's byte order are ErrNotSupported, with the
	// reason.
	Map(ctx context.Context) (data []byte, unmap func() error, err error)
}

// Trailer is a File that can hold bytes after its data, which the format keeps
// but gives no meaning to.
type Trailer interface {
	// Trailing reads these bytes of a file open for reading; nil when there are
	// none. More than Limits.MaxHeader of them are ErrLimit.
	Trailing(ctx context.Context) ([]byte, error)
}

// OneShot is a Format that reads or writes a small file in one pass, without
// building a File.
type OneShot interface {
	// Load reads path into the sink. A file that is not of this format is
	// ErrFormat. The format keeps no reference to path.
	Load(ctx context.Context, fsys FS, path string, sink *Sink) error
	// Save writes a whole new file.
	Save(ctx context.Context, fsys FS, path string, items []Item, opt SaveOptions) error
}
