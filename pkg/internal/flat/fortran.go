package flat

import (
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// turned gives the row-major layout that a layout in Fortran order is with its axes
// reversed, and reverses those of a box and its memory. The box is checked first,
// so that an error names the axis as the caller does.
func (l *Block) turned(box *ndarray.Box, buf *ndarray.Buffer) (*Block, error) {
	if err := box.Check(l.Shape); err != nil {
		return nil, err
	}
	if buf.Strides == nil {
		var err error
		if buf.Strides, err = ndarray.AppendStrides(nil, buf.Shape, buf.DType.Size); err != nil {
			return nil, err
		}
	}
	box.Start, box.Count, box.Step = reversed(box.Start), reversed(box.Count), reversed(box.Step)
	buf.Shape, buf.Strides = reversed(buf.Shape), reversed(buf.Strides)
	return &Block{File: l.File, Offset: l.Offset, DType: l.DType, Shape: reversed(l.Shape), Mapped: l.Mapped}, nil
}

// strides are those of the elements as they lie in the file; nil is row-major.
func (l *Block) strides() ([]int64, error) {
	if !l.Fortran {
		return nil, nil
	}
	strides, err := ndarray.AppendStrides(nil, reversed(l.Shape), l.DType.Size)
	slices.Reverse(strides)
	return strides, err
}

// reversed leaves nil as it is.
func reversed(s []int64) []int64 {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}
