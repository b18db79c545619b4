package zarr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/internal/chunk"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// array is the array of a file. Beside [ndfile.Array] it implements
// [ndfile.Chunked] and [ndfile.Resizer].
type array struct {
	file   *file
	chunks chunk.Array
	// inner are the chunks in shards, where chunks are shards: elements are read and
	// written through it. nil: they are through chunks.
	inner *chunk.Array
	// parts stands for both where the grid is rectilinear.
	parts *chunk.Rectilinear
	// cleared is a shape, of whole chunks: within it, all that the files hold
	// outside of the array's shape is the fill value. nil: nobody looked.
	cleared []int64
	dirty   atomic.Bool // WriteChunk may have changed that
	// ours is a shape, of whole chunks: what the files hold within it, but outside of
	// the array's shape, was written or cut off in this session. nil: nothing.
	ours []int64
}

// newArray makes the array that f.meta describes.
func (f *file) newArray() (*array, error) {
	m := f.meta
	a := &array{file: f}
	stored := m.dtype
	if stored.IsVar() {
		stored = chunk.TextID
	}
	if m.runs != nil {
		var err error
		a.parts, err = f.newParts(stored)
		return a, err
	}
	a.chunks = chunk.Array{
		FS: f.files.FS, Folder: f.dataPath(), AppendPath: f.chunkPath,
		DType: stored, Chunks: m.chunks, Fill: m.fill, Order: m.order, Codec: m.codec,
		// Without a fill value that makes sense, chunks that are missing are an
		// error.
		Sparse:         m.fillErr == nil,
		FollowSymlinks: f.files.Follow, Write: f.Write,
	}
	if f.Shared() {
		a.chunks.Lock = f.lockChunk
	}
	if err := a.chunks.Init(m.shape); err != nil || m.layout == nil {
		return a, err
	}
	a.inner = &chunk.Array{
		FS: a.chunks.FS, Folder: a.chunks.Folder, AppendPath: f.chunkPath,
		DType: stored, Chunks: m.layout.Chunks, Fill: m.fill, Order: m.layout.Inner.Order(), Codec: chunk.OfChain(m.layout.Inner),
		Shards: &chunk.Shards{Shape: m.chunks, Layout: m.layout},
		Sparse: a.chunks.Sparse, FollowSymlinks: f.files.Follow, Write: f.Write, Lock: a.chunks.Lock,
	}
	return a, a.inner.Init(m.shape)
}

// forget gives back the memory of what was decoded for small reads.
func (a *array) forget() {
	if a.parts != nil {
		a.parts.Forget()
		return
	}
	a.elements().Forget()
}

// elements is what elements are read and written through.
func (a *array) elements() *chunk.Array {
	if a.inner != nil {
		return a.inner
	}
	return &a.chunks
}

// setChunks gives the chunks another shape.
func (a *array) setChunks(shape []int64) error {
	err := a.chunks.SetShape(shape)
	if err == nil && a.inner != nil {
		err = a.inner.SetShape(shape)
	}
	return err
}

// chunkPath appends the path of the file of a chunk.
func (f *file) chunkPath(dst []byte, index []int64) []byte {
	dst = append(dst, f.root...)
	if f.version.data != "" {
		dst = append(append(dst, '/'), f.version.data...)
	}
	if first := f.meta.first; first != nil {
		index = slices.Clone(index)
		for axis := range index {
			index[axis] += first[axis]
		}
	}
	return f.meta.keys.append(append(dst, '/'), index)
}

// public is the array as File.Array gives it.
func (a *array) public() ndfile.Array {
	if a.file.meta.dtype.IsVar() {
		return textArray{a}
	}
	if a.parts != nil {
		return rectilinear{a}
	}
	return a
}

func (a *array) Spec() ndfile.Spec {
	a.file.RLock()
	defer a.file.RUnlock()
	m := a.file.meta
	s := ndfile.Spec{DType: m.dtype, Shape: m.shape, Chunks: m.chunks, Codecs: m.specs, Fill: m.fill,
		Dims: m.dims, Attrs: a.file.attrs, Extra: m.extra}
	if m.layout != nil {
		s.Chunks, s.Shards, s.Codecs = m.layout.Chunks, m.chunks, m.inner
	}
	if m.runs != nil {
		s.Chunks, s.Shards = nil, nil
	}
	return s
}

func (a *array) Attrs() *ndfile.Attrs { return a.file.attrs }

// enter begins a call that reads or writes elements; the caller runs leave.
func (a *array) enter(write bool) (leave func(), err error) {
	f := a.file
	f.RLock()
	if err = f.Check(write); err == nil && write {
		err = a.writable()
	}
	if err != nil {
		f.RUnlock()
		return nil, f.Located(err)
	}
	return f.RUnlock, nil
}

// writable fails where elements and shape cannot be changed.
func (a *array) writable() error {
	if a.parts != nil {
		return ndfile.NewError(ndfile.ErrNotSupported, "an array with the chunk grid \"rectilinear\" is read only").On(a.file.path(a.file.version.meta))
	}
	return ndfile.Locate(a.file.meta.fillErr, a.file.path(a.file.version.meta), "", false)
}

// located names the file, and the fill value where a chunk is missing and there
// is none that makes sense.
func (a *array) located(err error) error {
	if bad := a.file.meta.fillErr; bad != nil && errors.Is(err, fs.ErrNotExist) {
		err = ndfile.Locate(bad, a.file.path(a.file.version.meta), "", false)
	}
	return a.file.Located(err)
}

func (a *array) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	leave, err := a.enter(false)
	if err != nil {
		return err
	}
	defer leave()
	if a.parts != nil {
		return a.located(a.parts.ReadBox(ctx, box, dst))
	}
	return a.located(a.elements().ReadBox(ctx, box, dst))
}

// WriteBox is as [ndfile.Array] has it. Calls from several goroutines, also to
// the same chunks, are safe, and so are several open files of one folder.
func (a *array) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	leave, err := a.enter(true)
	if err != nil {
		return err
	}
	defer leave()
	return a.located(a.elements().WriteBox(ctx, box, src))
}

// ChunkEncoding is "blosc1", or "bytes" for chunks that are not compressed, with the order
// of axes where that is not the usual one; else the codecs.
func (a *array) ChunkEncoding() string {
	e := a.elements()
	if e.Order == nil {
		return e.Codec.Name()
	}
	return fmt.Sprint(e.Codec.Name(), e.Order)
}

// ReadChunk implements [ndfile.Chunked].
func (a *array) ReadChunk(ctx context.Context, index []int64, buf []byte) (raw []byte, size int64, err error) {
	leave, err := a.enter(false)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	raw, size, err = a.elements().ReadChunk(ctx, index, buf)
	return raw, size, a.located(err)
}

// WriteChunk implements [ndfile.Chunked].
func (a *array) WriteChunk(ctx context.Context, index []int64, raw []byte) error {
	leave, err := a.enter(true)
	if err != nil {
		return err
	}
	defer leave()
	if a.inner != nil {
		return a.located(ndfile.NewError(ndfile.ErrNotSupported, "a single chunk of a shard cannot be stored: write whole shards"))
	}
	if check := a.file.version.checkRaw; check != nil {
		if err := check(raw, a.file.meta.compression); err != nil {
			return a.located(err)
		}
	}
	a.dirty.Store(true)
	return a.located(a.chunks.WriteChunk(ctx, index, raw))
}

// WriteShard implements [ndfile.ShardWriter].
func (a *array) WriteShard(ctx context.Context, index []int64, chunk func(index []int64) (raw []byte, err error)) error {
	leave, err := a.enter(true)
	if err != nil {
		return err
	}
	defer leave()
	if a.inner == nil {
		return a.located(ndfile.NewError(ndfile.ErrNotSupported, "the array has no shards"))
	}
	a.dirty.Store(true)
	return a.located(a.inner.WriteShard(ctx, index, chunk))
}
