package bcolz

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open opens a root. Of a carray all metadata are read, of a table the names and
// the lengths of the columns; neither depends on the number of chunks. A table
// whose columns have unequal lengths has that of the shortest. Opening changes
// nothing: the first change settles what a writer has left, see settleRows.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	f := &file{kind: ndfile.Table}
	fsys, err := f.Open(ctx, fsys, trimRoot(path), &opt, rootdirsFile, storageFile, sizesFile)
	if f.disk = newDisk(fsys, opt.FollowSymlinks, opt.Limits); err == nil {
		err = f.open(ctx)
	}
	if err = f.Opened(err, &opt); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *file) open(ctx context.Context) error {
	path := f.Root + "/" + rootdirsFile
	text, err := f.disk.Read(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.openCarray(ctx)
	case errors.Is(err, syscall.ENOTDIR):
		return ndfile.NewError(ndfile.ErrFormat, "expected a folder, found a file")
	case err != nil:
		return err
	}
	f.listText = text
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
	c := &column{file: f, dir: f.Root}
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
	if p.has(f.Root+"/"+sizesFile) && p.has(f.Root+"/"+storageFile) {
		return err
	}
	if !p.isFolder(f.Path) && p.err != nil {
		return p.err
	}
	if p.textTable(f.Root) {
		return ndfile.NewError(ndfile.ErrNotSupported, "a table whose columns lie below "+dataFolder+"/, as the text of the format has it; no release of bcolz wrote that")
	}
	if p.has(f.Root+"/"+metaFolder) || p.has(f.Root+"/"+dataFolder) {
		return err
	}
	return ndfile.NewError(ndfile.ErrFormat, "expected "+rootdirsFile+" or "+metaFolder+"/ in the folder of a bcolz root").Because(err)
}

func (f *file) openTable(ctx context.Context, names []string) (err error) {
	f.columns = make([]*column, len(names))
	for i, name := range names {
		c := &column{file: f, name: name, dir: f.Root + "/" + name}
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
	if f.attrs, err = f.disk.attributes(ctx, f.Root); err != nil || f.Mode == edit.Reading {
		return err
	}
	for _, c := range f.columns {
		if err := c.load(ctx, f.rows); err != nil {
			return c.located(err)
		}
	}
	return nil
}
