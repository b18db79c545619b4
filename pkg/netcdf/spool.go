//go:build cgo

package netcdf

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// spool is a temporary file beside the new one, with the elements of an array and
// then its mask, a byte an element.
type spool struct {
	fsys    ndfile.FS
	file    vfs.File
	data    flat.Block
	mask    flat.Block
	missing bool // some element is
}

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

func (s *spool) close() {
	s.file.Close()
	s.fsys.Remove(s.file.Name())
}

func (s *spool) write(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if err := s.data.WriteBox(ctx, box, src); err != nil {
		return err
	}
	if mask == nil {
		n, err := ndarray.Count(box.Count)
		if err != nil {
			return err
		}
		if mask, err = ndfile.NewBytes(int(n)); err != nil {
			return err
		}
	}
	for _, m := range mask {
		s.missing = s.missing || m != 0
	}
	return s.mask.WriteBox(ctx, box, ndarray.Buffer{DType: maskType, Shape: box.Count, Data: mask})
}

// blocks gives all elements in blocks of rows with their mask.
func (s *spool) blocks(ctx context.Context, each func(box ndarray.Box, data ndarray.Buffer, mask []byte) error) error {
	for box := range ndfile.RowBlocks(s.data.Shape, s.data.DType.Size, maxBlock) {
		data, err := ndarray.NewBuffer(s.data.DType, box.Count)
		if err != nil {
			return err
		}
		mask, err := ndarray.NewBuffer(maskType, box.Count)
		if err != nil {
			return err
		}
		if err := s.data.ReadBox(ctx, box, data); err != nil {
			return err
		}
		if err := s.mask.ReadBox(ctx, box, mask); err != nil {
			return err
		}
		if err := each(box, data, mask.Data); err != nil {
			return err
		}
	}
	return nil
}

// unspool chooses _FillValue, if there is anything missing, and moves the elements
// into the file.
func (a *newArray) unspool(ctx context.Context) error {
	s := a.spool
	var ours []byte
	if s.missing && a.fillElement() == nil {
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
