//go:build cgo

package netcdf

/*
#include <stdlib.h>
#include "lib.h"
*/
import "C"

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// newLibrary starts a file of NetCDF-4 in out. On a file system other than the
// machine's own it is built in memory. Boxes of an array may be written in any order;
// Close verifies that all elements were written, else it fails with ndfile.ErrOrder.
func (d *created) newLibrary(m model) (ndfile.File, error) {
	w := &writer{fsys: d.fsys, out: d.out, model: m, types: d.extra.types, unlimited: d.extra.unlimited, groups: nodes{},
		userTypes: map[string]C.int{}, typeNames: map[string]bool{}}
	w.Begin(d.path, d.attrs)
	if err := load(); err != nil {
		return nil, err
	}
	if info, err := w.fsys.Stat(w.Path); err == nil && info.Mode == vfs.Other {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "libnetcdf writes files only, no devices and pipes")
	}
	w.memory = w.fsys != ndfile.OS
	if err := w.start(); err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	for _, dim := range d.extra.dims {
		if _, err := w.root.dim(dim.name, dim.length, slices.Contains(w.unlimited, dim.name)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// writer is a file being created.
type writer struct {
	fsys   ndfile.FS
	out    *vfs.Replace
	memory bool // libnetcdf builds the file in memory
	root   *group

	model     model
	groups    nodes            // made by AddGroup
	types     attTypes         // of the attributes of the root and of groups, by path
	unlimited []string         // dimensions
	userTypes map[string]C.int // that were defined, by what they are
	typeNames map[string]bool
	defining  bool // in the classic model: dimensions, variables and attributes can be defined, and no elements written

	edit.Dataset[ndfile.Array]
	pending []*newArray
	all     []*newArray
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
	mode := C.int(ncNetCDF4)
	if w.model == hdf5Classic {
		mode |= ncClassicModel
		w.defining = true
	}
	code := withName(path, func(p *C.char) C.int {
		if w.memory {
			return C.ndnc_create_mem(p, mode, 1<<16, &ncid)
		}
		return C.ndnc_create(p, mode, &ncid)
	})
	if err := failed(code, ndfile.ErrIO, "create"); err != nil {
		return err
	}
	w.root = newGroup(ncid, nil)
	return failed(C.ndnc_set_fill(ncid, ncNoFill, &old), ndfile.ErrIO, "create")
}

// define lets metadata be defined, or else elements be written; NetCDF-4 without the
// classic model takes both at any time. The caller holds mu.
func (w *writer) define(on bool) error {
	if w.model != hdf5Classic || w.defining == on {
		return nil
	}
	w.defining = on
	if on {
		return failed(C.ndnc_redef(w.root.ncid), ndfile.ErrIO, "define")
	}
	return failed(C.ndnc_enddef(w.root.ncid), ndfile.ErrIO, "define")
}

func (w *writer) nodes() nodes {
	w.Lock()
	defer w.Unlock()
	return maps.Clone(w.groups)
}

// addGroup makes a group, and those above it.
func (w *writer) addGroup(name string, attrs *ndfile.Attrs) error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return ndfile.ErrClosed()
	}
	if w.model == hdf5Classic {
		return errGroupless(w.model, name)
	}
	if w.groups[name] != nil || w.Members[name] != nil {
		return ndfile.NewError(ndfile.ErrNameExists, "")
	}
	if err := checkGroup(name, attrs); err != nil {
		return err
	}
	mu.Lock()
	_, err := w.root.make(strings.Split(name, "/"))
	mu.Unlock()
	if err != nil {
		return err
	}
	w.groups.addAbove(name)
	if w.groups[name] = ndfile.NewAttrs(); attrs != nil {
		w.groups[name] = attrs.Clone()
	}
	return nil
}

// Add declares an array. "group/name" puts it into a group. A name, attribute,
// dimension or dtype that NetCDF does not have is refused: see README.md.
func (w *writer) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	w.Lock()
	defer w.Unlock()
	name = strings.Clone(name)
	a, err := w.add(ctx, name, spec)
	if err != nil {
		return nil, ndfile.Locate(err, w.Path, name, true)
	}
	w.groups.addAbove(name)
	w.Declare(name, a.typed())
	w.all = append(w.all, a)
	return w.Members[name], nil
}

func (w *writer) add(ctx context.Context, name string, spec ndfile.Spec) (*newArray, error) {
	if w.IsClosed {
		return nil, ndfile.ErrClosed()
	}
	if w.Members[name] != nil {
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

// Close writes what waits and the attributes, and makes the file visible.
func (w *writer) Close(ctx context.Context) error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return w.Located(ndfile.ErrClosed())
	}
	err := w.finish(ctx)
	if err != nil {
		w.abort()
		return w.Located(err)
	}
	return w.Located(w.out.Commit())
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
	w.IsClosed = true
	if w.memory {
		return image, failed(C.ndnc_close_memio(w.root.ncid, &image), ndfile.ErrIO, "close")
	}
	return image, failed(C.ndnc_close(w.root.ncid), ndfile.ErrIO, "close")
}

// putAttributes writes those of the file and of groups.
func (w *writer) putAttributes() error {
	err := w.define(true)
	if err == nil {
		err = w.putGroup(w.root, w.Attrs(), w.types)
	}
	for _, name := range w.groups.names() {
		if err != nil {
			break
		}
		var g *group
		if g, err = w.root.make(strings.Split(name, "/")); err == nil {
			err = w.putGroup(g, w.groups[name], w.types.below(name))
		}
	}
	return err
}

func (w *writer) putGroup(g *group, attrs *ndfile.Attrs, types attTypes) error {
	all, err := encodeAll(attrs, noType, nil, w.model, types)
	if err != nil {
		return err
	}
	for i := range all {
		if err := all[i].put(g.ncid, ncGlobal); err != nil {
			return err
		}
	}
	return nil
}

// Abort leaves nothing of the file.
func (w *writer) Abort() error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return w.Located(ndfile.ErrClosed())
	}
	return w.Located(w.abort())
}

func (w *writer) abort() error {
	if !w.IsClosed {
		w.IsClosed = true
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
func (g *group) dim(name string, length int64, unlimited bool) (C.int, error) {
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
	return g.newDim(name, length, unlimited)
}

// newDim makes a dimension. One of length 0 can only be an unlimited one.
func (g *group) newDim(name string, length int64, unlimited bool) (C.int, error) {
	var id C.int
	defined := C.size_t(length)
	if unlimited {
		defined = 0
	}
	code := withName(name, func(p *C.char) C.int { return C.ndnc_def_dim(g.ncid, p, defined, &id) })
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
	name := textDimName(length)
	for n := 1; ; n++ {
		id, err := g.dim(name, length, false)
		if ndfile.KindOf(err) != ndfile.ErrValue || n > len(g.dims)+1 {
			return id, err
		}
		name = textDimName(length) + "_" + strconv.Itoa(n)
	}
}
