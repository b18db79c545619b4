package ndfile

import (
	"context"
	"reflect"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Caps is the set of things a format can do: the bits of [Abilities].
type Caps uint32

// The bits of Caps. [Abilities] says what each means, and what has to be implemented.
const (
	CapCreate Caps = 1 << iota
	CapUpdate
	CapWriteOnce
	CapFileAttrs
	CapArrayAttrs
	CapDims
	CapMasked
	CapStrings
	CapOneShot
	CapMap
	CapTrailing
	CapChunked
	CapResize
	CapRows
	CapRemove
	CapVerify
	CapSplit
	CapMigrate
	CapGroups
)

// Ability is one thing that not every format can do.
type Ability struct {
	Cap Caps
	// Name is the word for it in every API.
	Name string
	// Text says what it means to a user.
	Text string
	// Interface is what implements it, of a Format, a File or an Array; nil where
	// the methods that all have do it.
	Interface reflect.Type
	// Of is what has to implement Interface: "Format", "File" or "Array".
	Of string
	// Also may be implemented beside it.
	Also []reflect.Type
}

// Abilities are all of them, in the order of their bits. Documentation, constants of
// C and the tests of a format are made from this table.
var Abilities = []Ability{
	{Cap: CapCreate, Name: "create", Text: "new files can be written"},
	{Cap: CapUpdate, Name: "update", Text: "existing files can be changed", Also: []reflect.Type{reflect.TypeFor[Flusher](), reflect.TypeFor[Locker](), reflect.TypeFor[StoreLocker]()}},
	{Cap: CapWriteOnce, Name: "write-once", Text: "each array is written once, whole or as consecutive blocks of rows"},
	{Cap: CapFileAttrs, Name: "file-attrs", Text: "files carry attributes", Also: []reflect.Type{reflect.TypeFor[FileExtra](), reflect.TypeFor[ExtraKeeper](), reflect.TypeFor[Unwritten]()}},
	{Cap: CapArrayAttrs, Name: "array-attrs", Text: "arrays carry attributes"},
	{Cap: CapDims, Name: "dims", Text: "axes can have names"},
	{Cap: CapMasked, Name: "masked", Text: "elements can be missing", Interface: reflect.TypeFor[Masked](), Of: "Array"},
	{Cap: CapStrings, Name: "strings", Text: "elements can have a length of their own", Interface: reflect.TypeFor[Strings](), Of: "Array"},
	{Cap: CapOneShot, Name: "one-shot", Text: "small files are read and written in one pass", Interface: reflect.TypeFor[OneShot](), Of: "Format", Also: []reflect.Type{reflect.TypeFor[Loader]()}},
	{Cap: CapMap, Name: "map", Text: "arrays can be mapped into memory", Interface: reflect.TypeFor[Mapper](), Of: "Array", Also: []reflect.Type{reflect.TypeFor[Scattered]()}},
	{Cap: CapTrailing, Name: "trailing", Text: "files can carry bytes after the array", Interface: reflect.TypeFor[Trailer](), Of: "File"},
	{Cap: CapChunked, Name: "chunked", Text: "arrays are stored in chunks, which have codecs and a fill value", Interface: reflect.TypeFor[Chunked](), Of: "Array", Also: []reflect.Type{reflect.TypeFor[ShardWriter]()}},
	{Cap: CapResize, Name: "resize", Text: "arrays that are a file of their own can change their shape", Interface: reflect.TypeFor[Resizer](), Of: "Array"},
	{Cap: CapRows, Name: "rows", Text: "there are tables, whose number of rows can change", Interface: reflect.TypeFor[RowResizer](), Of: "File", Also: []reflect.Type{reflect.TypeFor[Orderer]()}},
	{Cap: CapRemove, Name: "remove", Text: "arrays can be removed", Interface: reflect.TypeFor[Remover](), Of: "File"},
	{Cap: CapVerify, Name: "verify", Text: "files are checked more thoroughly than by reading them", Interface: reflect.TypeFor[Verifier](), Of: "Format"},
	{Cap: CapSplit, Name: "split", Text: "files can be split and joined without touching compressed data", Interface: reflect.TypeFor[Splitter](), Of: "Format"},
	{Cap: CapMigrate, Name: "migrate", Text: "files of other formats can be taken over in place", Interface: reflect.TypeFor[Migrator](), Of: "Format"},
	{Cap: CapGroups, Name: "groups", Text: "arrays can lie in groups, and are named by paths", Interface: reflect.TypeFor[Tree](), Of: "File"},
}

// Names lists the set as words, in the order of the bits.
func (c Caps) Names() []string {
	var names []string
	for _, a := range Abilities {
		if c&a.Cap != 0 {
			names = append(names, a.Name)
		}
	}
	return names
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

// Chunked is an Array stored in chunks on a regular grid: chunk i along an axis
// begins at element i * Spec.Chunks of that axis. A chunk has all of its shape
// in storage, also where it reaches beyond the array, unless the format
// stores only the rows that there are.
type Chunked interface {
	// ChunkEncoding names how the stored bytes of a chunk are made ("blosc1").
	// Arrays of equal encoding, dtype and Spec.Chunks can exchange chunks.
	ChunkEncoding() string
	// ReadChunk gives the stored bytes of a chunk, without what the format puts
	// around them, in buf if it is long enough, and the number of bytes that
	// they decode to. index has one number an axis. raw is nil for a chunk that
	// was never written. The bytes are checked as far as their header goes.
	ReadChunk(ctx context.Context, index []int64, buf []byte) (raw []byte, size int64, err error)
	// WriteChunk stores the bytes of a whole chunk as they are. Bytes that
	// decode to another size, or that other programs of the format could not
	// read, are ErrNotSupported: write the elements instead.
	WriteChunk(ctx context.Context, index []int64, raw []byte) error
}

// ShardWriter is a Chunked array whose chunks can lie in shards (Spec.Shards).
type ShardWriter interface {
	// WriteShard stores all chunks of a shard as they are. index has one number an
	// axis. chunk is called for each chunk of the shard that has elements of the array,
	// with its index in the array, the last axis fastest; it gives what WriteChunk takes,
	// valid until the next call, or nil for a chunk that is not stored. An error of it
	// ends the call, and the shard is as before. It must not use the array's file. Only
	// one chunk is held in memory.
	WriteShard(ctx context.Context, index []int64, chunk func(index []int64) (raw []byte, err error)) error
}

// Resizer is an Array whose shape can change, in a file open for changes or
// being created. Its calls exclude all others on the file.
type Resizer interface {
	// Resize sets the shape; the number of axes stays. Elements that come into
	// being have the fill value, those that fall outside are gone for good.
	Resize(ctx context.Context, shape []int64) error
	// Append grows the array along an axis by the extent that src has there and
	// stores src behind what was there. The other extents are the array's.
	// Formats may keep appended elements in memory until a chunk is full; Flush
	// and Close write them.
	Append(ctx context.Context, axis int, src ndarray.Buffer) error
}

// Trailer is a File that can hold bytes after its data, which the format keeps
// but gives no meaning to.
type Trailer interface {
	// Trailing reads these bytes of a file open for reading; nil when there are
	// none. More than Limits.MaxHeader of them are ErrLimit.
	Trailing(ctx context.Context) ([]byte, error)
}

// Flusher is a File whose changes can be made visible to others before Close.
type Flusher interface {
	// Flush writes what is still in memory. Afterwards readers find everything up
	// to here, and with Sync it survives a power cut.
	Flush(ctx context.Context, opt FlushOptions) error
}

// FlushOptions are the options of Flush.
type FlushOptions struct {
	// Sync writes everything to the disk that was changed since the file was opened:
	// data before metadata, contents before folders. It waits for the disk. A file
	// that is being created is ErrNotSupported.
	Sync bool
}

// StoreLocker is a Format whose stores have a writer lock.
type StoreLocker interface {
	// LockStore keeps other writers out of the store in a folder until release is called.
	// The lock is the same in all formats. ErrBusy: others have it.
	LockStore(ctx context.Context, fsys FS, path string) (release func(), err error)
}

// Locker is a File open for changes that tells how it is kept from other writers.
type Locker interface {
	// Locked reports whether there is a lock at all: some file systems have none.
	Locked() bool
	// Shared reports whether it was opened with OpenOptions.Shared: then the lock
	// is that of a chunk, for the time of a write.
	Shared() bool
}

// Remover is a File that can lose arrays.
type Remover interface {
	// Remove deletes an array and its data, or a group and all that is in it, at once.
	// Its Arrays are unusable afterwards. An unknown name is ErrName.
	Remove(ctx context.Context, name string) error
}

// Tree is a File whose arrays lie in groups. The names of arrays and groups are
// their paths from the root of the file, with "/" between the parts; the root
// itself is "".
//
// In a new file of a format that has single arrays too, the first Add decides: the
// name "" makes a Single, any other, and AddGroup, a Dataset.
type Tree interface {
	// Groups lists the groups below the root, sorted. The caller must not change the
	// slice.
	Groups() []string
	// GroupAttrs are the attributes of a group, with the rules of File.Attrs. An
	// unknown name is ErrName.
	GroupAttrs(ctx context.Context, name string) (*Attrs, error)
	// AddGroup makes a group, and those above it that are missing, as Add does for
	// those above an array. attrs may be nil. A name that is taken is ErrNameExists.
	AddGroup(ctx context.Context, name string, attrs *Attrs) error
	// Rename gives an array or a group, with all that is in it, another name, at
	// once; groups above the new name that are missing are made. Open Arrays stay
	// usable. Errors: ErrName for an unknown name, ErrNameExists for one that is taken.
	Rename(ctx context.Context, from, to string) error
	// Consolidate says whether the root holds copies of all metadata below it, by which
	// a reader opens the file with one request. They are written with the other
	// changes by Flush and Close, and kept true by every change of this library.
	Consolidate(ctx context.Context, on bool) error
}

// RowResizer is a File of kind Table whose number of rows can change. Its calls
// exclude all others on the file. The columns of a table do not change their
// length on their own.
type RowResizer interface {
	// Rows is the number of rows: the length of the shortest column.
	Rows() int64
	// AppendRows adds rows to all columns at once. There is one buffer a column,
	// in the order of Names, and each has the same extent along axis 0. As to
	// memory it is as Resizer.Append.
	AppendRows(ctx context.Context, columns []ndarray.Buffer) error
	// ResizeRows cuts all columns to n rows, or grows them with fill values.
	ResizeRows(ctx context.Context, n int64) error
}

// Orderer is a table whose columns can change their order.
type Orderer interface {
	// Order puts the columns, all of them, into the order of names, at once and for
	// good. Names that are not those of the columns are ErrArgument.
	Order(ctx context.Context, names []string) error
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

// Verifier is a Format that can check a file more thoroughly than by reading it.
type Verifier interface {
	// Verify calls report for each problem, in the calling goroutine. An error
	// means that checking could not go on, not that there are problems.
	Verify(ctx context.Context, fsys FS, path string, opt VerifyOptions, report func(Problem)) error
}

// Splitter is a Format whose stores can be cut into several, and joined, without
// touching compressed data.
type Splitter interface {
	// Split copies the rows of a store, one part after the other, into new
	// stores; chunk files are copied unchanged. Every part but the last ends
	// between chunks of every column, else ErrShape names the nearest rows that
	// do. The parts hold all rows together. Attributes go into every part.
	Split(ctx context.Context, fsys FS, src string, parts []Part, opt SplitOptions) error
	// Concat makes one store of several, one after the other. Names, dtypes,
	// chunks and the shapes of rows must be the same (ErrShape, ErrDType), and
	// every one but the last must end between chunks. Attributes are those of
	// the first.
	Concat(ctx context.Context, fsys FS, srcs []string, dst string, opt SplitOptions) error
}

// Migrator is a Format that can take over stores of other formats in place.
type Migrator interface {
	// Migrate turns the store at path, of the format from, into one of this format.
	// At every moment it is a whole store of one or the other. A format that it
	// cannot take over, or data that it has no place for, is ErrNotSupported or
	// ErrLoss before anything is changed. Where from is this format itself, it
	// completes what was interrupted, or is ErrArgument. Of the options From, To,
	// Name and Overwrite do not count.
	Migrate(ctx context.Context, fsys FS, path string, from Format, opt ConvertOptions) error
}

// Scattered is an Array whose elements can be copied from where they lie, each for
// itself, which is quicker than reading what lies between them.
type Scattered interface {
	// ReadScattered copies runs of n elements, the i-th from element starts[i]*n on
	// (row-major; all lie inside the array), one after the other to dst, which has no
	// gaps. done is false where that is not the way, and nothing was read.
	ReadScattered(ctx context.Context, starts []int64, n int64, dst ndarray.Buffer) (done bool, err error)
}

// Loader is a File that puts its arrays into a sink without making an Array of each.
type Loader interface {
	// Load does what [LoadFile] does.
	Load(ctx context.Context, sink *Sink) error
	// Whole reports whether everything of the file is in memory.
	Whole() bool
}

// FileExtra is a File with metadata of its own beyond arrays and attributes, in the
// format's terms: NetCDF's data model, say.
type FileExtra interface {
	// FileExtra are these metadata. CreateOptions.Extra of the same format takes
	// them. Nil: there are none.
	FileExtra() *Attrs
	// Peculiar lists what a format without a place for it loses.
	Peculiar() []Loss
	// Refused lists arrays that cannot be read, and are not among the names.
	Refused() []Loss
}

// Unwritten is a File whose elements can have the value of what was never written,
// and count as data nevertheless since OpenOptions.DefaultFill was not set.
type Unwritten interface {
	// Unwritten counts such elements of an array.
	Unwritten(ctx context.Context, name string) (int64, error)
}

// ExtraKeeper is a Format that can keep the metadata which arrays and files of other
// formats have in terms of their own, without a meaning.
type ExtraKeeper interface {
	// KeepExtra makes the Extra of an array that carries those of an array of the
	// format from, and of its file where file is not nil.
	KeepExtra(from string, file, array *Attrs) *Attrs
	// KeptExtra is the reverse of KeepExtra: what is there of the format to; nil where
	// there is nothing.
	KeptExtra(to string, extra *Attrs) (file, array *Attrs)
}
