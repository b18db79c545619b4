package bcolz

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// mode says what an open root is for.
type mode uint8

const (
	reading  mode = iota
	updating      // r+
	creating
)

// file is an open root. A Single is a table of one column without a name, all of
// whose files lie in the root itself; its attributes are those of its array.
type file struct {
	disk   disk
	path   string // as the user knows it
	root   string // the folder that is read and written: path or a temporary one
	mode   mode
	write  ndfile.WriteOptions // of a root being created
	folder *vfs.Folder         // the same

	mu       sync.RWMutex // held for writing by what changes anything below
	kind     ndfile.Kind
	columns  []*column
	rows     int64 // of every column, those in memory included
	attrs    *attributes
	changed  bool     // columns were added that are not in __rootdirs__ yet
	trash    []string // folders of columns that are gone
	appended bool     // rows were, whatever came of it
	broken   error    // why rows can neither be added nor removed any more
	closed   bool
}

// Kind implements [ndfile.File].
func (f *file) Kind() ndfile.Kind {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.kind
}

// Names implements [ndfile.File].
func (f *file) Names() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
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
	f.mu.RLock()
	c, loaded := f.column(name)
	f.mu.RUnlock()
	if loaded {
		return c.array(), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, loaded = f.column(name)
	if c == nil {
		return nil, f.located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)), nil)
	}
	err := c.begin(false)
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
		return ndfile.Locate(moved(err, f.root, f.path), f.path, "", false)
	}
	return ndfile.Locate(err, f.path, c.name, f.kind == ndfile.Table)
}

// begin is what every change of the structure begins with, the lock held.
func (f *file) begin(ctx context.Context) error {
	switch {
	case f.closed:
		return ndfile.NewError(ndfile.ErrHandle, "the file is closed")
	case f.mode == reading:
		return ndfile.NewError(ndfile.ErrReadOnly, ndfile.ErrReadOnly.Text)
	}
	return ctx.Err()
}

// Flush implements [ndfile.Flusher]. A file that is being created appears when it
// is closed, and not before.
func (f *file) Flush(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.begin(ctx)
	if err == nil && f.mode == updating {
		err = f.flush(ctx)
	}
	return f.located(err, nil)
}

// flush brings the root on disk up to date.
func (f *file) flush(ctx context.Context) error {
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
		if err := c.attrs.save(&f.disk, c.dir, ndfile.WriteOptions{}, false); err != nil {
			return c.located(err)
		}
	}
	return f.attrs.save(&f.disk, f.root, ndfile.WriteOptions{}, false)
}

// Close implements [ndfile.File].
func (f *file) Close(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.located(ndfile.NewError(ndfile.ErrHandle, "the file is closed"), nil)
	}
	var err error
	switch f.mode {
	case updating:
		if err = ctx.Err(); err == nil {
			err = f.flush(ctx)
		}
	case creating:
		if err = f.finish(ctx); err == nil {
			f.closed = true
			return nil
		}
	}
	f.discard()
	return f.located(err, nil)
}

// Abort implements [ndfile.File]. Of a file open for changes it drops only what
// was not flushed.
func (f *file) Abort() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.located(ndfile.NewError(ndfile.ErrHandle, "the file is closed"), nil)
	}
	return f.located(f.discard(), nil)
}

// discard closes the file and removes what is not part of a root.
func (f *file) discard() error {
	f.closed = true
	if f.mode == creating {
		return f.folder.Abort()
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
