package npy

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// block is the data of an array. In Fortran order it is laid out as the array
// with its axes reversed, row-major.
type block struct {
	layout  flat.Layout
	fortran bool
}

func newBlock(in vfs.File, h *header) block {
	b := block{flat.Layout{File: in, Offset: h.offset, DType: h.dtype, Shape: h.shape}, h.fortran}
	if h.fortran {
		b.layout.Shape = reversed(h.shape)
	}
	return b
}

func (b *block) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if !b.fortran || !slices.Equal(box.Count, dst.Shape) { // which Layout refuses
		return b.layout.ReadBox(ctx, box, dst)
	}
	if err := box.Check(reversed(b.layout.Shape)); err != nil {
		return err
	}
	if dst.Strides == nil {
		var err error
		if dst.Strides, err = ndarray.AppendStrides(nil, dst.Shape, dst.DType.Size); err != nil {
			return err
		}
	}
	box.Start, box.Count = reversed(box.Start), reversed(box.Count)
	if box.Step != nil {
		box.Step = reversed(box.Step)
	}
	dst.Shape, dst.Strides = reversed(dst.Shape), reversed(dst.Strides)
	return b.layout.ReadBox(ctx, box, dst)
}

// Map is that of [flat.Layout]; an array in Fortran order cannot be mapped.
func (b *block) Map() (data []byte, unmap func() error, err error) {
	if b.fortran {
		return nil, nil, ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: stored in Fortran order")
	}
	return b.layout.Map()
}
