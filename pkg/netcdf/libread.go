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
	"unicode/utf8"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// libVar is a variable in libnetcdf.
type libVar struct {
	file  *file
	ncid  C.int // of its group
	varid C.int
	// packed is set where elements lie otherwise in libnetcdf's memory.
	packed *userType
}

// get implements source.
func (v *libVar) get(_ context.Context, start, count []int64, p []byte) error {
	if v.packed == nil {
		return v.call(start, count, pointer(p))
	}
	n := len(p) / v.packed.dtype.Size
	scratch, err := ndfile.NewBytes(n * v.packed.size)
	if err != nil {
		return err
	}
	if err := v.call(start, count, pointer(scratch)); err != nil {
		return err
	}
	v.packed.pack(p, scratch, n)
	return nil
}

// strings implements stringSource.
func (v *libVar) strings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte) (int64, error) {
	r := stringReader{v: v, ctx: ctx, offsets: offsets[:1], data: data}
	err := r.box(box)
	return r.need, err
}

// call is one call of libnetcdf.
func (v *libVar) call(start, count []int64, p unsafe.Pointer) error {
	s, c := sizes(start), sizes(count)
	mu.Lock()
	defer mu.Unlock()
	if v.file.closed.Load() {
		return ndfile.ErrClosed()
	}
	return failed(C.ndnc_get_vara(v.ncid, v.varid, &s[0], &c[0], p), ndfile.ErrCorrupt, "read")
}

// stringReader is one call of ReadStrings. Strings come in row-major order.
type stringReader struct {
	v       *libVar
	ctx     context.Context
	offsets []int64
	data    []byte
	need    int64
}

const pointerSize = int(unsafe.Sizeof(uintptr(0)))

// box reads a checked box: index by index until it can be read in one call.
func (r *stringReader) box(box ndarray.Box) error {
	n, err := ndarray.NBytes(box.Count, pointerSize)
	if err != nil || n == 0 {
		return err
	}
	axis := slices.IndexFunc(box.Count, func(c int64) bool { return c > 1 })
	if axis >= 0 && (n > maxBlock/16 || !slices.Equal(hull(box), box.Count)) {
		return halves(box, axis, func(half, _ ndarray.Box) error { return r.box(half) })
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	s := newCStrings(int(n) / pointerSize)
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		s.free()
	}()
	if err := r.v.call(box.Start, box.Count, unsafe.Pointer(s.list)); err != nil {
		return err
	}
	for i := range s.n {
		text := s.at(i)
		if !utf8.Valid(text) {
			return ndfile.NewError(ndfile.ErrCorrupt, "expected strings in UTF-8, found "+fmt.Sprintf("%q", text[:min(40, len(text))]))
		}
		if end := r.need + int64(len(text)); end <= int64(len(r.data)) {
			copy(r.data[r.need:], text)
		}
		r.need += int64(len(text))
		r.offsets = append(r.offsets, r.need)
	}
	return nil
}
