package main

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// blockBytes bounds the memory that is taken for one block of rows, unless a
// single row is larger.
const blockBytes = 1 << 20

// block is what a box of an array holds.
type block struct {
	n    int64  // elements
	mask []byte // 1 = missing; nil where nothing can be
	// data are the elements of fixed size, row-major and in native byte order.
	data []byte
	size int64
	// texts are those of variable length.
	texts [][]byte
}

// readBlock reads a box. Elements of fixed size come as d, which the array's dtype
// must widen to exactly.
func readBlock(ctx context.Context, a ndfile.Array, box ndarray.Box, d ndarray.DType) (block, error) {
	if err := ctx.Err(); err != nil {
		return block{}, ndfile.NewError(ndfile.ErrCanceled, "")
	}
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return block{}, err
	}
	b := block{n: n, size: int64(d.Size)}
	if a.Spec().Masked {
		b.mask = make([]byte, n)
	}
	if d.IsVar() {
		b.texts, err = readTexts(ctx, a, box, b.mask)
		return b, err
	}
	dst, err := ndarray.NewBuffer(d.Native(), box.Count)
	if err != nil {
		return b, err
	}
	b.data = dst.Data
	if m, ok := a.(ndfile.Masked); ok && b.mask != nil {
		return b, m.ReadMasked(ctx, box, dst, b.mask)
	}
	return b, a.ReadBox(ctx, box, dst)
}

// element is the i-th in row-major order.
func (b *block) element(i int64) []byte {
	if b.texts != nil {
		return b.texts[i]
	}
	return b.data[i*b.size : (i+1)*b.size]
}

func (b *block) missing(i int64) bool { return b.mask != nil && b.mask[i] != 0 }
