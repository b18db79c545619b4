//go:build cgo

package netcdf

/*
#include <stdlib.h>
#include "lib.h"
*/
import "C"

import (
	"context"
	"math"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxInMemory is the size of the largest file that is read where libnetcdf cannot
// open it by its path.
const maxInMemory = 1 << 31

// maxGroups bounds the groups of a file, which can contain each other.
const maxGroups = 1 << 16

// Open opens a file for reading. On a file system other than the machine's own the
// whole file is read into memory, at most 2 GiB. Without libnetcdf it is
// ndfile.ErrNotSupported, with what was tried.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "a NetCDF file cannot be changed in place (mode r+): read it and save a new one")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := &file{path: strings.Clone(path), attrs: ndfile.NewAttrs(), arrays: map[string]*array{}}
	if err := f.open(ctx, fsys, opt); err != nil {
		return nil, f.located(err)
	}
	return f, nil
}

// file is a file open for reading.
type file struct {
	path   string
	ncid   C.int
	closed bool // mu guards it
	pin    runtime.Pinner
	names  []string
	arrays map[string]*array
	attrs  *ndfile.Attrs
}

func (f *file) open(ctx context.Context, fsys ndfile.FS, opt ndfile.OpenOptions) error {
	in, err := fsys.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	size, err := in.Size()
	if err != nil {
		return err
	}
	if err := checkContent(ctx, in, size); err != nil {
		return err
	}
	if err := load(); err != nil {
		return err
	}
	var image []byte
	if fsys != ndfile.OS {
		if image, err = readImage(ctx, in, size); err != nil {
			return err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if err := f.openLibrary(image); err != nil {
		f.pin.Unpin()
		return err
	}
	limit, groups := opt.Limits.Header(), maxGroups
	if err := f.readGroup(f.ncid, "", &limit, &groups); err != nil {
		f.release()
		return err
	}
	return nil
}

// checkContent refuses what is no NetCDF file, before libnetcdf sees it.
func checkContent(ctx context.Context, in vfs.File, size int64) error {
	var head [8]byte
	n := min(size, int64(len(head)))
	if err := flat.ReadFull(ctx, in, head[:n], 0); err != nil {
		return err
	}
	if isClassic(head[:n]) {
		return checkClassic(ctx, in, size)
	}
	for at := int64(0); at <= size-8; at = max(512, 2*at) {
		if err := flat.ReadFull(ctx, in, head[:], at); err != nil {
			return err
		}
		if string(head[:]) == hdf5Magic {
			return nil
		}
	}
	return ndfile.NewError(ndfile.ErrFormat, `expected "CDF" and 1, 2 or 5, or the signature of HDF5, found `+strconv.Quote(string(head[:n]))).At(0)
}

// readImage reads a whole file.
func readImage(ctx context.Context, in vfs.File, size int64) ([]byte, error) {
	if size > maxInMemory {
		return nil, ndfile.NewError(ndfile.ErrLimit, "outside of the machine's own file system a NetCDF file has to fit into memory: expected at most "+
			strconv.Itoa(maxInMemory)+" bytes, found "+strconv.FormatInt(size, 10))
	}
	image, err := ndfile.NewBytes(int(size))
	if err != nil {
		return nil, err
	}
	return image, flat.ReadFull(ctx, in, image, 0)
}

// openLibrary opens the file in libnetcdf: by its path, or from its image, which
// libnetcdf keeps. The caller holds mu, as of all that follows.
func (f *file) openLibrary(image []byte) error {
	path, err := libPath(f.path)
	if err != nil {
		return err
	}
	code := withName(path, func(p *C.char) C.int {
		if image == nil {
			return C.ndnc_open(p, ncNoWrite, &f.ncid)
		}
		f.pin.Pin(&image[0])
		return C.ndnc_open_mem(p, ncNoWrite, C.size_t(len(image)), unsafe.Pointer(&image[0]), &f.ncid)
	})
	return failed(code, ndfile.ErrCorrupt, "open")
}

// release closes the file.
func (f *file) release() error {
	if f.closed {
		return nil
	}
	f.closed = true
	code := C.ndnc_close(f.ncid)
	f.pin.Unpin()
	return failed(code, ndfile.ErrIO, "close")
}

// readGroup reads the metadata of a group and of those in it. prefix is its path
// with a slash at the end, "" for the root.
func (f *file) readGroup(ncid C.int, prefix string, limit *int64, groups *int) error {
	atts, err := readAttributes(ncid, ncGlobal, limit)
	if err != nil {
		return err
	}
	shown := decodeAll(atts, ndarray.DType{})
	for i := range shown.Len() {
		name, v := shown.At(i)
		f.attrs.Set(prefix+name, v)
	}
	vars, err := ids(func(n, list *C.int) C.int { return C.ndnc_inq_varids(ncid, n, list) })
	if err != nil {
		return err
	}
	for _, varid := range vars {
		if err := f.readVariable(ncid, varid, prefix, limit); err != nil {
			return err
		}
	}
	children, err := ids(func(n, list *C.int) C.int { return C.ndnc_inq_grps(ncid, n, list) })
	if err != nil {
		return err
	}
	for _, id := range children {
		var name [ncMaxName + 1]C.char
		if err := failed(C.ndnc_inq_grpname(id, &name[0]), ndfile.ErrCorrupt, "group"); err != nil {
			return err
		}
		if *groups--; *groups < 0 || len(prefix) > 1<<15 {
			return ndfile.NewError(ndfile.ErrLimit, "expected at most "+strconv.Itoa(maxGroups)+" groups, and paths of 32768 bytes")
		}
		if err := f.readGroup(id, prefix+C.GoString(&name[0])+"/", limit, groups); err != nil {
			return err
		}
	}
	return nil
}

// ids asks for a list of numbers, first for its length.
func ids(ask func(n, list *C.int) C.int) ([]C.int, error) {
	var n C.int
	if err := failed(ask(&n, nil), ndfile.ErrCorrupt, "metadata"); err != nil {
		return nil, err
	}
	list := make([]C.int, max(1, n))
	err := failed(ask(&n, &list[0]), ndfile.ErrCorrupt, "metadata")
	return list[:n], err
}

// readVariable reads the metadata of a variable. One that there is no dtype for is
// kept with the reason.
func (f *file) readVariable(ncid, varid C.int, prefix string, limit *int64) error {
	var n C.int
	if err := failed(C.ndnc_inq_varndims(ncid, varid, &n), ndfile.ErrCorrupt, "variable"); err != nil {
		return err
	}
	var cname [ncMaxName + 1]C.char
	var typ, natts C.int
	dimids := make([]C.int, n+1)
	if err := failed(C.ndnc_inq_var(ncid, varid, &cname[0], &typ, &n, &dimids[0], &natts), ndfile.ErrCorrupt, "variable"); err != nil {
		return err
	}
	name := prefix + C.GoString(&cname[0])
	a := &array{file: f, name: name, ncid: ncid, varid: varid}
	for _, id := range dimids[:n] {
		var dim [ncMaxName + 1]C.char
		var length C.size_t
		if err := failed(C.ndnc_inq_dim(ncid, id, &dim[0], &length), ndfile.ErrCorrupt, "dimension of "+strconv.Quote(name)); err != nil {
			return err
		}
		if length > math.MaxInt64 {
			return ndfile.NewError(ndfile.ErrLimit, "dimension "+strconv.Quote(C.GoString(&dim[0]))+": expected less than 2^63, found "+
				strconv.FormatUint(uint64(length), 10)).In(name)
		}
		a.spec.Dims = append(a.spec.Dims, C.GoString(&dim[0]))
		a.spec.Shape = append(a.spec.Shape, int64(length))
	}
	atts, err := readAttributes(ncid, varid, limit)
	if err != nil {
		return ndfile.Locate(err, "", name, true)
	}
	a.describe(ncType(typ), atts)
	f.names = append(f.names, name)
	f.arrays[name] = a
	return nil
}

// describe finds the dtype of a variable, and what follows from it.
func (a *array) describe(t ncType, atts []attribute) {
	s := &a.spec
	if t >= firstUserType {
		if base := enumBase(a.ncid, C.int(t)); base != 0 {
			t = base
		}
	}
	d, ok := dtypeOf(t)
	switch {
	case ok:
		s.DType = d
		for i := range atts {
			if at := &atts[i]; t == ncByte && at.name == attDType && at.typ == ncChar && string(at.data) == "bool" {
				s.DType = ndarray.DType{Kind: ndarray.Bool, Size: 1}
			}
		}
	case t == ncString:
		s.DType = ndarray.DType{Kind: ndarray.VarString}
	case t == ncChar:
		a.describeText()
	default:
		a.refused = ndfile.NewError(ndfile.ErrDType, "NetCDF's "+typeName(a.ncid, C.int(t))+" has no dtype here")
	}
	if a.refused == nil {
		if _, err := ndarray.NBytes(s.Shape, s.DType.Size); err != nil {
			a.refused = err
		}
	}
	if unnamed(s.Dims, s.Shape) {
		s.Dims = nil
	}
	a.fills = missingValues(atts, s.DType)
	s.Masked = a.fills != nil
	a.attrs = decodeAll(atts, s.DType)
}

// describeText makes the last axis of characters the length of fixed strings.
func (a *array) describeText() {
	s := &a.spec
	a.text = 1
	if last := len(s.Shape) - 1; last >= 0 {
		a.text = s.Shape[last]
		a.lastText = true
		s.Shape, s.Dims = s.Shape[:last], s.Dims[:last]
	}
	if a.text > ndarray.MaxItemSize {
		a.refused = ndfile.NewError(ndfile.ErrLimit, "expected strings of at most "+strconv.Itoa(ndarray.MaxItemSize)+" bytes, found "+strconv.FormatInt(a.text, 10))
		a.text = 0
	}
	s.DType = ndarray.DType{Kind: ndarray.Bytes, Size: int(a.text)}
}

// enumBase is the type of integers behind an enumeration; 0 for other types.
func enumBase(ncid, typ C.int) ncType {
	var name [ncMaxName + 1]C.char
	var base, kind C.int
	var size, n C.size_t
	if C.ndnc_inq_user_type(ncid, typ, &name[0], &size, &base, &n, &kind) != 0 || kind != ncEnum {
		return 0
	}
	return ncType(base)
}

// typeName describes a user-defined type.
func typeName(ncid, typ C.int) string {
	var name [ncMaxName + 1]C.char
	var base, kind C.int
	var size, n C.size_t
	if C.ndnc_inq_user_type(ncid, typ, &name[0], &size, &base, &n, &kind) != 0 {
		return "type " + strconv.Itoa(int(typ))
	}
	kinds := map[C.int]string{ncVlen: "variable-length", ncOpaque: "opaque", ncEnum: "enumeration", ncCompound: "compound"}
	return kinds[kind] + " type " + strconv.Quote(C.GoString(&name[0]))
}

func (f *file) Kind() ndfile.Kind       { return ndfile.Dataset }
func (f *file) Names() []string         { return f.names }
func (f *file) Attrs() *ndfile.Attrs    { return f.attrs }
func (f *file) located(err error) error { return ndfile.Locate(err, f.path, "", false) }

// check is what every call begins with. write: it would change the file.
func (f *file) check(write bool) error {
	mu.Lock()
	defer mu.Unlock()
	switch {
	case f.closed:
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

func (f *file) Abort() error {
	mu.Lock()
	defer mu.Unlock()
	if f.closed {
		return f.located(ndfile.ErrClosed())
	}
	return f.located(f.release())
}
