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
		data, err := ndarray.NewBuffer(s.data.DType.Native(), box.Count)
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
