//go:build cgo

package netcdf

/*
#include <stdlib.h>
#include "lib.h"
*/
import "C"

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Create starts a new NetCDF-4 file, whatever the extension. On a file system other
// than the machine's own it is built in memory. Boxes of an array may be written in
// any order; Close verifies that all elements were written, else it fails with
// ndfile.ErrOrder. Without libnetcdf it is ndfile.ErrNotSupported, with what was
// tried.
func (format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &writer{fsys: fsys, path: strings.Clone(path), attrs: ndfile.NewAttrs(), arrays: map[string]ndfile.Array{}}
	if opt.Attrs != nil {
		w.attrs = opt.Attrs.Clone()
	}
	if err := w.create(opt); err != nil {
		return nil, w.located(err)
	}
	return w, nil
}

// writer is a file being created.
type writer struct {
	fsys   ndfile.FS
	path   string
	out    *vfs.Replace
	memory bool // libnetcdf builds the file in memory
	root   *group
	attrs  *ndfile.Attrs
	names  []string
	arrays map[string]ndfile.Array

	mu      sync.Mutex // guards what follows, and all calls
	pending []*newArray
	all     []*newArray
	closed  bool
}

func (w *writer) create(opt ndfile.CreateOptions) error {
	if _, err := splitAttributes(w.attrs); err != nil {
		return err
	}
	if err := load(); err != nil {
		return err
	}
	if info, err := w.fsys.Stat(w.path); err == nil && info.Mode == vfs.Other {
		return ndfile.NewError(ndfile.ErrNotSupported, "libnetcdf writes files only, no devices and pipes")
	}
	out, err := vfs.NewReplace(w.fsys, w.path, opt.WriteOptions)
	if err != nil {
		return err
	}
	w.out, w.memory = out, w.fsys != ndfile.OS
	if err := w.start(); err != nil {
		out.Abort()
		return err
	}
	return nil
}

// start lets libnetcdf create the file in place of the empty one.
func (w *writer) start() error {
	path, err := libPath(w.out.File().Name())
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	var ncid, old C.int
	code := withName(path, func(p *C.char) C.int {
		if w.memory {
			return C.ndnc_create_mem(p, ncNetCDF4, 1<<16, &ncid)
		}
		return C.ndnc_create(p, ncNetCDF4, &ncid)
	})
	if err := failed(code, ndfile.ErrIO, "create"); err != nil {
		return err
	}
	w.root = newGroup(ncid, nil)
	return failed(C.ndnc_set_fill(ncid, ncNoFill, &old), ndfile.ErrIO, "create")
}

func (w *writer) Kind() ndfile.Kind       { return ndfile.Dataset }
func (w *writer) Names() []string         { return w.names }
func (w *writer) Attrs() *ndfile.Attrs    { return w.attrs }
func (w *writer) located(err error) error { return ndfile.Locate(err, w.path, "", false) }

func (w *writer) Array(name string) (ndfile.Array, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, w.located(ndfile.ErrClosed())
	}
	if a := w.arrays[name]; a != nil {
		return a, nil
	}
	return nil, w.located(ndfile.NewError(ndfile.ErrName, "").In(strings.Clone(name)))
}

// Add declares an array. "group/name" puts it into a group. A name, attribute,
// dimension or dtype that NetCDF does not have is refused: see README.md.
func (w *writer) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name = strings.Clone(name)
	a, err := w.add(ctx, name, spec)
	if err != nil {
		return nil, ndfile.Locate(err, w.path, name, true)
	}
	w.names = append(w.names, name)
	w.arrays[name] = a.typed()
	w.all = append(w.all, a)
	return w.arrays[name], nil
}

func (w *writer) add(ctx context.Context, name string, spec ndfile.Spec) (*newArray, error) {
	if w.closed {
		return nil, ndfile.ErrClosed()
	}
	if w.arrays[name] != nil {
		return nil, ndfile.NewError(ndfile.ErrNameExists, "")
	}
	a, err := w.newArray(name, spec)
	if err != nil {
		return nil, err
	}
	if err := w.settle(ctx, false); err != nil {
		return nil, err
	}
	return a, a.declare()
}

// settle writes the waiting arrays that are whole; with all, one that is not is
// ndfile.ErrOrder.
func (w *writer) settle(ctx context.Context, all bool) error {
	wait := w.pending
	w.pending = nil
	for i, a := range wait {
		k := a.firstMissing()
		var err error
		switch {
		case k < 0:
			err = a.unspool(ctx)
		case all:
			err = errIncomplete(k)
		}
		if err != nil {
			w.pending = append(w.pending, wait[i:]...)
			return a.located(err)
		}
		if k >= 0 {
			w.pending = append(w.pending, a)
		}
	}
	return nil
}

func errIncomplete(k int64) error {
	return ndfile.NewError(ndfile.ErrOrder, "not completely written: element "+strconv.FormatInt(k, 10)+" is missing")
}

// Close writes what waits and the attributes, and makes the file visible.
func (w *writer) Close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.located(ndfile.ErrClosed())
	}
	err := w.finish(ctx)
	if err != nil {
		w.abort()
		return w.located(err)
	}
	return w.located(w.out.Commit())
}

func (w *writer) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.settle(ctx, true); err != nil {
		return err
	}
	for _, a := range w.all {
		if k := a.firstMissing(); k >= 0 {
			return a.located(errIncomplete(k))
		}
	}
	image, err := w.finishLibrary()
	if err != nil || !w.memory {
		return err
	}
	defer C.free(image.memory)
	return flat.WriteFull(ctx, w.out.File(), unsafe.Slice((*byte)(image.memory), int64(image.size)), 0)
}

// finishLibrary writes the attributes and closes the file in libnetcdf. image is
// the file if it was built in memory, in C memory.
func (w *writer) finishLibrary() (image C.ndnc_memio, err error) {
	mu.Lock()
	defer mu.Unlock()
	for _, a := range w.all {
		if err := a.defined(); err != nil { // it has no elements
			return image, a.located(err)
		}
		if err := a.finishAttributes(); err != nil {
			return image, a.located(err)
		}
	}
	if err := w.putAttributes(); err != nil {
		return image, err
	}
	w.closed = true
	if w.memory {
		return image, failed(C.ndnc_close_memio(w.root.ncid, &image), ndfile.ErrIO, "close")
	}
	return image, failed(C.ndnc_close(w.root.ncid), ndfile.ErrIO, "close")
}

// putAttributes writes those of the file. "group/name" is one of a group.
func (w *writer) putAttributes() error {
	groups, err := splitAttributes(w.attrs)
	if err != nil {
		return err
	}
	for _, of := range groups {
		g, err := w.root.make(of.path)
		if err != nil {
			return err
		}
		all, err := encodeAll(of.attrs, ndarray.DType{}, nil)
		if err != nil {
			return err
		}
		for i := range all {
			if err := all[i].put(g.ncid, ncGlobal); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupAttrs are the attributes of a group.
type groupAttrs struct {
	path  []string
	attrs *ndfile.Attrs
}

// splitAttributes sorts the attributes of a file by group, and checks them.
func splitAttributes(attrs *ndfile.Attrs) ([]groupAttrs, error) {
	var all []groupAttrs
	for i := range attrs.Len() {
		name, v := attrs.At(i)
		path := strings.Split(name, "/")
		last := len(path) - 1
		for _, part := range path[:last] {
			if err := checkName("group", part); err != nil {
				return nil, err
			}
		}
		if err := checkAttribute(path[last], v, ndarray.DType{}); err != nil {
			return nil, err
		}
		k := slices.IndexFunc(all, func(g groupAttrs) bool { return slices.Equal(g.path, path[:last]) })
		if k < 0 {
			k = len(all)
			all = append(all, groupAttrs{path: path[:last], attrs: ndfile.NewAttrs()})
		}
		all[k].attrs.Set(path[last], v)
	}
	return all, nil
}

// Abort leaves nothing of the file.
func (w *writer) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.located(ndfile.ErrClosed())
	}
	return w.located(w.abort())
}

func (w *writer) abort() error {
	if !w.closed {
		w.closed = true
		mu.Lock()
		C.ndnc_close(w.root.ncid) // what it says about a file that is dropped does not matter
		mu.Unlock()
	}
	for _, a := range w.pending {
		a.spool.close()
	}
	w.pending = nil
	return w.out.Abort()
}

// group is a group of the new file.
type group struct {
	ncid   C.int
	parent *group
	groups map[string]*group
	names  map[string]bool // of variables
	dims   map[string]dim
}

// dim is a dimension.
type dim struct {
	id     C.int
	length int64
}

func newGroup(ncid C.int, parent *group) *group {
	return &group{ncid: ncid, parent: parent, groups: map[string]*group{}, names: map[string]bool{}, dims: map[string]dim{}}
}

// make gives the group at a path below g, which it makes where there is none. The
// caller holds mu, also of the other methods.
func (g *group) make(path []string) (*group, error) {
	for _, name := range path {
		next := g.groups[name]
		if next == nil {
			if g.names[name] {
				return nil, ndfile.NewError(ndfile.ErrNameExists, "a variable has the name "+strconv.Quote(name)+" of the group")
			}
			var id C.int
			if err := failed(withName(name, func(p *C.char) C.int { return C.ndnc_def_grp(g.ncid, p, &id) }), ndfile.ErrValue, "group "+strconv.Quote(name)); err != nil {
				return nil, err
			}
			if err := kept(name, func(p *C.char) C.int { return C.ndnc_inq_grpname(id, p) }); err != nil {
				return nil, err
			}
			next = newGroup(id, g)
			g.groups[name] = next
		}
		g = next
	}
	return g, nil
}

// take reserves the name of a variable.
func (g *group) take(name string) error {
	if g.groups[name] != nil {
		return ndfile.NewError(ndfile.ErrNameExists, "a group has this name")
	}
	g.names[name] = true
	return nil
}

func (g *group) drop(name string) { delete(g.names, name) }

// dim gives the dimension of that name and length: one that the group sees, or else
// a new one of its own. If it has one of another length already it is
// ndfile.ErrValue.
func (g *group) dim(name string, length int64) (C.int, error) {
	for at := g; at != nil; at = at.parent {
		d, ok := at.dims[name]
		switch {
		case !ok:
			continue
		case d.length == length:
			return d.id, nil
		case at == g:
			return 0, ndfile.NewError(ndfile.ErrValue, "dimension "+strconv.Quote(name)+" has the length "+strconv.FormatInt(d.length, 10)+
				" in another array, and "+strconv.FormatInt(length, 10)+" in this one")
		}
		break
	}
	return g.newDim(name, length)
}

// newDim makes a dimension. One of length 0 can only be an unlimited one.
func (g *group) newDim(name string, length int64) (C.int, error) {
	var id C.int
	code := withName(name, func(p *C.char) C.int { return C.ndnc_def_dim(g.ncid, p, C.size_t(length), &id) })
	if err := failed(code, ndfile.ErrValue, "dimension "+strconv.Quote(name)); err != nil {
		return 0, err
	}
	if err := kept(name, func(p *C.char) C.int { return C.ndnc_inq_dim(g.ncid, id, p, new(C.size_t)) }); err != nil {
		return 0, err
	}
	g.dims[name] = dim{id, length}
	return id, nil
}

// textDim makes a dimension for the length of strings: "string5", as xarray calls
// it, or the like.
func (g *group) textDim(length int64) (C.int, error) {
	name := "string" + strconv.FormatInt(length, 10)
	for n := 1; ; n++ {
		id, err := g.dim(name, length)
		if ndfile.KindOf(err) != ndfile.ErrValue || n > len(g.dims)+1 {
			return id, err
		}
		name = "string" + strconv.FormatInt(length, 10) + "_" + strconv.Itoa(n)
	}
}
