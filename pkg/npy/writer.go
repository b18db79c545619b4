package npy

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Create starts a new file. Its one array is given to Add, which makes its size
// known, and written in any order; an element may be written again. Close
// verifies that all elements were written, else it fails with ndfile.ErrOrder,
// and writes the header.
// Attributes, names of axes and masks are ndfile.ErrNotSupported.
func (format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkFile(&opt); err != nil {
		return nil, err
	}
	out, err := vfs.NewReplace(fsys, path, opt.WriteOptions)
	if err != nil {
		return nil, err
	}
	return &writer{out: out, path: strings.Clone(path)}, nil
}

// checkFile refuses what a file cannot hold.
func checkFile(opt *ndfile.CreateOptions) error {
	switch {
	case opt.Attrs.Len() > 0:
		return errNoAttrs()
	case opt.Trailing != nil:
		return ndfile.NewError(ndfile.ErrNotSupported, "a .npy file has no bytes after its data")
	}
	return nil
}

func errNoAttrs() error {
	return ndfile.NewError(ndfile.ErrNotSupported, "a .npy file has no attributes")
}

// checkArray refuses what an array cannot have.
func checkArray(name string, masked bool, dims []string, attrs, extra *ndfile.Attrs) error {
	switch {
	case name != "":
		return ndfile.NewError(ndfile.ErrArgument, "the array of a .npy file has no name, found "+strconv.Quote(name))
	case masked:
		return ndfile.NewError(ndfile.ErrNotSupported, "a .npy file has no missing elements")
	case len(dims) > 0:
		return ndfile.NewError(ndfile.ErrNotSupported, "a .npy file has no names of axes")
	case attrs.Len() > 0:
		return errNoAttrs()
	case extra.Len() > 0:
		return ndfile.NewError(ndfile.ErrArgument, "extra: a .npy file has no metadata of its own, found "+string(ndfile.AppendJSON(nil, extra)))
	}
	return nil
}

// writer is a file being created.
type writer struct {
	out    *vfs.Replace
	path   string
	array  *newArray // nil before Add
	attrs  ndfile.Attrs
	closed bool // or aborted
}

func (w *writer) Kind() ndfile.Kind     { return ndfile.Single }
func (w *writer) Attrs() *ndfile.Attrs  { return &w.attrs }
func (w *writer) located(e error) error { return ndfile.Locate(e, w.path, "", false) }

func (w *writer) Names() []string {
	if w.array == nil {
		return nil
	}
	return names
}

func (w *writer) Array(name string) (ndfile.Array, error) {
	if w.array == nil || name != "" {
		return nil, w.located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)))
	}
	return w.array, nil
}

// Add declares the array.
func (w *writer) Add(_ context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	a, err := w.add(name, spec)
	if err != nil {
		return nil, w.located(err)
	}
	w.array = a
	return a, nil
}

func (w *writer) add(name string, spec ndfile.Spec) (*newArray, error) {
	if err := checkArray(name, spec.Masked, spec.Dims, spec.Attrs, spec.Extra); err != nil {
		return nil, err
	}
	switch {
	case w.closed:
		return nil, errClosed()
	case w.array != nil:
		return nil, ndfile.NewError(ndfile.ErrNameExists, "a .npy file holds one array")
	case spec.NoData:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "a .npy file has no arrays without data")
	}
	h, head, err := newHeader(spec.DType, spec.Shape)
	if err != nil {
		return nil, err
	}
	return &newArray{file: w, head: head, spec: ndfile.Spec{DType: h.dtype, Shape: h.shape}, block: newBlock(w.out.File(), h)}, nil
}

func errClosed() error { return ndfile.NewError(ndfile.ErrArgument, "the file is closed") }

// Close verifies that the file is complete and makes it visible.
func (w *writer) Close(ctx context.Context) error {
	if w.closed {
		return w.located(errClosed())
	}
	if err := w.finish(ctx); err != nil {
		w.Abort()
		return w.located(err)
	}
	w.closed = true
	return w.located(w.out.Commit())
}

func (w *writer) finish(ctx context.Context) error {
	a := w.array
	switch {
	case a == nil:
		return ndfile.NewError(ndfile.ErrOrder, "a .npy file holds one array, but none was added")
	case w.attrs.Len() > 0, a.attrs.Len() > 0:
		return errNoAttrs()
	}
	count, _ := ndarray.Count(a.spec.Shape) // checked by newHeader
	if k := a.written.FirstMissing(count); k >= 0 {
		return ndfile.NewError(ndfile.ErrOrder, "not completely written: element "+decimal(k)+" is missing")
	}
	return flat.WriteFull(ctx, w.out.File(), a.head, 0)
}

func (w *writer) Abort() error {
	w.closed = true
	return w.located(w.out.Abort())
}

// newArray is the array of a file being created.
type newArray struct {
	file  *writer
	head  []byte
	spec  ndfile.Spec
	block block
	attrs ndfile.Attrs

	mu      sync.Mutex
	written flat.Coverage
}

func (a *newArray) Spec() ndfile.Spec    { return a.spec }
func (a *newArray) Attrs() *ndfile.Attrs { return &a.attrs }

// WriteBox is as [ndfile.Array] has it. It may be called from several goroutines
// whose boxes do not overlap.
func (a *newArray) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if a.file.closed {
		return a.file.located(errClosed())
	}
	err := a.block.layout.WriteBox(ctx, box, src)
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		err = a.written.Add(box, a.spec.Shape)
	}
	return a.file.located(err)
}

func (a *newArray) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return a.file.located(ndfile.NewError(ndfile.ErrNotSupported, "a file that is being written cannot be read: close it first"))
}

// Map is refused, as reading is.
func (a *newArray) Map(ctx context.Context) (data []byte, unmap func() error, err error) {
	return nil, nil, a.ReadBox(ctx, ndarray.Box{}, ndarray.Buffer{})
}
