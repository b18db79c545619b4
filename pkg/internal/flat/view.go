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
		var err error
		if m == n || left < v.buf.Shape[len(v.buf.Shape)-1] {
			err = ndarray.CopyRun(v.part(at, dstStride, m), dstStride, v.buf.DType, src, stride, from, m)
		} else {
			var r rows
			m = r.find(v, k, n)
			err = ndarray.Copy(r.of(v, at), r.apart(src, stride, from))
		}
		if err != nil {
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
		var err error
		if m == n || left < v.buf.Shape[len(v.buf.Shape)-1] {
			err = ndarray.CopyRun(dst, size, to, v.part(at, stride, m), stride, v.buf.DType, m)
		} else {
			var r rows
			m = r.find(v, k, n)
			err = ndarray.Copy(r.apart(dst, size, to), r.of(v, at))
		}
		if err != nil {
			return err
		}
		k, n, dst = k+m, n-m, dst[m*size:]
	}
	return nil
}

// rows is a box of whole rows of a view that is not dense: what package ndarray
// copies by blocks that stay in the cache, which single rows do not.
type rows struct {
	axis    int // the first one of the box; of those after it all elements are taken
	extents [ndarray.MaxNDim]int64
	strides [ndarray.MaxNDim]int64 // of memory apart from the view
	rank    int
}

// find makes the largest box that begins with element k, the first of a row, and
// has no more than n elements, which are a row or more. It gives their number.
func (r *rows) find(v *View, k, n int64) int64 {
	shape := v.buf.Shape
	axis, whole := len(shape)-1, int64(1) // elements for each step along axis
	for axis > 0 && k%shape[axis] == 0 && n >= whole*shape[axis] {
		whole *= shape[axis]
		k /= shape[axis]
		axis--
	}
	count := min(n/whole, shape[axis]-k%shape[axis])
	r.axis, r.rank = axis, copy(r.extents[:], shape[axis:])
	r.extents[0] = count
	return count * whole
}

// of is the box as a part of the view; at is the place of its first element.
func (r *rows) of(v *View, at int64) ndarray.Buffer {
	return ndarray.Buffer{DType: v.buf.DType, Shape: r.extents[:r.rank], Strides: v.buf.Strides[r.axis:], Data: v.buf.Data, Offset: at}
}

// apart is the box in other memory, where its elements lie stride bytes apart.
func (r *rows) apart(p []byte, stride int64, d ndarray.DType) ndarray.Buffer {
	for i := r.rank - 1; i >= 0; i-- {
		r.strides[i] = stride
		stride *= r.extents[i]
	}
	return ndarray.Buffer{DType: d, Shape: r.extents[:r.rank], Strides: r.strides[:r.rank], Data: p}
}

// At gives the bytes of element k.
func (v *View) At(k int64) []byte {
	p, _ := v.Run(k, 1)
	return p
}
