package main

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// contents is an open file whose arrays and attributes can be exchanged in memory.
// It can only be read.
type contents struct {
	file   ndfile.File
	kind   ndfile.Kind
	names  []string
	arrays map[string]ndfile.Array
	attrs  *ndfile.Attrs
	others shelf // files that some arrays come from
}

// edit changes contents. Errors say which array they are about.
type edit func(ctx context.Context, c *contents) error

// contentsOf gives what is in a file.
func contentsOf(f ndfile.File) (*contents, error) {
	c := &contents{file: f, kind: f.Kind(), names: slices.Clone(f.Names()), arrays: map[string]ndfile.Array{}, attrs: f.Attrs()}
	for _, name := range c.names {
		a, err := f.Array(name)
		if err != nil {
			return nil, ndfile.Locate(err, "", name, true)
		}
		c.arrays[name] = a
	}
	return c, nil
}

func (c *contents) Kind() ndfile.Kind    { return c.kind }
func (c *contents) Names() []string      { return c.names }
func (c *contents) Attrs() *ndfile.Attrs { return c.attrs }

func (c *contents) Array(name string) (ndfile.Array, error) {
	a, ok := c.arrays[name]
	if !ok {
		return nil, ndfile.NewError(ndfile.ErrName, "").In(name)
	}
	return a, nil
}

// Trailing implements [ndfile.Trailer].
func (c *contents) Trailing(ctx context.Context) ([]byte, error) {
	if t, ok := c.file.(ndfile.Trailer); ok {
		return t.Trailing(ctx)
	}
	return nil, nil
}

func (c *contents) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, readOnly()
}

func (c *contents) Close(context.Context) error { return c.Abort() }

func (c *contents) Abort() error {
	c.others.close()
	return c.file.Abort()
}

// editedFormat is a format in which the file at path is seen edited.
// [ndfile.Convert] from it writes the result of the edit: with a plan of what would
// be lost, in bounded memory, whole or not at all, and compared afterwards.
type editedFormat struct {
	ndfile.Format
	path string
	edit edit
}

func (e editedFormat) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	f, err := e.Format.Open(ctx, fsys, path, opt)
	if err != nil || path != e.path {
		return f, err
	}
	c, err := contentsOf(f)
	if err != nil {
		f.Abort()
		return nil, err
	}
	if err := e.edit(ctx, c); err != nil {
		c.Abort()
		return nil, err
	}
	return c, nil
}

// withEdit gives the list of formats in which the file at path is seen edited, and
// the name of its format.
func withEdit(ctx context.Context, path, from string, e edit) ([]ndfile.Format, string, error) {
	f, format, err := ndfile.OpenAs(ctx, all.Formats, path, ndfile.OpenOptions{Format: from})
	if err != nil {
		return nil, "", err
	}
	f.Abort()
	formats := slices.Clone(all.Formats)
	i := slices.IndexFunc(formats, func(f ndfile.Format) bool { return f.Name() == format.Name() })
	formats[i] = editedFormat{format, path, e}
	return formats, format.Name(), nil
}

// sliceEdit selects elements of one array, and only that.
func sliceEdit(t target) edit {
	return func(_ context.Context, c *contents) error {
		names, err := t.names(c, nil)
		if err != nil {
			return err
		}
		a, err := t.array(c, names[0])
		if err == nil {
			c.arrays[names[0]] = a
		}
		return err
	}
}
