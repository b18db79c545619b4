package chunk

import (
	"bytes"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// fill sets all elements of a chunk's bytes to the fill value.
func (a *Array) fill(p []byte) { repeat(p, a.Fill) }

// repeat fills p with copies of elem; nil is zeros.
func repeat(p, elem []byte) {
	if len(bytes.Trim(elem, "\x00")) == 0 {
		clear(p)
		return
	}
	for n := copy(p, elem); n < len(p); {
		n += copy(p[n:], p[:n])
	}
}

// fillPiece sets the memory of the worker's piece to the fill value.
func (w *worker) fillPiece(a *Array) error {
	w.elem = append(w.elem[:0], make([]byte, w.buf.DType.Size)...)
	elem := w.elem
	if a.Fill != nil {
		if err := ndarray.CopyRun(elem, 0, w.buf.DType, a.Fill, 0, a.DType, 1); err != nil {
			return err
		}
	}
	if w.dense {
		repeat(w.memory(), elem)
		return nil
	}
	clear(w.strides) // it is all elements
	return ndarray.Copy(w.buf, ndarray.Buffer{DType: w.buf.DType, Shape: w.count, Strides: w.strides, Data: elem})
}
