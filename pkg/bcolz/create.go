package bcolz

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Create starts a new root: a carray if the first array is called "", else a
// table. It replaces an existing root, but no other folder, and none with files
// that neither bcolz nor this package write. Elements that are not written have
// the fill value.
func (of format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if info, err := fsys.Stat(path); err == nil && info.Mode == vfs.Dir && !opt.Exclusive {
		m, err := of.Detect(ctx, fsys, path)
		if err == nil && m != ndfile.Certain {
			err = ndfile.NewError(ndfile.ErrExists, "the folder is no bcolz root, and therefore not replaced")
		}
		if err != nil {
			return nil, ndfile.Locate(err, path, "", false)
		}
	}
	f := &file{disk: newDisk(fsys, false, ndfile.Limits{}), kind: ndfile.Table, attrs: newAttributes(opt.Attrs)}
	if err := f.Create(ctx, fsys, trimRoot(path), &opt, edit.Replaced{Ours: ours, Signs: []string{rootdirsFile, storageFile, sizesFile}}); err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	return f, nil
}

// Add implements [ndfile.File]. The columns of a table have the same number of
// rows. A column added to an existing table becomes part of it with the next
// Flush or Close, or change of the number of rows.
func (f *file) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	f.Lock()
	defer f.Unlock()
	c, err := f.add(ctx, strings.Clone(name), &spec)
	if err != nil {
		return nil, ndfile.Locate(f.Located(err), "", name, f.kind == ndfile.Table)
	}
	return c.array(), nil
}

func (f *file) add(ctx context.Context, name string, spec *ndfile.Spec) (*column, error) {
	if err := f.Begin(ctx); err != nil {
		return nil, err
	}
	if err := f.checkAdd(name, spec); err != nil {
		return nil, err
	}
	if err := f.settleRows(ctx); err != nil {
		return nil, err
	}
	c := &column{file: f, name: name, fresh: true, unlisted: true, dir: f.Root, attrs: f.attrs}
	var err error
	if name != "" {
		c.attrs = newAttributes(spec.Attrs)
		if c.dir = f.Root + "/" + name; f.Mode == edit.Updating {
			if c.dir, err = vfs.Beside(f.disk.FS, c.dir); err != nil {
				return nil, err
			}
		}
	}
	if c.storage, err = newStorage(spec); err != nil {
		return nil, err
	}
	if c.chunks, err = c.newChunks(spec.Shape); err != nil {
		return nil, err
	}
	c.sizes.shape = c.chunks.Shape()
	c.describe()
	if err := c.makeFolders(); err != nil {
		return nil, edit.Moved(err, c.dir, c.place())
	}
	if name == "" {
		if err := f.attrs.merge(spec.Attrs); err != nil {
			c.removeFolders(len(c.folders()))
			return nil, err
		}
		f.kind = ndfile.Single
	}
	f.columns, f.rows, f.changed = append(f.columns, c), spec.Shape[0], true
	return c, nil
}

// checkAdd refuses what cannot be added.
func (f *file) checkAdd(name string, spec *ndfile.Spec) error {
	switch {
	case spec.Masked:
		return ndfile.NewError(ndfile.ErrNotSupported, "bcolz has no missing elements")
	case spec.NoData:
		return ndfile.NewError(ndfile.ErrNotSupported, "bcolz has no arrays without data")
	case len(spec.Dims) > 0:
		return ndfile.NewError(ndfile.ErrNotSupported, "bcolz has no names of axes")
	case f.kind == ndfile.Single:
		return ndfile.NewError(ndfile.ErrNotSupported, "a carray is one array; columns belong into a table")
	case name == "" && f.Mode == edit.Creating && len(f.columns) == 0:
		return nil
	}
	if bad := badNewName(name); bad != "" {
		return ndfile.NewError(ndfile.ErrArgument, bad)
	}
	if f.find(name) >= 0 {
		return ndfile.NewError(ndfile.ErrNameExists, ndfile.ErrNameExists.Text)
	}
	if len(f.columns) > 0 && len(spec.Shape) > 0 && spec.Shape[0] != f.rows {
		return ndfile.NewError(ndfile.ErrShape, "the columns of the table have "+decimal(f.rows)+" rows, this one "+decimal(spec.Shape[0]))
	}
	if f.Mode == edit.Creating {
		return nil
	}
	_, err := f.disk.Lstat(f.Root + "/" + name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = ndfile.NewError(ndfile.ErrExists, "something of that name lies in the folder, but is no column of the table").On(f.Root + "/" + name)
	}
	return err
}

// folders are those of a column, from the outermost on.
func (c *column) folders() []string {
	folders := []string{c.dir + "/" + metaFolder, c.dir + "/" + dataFolder}
	if c.name != "" {
		folders = slices.Insert(folders, 0, c.dir)
	}
	return folders
}

// makeFolders makes the folders of a new column; after an error there is none.
func (c *column) makeFolders() error {
	for i, path := range c.folders() {
		if err := c.file.disk.Mkdir(path); err != nil {
			c.removeFolders(i)
			return err
		}
	}
	return nil
}

// removeFolders removes the first n folders of a column, which are empty.
func (c *column) removeFolders(n int) {
	for _, path := range slices.Backward(c.folders()[:n]) {
		c.file.disk.Rmdir(path)
	}
}

// finish writes the metadata of a new root and gives it its name.
func (f *file) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, c := range f.columns {
		if err := c.settle(ctx); err != nil {
			return c.located(err)
		}
	}
	if f.kind == ndfile.Table {
		if err := f.attrs.save(&f.disk, f.Root, f.Write); err != nil {
			return err
		}
		if err := f.disk.write(f.Root+"/"+rootdirsFile, rootdirsText(f.names()), f.Write); err != nil {
			return err
		}
	}
	return f.Folder.Commit()
}
