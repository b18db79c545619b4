package flat

import "github.com/ndfile/ndfile/pkg/ndarray"

// View is a strided buffer whose elements are numbered in row-major order: the
// order in which runs of a box come.
type View struct {
	buf   ndarray.Buffer
	dense bool // without gaps
}

// NewView checks buf, as ndarray.Buffer.Check does, and shares its memory.
func NewView(buf ndarray.Buffer) (View, error) {
	if err := buf.Check(); err != nil {
		return View{}, err
	}
	return View{buf, buf.IsContiguous()}, nil
}

// Dense reports whether the elements follow each other without gaps.
func (v *View) Dense() bool { return v.dense }

// row finds element k: its place in Data, the elements from it to the end of its
// row, and their stride in bytes.
func (v *View) row(k int64) (at, left, stride int64) {
	size := int64(v.buf.DType.Size)
	last := len(v.buf.Shape) - 1
	if v.dense {
		return v.buf.Offset + k*size, 1<<63 - 1, size
	}
	at, stride = v.buf.Offset, v.buf.Strides[last]
	left = v.buf.Shape[last] - k%v.buf.Shape[last]
	for axis := last; axis >= 0; axis-- {
		extent := v.buf.Shape[axis]
		at += k % extent * v.buf.Strides[axis]
		k /= extent
	}
	return at, left, stride
}

// Run gives the bytes of n elements from k on; ok is false when they have gaps or
// lie in several rows.
func (v *View) Run(k, n int64) (p []byte, ok bool) {
	at, left, stride := v.row(k)
	size := int64(v.buf.DType.Size)
	if n > left || n > 1 && stride != size {
		return nil, false
	}
	return v.buf.Data[at : at+n*size : at+n*size], true
}

// part is the memory of m elements of a row, as ndarray.CopyRun wants it.
func (v *View) part(at, stride, m int64) []byte {
	size := int64(v.buf.DType.Size)
	if reach := (m - 1) * stride; reach < 0 {
		return v.buf.Data[at+reach : at+size]
	} else {
		return v.buf.Data[at : at+reach+size]
	}
}

// Put converts n elements of type from, which lie stride bytes apart in src, and
// stores them as elements k, k+1, ... of the view.
func (v *View) Put(k int64, src []byte, stride int64, from ndarray.DType, n int64) error {
	for n > 0 {
		at, left, dstStride := v.row(k)
		m := min(n, left)
		if err := ndarray.CopyRun(v.part(at, dstStride, m), dstStride, v.buf.DType, src, stride, from, m); err != nil {
			return err
		}
		if n -= m; n > 0 {
			k, src = k+m, src[m*stride:]
		}
	}
	return nil
}

// Get converts n elements from k on to type to and stores them packed in dst.
func (v *View) Get(dst []byte, to ndarray.DType, k, n int64) error {
	size := int64(to.Size)
	for n > 0 {
		at, left, stride := v.row(k)
		m := min(n, left)
		if err := ndarray.CopyRun(dst, size, to, v.part(at, stride, m), stride, v.buf.DType, m); err != nil {
			return err
		}
		k, n, dst = k+m, n-m, dst[m*size:]
	}
	return nil
}

// At gives the bytes of element k.
func (v *View) At(k int64) []byte {
	p, _ := v.Run(k, 1)
	return p
}
