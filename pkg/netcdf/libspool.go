//go:build cgo

package netcdf

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// startSpool makes the array wait.
func (a *newArray) startSpool() error {
	fsys, s := a.file.fsys, &a.spec
	n, err := ndarray.NBytes(s.Shape, s.DType.Size)
	if err != nil {
		return err
	}
	file, err := fsys.CreatePrivate(fsys.TempName(a.file.out.File().Name()))
	if err != nil {
		return err
	}
	a.spool = &spool{
		fsys: fsys,
		file: file,
		data: flat.Block{File: file, DType: s.DType, Shape: s.Shape},
		mask: flat.Block{File: file, Offset: n, DType: maskType, Shape: s.Shape},
	}
	a.file.pending = append(a.file.pending, a)
	return nil
}

// unspool chooses _FillValue, if there is anything missing, and moves the elements
// into the file.
func (a *newArray) unspool(ctx context.Context) error {
	s := a.spool
	var ours []byte
	if s.missing && a.element() == nil {
		var err error
		ours, err = freeValue(numbersOf(a.spec.DType), func(each func(data, mask []byte)) error {
			return s.blocks(ctx, func(_ ndarray.Box, data ndarray.Buffer, mask []byte) error {
				each(data.Data, mask)
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	mu.Lock()
	err := a.define(ours)
	mu.Unlock()
	if err != nil {
		return err
	}
	err = s.blocks(ctx, func(box ndarray.Box, data ndarray.Buffer, mask []byte) error {
		return a.writeDirect(ctx, box, data, mask)
	})
	if err != nil {
		return err
	}
	a.spool = nil
	s.close()
	return nil
}
