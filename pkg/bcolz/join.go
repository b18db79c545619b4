package bcolz

import (
	"context"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// newPart starts a root to be made of others.
func newPart(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.SplitOptions) (*file, error) {
	f, err := Format.Create(ctx, fsys, path, ndfile.CreateOptions{WriteOptions: opt.WriteOptions})
	if err != nil {
		return nil, err
	}
	return f.(*file), nil
}

// join fills a new root with rows of others: metadata as the first one has them,
// but for the number of rows, and chunk files as they are.
func (f *file) join(ctx context.Context, spans []span) error {
	first := spans[0]
	f.kind = first.kind
	for i := range first.columns {
		c := &column{file: f, name: first.columns[i].name, fresh: true}
		if err := c.join(ctx, spans, i); err != nil {
			return c.located(err)
		}
		f.columns = append(f.columns, c)
	}
	if f.kind == ndfile.Single {
		return nil
	}
	err := f.copyAttrs(first.attrs, f.Root, f.Write)
	if err == nil {
		err = f.disk.write(f.Root+"/"+rootdirsFile, rootdirsText(f.names()), f.Write)
	}
	return f.Located(err)
}

// join fills a new column with rows of column i of others.
func (c *column) join(ctx context.Context, spans []span, i int) error {
	f, first := c.file, spans[0].columns[i]
	if c.dir = f.Root; c.name != "" {
		c.dir += "/" + c.name
	}
	if err := c.makeFolders(); err != nil {
		return err
	}
	c.storage, c.sizes = first.storage, sizes{shape: slices.Clone(first.spec.Shape)}
	c.sizes.shape[0] = 0
	for _, s := range spans {
		c.sizes.shape[0] += s.rows
	}
	if err := c.copyChunks(ctx, spans, i); err != nil {
		return err
	}
	c.sizes.cbytes = first.chunkBytes() + c.compressed(0, c.wholeChunks(c.sizes.shape[0]))
	text, err := first.file.disk.Read(ctx, first.dir+"/"+storageFile)
	if err != nil {
		return err
	}
	opt := c.writeOptions()
	if err := f.copyAttrs(first.attrs, c.dir, opt); err != nil {
		return err
	}
	if err := f.disk.write(c.dir+"/"+storageFile, text, opt); err != nil {
		return err
	}
	return f.disk.write(c.dir+"/"+sizesFile, c.sizes.text(c.storage.dtype.Size), opt)
}

// copyAttrs writes the attributes of another root, as they are.
func (f *file) copyAttrs(attrs *attributes, dir string, opt ndfile.WriteOptions) error {
	text := attrs.text
	if text == nil {
		text = line(nil)
	}
	return f.disk.write(dir+"/"+attrsFile, text, opt)
}

// copyChunks copies the chunks of spans of column i, one span after the other.
func (c *column) copyChunks(ctx context.Context, spans []span, i int) error {
	type job struct {
		from *column
		k    int64 // there
		n    int64 // rows that it must have
	}
	var jobs []job
	for _, s := range spans {
		from := s.columns[i]
		for row := int64(0); row < s.rows; row += c.storage.chunklen {
			jobs = append(jobs, job{from, (s.first + row) / c.storage.chunklen, min(c.storage.chunklen, s.rows-row)})
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var first error
	err := ndfile.Parallel{}.Each(ctx, int64(len(jobs)), func(ctx context.Context, _ int, i int64) {
		j := jobs[i]
		if err := c.copyChunk(ctx, j.from, j.k, j.n, i); err != nil {
			cancel()
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = err
			}
		}
	})
	if first != nil {
		return first
	}
	return err
}

var pieces = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// copyChunk copies chunk k of another column, of which n rows are needed, to
// chunk to of this one.
func (c *column) copyChunk(ctx context.Context, from *column, k, n, to int64) (err error) {
	path := chunkPath(from.dir, k)
	in, err := from.file.disk.Open(path)
	if err != nil {
		return missing(from.file.disk.Explain(err, path), path)
	}
	defer in.Close()
	size, err := in.Size()
	if err != nil {
		return err
	}
	buf := pieces.Get().(*[256 << 10]byte)
	defer pieces.Put(buf)
	out, err := vfs.NewReplace(c.file.disk.FS, chunkPath(c.dir, to), c.writeOptions())
	if err != nil {
		return err
	}
	for off := int64(0); off < size || off == 0; off += int64(len(buf)) {
		p := buf[:min(int64(len(buf)), size-off)]
		if err = flat.ReadFull(ctx, in, p, off); err == nil && off == 0 {
			err = ndfile.Locate(from.checkHead(p, size, n), path, "", false)
		}
		if err == nil {
			_, err = out.File().WriteAt(p, off)
		}
		if err != nil {
			out.Abort()
			return err
		}
	}
	return out.Commit()
}

// checkHead checks the beginning of a chunk file of some size, of which n rows
// are needed.
func (c *column) checkHead(p []byte, size, n int64) error {
	if err := (blpk{}).Check(p); err != nil {
		return err
	}
	info, err := blosc.Info(p[blpkSize:])
	if err != nil {
		return ndfile.NewError(ndfile.ErrCorrupt, "").Because(err).At(blpkSize)
	}
	row := c.chunkBytes() / c.storage.chunklen
	if have := int64(info.NBytes); have < n*row || have > c.chunkBytes() {
		return ndfile.NewError(ndfile.ErrCorrupt, "expected "+decimal(n)+" to "+decimal(c.storage.chunklen)+" rows of "+decimal(row)+" bytes, found "+decimal(have)+" bytes").At(blpkSize)
	}
	if need := int64(blpkSize + info.CBytes); size < need {
		return ndfile.NewError(ndfile.ErrCorrupt, "the file ends in its chunk: expected "+decimal(need)+" bytes, found "+decimal(size)).At(size)
	}
	return nil
}
