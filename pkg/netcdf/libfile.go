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
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxInMemory is the size of the largest file that is read where libnetcdf cannot
// open it by its path.
const maxInMemory = 1 << 31

// maxGroups bounds the groups of a file, which can contain each other.
const maxGroups = 1 << 16

// libFile is a file that libnetcdf has open.
type libFile struct {
	*file
	ncid    C.int
	pin     runtime.Pinner
	noLimit map[C.int]bool // dimensions
}

// openLibrary describes a file of NetCDF-4. in is closed.
func (f *file) openLibrary(ctx context.Context, fsys ndfile.FS, in vfs.File, size int64, opt ndfile.OpenOptions) error {
	if err := load(); err != nil {
		return err
	}
	var image []byte
	if fsys != ndfile.OS {
		var err error
		if image, err = readImage(ctx, in, size); err != nil {
			return err
		}
	}
	in.Close()
	l := &libFile{file: f, noLimit: map[C.int]bool{}}
	mu.Lock()
	defer mu.Unlock()
	if err := l.start(f.path, image); err != nil {
		l.pin.Unpin()
		return err
	}
	limit, groups := opt.Limits.Header(), maxGroups
	if err := l.readAll(&limit, &groups); err != nil {
		l.close()
		return err
	}
	f.lib = l
	return nil
}

// readAll reads the metadata. The caller holds mu, as of all that follows.
func (f *libFile) readAll(limit *int64, groups *int) error {
	var kind C.int
	if err := failed(C.ndnc_inq_format(f.ncid, &kind), ndfile.ErrCorrupt, "data model"); err != nil {
		return err
	}
	if kind == ncFormatNetCDF4Classic {
		f.model = hdf5Classic
	}
	return f.readGroup(f.ncid, "", limit, groups)
}

// readDims reads the dimensions of a group: which have no limit, and of the root all.
func (f *libFile) readDims(ncid C.int, prefix string) error {
	unlimited, err := ids(func(n, list *C.int) C.int { return C.ndnc_inq_unlimdims(ncid, n, list) })
	if err != nil {
		return err
	}
	for _, id := range unlimited {
		f.noLimit[id] = true
	}
	if prefix != "" {
		return nil
	}
	all, err := ids(func(n, list *C.int) C.int { return C.ndnc_inq_dimids(ncid, n, list, 0) })
	if err != nil {
		return err
	}
	for _, id := range all {
		var name [ncMaxName + 1]C.char
		var length C.size_t
		if err := failed(C.ndnc_inq_dim(ncid, id, &name[0], &length), ndfile.ErrCorrupt, "dimension"); err != nil {
			return err
		}
		f.dims.Set(C.GoString(&name[0]), pyjson.Uint(uint64(length)))
		if f.noLimit[id] {
			f.unlimited = append(f.unlimited, C.GoString(&name[0]))
		}
	}
	return nil
}

// readStorage reads how elements are kept.
func (a *array) readStorage(ncid, varid, ndims C.int) error {
	if ndims == 0 {
		return nil
	}
	var kind, shuffle, deflate, level, fletcher C.int
	chunks := make([]C.size_t, ndims)
	if err := failed(C.ndnc_inq_var_chunking(ncid, varid, &kind, &chunks[0]), ndfile.ErrCorrupt, "chunks"); err != nil || kind != ncChunked {
		return err
	}
	for _, n := range chunks {
		a.storage.chunks = append(a.storage.chunks, int64(n))
	}
	if err := failed(C.ndnc_inq_var_deflate(ncid, varid, &shuffle, &deflate, &level), ndfile.ErrCorrupt, "filters"); err != nil {
		return err
	}
	if deflate != 0 {
		a.storage.deflate = int(level)
	}
	a.storage.shuffle = shuffle != 0
	if err := failed(C.ndnc_inq_var_fletcher32(ncid, varid, &fletcher), ndfile.ErrCorrupt, "filters"); err != nil {
		return err
	}
	a.storage.fletcher32 = fletcher != 0
	return nil
}

// readImage reads a whole file.
func readImage(ctx context.Context, in vfs.File, size int64) ([]byte, error) {
	if size > maxInMemory {
		return nil, ndfile.NewError(ndfile.ErrLimit, "outside of the machine's own file system a NetCDF-4 file has to fit into memory: expected at most "+
			strconv.Itoa(maxInMemory)+" bytes, found "+strconv.FormatInt(size, 10))
	}
	image, err := ndfile.NewBytes(int(size))
	if err != nil {
		return nil, err
	}
	return image, flat.ReadFull(ctx, in, image, 0)
}

// start opens the file in libnetcdf: by its path, or from its image, which
// libnetcdf keeps. The caller holds mu, as of all that follows.
func (l *libFile) start(name string, image []byte) error {
	path, err := libPath(name)
	if err != nil {
		return err
	}
	code := withName(path, func(p *C.char) C.int {
		if image == nil {
			return C.ndnc_open(p, ncNoWrite, &l.ncid)
		}
		l.pin.Pin(&image[0])
		return C.ndnc_open_mem(p, ncNoWrite, C.size_t(len(image)), unsafe.Pointer(&image[0]), &l.ncid)
	})
	return failed(code, ndfile.ErrCorrupt, "open")
}

// release closes the file.
func (l *libFile) release() error {
	mu.Lock()
	defer mu.Unlock()
	return l.close()
}

func (l *libFile) close() error {
	code := C.ndnc_close(l.ncid)
	l.pin.Unpin()
	return failed(code, ndfile.ErrIO, "close")
}

// readGroup reads the metadata of a group and of those in it. prefix is its path
// with a slash at the end, "" for the root.
func (f *libFile) readGroup(ncid C.int, prefix string, limit *int64, groups *int) error {
	atts, err := readAttributes(ncid, ncGlobal, limit)
	if err != nil {
		return err
	}
	if err := f.readDims(ncid, prefix); err != nil {
		return err
	}
	f.describe(prefix, atts)
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
func (f *libFile) readVariable(ncid, varid C.int, prefix string, limit *int64) error {
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
	from := &libVar{file: f.file, ncid: ncid, varid: varid}
	a := &array{file: f.file, name: name, from: from}
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
		if f.noLimit[id] {
			a.unlimited = append(a.unlimited, C.GoString(&dim[0]))
		}
		a.spec.Shape = append(a.spec.Shape, int64(length))
	}
	atts, err := readAttributes(ncid, varid, limit)
	if err != nil {
		return ndfile.Locate(err, "", name, true)
	}
	var user *userType
	if ncType(typ) >= firstUserType {
		if user, err = readType(ncid, typ, 0); err != nil {
			return ndfile.Locate(err, "", name, true)
		}
		if user.moves != nil {
			from.packed = user
		}
	}
	if err := a.readStorage(ncid, varid, n); err != nil {
		return ndfile.Locate(err, "", name, true)
	}
	var noFill C.int
	if err := failed(C.ndnc_inq_var_fill(ncid, varid, &noFill, nil), ndfile.ErrCorrupt, "fill value"); err != nil {
		return ndfile.Locate(err, "", name, true)
	}
	a.filled = noFill == 0
	a.describe(ncType(typ), atts, user)
	f.add(a)
	return nil
}
