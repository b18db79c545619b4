package bcolz

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// file is an open root. A Single is a table of one column without a name, all of
// whose files lie in the root itself; its attributes are those of its array.
type file struct {
	edit.Session
	disk     disk
	kind     ndfile.Kind
	columns  []*column
	rows     int64 // of every column, those in memory included
	attrs    *attributes
	listText []byte   // __rootdirs__, as it was read or written here
	settled  bool     // what other writers may have left is cut: see settleRows
	changed  bool     // columns were added that are not in __rootdirs__ yet
	trash    []string // folders of columns that are gone
	appended bool     // rows were, whatever came of it
	broken   error    // why rows can neither be added nor removed any more
}

// End ends the session, and what was kept of the columns' chunks goes.
func (f *file) End() {
	for _, c := range f.columns {
		if c.chunks != nil {
			c.chunks.Forget()
		}
	}
	f.Session.End()
}

// Kind implements [ndfile.File].
func (f *file) Kind() ndfile.Kind {
	f.RLock()
	defer f.RUnlock()
	return f.kind
}

// Names implements [ndfile.File].
func (f *file) Names() []string {
	f.RLock()
	defer f.RUnlock()
	return f.names()
}

func (f *file) names() []string {
	names := make([]string, len(f.columns))
	for i, c := range f.columns {
		names[i] = c.name
	}
	return names
}

// find gives the position of a column, or -1.
func (f *file) find(name string) int {
	return slices.IndexFunc(f.columns, func(c *column) bool { return c.name == name })
}

// Array implements [ndfile.File]. What a column of a table needs beside its
// length is read when it is first asked for.
func (f *file) Array(name string) (ndfile.Array, error) {
	f.RLock()
	err := f.Check(false)
	c, loaded := f.column(name)
	f.RUnlock()
	if err != nil {
		return nil, f.Located(err)
	}
	if loaded {
		return c.array(), nil
	}
	f.Lock()
	defer f.Unlock()
	c, loaded = f.column(name)
	if c == nil {
		return nil, f.located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)), nil)
	}
	err = c.begin(false)
	if err == nil && !loaded {
		err = c.load(context.Background(), f.rows)
	}
	if err != nil {
		return nil, c.located(err)
	}
	return c.array(), nil
}

// column gives a column, or nil, and whether all of it has been read.
func (f *file) column(name string) (c *column, loaded bool) {
	i := f.find(name)
	if i < 0 {
		return nil, false
	}
	return f.columns[i], f.columns[i].loaded
}

// Attrs implements [ndfile.File].
func (f *file) Attrs() *ndfile.Attrs { return f.attrs.get() }

// located gives an error the path, and the name of a column, which may be nil.
func (f *file) located(err error, c *column) error {
	if c == nil {
		return f.Located(err)
	}
	return ndfile.Locate(err, f.Path, c.name, f.kind == ndfile.Table)
}

// Flush implements [ndfile.Flusher]. A file that is being created appears when it
// is closed, and not before.
func (f *file) Flush(ctx context.Context, opt ndfile.FlushOptions) error {
	f.Lock()
	defer f.Unlock()
	return f.Located(f.Session.Flush(ctx, f.disk.FS, opt, f.flush))
}

// unchanged fails with ErrBusy when somebody else was at work on the metadata.
func (f *file) unchanged(ctx context.Context) error {
	if f.Mode != edit.Updating {
		return nil
	}
	if f.kind == ndfile.Table {
		if err := edit.Unchanged(ctx, &f.disk.Files, f.Root+"/"+rootdirsFile, f.listText); err != nil {
			return err
		}
	}
	for _, c := range f.columns {
		if c.fresh {
			continue
		}
		if err := edit.Unchanged(ctx, &f.disk.Files, c.dir+"/"+sizesFile, c.sizesText); err != nil {
			return c.located(err)
		}
	}
	return nil
}

// flush brings the root on disk up to date.
func (f *file) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.flushRows(ctx); err != nil {
		return err
	}
	if err := f.publish(ctx); err != nil {
		return err
	}
	for _, c := range f.columns {
		if c.attrs == nil {
			continue
		}
		if err := c.attrs.update(ctx, f, c.dir); err != nil {
			return c.located(err)
		}
	}
	return f.attrs.update(ctx, f, f.Root)
}

// Close implements [ndfile.File].
func (f *file) Close(ctx context.Context) error {
	f.Lock()
	defer f.Unlock()
	err := f.Check(false)
	if err != nil {
		return f.Located(err)
	}
	switch f.Mode {
	case edit.Updating:
		err = f.flush(ctx)
	case edit.Creating:
		if err = f.finish(ctx); err == nil {
			f.End()
			return nil
		}
	}
	f.discard()
	return f.Located(err)
}

// Abort implements [ndfile.File]. Of a file open for changes it drops only what
// was not flushed.
func (f *file) Abort() error {
	f.Lock()
	defer f.Unlock()
	err := f.Check(false)
	if err == nil {
		err = f.discard()
	}
	return f.Located(err)
}

// discard closes the file and removes what is not part of a root.
func (f *file) discard() error {
	defer f.End()
	if f.Mode == edit.Creating {
		return f.Folder.Abort()
	}
	f.takeBack(context.Background(), false)
	for _, c := range f.columns {
		if c.unlisted {
			f.trash = append(f.trash, c.dir)
		}
	}
	return f.sweep()
}

func decimal[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }
