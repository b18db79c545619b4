package flat

import (
	"context"
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Create starts a new file. Its one array is given to Add, which makes its size
// known, and written in any order; an element may be written again. Close
// verifies that all elements were written, else it fails with ndfile.ErrOrder,
// and writes the header.
// Attributes, names of axes and masks are ndfile.ErrNotSupported.
func (f *Format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.checkFile(&opt); err != nil {
		return nil, err
	}
	out, err := vfs.NewReplace(fsys, path, opt.WriteOptions)
	if err != nil {
		return nil, err
	}
	return &writer{format: f, out: out, path: strings.Clone(path), trailing: opt.Trailing}, nil
}

// writer is a file being created, and the array in it once that was added.
type writer struct {
	format   *Format
	out      *vfs.Replace
	path     string
	trailing []byte
	attrs    ndfile.Attrs
	closed   bool // or aborted

	head   []byte  // of the array; nil before Add
	parsed Header  // what it says
	plain  *memory // an array to be encoded

	mu      sync.Mutex
	written Coverage
}

func (w *writer) Kind() ndfile.Kind     { return ndfile.Single }
func (w *writer) Attrs() *ndfile.Attrs  { return &w.attrs }
func (w *writer) located(e error) error { return ndfile.Locate(e, w.path, "", false) }

func (w *writer) Names() []string {
	if w.head == nil {
		return nil
	}
	return names
}

func (w *writer) Array(name string) (ndfile.Array, error) {
	if w.closed {
		return nil, w.located(ndfile.ErrClosed())
	}
	if w.head == nil || name != "" {
		return nil, w.located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)))
	}
	return w, nil
}

// Add declares the array. Its Spec.DType is what lies in the file.
func (w *writer) Add(_ context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	if err := w.add(name, spec); err != nil {
		return nil, w.located(err)
	}
	return w, nil
}

func (w *writer) add(name string, spec ndfile.Spec) (err error) {
	switch {
	case w.closed:
		return ndfile.ErrClosed()
	case w.head != nil:
		return ndfile.NewError(ndfile.ErrNameExists, w.format.Called+" holds one array")
	}
	w.head, err = w.format.NewHeader(&w.parsed, nil, name, spec)
	w.parsed.File = w.out.File()
	if err == nil && w.parsed.Encoding != nil {
		w.plain = &memory{}
	}
	return err
}

func (w *writer) Spec() ndfile.Spec { return w.parsed.Spec() }

// WriteBox is as [ndfile.Array] has it. It may be called from several goroutines
// whose boxes do not overlap.
func (w *writer) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if w.closed {
		return w.located(ndfile.ErrClosed())
	}
	l := w.parsed.Block
	if w.plain != nil {
		l.File, l.Offset = w.plain, 0
	}
	err := l.WriteBox(ctx, box, src)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		err = w.written.Add(box, w.parsed.Shape)
	}
	return w.located(err)
}

func (w *writer) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	if w.closed {
		return w.located(ndfile.ErrClosed())
	}
	return w.located(ndfile.NewError(ndfile.ErrNotSupported, "a file that is being written cannot be read: close it first"))
}

// Map is refused, as reading is.
func (w *writer) Map(ctx context.Context) (data []byte, unmap func() error, err error) {
	return nil, nil, w.ReadBox(ctx, ndarray.Box{}, ndarray.Buffer{})
}

// Close verifies that the file is complete and makes it visible.
func (w *writer) Close(ctx context.Context) error {
	if w.closed {
		return w.located(ndfile.ErrClosed())
	}
	if err := w.finish(ctx); err != nil {
		w.abort()
		return w.located(err)
	}
	w.closed = true
	return w.located(w.out.Commit())
}

func (w *writer) finish(ctx context.Context) error {
	switch {
	case w.head == nil:
		return ndfile.NewError(ndfile.ErrOrder, w.format.Called+" holds one array, but none was added")
	case w.attrs.Len() > 0:
		return w.format.errNoAttrs()
	}
	count, _ := ndarray.Count(w.parsed.Shape) // checked by Add
	if k := w.written.FirstMissing(count); k >= 0 {
		return ndfile.NewError(ndfile.ErrOrder, "not completely written: element "+decimal(k)+" is missing")
	}
	end := w.parsed.Offset + w.parsed.size
	if w.plain != nil {
		body, err := w.parsed.Encoding.Encode(w.head, w.plain.data)
		if err != nil {
			return err
		}
		if err := WriteFull(ctx, w.out.File(), body, w.parsed.Offset); err != nil {
			return err
		}
		end = w.parsed.Offset + int64(len(body))
	}
	if err := WriteFull(ctx, w.out.File(), w.head, 0); err != nil {
		return err
	}
	return WriteFull(ctx, w.out.File(), w.trailing, end)
}

func (w *writer) Abort() error {
	if w.closed {
		return w.located(ndfile.ErrClosed())
	}
	return w.located(w.abort())
}

func (w *writer) abort() error {
	w.closed = true
	return w.out.Abort()
}
