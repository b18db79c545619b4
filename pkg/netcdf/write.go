//go:build cgo

package netcdf

/*
#include <stdlib.h>
#include "lib.h"
*/
import "C"

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// newArray is a variable of a file being created. It is defined, and its elements
// go to their places, at once, or where _FillValue cannot be known before the
// elements are, it waits in a spool.
type newArray struct {
	file  *writer
	name  string
	path  []string // name, cut into groups
	group *group
	varid C.int
	typ   ncType
	fillRule
	spec   ndfile.Spec
	extra  extra
	put    *ndfile.Attrs // attributes that are written, nil before
	dimids []C.int
	spool  *spool
	cover  flat.Coverage
}

// newArray checks what is asked for. Nothing is changed.
func (w *writer) newArray(name string, spec ndfile.Spec) (*newArray, error) {
	a := &newArray{file: w, name: name, path: strings.Split(name, "/")}
	for i, part := range a.path {
		what := "group"
		if i == len(a.path)-1 {
			what = "variable"
		}
		if err := checkName(what, part); err != nil {
			return nil, err
		}
	}
	var err error
	if a.extra, err = parseExtra(spec.Extra, true); err != nil {
		return nil, err
	}
	if a.extra.hasModel && a.extra.model != w.model {
		return nil, ndfile.NewError(ndfile.ErrArgument, "the file has the data model "+w.model.String()+", the array is to have "+a.extra.model.String())
	}
	if w.model == hdf5Classic && len(a.path) > 1 {
		return nil, errGroupless(w.model, name)
	}
	a.typ, a.spec, a.fillRule, err = newVariable(&spec, w.model, &a.extra)
	if err != nil {
		return nil, err
	}
	a.extra.storage.settle(&spec)
	for _, name := range a.extra.unlimited {
		if !slices.Contains(spec.Dims, name) && (a.extra.text == nil || name != *a.extra.text) {
			return nil, ndfile.NewError(ndfile.ErrArgument, "extra \"unlimited\": the array has no axis "+strconv.Quote(name))
		}
	}
	return a, nil
}

// declare reserves the name and makes the dimensions.
func (a *newArray) declare() (err error) {
	mu.Lock()
	defer mu.Unlock()
	if err = a.file.define(true); err != nil {
		return err
	}
	last := len(a.path) - 1
	if a.group, err = a.file.root.make(a.path[:last]); err != nil {
		return err
	}
	if err = a.group.take(a.path[last]); err != nil {
		return err
	}
	if err = a.defineDims(); err != nil {
		a.group.drop(a.path[last])
	}
	return err
}

// defineDims finds or makes the dimensions. The caller holds mu.
func (a *newArray) defineDims() error {
	for i, length := range a.spec.Shape {
		name := unnamedDim(length)
		if a.spec.Dims != nil {
			name = a.spec.Dims[i]
		}
		id, err := a.group.dim(name, length, a.isUnlimited(name))
		if err != nil {
			return err
		}
		a.dimids = append(a.dimids, id)
	}
	if a.typ == ncChar {
		return a.defineText()
	}
	return nil
}

// defineText finds or makes the dimension of the characters of strings, if they have
// one.
func (a *newArray) defineText() (err error) {
	var id C.int
	switch text := a.extra.text; {
	case text != nil && *text == "" && a.oneCharacter():
		return nil
	case text != nil && *text != "":
		id, err = a.group.dim(*text, int64(a.spec.DType.Size), a.isUnlimited(*text))
	default:
		id, err = a.group.textDim(int64(a.spec.DType.Size))
	}
	a.dimids = append(a.dimids, id)
	return err
}

// oneCharacter: the text is a single character, which needs no axis.
func (a *newArray) oneCharacter() bool { return a.spec.DType.Size == 1 && len(a.spec.Shape) == 0 }

func (a *newArray) isUnlimited(dim string) bool {
	return slices.Contains(a.extra.unlimited, dim) || slices.Contains(a.file.unlimited, dim)
}

// begin is called before elements are written. It makes the variable, after those
// that were added before and are not masked, or lets it wait in a spool: when
// elements can be missing, and no attribute says which value that is.
func (a *newArray) begin(mask []byte) error {
	if a.put != nil || a.spool != nil {
		return nil
	}
	if (a.spec.Masked || slices.ContainsFunc(mask, func(m byte) bool { return m != 0 })) && a.element() == nil {
		return a.startSpool()
	}
	mu.Lock()
	defer mu.Unlock()
	for _, before := range a.file.all {
		if before == a {
			break
		}
		if !before.spec.Masked && before.spool == nil {
			if err := before.defined(); err != nil {
				return before.located(err)
			}
		}
	}
	return a.defined()
}

// defined makes the variable unless it is. The caller holds mu.
func (a *newArray) defined() error {
	if a.put != nil {
		return nil
	}
	return a.define(nil)
}

// define makes the variable with its attributes. ours is a _FillValue to add, or
// nil. The caller holds mu.
func (a *newArray) define(ours []byte) error {
	if err := a.file.define(true); err != nil {
		return err
	}
	all, err := encodeAll(a.attrs, a.spec.DType, ours, a.file.model, a.extra.types)
	if err != nil {
		return err
	}
	a.ours = ours
	typ, err := a.typeID()
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].name == attFill && ncType(typ) >= firstUserType {
			all[i].user = int32(typ)
		}
	}
	dimids := append(slices.Clone(a.dimids), 0)
	code := withName(a.path[len(a.path)-1], func(p *C.char) C.int {
		return C.ndnc_def_var(a.group.ncid, p, typ, C.int(len(a.dimids)), &dimids[0], &a.varid)
	})
	if err := failed(code, ndfile.ErrValue, "variable"); err != nil {
		return err
	}
	err = kept(a.path[len(a.path)-1], func(p *C.char) C.int {
		var typ, ndims, natts C.int
		return C.ndnc_inq_var(a.group.ncid, a.varid, p, &typ, &ndims, &dimids[0], &natts)
	})
	if err == nil {
		err = a.defineStorage()
	}
	if err == nil && a.extra.fill && !hasFill(all) && ours == nil {
		err = failed(C.ndnc_def_var_fill(a.group.ncid, a.varid, ncFill, nil), ndfile.ErrIO, "fill")
	}
	if err == nil {
		err = a.putAll(all, true)
	}
	if err == nil {
		a.put = a.attrs.Clone()
	}
	return err
}

// defineStorage says how elements are kept.
func (a *newArray) defineStorage() error {
	s := &a.extra.storage
	if !s.isSet() || len(a.dimids) == 0 {
		return nil
	}
	if s.chunks != nil {
		c := sizes(s.chunks)
		if len(s.chunks) != len(a.dimids) {
			return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("chunks: expected %d extents, found %v", len(a.dimids), s.chunks))
		}
		if err := failed(C.ndnc_def_var_chunking(a.group.ncid, a.varid, ncChunked, &c[0]), ndfile.ErrValue, "chunks"); err != nil {
			return err
		}
	}
	if s.fletcher32 {
		if err := failed(C.ndnc_def_var_fletcher32(a.group.ncid, a.varid, 1), ndfile.ErrValue, "fletcher32"); err != nil {
			return err
		}
	}
	if s.deflate == 0 && !s.shuffle {
		return nil
	}
	return failed(C.ndnc_def_var_deflate(a.group.ncid, a.varid, flag(s.shuffle), flag(s.deflate > 0), C.int(s.deflate)), ndfile.ErrValue, "deflate")
}

func flag(on bool) C.int {
	if on {
		return 1
	}
	return 0
}

// putAll writes attributes; _FillValue only where fill says so, for it must come
// before the elements.
func (a *newArray) putAll(all []attribute, fill bool) error {
	for i := range all {
		if all[i].name == attFill && !fill {
			continue
		}
		if err := all[i].put(a.group.ncid, a.varid); err != nil {
			return err
		}
	}
	return nil
}

// finishAttributes writes the attributes again if they were changed. The caller
// holds mu.
func (a *newArray) finishAttributes() error {
	if sameAttrs(a.attrs, a.put) {
		return nil
	}
	if err := a.file.define(true); err != nil {
		return err
	}
	for _, name := range []string{attFill, attMissing} {
		v, has := a.attrs.Get(name)
		w, had := a.put.Get(name)
		if has != had || !v.Equal(w) {
			return errLateFill(name)
		}
	}
	old, err := encodeAll(a.put, a.spec.DType, a.ours, a.file.model, a.extra.types)
	if err != nil {
		return err
	}
	all, err := encodeAll(a.attrs, a.spec.DType, a.ours, a.file.model, a.extra.types)
	if err != nil {
		return err
	}
	for i := range old {
		if old[i].name == attFill {
			continue
		}
		code := withName(old[i].name, func(p *C.char) C.int { return C.ndnc_del_att(a.group.ncid, a.varid, p) })
		if err := failed(code, ndfile.ErrIO, "attribute "+strconv.Quote(old[i].name)); err != nil {
			return err
		}
	}
	return a.putAll(all, false)
}

func sameAttrs(a, b *ndfile.Attrs) bool {
	return string(ndfile.AppendJSON(nil, a)) == string(ndfile.AppendJSON(nil, b))
}

// typed is the array with the methods that its dtype has.
func (a *newArray) typed() ndfile.Array {
	switch {
	case a.typ == ncString:
		return &newStringArray{a}
	case a.typ == ncChar:
		return a
	}
	return &newMaskedArray{a}
}

func (a *newArray) Spec() ndfile.Spec       { return a.spec }
func (a *newArray) Attrs() *ndfile.Attrs    { return a.attrs }
func (a *newArray) located(err error) error { return ndfile.Locate(err, a.file.Path, a.name, true) }

func (a *newArray) firstMissing() int64 {
	n, _ := ndarray.Count(a.spec.Shape) // checked by newArray
	return a.cover.FirstMissing(n)
}

func (a *newArray) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	a.file.Lock()
	defer a.file.Unlock()
	if a.file.IsClosed {
		return a.located(ndfile.ErrClosed())
	}
	return a.located(ndfile.NewError(ndfile.ErrNotSupported, "a file that is being written cannot be read: close it first"))
}

// WriteBox is as [ndfile.Array] has it. An element that equals the attribute
// _FillValue or missing_value, and would so be missing afterwards, is
// ndfile.ErrValue.
func (a *newArray) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	return a.located(a.writeMasked(ctx, box, src, nil))
}

// newMaskedArray is a newArray of numbers, which can be missing.
type newMaskedArray struct{ *newArray }

// WriteMasked implements [ndfile.Masked].
func (a *newMaskedArray) WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	return a.located(a.writeMasked(ctx, box, src, mask))
}

func (a *newMaskedArray) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, _ []byte) error {
	return a.ReadBox(ctx, box, dst)
}

func (a *newArray) writeMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	a.file.Lock()
	defer a.file.Unlock()
	if a.file.IsClosed {
		return ndfile.ErrClosed()
	}
	if err := checkWrite(&a.spec, box, src, mask); err != nil {
		return err
	}
	if a.typ == userDefined && slices.Contains(mask, 1) {
		return ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has no missing complex numbers and records")
	}
	err := a.begin(mask)
	if err != nil {
		return err
	}
	if a.spool != nil {
		err = a.spool.write(ctx, box, src, mask)
	} else {
		err = a.writeDirect(ctx, box, src, mask)
	}
	if err != nil {
		return err
	}
	return a.cover.Add(box, a.spec.Shape)
}

// writeDirect writes to the file, in blocks.
func (a *newArray) writeDirect(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	axis, err := cut(ndarray.Box{Start: box.Start, Count: box.Count}, a.spec.DType.Size, 1)
	if err != nil || axis == done {
		return err
	}
	if axis >= 0 {
		return halves(box, axis, func(half, part ndarray.Box) error {
			s, err := src.Sub(part)
			if err != nil {
				return err
			}
			m, err := subMask(mask, box.Count, part)
			if err != nil {
				return err
			}
			return a.writeDirect(ctx, half, s, m)
		})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := a.pack(box.Count, src, mask)
	if err != nil {
		return err
	}
	if a.spec.DType.Kind == ndarray.Record {
		if data, err = a.laidOut(data); err != nil {
			return err
		}
	}
	return a.store(box, pointer(data))
}

// store is one call of libnetcdf.
func (a *newArray) store(box ndarray.Box, p unsafe.Pointer) error {
	start, count := box.Start, box.Count
	steps := make([]C.ptrdiff_t, len(count)+1)
	for i := range steps {
		steps[i] = 1
		if i < len(count) {
			steps[i] = C.ptrdiff_t(step(box, i))
		}
	}
	if a.typ == ncChar && len(a.dimids) > len(a.spec.Shape) {
		start, count = append(slices.Clone(start), 0), append(slices.Clone(count), int64(a.spec.DType.Size))
	}
	s, c := sizes(start), sizes(count)
	mu.Lock()
	defer mu.Unlock()
	if err := a.file.define(false); err != nil {
		return err
	}
	return failed(C.ndnc_put_vars(a.group.ncid, a.varid, &s[0], &c[0], &steps[0], p), ndfile.ErrIO, "write")
}

// newStringArray is a newArray of strings.
type newStringArray struct{ *newArray }

func (a *newStringArray) ReadStrings(ctx context.Context, box ndarray.Box, _ []int64, _ []byte, _ []byte) (int64, error) {
	return 0, a.ReadBox(ctx, box, ndarray.Buffer{})
}

// WriteStrings implements [ndfile.Strings]. A missing string is
// ndfile.ErrNotSupported, one with a NUL or that is not UTF-8 ndfile.ErrValue.
func (a *newStringArray) WriteStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) error {
	a.file.Lock()
	defer a.file.Unlock()
	return a.located(a.writeStrings(ctx, box, offsets, data, mask))
}

func (a *newArray) writeStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) error {
	if a.file.IsClosed {
		return ndfile.ErrClosed()
	}
	if err := box.Check(a.spec.Shape); err != nil {
		return err
	}
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	if int64(len(offsets)) != n+1 || mask != nil && int64(len(mask)) != n {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("expected %d offsets and a mask of %d bytes, found %d and %d", n+1, n, len(offsets), len(mask)))
	}
	for i := range n {
		lo, hi := offsets[i], offsets[i+1]
		switch {
		case lo < 0 || hi < lo || hi > int64(len(data)):
			return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("string %d: expected a range within %d bytes, found %d to %d", i, len(data), lo, hi))
		case mask != nil && mask[i] != 0:
			return ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has no missing strings")
		case !isText(string(data[lo:hi])):
			return ndfile.NewError(ndfile.ErrValue, fmt.Sprintf("string %d: expected UTF-8 without NUL, found %.60q", i, data[lo:hi]))
		}
	}
	if err := a.begin(nil); err != nil {
		return err
	}
	return a.storeStrings(ctx, box, offsets, data)
}

// storeStrings writes strings in blocks of bounded number.
func (a *newArray) storeStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte) error {
	n := int64(len(offsets) - 1)
	axis := slices.IndexFunc(box.Count, func(c int64) bool { return c > 1 })
	if n == 0 {
		return ctx.Err()
	}
	if axis >= 0 && n*int64(pointerSize) > maxBlock/16 {
		return halves(box, axis, func(half, part ndarray.Box) error {
			k, _ := ndarray.Count(half.Count)
			first := int64(0)
			if part.Start[axis] > 0 { // the axes before have one element
				first = n - k
			}
			return a.storeStrings(ctx, half, offsets[first:first+k+1], data)
		})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := toCStrings(int(n), offsets[n]-offsets[0], func(i int) []byte { return data[offsets[i]:offsets[i+1]] })
	defer s.free()
	if err := a.store(box, unsafe.Pointer(s.list)); err != nil {
		return err
	}
	return a.cover.Add(box, a.spec.Shape)
}
