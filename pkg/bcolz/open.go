package bcolz

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open opens a root. Of a carray all metadata are read, of a table the names and
// the lengths of the columns; neither depends on the number of chunks. A table
// whose columns have unequal lengths has that of the shortest; opened for changes
// it is first cut to that.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Lock {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "bcolz has no locks for writers in different processes")
	}
	if opt.Mode == ndfile.Update {
		fsys = vfs.InStore(fsys, path, rootdirsFile, storageFile)
	}
	f := &file{disk: disk{metafile.NewFiles(fsys, opt.FollowSymlinks, opt.Limits)}, path: trimRoot(strings.Clone(path)), kind: ndfile.Table}
	f.root = f.path
	if opt.Mode == ndfile.Update {
		f.mode = updating
	}
	if err := f.open(ctx); err != nil {
		return nil, f.located(err, nil)
	}
	return f, nil
}

func (f *file) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := f.root + "/" + rootdirsFile
	text, err := f.disk.Read(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.openCarray(ctx)
	case errors.Is(err, syscall.ENOTDIR):
		return ndfile.NewError(ndfile.ErrFormat, "expected a folder, found a file")
	case err != nil:
		return err
	}
	doc, err := metafile.Parse(text, f.disk.Limits)
	var names []string
	if err == nil {
		names, err = parseRootdirs(doc)
	}
	if err != nil {
		return ndfile.Locate(err, path, "", false)
	}
	return f.openTable(ctx, names)
}

func (f *file) openCarray(ctx context.Context) error {
	f.kind = ndfile.Single
	c := &column{file: f, dir: f.root}
	if err := c.readSizes(ctx); err != nil {
		return f.explain(err)
	}
	f.columns, f.rows = []*column{c}, c.sizes.shape[0]
	if err := c.load(ctx, f.rows); err != nil {
		return f.explain(err)
	}
	f.attrs = c.attrs
	return nil
}

// explain finds the reason why a root has no metadata.
func (f *file) explain(err error) error {
	var e *ndfile.Error
	if !errors.As(err, &e) || e.Kind != ndfile.ErrCorrupt {
		return err
	}
	p := prober{fsys: f.disk.FS}
	if p.has(f.root+"/"+sizesFile) && p.has(f.root+"/"+storageFile) {
		return err
	}
	if !p.isFolder(f.path) && p.err != nil {
		return p.err
	}
	if p.textTable(f.root) {
		return ndfile.NewError(ndfile.ErrNotSupported, "a table whose columns lie below "+dataFolder+"/, as the text of the format has it; no release of bcolz wrote that")
	}
	if p.has(f.root+"/"+metaFolder) || p.has(f.root+"/"+dataFolder) {
		return err
	}
	return ndfile.NewError(ndfile.ErrFormat, "expected "+rootdirsFile+" or "+metaFolder+"/ in the folder of a bcolz root").Because(err)
}

func (f *file) openTable(ctx context.Context, names []string) (err error) {
	f.columns = make([]*column, len(names))
	for i, name := range names {
		c := &column{file: f, name: name, dir: f.root + "/" + name}
		if err := f.disk.Expect(c.dir, vfs.Dir); err != nil {
			return c.located(missing(err, c.dir))
		}
		if err := c.readSizes(ctx); err != nil {
			return c.located(err)
		}
		f.columns[i] = c
		if n := c.sizes.shape[0]; i == 0 || n < f.rows {
			f.rows = n
		}
	}
	if f.attrs, err = f.disk.attributes(ctx, f.root); err != nil || f.mode == reading {
		return err
	}
	for _, c := range f.columns {
		if err := c.load(ctx, f.rows); err != nil {
			return c.located(err)
		}
	}
	return f.trim(ctx, f.rows)
}
