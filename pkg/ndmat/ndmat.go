// Package ndmat makes gonum's matrices and vectors of arrays of package ndfile, and back. It
// is a module of its own, so that programs without gonum do not have to build it.
//
// Elements become float64, or complex128 in a mat.CDense, where these hold every value of
// the stored type exactly; else it is ndfile.ErrDType. Missing elements are
// ndfile.ErrMasked. An array without elements is an empty matrix.
package ndmat

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Dense reads an array of two axes, rows and columns.
func Dense(ctx context.Context, a ndfile.Array) (*mat.Dense, error) {
	return DenseOf(ctx, a, ndarray.Full(a.Spec().Shape))
}

// DenseOf reads the elements in a box as a matrix. Of an array of more axes than two, or a
// box of one row, the axes that the box takes one element of are left out, the first ones
// first, until two are left.
func DenseOf(ctx context.Context, a ndfile.Array, box ndarray.Box) (*mat.Dense, error) {
	shape, err := squeezed(box.Count, 2)
	if err != nil {
		return nil, err
	}
	data, err := ndfile.Read[float64](ctx, a, box)
	if err != nil || len(data) == 0 {
		return &mat.Dense{}, err
	}
	return mat.NewDense(int(shape[0]), int(shape[1]), data), nil
}

// CDense reads an array of two axes as a complex matrix.
func CDense(ctx context.Context, a ndfile.Array) (*mat.CDense, error) {
	box := ndarray.Full(a.Spec().Shape)
	shape, err := squeezed(box.Count, 2)
	if err != nil {
		return nil, err
	}
	data, err := ndfile.Read[complex128](ctx, a, box)
	if err != nil || len(data) == 0 {
		return &mat.CDense{}, err
	}
	return mat.NewCDense(int(shape[0]), int(shape[1]), data), nil
}

// Vec reads an array of one axis.
func Vec(ctx context.Context, a ndfile.Array) (*mat.VecDense, error) {
	return VecOf(ctx, a, ndarray.Full(a.Spec().Shape))
}

// VecOf reads the elements in a box as a vector. The axes that the box takes one element of
// are left out, the first ones first, until one is left.
func VecOf(ctx context.Context, a ndfile.Array, box ndarray.Box) (*mat.VecDense, error) {
	if _, err := squeezed(box.Count, 1); err != nil {
		return nil, err
	}
	data, err := ndfile.Read[float64](ctx, a, box)
	if err != nil || len(data) == 0 {
		return &mat.VecDense{}, err
	}
	return mat.NewVecDense(len(data), data), nil
}

// squeezed leaves out axes of one element until so many are left.
func squeezed(shape []int64, axes int) ([]int64, error) {
	left := make([]int64, 0, len(shape))
	for i, n := range shape {
		if n != 1 || len(left)+len(shape)-i <= axes {
			left = append(left, n)
		}
	}
	if len(left) != axes {
		return nil, ndfile.NewError(ndfile.ErrShape, fmt.Sprintf("elements of shape %v; %d axes were expected", shape, axes))
	}
	return left, nil
}

// Buffer is a matrix as an array, to be written or saved: of two axes, a mat.Vector of one.
// It shares the memory of mat.Dense, mat.VecDense and what else has a RawMatrix or RawVector;
// others are copied.
func Buffer(m mat.Matrix) ndarray.Buffer {
	switch m := m.(type) {
	case mat.RawVectorer:
		raw := m.RawVector()
		b := ndarray.Of(raw.Data, int64(raw.N))
		b.Strides = []int64{8 * int64(raw.Inc)}
		return b
	case mat.RawMatrixer:
		raw := m.RawMatrix()
		b := ndarray.Of(raw.Data, int64(raw.Rows), int64(raw.Cols))
		b.Strides = []int64{8 * int64(raw.Stride), 8}
		return b
	case mat.Vector:
		return Buffer(mat.VecDenseCopyOf(m))
	}
	if r, c := m.Dims(); r == 0 || c == 0 {
		return ndarray.Of([]float64{}, int64(r), int64(c))
	}
	return Buffer(mat.DenseCopyOf(m))
}

// CBuffer is [Buffer] of a complex matrix; it shares the memory of mat.CDense.
func CBuffer(m *mat.CDense) ndarray.Buffer {
	raw := m.RawCMatrix()
	b := ndarray.Of(raw.Data, int64(raw.Rows), int64(raw.Cols))
	b.Strides = []int64{16 * int64(raw.Stride), 16}
	return b
}

// Item is a matrix or vector to be saved under a name, "" in formats of one array.
func Item(name string, m mat.Matrix) ndfile.Item {
	return ndfile.Item{Name: name, Data: Buffer(m)}
}
