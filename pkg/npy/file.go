package npy

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open opens a file for reading. All of its header is checked, and that the data
// lies inside the file; what follows the data is ignored. See README.md for what
// is refused.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, errNoUpdate("a .npy file")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := newFile(ctx, in, opt.Limits)
	if err != nil {
		in.Close()
		return nil, err
	}
	return f, nil
}

func errNoUpdate(what string) error {
	return ndfile.NewError(ndfile.ErrNotSupported, what+" cannot be changed in place (mode r+): read it and save a new one")
}

// file is a file open for reading.
type file struct {
	in    vfs.File
	array array
	attrs ndfile.Attrs // always empty, but for what the caller sets
}

func newFile(ctx context.Context, in vfs.File, limits ndfile.Limits) (*file, error) {
	size, err := in.Size()
	if err != nil {
		return nil, err
	}
	h, err := readHeader(ctx, in, size, limits)
	if err != nil {
		return nil, err
	}
	f := &file{in: in}
	f.array = array{file: f, spec: ndfile.Spec{DType: h.dtype, Shape: h.shape}, block: newBlock(in, h)}
	return f, nil
}

func (f *file) Kind() ndfile.Kind     { return ndfile.Single }
func (f *file) Names() []string       { return names }
func (f *file) Attrs() *ndfile.Attrs  { return &f.attrs }
func (f *file) located(e error) error { return ndfile.Locate(e, f.in.Name(), "", false) }

// names is File.Names of every file.
var names = []string{""}

func (f *file) Array(name string) (ndfile.Array, error) {
	if name != "" {
		return nil, f.located(ndfile.NewError(ndfile.ErrName, "a .npy file has one array, with the name \"\"").In(name))
	}
	return &f.array, nil
}

func (f *file) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, f.located(ndfile.NewError(ndfile.ErrReadOnly, ""))
}

func (f *file) Close(context.Context) error { return f.Abort() }
func (f *file) Abort() error                { return f.located(f.in.Close()) }

// array is the array of a file open for reading.
type array struct {
	file  *file
	spec  ndfile.Spec
	block block
	attrs ndfile.Attrs
}

func (a *array) Spec() ndfile.Spec    { return a.spec }
func (a *array) Attrs() *ndfile.Attrs { return &a.attrs }

func (a *array) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return a.file.located(a.block.ReadBox(ctx, box, dst))
}

func (a *array) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return a.file.located(ndfile.NewError(ndfile.ErrReadOnly, ""))
}

// Map implements [ndfile.Mapper] for arrays in C order and this machine's byte
// order. NumPy 1.14 and later align the bytes to 64, older versions to 16; other
// writers may not.
func (a *array) Map(ctx context.Context) (data []byte, unmap func() error, err error) {
	if err = ctx.Err(); err == nil {
		data, unmap, err = a.block.Map()
	}
	return data, unmap, a.file.located(err)
}
