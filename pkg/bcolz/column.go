package bcolz

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"slices"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/chunk"
	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// column is one carray: a column of a table, or all of a Single.
type column struct {
	file *file
	name string
	dir  string // its folder, at present
	// fresh: it was added, and dir is a folder that nobody else looks at;
	// unlisted: it is not in __rootdirs__ yet.
	fresh, unlisted bool
	removed         bool

	sizes     sizes  // what is on disk: shape[0] is the number of rows there
	sizesText []byte // the file, as it was read or written here

	loaded  bool // the rest is known too
	storage storage
	attrs   *attributes
	spec    ndfile.Spec
	chunks  *chunk.Array
}

// readSizes reads what opening a table needs of each column.
func (c *column) readSizes(ctx context.Context) error {
	d := &c.file.disk
	if err := d.Expect(c.dir+"/"+metaFolder, vfs.Dir); err != nil {
		return missing(err, c.dir+"/"+metaFolder)
	}
	path := c.dir + "/" + sizesFile
	text, err := d.Read(ctx, path)
	if err != nil {
		return ndfile.Locate(missing(err, path), path, "", false)
	}
	doc, err := metafile.Parse(text, d.Limits)
	if err == nil {
		c.sizes, err = parseSizes(doc)
	}
	c.sizesText = text
	return ndfile.Locate(err, path, "", false)
}

// load reads the rest. The array gets that many rows, which may be fewer than it
// has on disk.
func (c *column) load(ctx context.Context, rows int64) error {
	f, path := c.file, c.dir+"/"+storageFile
	doc, err := f.disk.document(ctx, path)
	if err == nil {
		c.storage, err = parseStorage(doc)
	}
	if err != nil {
		return ndfile.Locate(err, path, "", false)
	}
	if item := c.storage.item; len(c.sizes.shape) == 1 {
		c.sizes.shape = append(c.sizes.shape, item...)
	}
	if _, err := rowBytes(c.sizes.shape, c.storage.dtype); err != nil {
		e := ndfile.NewError(ndfile.ErrCorrupt, "an array of dtype "+c.storage.dtype.String()).Because(err)
		return e.On(c.dir + "/" + sizesFile).At(c.sizes.at)
	}
	if _, err := c.storage.params(); err != nil && f.Mode != edit.Reading {
		return ndfile.Locate(doc.Place(keyCparams, err), path, "", false)
	}
	shape := slices.Clone(c.sizes.shape)
	shape[0] = rows
	if c.chunks, err = c.newChunks(shape); err != nil {
		return ndfile.Locate(doc.Place(keyChunklen, err), path, "", false)
	}
	if c.attrs == nil {
		if c.attrs, err = f.disk.attributes(ctx, c.dir); err != nil {
			return err
		}
	}
	if err := c.checkData(); err != nil {
		return err
	}
	c.describe()
	return nil
}

// checkData checks the folder of the chunks. Where there are none it may be
// missing.
func (c *column) checkData() error {
	err := c.file.disk.Expect(c.dir+"/"+dataFolder, vfs.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// newChunks makes the array of chunks in the folder of the column.
func (c *column) newChunks(shape []int64) (*chunk.Array, error) {
	dir := c.dir
	p, _ := c.storage.params() // where they are wrong nobody writes
	a := &chunk.Array{
		FS:             c.file.disk.FS,
		Folder:         dir + "/" + dataFolder,
		AppendPath:     func(dst []byte, index []int64) []byte { return appendChunkPath(dst, dir, index[0]) },
		DType:          c.storage.dtype,
		Chunks:         append([]int64{c.storage.chunklen}, shape[1:]...),
		Fill:           c.storage.fill,
		Codec:          chunk.Blosc{Codec: p.Codec, Level: p.Level, Shuffle: p.Shuffle, TypeSize: p.TypeSize, Compat18: p.Compat18},
		Header:         blpk{},
		Sparse:         c.fresh,
		ShortLast:      true,
		FollowSymlinks: c.file.disk.Follow,
		Write:          c.writeOptions(),
	}
	if c.file.Shared() {
		a.Lock = c.lockChunk
	}
	return a, a.Init(shape)
}

// lockChunk is chunk.Array.Lock of a shared store: the columns of a table have one
// row of locks.
func (c *column) lockChunk(ctx context.Context, index []int64) (unlock func() error, err error) {
	name := fnv.New64a()
	io.WriteString(name, c.name)
	return c.file.LockChunk(ctx, int64((name.Sum64()+uint64(index[0]))&(1<<62-1)))
}

// writeOptions are those of the files of the column: where nobody looks at them,
// they are written in place.
func (c *column) writeOptions() ndfile.WriteOptions {
	if c.fresh {
		return ndfile.WriteOptions{Commit: ndfile.CommitDirect, Sync: c.file.Write.Sync}
	}
	return c.file.Write
}

// describe makes the spec of the array as it is, which is all that was missing.
func (c *column) describe() {
	c.loaded = true
	s := &c.storage
	c.spec = ndfile.Spec{
		DType:        s.dtype,
		Shape:        c.chunks.Shape(),
		Chunks:       c.chunks.Chunks,
		Codecs:       s.compression.Codecs(),
		Fill:         s.fill,
		ExpectedRows: s.expectedlen,
		Extra:        s.extra,
	}
}

// rows is the number of rows that the array has, those in memory included.
func (c *column) rows() int64 { return c.chunks.Shape()[0] }

// setRows changes the number of rows, and no file. Nothing is in memory.
func (c *column) setRows(n int64) error {
	shape := slices.Clone(c.chunks.Shape())
	shape[0] = n
	err := c.chunks.SetShape(shape)
	c.spec.Shape = c.chunks.Shape()
	return err
}

// fillRows is n rows of the fill value, without their memory.
func (c *column) fillRows(n int64) (ndarray.Buffer, error) {
	if c.storage.badFill {
		return ndarray.Buffer{}, ndfile.NewError(ndfile.ErrCorrupt, keyDflt+": expected a value of dtype "+c.storage.dtype.String()+" to fill new rows with, found "+
			metafile.Short(c.storage.dflt)).On(c.dir + "/" + storageFile)
	}
	fill := c.storage.fill
	if fill == nil {
		fill = make([]byte, c.storage.dtype.Size)
	}
	shape := slices.Clone(c.chunks.Shape())
	shape[0] = n
	return ndarray.Buffer{DType: c.storage.dtype, Shape: shape, Strides: make([]int64, len(shape)), Data: fill}, nil
}

// begin is what every call on the array begins with, the lock of the file held.
func (c *column) begin(write bool) error {
	if err := c.file.Check(false); err != nil {
		return err
	}
	if c.removed {
		return ndfile.NewError(ndfile.ErrHandle, "the column was removed")
	}
	return c.file.Check(write)
}

// Spec implements [ndfile.Array].
func (c *column) Spec() ndfile.Spec {
	c.file.RLock()
	defer c.file.RUnlock()
	return c.spec
}

// Attrs implements [ndfile.Array].
func (c *column) Attrs() *ndfile.Attrs { return c.attrs.get() }

// ReadBox implements [ndfile.Array].
func (c *column) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	c.file.RLock()
	defer c.file.RUnlock()
	err := c.begin(false)
	if err == nil {
		err = c.chunks.ReadBox(ctx, box, dst)
	}
	return c.located(err)
}

// WriteBox implements [ndfile.Array].
func (c *column) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if err := c.file.settleLocked(ctx); err != nil {
		return c.located(err)
	}
	c.file.RLock()
	defer c.file.RUnlock()
	err := c.begin(true)
	if err == nil {
		err = c.chunks.WriteBox(ctx, box, src)
	}
	return c.located(err)
}

// ChunkEncoding implements [ndfile.Chunked].
func (c *column) ChunkEncoding() string { return chunk.Blosc{}.Name() }

// ReadChunk implements [ndfile.Chunked]. Rows in memory are written first.
func (c *column) ReadChunk(ctx context.Context, index []int64, buf []byte) (raw []byte, size int64, err error) {
	if err := c.lockFlushed(ctx); err != nil {
		return nil, 0, c.located(err)
	}
	defer c.file.RUnlock()
	if err = c.begin(false); err == nil {
		raw, size, err = c.chunks.ReadChunk(ctx, index, buf)
	}
	return raw, size, c.located(err)
}

// WriteChunk implements [ndfile.Chunked]. Rows in memory are written first.
// Chunks whose header names another element size than bcolz needs, and those of a
// codec that bcolz is built without, are ErrNotSupported.
func (c *column) WriteChunk(ctx context.Context, index []int64, raw []byte) error {
	if err := c.file.settleLocked(ctx); err != nil {
		return c.located(err)
	}
	if err := c.lockFlushed(ctx); err != nil {
		return c.located(err)
	}
	defer c.file.RUnlock()
	err := c.begin(true)
	if err == nil {
		err = c.checkChunk(raw)
	}
	if err == nil {
		err = c.chunks.WriteChunk(ctx, index, raw)
	}
	return c.located(err)
}

// lockFlushed locks the file for reading, without rows in memory: they are in no
// chunk.
func (c *column) lockFlushed(ctx context.Context) error {
	f := c.file
	for {
		f.RLock()
		if f.Closed() || c.chunks.Unflushed() == 0 {
			return nil
		}
		f.RUnlock()
		f.Lock()
		err := f.Begin(ctx)
		if err == nil && f.Mode == edit.Updating {
			err = f.flushRows(ctx)
		} else if err == nil {
			err = c.chunks.FlushRows(ctx)
		}
		f.Unlock()
		if err != nil {
			return err
		}
	}
}

// checkChunk refuses chunks that bcolz could not read.
func (c *column) checkChunk(raw []byte) error {
	info, err := blosc.Info(raw)
	if err != nil {
		return nil // the chunk layer says what is wrong
	}
	size, err := typeSize(c.storage.dtype)
	if err == nil && (info.TypeSize != size || info.Codec == blosc.Snappy) {
		err = ndfile.NewError(ndfile.ErrNotSupported, "bcolz cannot read a chunk of "+info.Codec.String()+" with elements of "+decimal(info.TypeSize)+
			" bytes; expected another codec than snappy, and elements of "+decimal(size))
	}
	return err
}

// located gives an error the name of the column, and the folder that the user
// knows in place of a temporary one.
func (c *column) located(err error) error {
	if err == nil {
		return nil
	}
	return c.file.located(edit.Moved(err, c.dir, c.place()), c)
}

// place is where the column lies, or will.
func (c *column) place() string {
	if c.name == "" {
		return c.file.Path
	}
	return c.file.Path + "/" + c.name
}
