package ds

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// file is a ds file open for reading.
type file struct {
	src    source
	head   header
	closed atomic.Bool

	mu     sync.Mutex
	names  []string
	arrays []*array // made when asked for
	attrs  *ndfile.Attrs
	mapped flat.Mapped
	placed bool // head.place has succeeded: the places of the variables are final
}

func (f *file) Kind() ndfile.Kind { return ndfile.Dataset }

func (f *file) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		f.names = make([]string, len(f.head.vars))
		for i := range f.names {
			f.names[i] = string(f.head.vars[i].name)
		}
	}
	return f.names
}

// check is what every call begins with. write: it would change the file.
func (f *file) check(write bool) error {
	switch {
	case f.closed.Load():
		return ndfile.ErrClosed()
	case write:
		return ndfile.NewError(ndfile.ErrReadOnly, ndfile.ErrReadOnly.Text)
	}
	return nil
}

func (f *file) Array(name string) (ndfile.Array, error) {
	if err := f.check(false); err != nil {
		return nil, err
	}
	i := f.head.find(name)
	if i < 0 {
		return nil, ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.arrays[i] == nil {
		a, err := newArray(f, &f.head.vars[i])
		if err != nil {
			return nil, err
		}
		f.arrays[i] = a
	}
	return f.arrays[i], nil
}

func (f *file) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, f.check(true)
}

// Attrs are the attributes of the dataset without the keys that begin with a dot.
func (f *file) Attrs() *ndfile.Attrs {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.attrs == nil {
		o, _ := f.head.object(f.head.attrs) // was parsed before
		f.attrs = attributes(o)
	}
	return f.attrs
}

func (f *file) Close(context.Context) error { return f.Abort() }

func (f *file) Abort() error {
	if f.closed.Swap(true) {
		return ndfile.ErrClosed()
	}
	f.mapped.Close()
	return f.src.file.Close()
}

// place settles the places of all variables, once.
func (f *file) place(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.placed {
		return nil
	}
	if err := f.head.place(ctx, &stored{src: &f.src, head: &f.head}); err != nil {
		return err
	}
	f.placed = true
	return nil
}

// array is one variable of a file open for reading. It implements ndfile.Masked,
// ndfile.Strings and ndfile.Mapper whatever its type; calls that do not fit the
// type are errors.
type array struct {
	stored
	file *file
	spec ndfile.Spec
}

func newArray(f *file, v *variable) (*array, error) {
	o, err := f.head.object(v.raw)
	if err != nil {
		return nil, err
	}
	a := &array{stored: stored{src: &f.src, head: &f.head, v: v}, file: f}
	a.spec = ndfile.Spec{DType: v.dtype(), Shape: v.shape, NoData: v.noData, Masked: v.masked, Attrs: attributes(o), Extra: o}
	a.spec.Dims = dims(o, len(v.shape), v.noData)
	return a, nil
}

// dims are the names in .dims: nil where it is no list of strings, one for each
// axis.
func dims(o *ndfile.Attrs, ndim int, noData bool) []string {
	list, _ := o.Get(".dims")
	items := list.Items()
	if list.Kind() != pyjson.KindList || len(items) != ndim && !noData {
		return nil
	}
	names := make([]string, len(items))
	for i, item := range items {
		var ok bool
		if names[i], ok = item.Str(); !ok {
			return nil
		}
	}
	return names
}

func (a *array) Spec() ndfile.Spec { return a.spec }

func (a *array) Attrs() *ndfile.Attrs { return a.spec.Attrs }

// inArray adds the name of the variable to an error.
func (a *array) inArray(err error) error {
	return ndfile.Locate(err, "", string(a.v.name), true)
}

// begin is what every read starts with.
func (a *array) begin(ctx context.Context, strings bool) error {
	if err := a.file.check(false); err != nil {
		return err
	}
	if err := a.file.place(ctx); err != nil {
		return err
	}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	if a.v.isString() != strings {
		if strings {
			return ndfile.NewError(ndfile.ErrDType, "the elements are "+a.spec.DType.String()+", not strings")
		}
		return ndfile.NewError(ndfile.ErrDType, "the elements are strings (dtype "+strconv.Quote(a.spec.DType.String())+") and have no fixed size")
	}
	return nil
}

func (a *array) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return a.inArray(a.read(ctx, box, dst, nil))
}

func (a *array) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	if mask == nil {
		mask = []byte{} // nil would mean that nothing may be missing
	}
	return a.inArray(a.read(ctx, box, dst, mask))
}

func (a *array) read(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	if err := a.begin(ctx, false); err != nil {
		return err
	}
	if a.v.masked || a.v.code == boolCode {
		return a.readBox(ctx, box, dst, mask)
	}
	if err := checkMask(mask, box.Count); err != nil {
		return err
	}
	clear(mask)
	l := a.block()
	return l.ReadBox(ctx, box, dst)
}

// ReadScattered implements [ndfile.Scattered].
func (a *array) ReadScattered(ctx context.Context, starts []int64, n int64, dst ndarray.Buffer) (bool, error) {
	if err := a.begin(ctx, false); err != nil || a.v.masked || a.v.code == boolCode {
		return false, a.inArray(err)
	}
	l := a.block()
	done, err := l.ReadScattered(ctx, starts, n, dst)
	return done, a.inArray(err)
}

// block is the place of a variable that is plain numbers.
func (a *array) block() flat.Block {
	return flat.Block{File: a.src.file, Offset: a.ix.data, DType: a.spec.DType, Shape: a.v.shape, Mapped: &a.file.mapped}
}

func (a *array) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (int64, error) {
	if err := a.begin(ctx, true); err != nil {
		return 0, a.inArray(err)
	}
	need, err := a.readStrings(ctx, box, offsets, data, mask)
	return need, a.inArray(err)
}

// Map gives the bytes in the file. They are aligned to nothing: a ds file puts
// variables at any offset.
func (a *array) Map(ctx context.Context) (data []byte, unmap func() error, err error) {
	if err = a.file.check(false); err == nil {
		err = a.file.place(ctx)
	}
	if err == nil {
		err = a.prepare(ctx)
	}
	if err == nil {
		switch {
		case a.v.isString():
			err = ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: strings have lengths of their own")
		case a.v.masked:
			err = ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: missing elements are not stored")
		case a.v.code == boolCode:
			err = ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: bool elements are stored as bits")
		}
	}
	if err == nil {
		l := a.block()
		data, unmap, err = l.Map()
	}
	return data, unmap, a.inArray(err)
}

func (a *array) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return a.inArray(a.file.check(true))
}

func (a *array) WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	return a.WriteBox(ctx, box, src)
}

func (a *array) WriteStrings(context.Context, ndarray.Box, []int64, []byte, []byte) error {
	return a.inArray(a.file.check(true))
}
