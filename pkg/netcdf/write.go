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

// maxAxes is how many axes HDF5 has at most.
const maxAxes = 32

// newArray is a variable of a file being created. It is defined, and its elements
// go to their places, at once, or where _FillValue cannot be known before the
// elements are, it waits in a spool.
type newArray struct {
	file   *writer
	name   string
	path   []string // name, cut into groups
	group  *group
	varid  C.int
	typ    ncType
	spec   ndfile.Spec
	attrs  *ndfile.Attrs
	put    *ndfile.Attrs // attributes that are written, nil before
	dimids []C.int
	given  *fills // of the attributes _FillValue and missing_value
	ours   []byte // a _FillValue that was chosen here
	spool  *spool
	cover  flat.Coverage
}

// newArray checks what is asked for. Nothing is changed.
func (w *writer) newArray(name string, spec ndfile.Spec) (*newArray, error) {
	a := &newArray{file: w, name: name, path: strings.Split(name, "/"), attrs: ndfile.NewAttrs()}
	for i, part := range a.path {
		what := "group"
		if i == len(a.path)-1 {
			what = "variable"
		}
		if err := checkName(what, part); err != nil {
			return nil, err
		}
	}
	if spec.NoData {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has no variables without data")
	}
	var err error
	a.spec = ndfile.Spec{Shape: slices.Clone(spec.Shape), Dims: slices.Clone(spec.Dims), Masked: spec.Masked}
	if a.typ, a.spec.DType, err = typeOf(spec.DType); err != nil {
		return nil, err
	}
	if _, err := ndarray.NBytes(spec.Shape, max(1, a.spec.DType.Size)); err != nil {
		return nil, err
	}
	if err := a.checkAxes(); err != nil {
		return nil, err
	}
	if spec.Masked && (a.typ == ncChar || a.typ == ncString) {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has no missing strings")
	}
	if spec.Attrs != nil {
		a.attrs = spec.Attrs.Clone()
	}
	all, err := encodeAll(a.attrs, a.spec.DType, nil)
	if err != nil {
		return nil, err
	}
	a.given = missingValues(all, a.spec.DType)
	return a, nil
}

func (a *newArray) checkAxes() error {
	axes := len(a.spec.Shape)
	if a.typ == ncChar {
		axes++
	}
	if axes > maxAxes {
		return ndfile.NewError(ndfile.ErrNotSupported, "NetCDF-4 has at most 32 axes, and strings of fixed length take one: found "+strconv.Itoa(len(a.spec.Shape)))
	}
	if a.spec.Dims == nil {
		return nil
	}
	if len(a.spec.Dims) != len(a.spec.Shape) {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("expected %d names of axes, found %d", len(a.spec.Shape), len(a.spec.Dims)))
	}
	for i, name := range a.spec.Dims {
		if err := checkName("axis", name); err != nil {
			return err
		}
		if strings.HasPrefix(name, unnamedPrefix) {
			return ndfile.NewError(ndfile.ErrValue, "the axis name "+strconv.Quote(name)+": names with "+unnamedPrefix+" mean here that there is none")
		}
		if k := slices.Index(a.spec.Dims[:i], name); k >= 0 && a.spec.Shape[k] != a.spec.Shape[i] {
			return ndfile.NewError(ndfile.ErrValue, "two axes of different lengths have the name "+strconv.Quote(name))
		}
	}
	return nil
}

// declare reserves the name and makes the dimensions.
func (a *newArray) declare() (err error) {
	mu.Lock()
	defer mu.Unlock()
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
		id, err := a.group.dim(name, length)
		if err != nil {
			return err
		}
		a.dimids = append(a.dimids, id)
	}
	if a.typ == ncChar {
		id, err := a.group.textDim(int64(a.spec.DType.Size))
		if err != nil {
			return err
		}
		a.dimids = append(a.dimids, id)
	}
	return nil
}

// begin is called before elements are written. It makes the variable, after those
// that were added before and are not masked, or lets it wait in a spool: when
// elements can be missing, and no attribute says which value that is.
func (a *newArray) begin(mask []byte) error {
	if a.put != nil || a.spool != nil {
		return nil
	}
	if (a.spec.Masked || slices.ContainsFunc(mask, func(m byte) bool { return m != 0 })) && a.fillElement() == nil {
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

// fillElement is the element that stands for missing ones, as far as it is known.
func (a *newArray) fillElement() []byte {
	if a.ours != nil {
		return a.ours
	}
	d := numbersOf(a.spec.DType)
	for _, name := range []string{attFill, attMissing} {
		v, _ := a.attrs.Get(name)
		if items := v.Items(); len(items) > 0 {
			v = items[0]
		}
		if p, ok := element(d, v); ok && a.given != nil {
			return p
		}
	}
	return nil
}

// define makes the variable with its attributes. ours is a _FillValue to add, or
// nil. The caller holds mu.
func (a *newArray) define(ours []byte) error {
	all, err := encodeAll(a.attrs, a.spec.DType, ours)
	if err != nil {
		return err
	}
	a.ours = ours
	dimids := append(slices.Clone(a.dimids), 0)
	code := withName(a.path[len(a.path)-1], func(p *C.char) C.int {
		return C.ndnc_def_var(a.group.ncid, p, C.int(a.typ), C.int(len(a.dimids)), &dimids[0], &a.varid)
	})
	if err := failed(code, ndfile.ErrValue, "variable"); err != nil {
		return err
	}
	err = kept(a.path[len(a.path)-1], func(p *C.char) C.int {
		var typ, ndims, natts C.int
		return C.ndnc_inq_var(a.group.ncid, a.varid, p, &typ, &ndims, &dimids[0], &natts)
	})
	if err == nil {
		err = a.putAll(all, true)
	}
	if err == nil {
		a.put = a.attrs.Clone()
	}
	return err
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
	for _, name := range []string{attFill, attMissing} {
		v, has := a.attrs.Get(name)
		w, had := a.put.Get(name)
		if has != had || !v.Equal(w) {
			return ndfile.NewError(ndfile.ErrNotSupported, "attribute "+strconv.Quote(name)+" says which elements are missing: it has to be given to Add")
		}
	}
	old, err := encodeAll(a.put, a.spec.DType, a.ours)
	if err != nil {
		return err
	}
	all, err := encodeAll(a.attrs, a.spec.DType, a.ours)
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
func (a *newArray) located(err error) error { return ndfile.Locate(err, a.file.path, a.name, true) }

func (a *newArray) firstMissing() int64 {
	n, _ := ndarray.Count(a.spec.Shape) // checked by newArray
	return a.cover.FirstMissing(n)
}

func (a *newArray) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	a.file.mu.Lock()
	defer a.file.mu.Unlock()
	if a.file.closed {
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
	a.file.mu.Lock()
	defer a.file.mu.Unlock()
	if a.file.closed {
		return ndfile.ErrClosed()
	}
	if err := a.check(box, src, mask); err != nil {
		return err
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

func (a *newArray) check(box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if err := box.Check(a.spec.Shape); err != nil {
		return err
	}
	if !slices.Equal(box.Count, src.Shape) {
		return fmt.Errorf("%w: the buffer has shape %v, the box %v", ndarray.ErrShape, src.Shape, box.Count)
	}
	if err := src.Check(); err != nil {
		return err
	}
	if d := a.spec.DType; d.IsVar() || !ndarray.CanConvert(src.DType, d) {
		return fmt.Errorf("%w: no exact conversion from %s to %s", ndarray.ErrDType, src.DType, d)
	}
	if n, _ := ndarray.Count(box.Count); mask != nil && int64(len(mask)) != n {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("the mask has %d bytes, the box %d elements", len(mask), n))
	}
	return nil
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
	data := src.Bytes()
	if data == nil || !src.DType.Equal(a.spec.DType) || mask != nil || a.spec.DType.Kind == ndarray.Bool {
		packed, err := ndarray.NewBuffer(a.spec.DType, box.Count)
		if err != nil {
			return err
		}
		if err := ndarray.Copy(packed, src); err != nil {
			return err
		}
		data = packed.Data
		if a.spec.DType.Kind == ndarray.Bool {
			normal(data)
		}
	}
	if err := a.fillIn(data, mask); err != nil {
		return err
	}
	return a.store(box, pointer(data))
}

// normal makes every true 1.
func normal(data []byte) {
	for i, b := range data {
		if b != 0 {
			data[i] = 1
		}
	}
}

// subMask is the part of a packed mask; nil stays nil.
func subMask(mask []byte, shape []int64, part ndarray.Box) ([]byte, error) {
	if mask == nil {
		return nil, nil
	}
	sub, err := ndarray.Buffer{DType: maskType, Shape: shape, Data: mask}.Sub(part)
	if err != nil {
		return nil, err
	}
	packed, err := ndarray.NewBuffer(maskType, part.Count)
	if err != nil {
		return nil, err
	}
	return packed.Data, ndarray.Copy(packed, sub)
}

// fillIn puts the fill value in place of missing elements, and refuses present ones
// that would read as missing.
func (a *newArray) fillIn(data, mask []byte) error {
	d := numbersOf(a.spec.DType)
	fill := a.fillElement()
	for i, m := range mask {
		switch {
		case m == 0:
		case fill == nil:
			return ndfile.NewError(ndfile.ErrNotSupported, "missing elements in an array that was not added as masked, after elements were written")
		default:
			copy(data[i*d.Size:(i+1)*d.Size], fill)
		}
	}
	if a.given == nil {
		return nil
	}
	for i := range len(data) / d.Size {
		if p := data[i*d.Size : (i+1)*d.Size]; (mask == nil || mask[i] == 0) && a.given.has(d, p) {
			return ndfile.NewError(ndfile.ErrValue, "the value "+number(d, p).Text()+" of an element equals _FillValue or missing_value, and would be missing "+
				"afterwards: write it as missing, or choose another fill value")
		}
	}
	return nil
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
	if a.typ == ncChar {
		start, count = append(slices.Clone(start), 0), append(slices.Clone(count), int64(a.spec.DType.Size))
	}
	s, c := sizes(start), sizes(count)
	mu.Lock()
	defer mu.Unlock()
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
	a.file.mu.Lock()
	defer a.file.mu.Unlock()
	return a.located(a.writeStrings(ctx, box, offsets, data, mask))
}

func (a *newArray) writeStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) error {
	if a.file.closed {
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
