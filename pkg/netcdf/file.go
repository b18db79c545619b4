package netcdf

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open opens a file for reading. A classic file needs no library. Of NetCDF-4 on a
// file system other than the machine's own the whole file is read into memory, at
// most 2 GiB; without libnetcdf it is ndfile.ErrNotSupported, with what was tried.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "a NetCDF file cannot be changed in place (mode r+): read it and save a new one")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := newFile(path)
	f.defaultFill = opt.DefaultFill
	if err := f.open(ctx, fsys, opt); err != nil {
		return nil, f.located(err)
	}
	return f, nil
}

// file is a file open for reading.
type file struct {
	path    string
	names   []string
	arrays  map[string]*array
	refused []*array // which no dtype is for
	attrs   *ndfile.Attrs
	groups  nodes

	model     model
	dims      *ndfile.Attrs // lengths of the dimensions of the root, in order
	unlimited []string      // names of those without limit
	types     *ndfile.Attrs // of attributes of the root, and by path of groups, as keyTypes has them

	defaultFill bool // as ndfile.OpenOptions has it

	closed atomic.Bool
	in     io.Closer // of a classic file
	lib    library   // of NetCDF-4
}

// library is an open file in libnetcdf.
type library interface{ release() error }

func newFile(path string) *file {
	return &file{path: strings.Clone(path), attrs: ndfile.NewAttrs(), groups: nodes{}, dims: ndfile.NewAttrs(), types: ndfile.NewAttrs(), arrays: map[string]*array{}}
}

func (f *file) open(ctx context.Context, fsys ndfile.FS, opt ndfile.OpenOptions) error {
	in, err := fsys.Open(f.path)
	if err != nil {
		return err
	}
	size, err := in.Size()
	if err == nil {
		var classic bool
		if classic, err = checkContent(ctx, in, size); classic {
			if err = f.openCDF(ctx, in, size, opt.Limits); err == nil {
				return nil
			}
		} else if err == nil {
			err = f.openLibrary(ctx, fsys, in, size, opt)
		}
	}
	in.Close()
	return err
}

// checkContent refuses what is no NetCDF file, before libnetcdf sees it.
func checkContent(ctx context.Context, in vfs.File, size int64) (classic bool, err error) {
	var head [8]byte
	n := min(size, int64(len(head)))
	if err := flat.ReadFull(ctx, in, head[:n], 0); err != nil {
		return false, err
	}
	if isClassic(head[:n]) {
		return true, nil
	}
	found := head
	for at := int64(0); at <= size-8; at = max(512, 2*at) {
		if err := flat.ReadFull(ctx, in, head[:], at); err != nil {
			return false, err
		}
		if string(head[:]) == hdf5Magic {
			return false, nil
		}
	}
	return false, ndfile.NewError(ndfile.ErrFormat, `expected "CDF" and 1, 2 or 5, or the signature of HDF5, found `+strconv.Quote(string(found[:n]))).At(0)
}

// describe takes up the attributes of the root, or of a group, whose path with a
// slash at the end is prefix.
func (f *file) describe(prefix string, atts []attribute) {
	shown := decodeAll(atts, noType)
	if prefix == "" {
		f.attrs = shown
	} else {
		f.groups[strings.TrimSuffix(prefix, "/")] = shown
	}
	types := unusualTypes(atts, shown, noType, f.model)
	for i := range types.Len() {
		name, t := types.At(i)
		f.types.Set(prefix+name, t)
	}
}

// add takes up a variable. One that is refused is not among the names: it does not
// keep the others from being read.
func (f *file) add(a *array) {
	f.arrays[a.name] = a
	if a.refused != nil {
		f.refused = append(f.refused, a)
		return
	}
	f.names = append(f.names, a.name)
}

// describe finds the dtype of a variable of type t, or u where that is one of the
// file's, and what follows from it. One that there is no dtype for is refused.
func (a *array) describe(t ncType, atts []attribute, u *userType) {
	s := &a.spec
	if u != nil {
		t = u.base
	}
	d, ok := dtypeOf(t)
	var text *string
	switch {
	case u != nil && u.dtype.Kind != ndarray.Invalid:
		s.DType, a.user = u.dtype, u
	case ok:
		s.DType, a.user = d, u
		for i := range atts {
			if at := &atts[i]; t == ncByte && at.name == attDType && at.typ == ncChar && string(at.data) == "bool" {
				s.DType = ndarray.DType{Kind: ndarray.Bool, Size: 1}
			}
		}
	case t == ncString:
		s.DType = ndarray.DType{Kind: ndarray.VarString}
	case t == ncChar:
		text = a.describeText()
	default:
		a.refused = ndfile.NewError(ndfile.ErrDType, "NetCDF's "+u.called()+" has no dtype here")
	}
	if a.refused == nil {
		if _, err := ndarray.NBytes(s.Shape, s.DType.Size); err != nil {
			a.refused = err
		}
	}
	if unnamed(s.Dims, s.Shape) && len(a.unlimited) == 0 {
		s.Dims = nil
	}
	a.describeFill(atts)
	s.Masked = a.fills != nil
	a.attrs = decodeAll(atts, s.DType)
	a.describeExtra(atts, text)
}

// describeFill finds which elements are missing.
func (a *array) describeFill(atts []attribute) {
	a.fills = missingValues(atts, a.spec.DType)
	a.filled = a.user == nil && fillsByDefault(a.spec.DType, atts, a.filled)
	if a.filled && a.file.defaultFill {
		a.fills = a.fills.withDefault(a.spec.DType)
	}
}

// describeExtra makes the metadata in NetCDF's own terms, nil where all is as it
// would be written without.
func (a *array) describeExtra(atts []attribute, text *string) {
	o := ndfile.NewAttrs()
	if a.file.model != hdf5 {
		o.Set(keyModel, pyjson.String(a.file.model.String()))
	}
	if len(a.unlimited) > 0 {
		o.Set(keyUnlimited, stringValues(a.unlimited))
	}
	if a.filled && a.spec.DType.Size == 1 && !a.file.model.isCDF() {
		o.Set(keyFill, pyjson.Bool(true))
	}
	if a.filled && a.file.defaultFill {
		o.Set(keyDefaultFill, pyjson.Bool(true))
	}
	if text != nil {
		o.Set(keyText, pyjson.String(*text))
	}
	if types := unusualTypes(atts, a.attrs, a.spec.DType, a.file.model); types.Len() > 0 {
		o.Set(keyTypes, pyjson.ObjectValue(types))
	}
	if a.user != nil {
		a.user.describe(o)
	}
	a.storage.describe(o)
	if o.Len() > 0 {
		a.spec.Extra = o
	}
}

// describeText makes the last axis of characters the length of fixed strings. It
// gives the name of that where it is not the usual one, "" where there is no axis.
func (a *array) describeText() (name *string) {
	s := &a.spec
	a.text, name = 1, new(string)
	if last := len(s.Shape) - 1; last >= 0 {
		a.text = s.Shape[last]
		a.lastText = true
		*name = s.Dims[last]
		if *name == textDimName(a.text) {
			name = nil
		}
		s.Shape, s.Dims = s.Shape[:last], s.Dims[:last]
	}
	if a.text > ndarray.MaxItemSize {
		a.refused = ndfile.NewError(ndfile.ErrLimit, "expected strings of at most "+strconv.Itoa(ndarray.MaxItemSize)+" bytes, found "+strconv.FormatInt(a.text, 10))
		a.text = 0
	}
	s.DType = ndarray.DType{Kind: ndarray.Bytes, Size: int(a.text)}
	return name
}

func (f *file) Kind() ndfile.Kind       { return ndfile.Dataset }
func (f *file) Names() []string         { return f.names }
func (f *file) Attrs() *ndfile.Attrs    { return f.attrs }
func (f *file) located(err error) error { return ndfile.Locate(err, f.path, "", false) }

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

// Array gives a variable. One whose type has no dtype here is ndfile.ErrDType.
func (f *file) Array(name string) (ndfile.Array, error) {
	if err := f.check(false); err != nil {
		return nil, f.located(err)
	}
	a := f.arrays[name]
	switch {
	case a == nil:
		return nil, f.located(ndfile.NewError(ndfile.ErrName, "").In(strings.Clone(name)))
	case a.refused != nil:
		return nil, a.located(a.refused)
	}
	return a.typed(), nil
}

func (f *file) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, f.located(f.check(true))
}

func (f *file) Close(context.Context) error { return f.Abort() }

func (f *file) Abort() (err error) {
	if f.closed.Swap(true) {
		return f.located(ndfile.ErrClosed())
	}
	if f.lib != nil {
		err = f.lib.release()
	}
	if f.in != nil {
		err = f.in.Close()
	}
	return f.located(err)
}
