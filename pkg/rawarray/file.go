package rawarray

import (
	"context"
	"errors"
	"io"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open opens a file for reading. All of its header is checked, and that the data
// lies inside the file; see README.md for what is refused.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, errNoUpdate()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{in: in, limits: opt.Limits}
	var h header
	if f.size, err = readHeader(in, &h); err != nil {
		in.Close()
		return nil, err
	}
	f.end = h.end()
	shape := append([]int64{}, h.shape()...)
	f.array = array{
		file:   f,
		spec:   ndfile.Spec{DType: h.dtype, Shape: shape, Extra: h.extra()},
		layout: flat.Layout{File: in, Offset: h.dataOffset(), DType: h.dtype, Shape: shape},
	}
	return f, nil
}

func errNoUpdate() error {
	return ndfile.NewError(ndfile.ErrNotSupported, "a RawArray file cannot be changed in place (mode r+): read it and save a new one, "+
		"or use the command, whose edits write a copy")
}

// readHeader reads the header of an open file and the size of the file.
func readHeader(in vfs.File, h *header) (fileSize int64, err error) {
	var head [maxHeader]byte
	n, err := in.ReadAt(head[:], 0)
	switch {
	case n == len(head):
		fileSize, err = in.Size()
	case errors.Is(err, io.EOF):
		fileSize, err = int64(n), nil
	}
	if err != nil {
		return 0, err
	}
	return fileSize, h.parse(head[:n], fileSize)
}

// file is a file open for reading.
type file struct {
	in     vfs.File
	size   int64 // of the file
	end    int64 // of the data
	limits ndfile.Limits
	array  array
	attrs  ndfile.Attrs // always empty, but for what the caller sets
}

func (f *file) Kind() ndfile.Kind     { return ndfile.Single }
func (f *file) Names() []string       { return names }
func (f *file) Attrs() *ndfile.Attrs  { return &f.attrs }
func (f *file) located(e error) error { return ndfile.Locate(e, f.in.Name(), "", false) }

// names is File.Names of every file.
var names = []string{""}

func (f *file) Array(name string) (ndfile.Array, error) {
	if name != "" {
		return nil, f.located(ndfile.NewError(ndfile.ErrName, "a RawArray file has one array, with the name \"\"").In(name))
	}
	return &f.array, nil
}

func (f *file) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, f.located(ndfile.NewError(ndfile.ErrReadOnly, ""))
}

// Trailing implements [ndfile.Trailer].
func (f *file) Trailing(ctx context.Context) ([]byte, error) {
	n := f.size - f.end
	if n == 0 {
		return nil, nil
	}
	if most := f.limits.Header(); n > most {
		return nil, f.located(wrong(ndfile.ErrLimit, f.end, "trailing bytes", "at most "+decimal(most), decimal(n)))
	}
	data := make([]byte, n)
	if err := flat.ReadFull(ctx, f.in, data, f.end); err != nil {
		return nil, f.located(err)
	}
	return data, nil
}

func (f *file) Close(context.Context) error { return f.Abort() }
func (f *file) Abort() error                { return f.located(f.in.Close()) }

// array is the array of a file open for reading.
type array struct {
	file   *file
	spec   ndfile.Spec
	layout flat.Layout
	attrs  ndfile.Attrs
}

func (a *array) Spec() ndfile.Spec    { return a.spec }
func (a *array) Attrs() *ndfile.Attrs { return &a.attrs }

// ReadBox is as [ndfile.Array] has it. Raw elements can be read as records of
// the same size: their bytes are copied as they are.
func (a *array) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return a.file.located(a.layout.ReadBox(ctx, box, asStored(dst, a.layout.DType)))
}

func (a *array) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return a.file.located(ndfile.NewError(ndfile.ErrReadOnly, ""))
}

// Map implements [ndfile.Mapper]. The bytes are aligned to 8 bytes, also those of
// wider elements.
func (a *array) Map(ctx context.Context) (data []byte, unmap func() error, err error) {
	if err = ctx.Err(); err == nil {
		data, unmap, err = a.layout.Map()
	}
	return data, unmap, a.file.located(err)
}

// asStored views records as the raw elements that a file has of them.
func asStored(b ndarray.Buffer, stored ndarray.DType) ndarray.Buffer {
	if stored.Kind == ndarray.Raw && b.DType.Kind == ndarray.Record && b.DType.Size == stored.Size {
		b.DType = stored
	}
	return b
}
