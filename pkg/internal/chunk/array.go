package chunk

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/cache"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Array is an array in chunks. The exported fields are set before Init and not
// changed afterwards.
//
// ReadBox, WriteBox, ReadChunk, WriteChunk and CheckChunk may be called from
// several goroutines at once: each chunk is read as it was before or after a
// write, and writes to different elements of one chunk are never lost, also not
// between Arrays of one process that stand for the same folder. All other methods
// exclude every other call, which the caller sees to.
//
// An Array keeps what it decoded for small reads, as far as the limit of package
// cache goes and until Forget, and takes no notice when somebody else changes the files: another Array or
// another process.
type Array struct {
	// FS is the file system.
	FS vfs.FS
	// Folder is the folder that holds the chunks. Its identity (not its name)
	// is what locks go by. It need not exist where Sparse is set: the first
	// write makes it, and the folders in it that AppendPath names.
	Folder string
	// AppendPath appends the path of the file of a chunk, which is Folder, a
	// slash and more. It is called from several goroutines at once and does not
	// keep index.
	AppendPath func(dst []byte, index []int64) []byte
	// DType is the type of the elements on disk, of fixed size.
	DType ndarray.DType
	// Chunks is the shape of a chunk, all extents positive.
	Chunks []int64
	// Order tells how the axes of a chunk lie in its decoded bytes: the last of
	// Order is the axis that varies fastest. nil: they are in order.
	Order []int
	// Fill is one element; nil is zeros.
	Fill []byte
	// Codec encodes chunks.
	Codec Codec
	// Shards, where it is set, has several chunks lie in one file. All elements have a
	// fixed size then, and there is no Header; of the methods only SetShape, ReadBox,
	// WriteBox and ReadChunk work.
	Shards *Shards
	// Header is what stands before a chunk in its file; nil is nothing.
	Header Header
	// Sparse: a chunk whose file does not exist has the fill value everywhere.
	// Otherwise it is ErrCorrupt.
	Sparse bool
	// ShortLast: the last chunk along axis 0 is stored with just the rows that
	// there are. When read it may have more, up to a whole chunk.
	ShortLast bool
	// FollowSymlinks: the file of a chunk and the folders between it and Folder
	// may be symbolic links; otherwise that is ErrNotSupported.
	FollowSymlinks bool
	// Write says how chunk files are written. CommitDirect is for an array that
	// is being created: even then a chunk whose old elements are still needed is
	// replaced in one step. CommitAtomic is for files that readers may be looking
	// at; new ones (AppendRows) are written directly. Exclusive is ignored.
	Write vfs.WriteOptions
	// Lock, where it is set, is called around every write of a chunk (from
	// reading its old elements to the rename) and keeps other processes out.
	// index is valid until unlock returns.
	Lock func(ctx context.Context, index []int64) (unlock func() error, err error)

	fs      vfs.FS  // FS, perhaps without symlinks
	remote  bool    // a store: each read is a request
	direct  bool    // chunks are files of nothing but elements, and large: only what is wanted is read
	shape   []int64 // with the rows of tail
	stored  []int64 // what the files hold: without the rows of tail
	grid    []int64 // of stored
	strides []int64 // within a chunk, in bytes
	size    int     // bytes of a chunk
	folder  atomic.Pointer[identity]
	checked atomic.Pointer[string] // the folder of the last chunk that was read, which is no symbolic link
	cache   cache.Cache
	tail    tail

	lastTexts   atomic.Pointer[lastTexts]
	textChanges atomic.Uint64
}

// Header is what a format puts before the encoded chunk in a file.
type Header interface {
	// Size is its length in bytes, at most 64.
	Size() int
	// Append appends the header of a chunk of n encoded bytes.
	Append(dst []byte, n int) []byte
	// Check looks at the header of a file. It fails with ErrCorrupt or ErrNotSupported.
	Check(p []byte) error
}

// Init checks the fields and sets the shape. Everything that a stranger's
// metadata can hold is checked: ranks, extents, overflow of sizes and of the
// number of chunks. Errors: ErrCorrupt, ErrLimit for chunks of more than
// blosc.MaxNBytes, ErrNotSupported for dtypes without a fixed size. Nothing is
// read or allocated in proportion to the numbers.
func (a *Array) Init(shape []int64) error {
	if a.DType.IsVar() || a.DType.Size == 0 {
		return ndfile.NewError(ndfile.ErrNotSupported, "elements of type "+a.DType.String()+" in chunks")
	}
	if err := a.DType.Check(); err != nil {
		return err
	}
	for axis, n := range a.Chunks {
		if n < 1 {
			return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("axis %d: expected chunks of 1 or more, found %d", axis, n))
		}
	}
	size, err := ndarray.NBytes(a.Chunks, a.DType.Size)
	if err != nil || size > blosc.MaxNBytes {
		return ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("chunks of shape %v of %s: expected at most %d bytes", slices.Clone(a.Chunks), a.DType, blosc.MaxNBytes))
	}
	if a.Fill != nil && len(a.Fill) != a.DType.Size && !a.isTexts() {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("fill value of %d bytes, expected %d", len(a.Fill), a.DType.Size))
	}
	if a.ShortLast && len(a.Chunks) == 0 {
		return ndfile.NewError(ndfile.ErrNotSupported, "a scalar in an array of rows")
	}
	if a.strides, err = a.chunkStrides(); err != nil {
		return err
	}
	a.size = int(size)
	a.Write.Exclusive = false
	a.fs = a.FS
	if !a.FollowSymlinks {
		a.fs = vfs.NoFollow(a.FS)
	}
	a.remote = vfs.IsStore(a.FS)
	_, plain := a.Codec.(Plain)
	a.direct = plain && a.Header == nil && !a.remote && a.size > smallSpan
	return a.SetShape(shape)
}

// chunkStrides is the distance in bytes between neighbours along each axis of a chunk.
func (a *Array) chunkStrides() ([]int64, error) {
	if a.Order == nil {
		return ndarray.AppendStrides(nil, a.Chunks, a.DType.Size)
	}
	if a.ShortLast || len(a.Order) != len(a.Chunks) {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "axes out of order in an array of rows")
	}
	stored := make([]int64, len(a.Chunks))
	for i, axis := range a.Order {
		stored[i] = a.Chunks[axis]
	}
	inOrder, err := ndarray.AppendStrides(nil, stored, a.DType.Size)
	strides := make([]int64, len(inOrder))
	for i, axis := range a.Order {
		strides[axis] = inOrder[i]
	}
	return strides, err
}

// Shape is the present shape. The caller must not change it; it stays as it is
// when the array's shape changes.
func (a *Array) Shape() []int64 { return a.shape }

// SetShape changes the shape and forgets what was read. It changes no file: see
// Refill and Dropped. Rows that AppendRows keeps in memory are ErrOrder: flush
// them before. Errors in shape are those of Init.
func (a *Array) SetShape(shape []int64) error {
	if a.tail.rows > 0 {
		return ndfile.NewError(ndfile.ErrOrder, fmt.Sprintf("%d appended rows are not flushed", a.tail.rows))
	}
	if err := a.checkShape(shape); err != nil {
		return err
	}
	a.shape = slices.Clone(shape)
	a.stored = a.shape
	a.grid = a.gridOf(shape)
	a.tail.clear()
	a.tail.checked = false
	a.cache.Clear()
	a.lastTexts.Store(nil)
	return nil
}

// Forget gives back the memory of what was decoded for small reads.
func (a *Array) Forget() { a.cache.Clear() }

func (a *Array) checkShape(shape []int64) error {
	if len(shape) != len(a.Chunks) {
		return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("%d axes, but chunks have %d", len(shape), len(a.Chunks)))
	}
	if _, err := ndarray.NBytes(shape, a.DType.Size); err != nil {
		return ndfile.NewError(ndfile.ErrCorrupt, "").Because(err)
	}
	return nil
}

// Grid is the number of chunks along each axis, those of rows not flushed yet
// included.
func (a *Array) Grid() []int64 { return a.gridOf(a.shape) }

// gridOf is the number of chunks along each axis of an array of some shape.
func (a *Array) gridOf(shape []int64) []int64 {
	grid := make([]int64, len(shape))
	for axis, n := range shape {
		grid[axis] = ceilDiv(n, a.Chunks[axis])
	}
	return grid
}

// ceilDiv is n/d rounded up, for n >= 0 and d > 0.
func ceilDiv(n, d int64) int64 {
	if n == 0 {
		return 0
	}
	return (n-1)/d + 1
}

// extent is the number of elements along an axis that a chunk has within shape.
func (a *Array) extent(shape []int64, axis int, index int64) int64 {
	return min(a.Chunks[axis], shape[axis]-index*a.Chunks[axis])
}

// sizeIn is the number of bytes of a chunk as it is written when the array has
// some shape.
func (a *Array) sizeIn(shape, index []int64) int {
	if !a.ShortLast {
		return a.size
	}
	return int(a.extent(shape, 0, index[0]) * a.strides[0])
}

// checkIndex fails with ErrBounds for what is no chunk, and with ErrOrder for a
// chunk with rows that are not in its file yet.
func (a *Array) checkIndex(index []int64) error {
	ok := len(index) == len(a.grid)
	for axis := 0; ok && axis < len(index); axis++ {
		ok = index[axis] >= 0 && index[axis] < ceilDiv(a.shape[axis], a.Chunks[axis])
	}
	if !ok {
		return ndfile.NewError(ndfile.ErrBounds, fmt.Sprintf("chunk %v, the grid is %v", slices.Clone(index), a.Grid()))
	}
	if a.tail.rows > 0 && index[0] >= a.stored[0]/a.Chunks[0] {
		return ndfile.NewError(ndfile.ErrOrder, fmt.Sprintf("chunk %v has appended rows that are not flushed", slices.Clone(index)))
	}
	return nil
}
