package flat

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open opens a file for reading. All of its header is checked, and that the data
// lies inside the file.
func (f *Format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, f.Called+" cannot be changed in place (mode r+): read it and save a new one, "+
			"or use the command, whose edits write a copy")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	r := &file{format: f, limits: opt.Limits}
	if err := r.readHeader(ctx, in); err != nil {
		in.Close()
		return nil, err
	}
	if f.Caps()&ndfile.CapTrailing != 0 {
		return trailed{r}, nil
	}
	return r, nil
}

// file is a file open for reading, and the array in it.
type file struct {
	format *Format
	head   Header
	size   int64 // of the file
	limits ndfile.Limits
	attrs  ndfile.Attrs // always empty, but for what the caller sets
	plain  plain
	mapped Mapped
	closed atomic.Bool
}

func (f *file) readHeader(ctx context.Context, in vfs.File) error {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	head := s.buf[:HeadSize]
	n, err := in.ReadAt(head, 0)
	switch {
	case n == len(head):
		f.size, err = in.Size()
	case errors.Is(err, io.EOF):
		f.size, err = int64(n), nil
	}
	if err != nil {
		return err
	}
	if err = f.format.ReadHeader(ctx, &f.head, in, head[:n], f.size, f.limits); err == nil {
		f.head.Mapped = &f.mapped
	}
	return err
}

func (f *file) Kind() ndfile.Kind     { return ndfile.Single }
func (f *file) Names() []string       { return names }
func (f *file) Attrs() *ndfile.Attrs  { return &f.attrs }
func (f *file) Spec() ndfile.Spec     { return f.head.Spec() }
func (f *file) located(e error) error { return ndfile.Locate(e, f.head.File.Name(), "", false) }

// names is File.Names of every file.
var names = []string{""}

// check is what every call begins with. write: it would change the file.
func (f *file) check(write bool) error {
	switch {
	case f.closed.Load():
		return ndfile.ErrClosed()
	case write:
		return ndfile.NewError(ndfile.ErrReadOnly, "")
	}
	return nil
}

func (f *file) Array(name string) (ndfile.Array, error) {
	if err := f.check(false); err != nil {
		return nil, f.located(err)
	}
	if name != "" {
		return nil, f.located(ndfile.NewError(ndfile.ErrName, f.format.Called+" has one array, with the name \"\"").In(name))
	}
	return f, nil
}

func (f *file) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, f.located(f.check(true))
}

func (f *file) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	err := f.check(false)
	if err != nil {
		return f.located(err)
	}
	l := &f.head.Block
	if f.head.Encoding != nil {
		if l, _, err = f.decoded(ctx); err != nil {
			return f.located(err)
		}
	}
	return f.located(l.ReadBox(ctx, box, dst))
}

// ReadScattered implements [ndfile.Scattered].
func (f *file) ReadScattered(ctx context.Context, starts []int64, n int64, dst ndarray.Buffer) (bool, error) {
	if err := f.check(false); err != nil || f.head.Encoding != nil {
		return false, f.located(err)
	}
	done, err := f.head.ReadScattered(ctx, starts, n, dst)
	return done, f.located(err)
}

func (f *file) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return f.located(f.check(true))
}

// Map implements [ndfile.Mapper]: see [Block.Map].
func (f *file) Map(ctx context.Context) (data []byte, unmap func() error, err error) {
	if err = f.check(false); err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
	case f.head.Encoding != nil:
		err = ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: stored compressed or packed")
	default:
		data, unmap, err = f.head.Map()
	}
	return data, unmap, f.located(err)
}

func (f *file) Close(context.Context) error { return f.Abort() }

func (f *file) Abort() error {
	if f.closed.Swap(true) {
		return f.located(ndfile.ErrClosed())
	}
	f.mapped.Close()
	return f.located(f.head.File.Close())
}

// trailed is a file of a format with trailing bytes.
type trailed struct{ *file }

// Trailing implements [ndfile.Trailer].
func (f trailed) Trailing(ctx context.Context) ([]byte, error) {
	if err := f.check(false); err != nil {
		return nil, f.located(err)
	}
	end := f.head.Offset + f.head.size
	if f.head.Encoding != nil {
		_, n, err := f.decoded(ctx)
		if err != nil {
			return nil, f.located(err)
		}
		end = f.head.Offset + n
	}
	n := f.size - end
	if n == 0 {
		return nil, nil
	}
	if most := f.limits.Header(); n > most {
		return nil, f.located(Wrong(ndfile.ErrLimit, end, "trailing bytes", "at most "+decimal(most), decimal(n)))
	}
	data, err := ndfile.NewBytes(int(n))
	if err != nil {
		return nil, f.located(err)
	}
	if err := ReadFull(ctx, f.head.File, data, end); err != nil {
		return nil, f.located(err)
	}
	return data, nil
}
