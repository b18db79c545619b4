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

// publish makes columns that were added part of the table: each gets its name,
// and at the end __rootdirs__ lists them.
func (f *file) publish(ctx context.Context) error {
	if !f.changed {
		return nil
	}
	for _, c := range f.columns {
		if !c.fresh {
			continue
		}
		if err := c.moveIn(ctx); err != nil {
			return c.located(err)
		}
	}
	if f.Write.Sync { // the folders have their names before they are listed
		if err := f.disk.SyncDir(f.Root); err != nil {
			return err
		}
	}
	if err := f.list(ctx, f.names()); err != nil {
		return err
	}
	for _, c := range f.columns {
		c.unlisted = false
	}
	f.changed = false
	return nil
}

// list writes __rootdirs__.
func (f *file) list(ctx context.Context, names []string) error {
	if err := f.unchanged(ctx); err != nil {
		return err
	}
	text := rootdirsText(names)
	err := f.disk.write(f.Root+"/"+rootdirsFile, text, f.Write)
	if err == nil {
		f.listText = text
	}
	return err
}

// moveIn completes a new column and gives its folder the right name.
func (c *column) moveIn(ctx context.Context) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	temp, dir := c.dir, c.file.Root+"/"+c.name
	if temp != dir {
		if err := c.file.disk.RenameNoReplace(temp, dir); err != nil {
			return err
		}
	}
	c.dir, c.fresh = dir, false
	chunks, err := c.newChunks(c.chunks.Shape())
	if err == nil {
		c.chunks = chunks
	}
	return err
}

// Remove implements [ndfile.Remover], for the columns of a table.
func (f *file) Remove(ctx context.Context, name string) error {
	f.Lock()
	defer f.Unlock()
	err := f.Begin(ctx)
	if err == nil {
		err = f.remove(ctx, name)
	}
	return f.Located(err)
}

func (f *file) remove(ctx context.Context, name string) error {
	i := f.find(name)
	if i < 0 {
		return ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(name)
	}
	c := f.columns[i]
	if f.kind == ndfile.Single {
		return ndfile.NewError(ndfile.ErrNotSupported, "a carray is one array: remove its folder")
	}
	if c.fresh {
		f.forget(i)
		f.trash = append(f.trash, c.dir)
		return c.located(f.sweep())
	}
	if err := f.settleRows(ctx); err != nil {
		return err
	}
	if err := f.flush(ctx); err != nil {
		return err
	}
	return c.located(f.unlist(ctx, i))
}

// Order implements [ndfile.Orderer].
func (f *file) Order(ctx context.Context, names []string) error {
	f.Lock()
	defer f.Unlock()
	return f.Located(f.order(ctx, names))
}

func (f *file) order(ctx context.Context, names []string) error {
	if err := f.beginRows(ctx); err != nil {
		return err
	}
	columns := make([]*column, 0, len(names))
	for _, name := range names {
		if i := f.find(name); i >= 0 && !slices.Contains(columns, f.columns[i]) {
			columns = append(columns, f.columns[i])
		}
	}
	if len(columns) != len(names) || len(columns) != len(f.columns) {
		return ndfile.NewError(ndfile.ErrArgument, "the order of columns: expected each of their names once")
	}
	if f.Mode == edit.Updating {
		if err := f.flush(ctx); err != nil { // so that all are listed
			return err
		}
		if err := f.list(ctx, names); err != nil {
			return err
		}
	}
	f.columns = columns
	return nil
}

// forget removes a column from the list.
func (f *file) forget(i int) {
	f.columns[i].removed = true
	f.columns = slices.Delete(slices.Clone(f.columns), i, i+1)
	if len(f.columns) == 0 {
		f.rows = 0
	}
}

// unlist removes a column from __rootdirs__ first, then its files, under a
// temporary name: what a crash leaves of them is known to be nobody's.
func (f *file) unlist(ctx context.Context, i int) error {
	c := f.columns[i]
	info, err := f.disk.Lstat(c.dir)
	if err != nil {
		return err
	}
	if info.Mode == vfs.Dir {
		if err := c.checkOurs(); err != nil {
			return err
		}
	}
	if err := f.list(ctx, slices.Delete(f.names(), i, i+1)); err != nil {
		return err
	}
	f.forget(i)
	temp, err := vfs.Aside(f.disk.FS, c.dir)
	if err != nil {
		return err
	}
	if info.Mode != vfs.Dir {
		return f.disk.Remove(temp) // a symbolic link; what it leads to stays
	}
	f.trash = append(f.trash, temp)
	return edit.Moved(f.sweep(), temp, c.dir)
}

// sweep removes the folders of columns that are gone. What cannot be removed is
// tried again at the end.
func (f *file) sweep() (err error) {
	f.trash = slices.DeleteFunc(f.trash, func(dir string) bool {
		e := vfs.RemoveTree(f.disk.FS, dir, nil)
		if err == nil {
			err = e
		}
		return e == nil
	})
	return err
}

// checkOurs fails with ErrExists when something is in the folder of the column
// that neither bcolz nor this package write: it is not ours to remove.
func (c *column) checkOurs() error {
	for _, below := range []string{"", metaFolder + "/", dataFolder + "/"} {
		entries, err := c.file.disk.ReadDir(c.dir + "/" + below)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !vfs.IsTempName(e.Name) && !isCarray(strings.Split(below+e.Name, "/"), e.Mode) {
				return ndfile.NewError(ndfile.ErrExists, "it is no part of the column and would be removed with it").On(c.dir + "/" + below + e.Name)
			}
		}
	}
	return nil
}
