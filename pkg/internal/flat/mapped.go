package flat

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Scattered elements are copied out of a mapping of the file: a pread for each of them
// takes several times as long, and so does reading what lies between them. The copy is
// guarded, so that a file that becomes shorter meanwhile is an error and no signal.

const (
	// minSparse is the least number of runs, and sparse how many times as many bytes as
	// its elements a box has to span, to be copied out of a mapping.
	minSparse = 16
	sparse    = 4
	// mostMapped is the most that is mapped of a file: addresses can be few.
	mostMapped = 1 << 30
)

// Mapped is a mapping of a file, made when it is first wanted. Close waits for copies.
type Mapped struct {
	mu    sync.RWMutex
	data  []byte
	unmap func() error
	none  bool // it cannot be mapped, or is closed
}

// Close gives the memory back.
func (m *Mapped) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unmap != nil {
		m.unmap()
	}
	m.data, m.unmap, m.none = nil, nil, true
}

// open maps the file, once.
func (m *Mapped) open(f vfs.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.none || m.data != nil {
		return
	}
	m.none = true
	size, err := f.Size()
	if err != nil || size == 0 || size > mostMapped {
		return
	}
	if data, unmap, err := f.Map(0, size); err == nil {
		m.data, m.unmap, m.none = data, unmap, false
	}
}

// hold maps the file, where that has not been done, and keeps the mapping until
// mu.RUnlock; false: there is none, nor anything to unlock.
func (m *Mapped) hold(f vfs.File) bool {
	m.mu.RLock()
	if m.data == nil && !m.none {
		m.mu.RUnlock()
		m.open(f)
		m.mu.RLock()
	}
	if m.data == nil {
		m.mu.RUnlock()
		return false
	}
	return true
}

// copyBox copies a box of the array out of the mapping. done is false where that is not
// the way: see [Block.ReadBox] for all else.
func (m *Mapped) copyBox(l *Block, box *ndarray.Box, dst ndarray.Buffer) (done bool, err error) {
	if l.Fortran || box.Check(l.Shape) != nil || !l.sparse(box) {
		return false, nil
	}
	if !m.hold(l.File) {
		return false, nil
	}
	defer m.mu.RUnlock()
	src := l.part(box, m.data)
	if src.Check() != nil { // the file was shorter; the ordinary way says so
		return false, nil
	}
	err = vfs.Guarded(m.data, func() error { return ndarray.Copy(dst, src) })
	// After a fault the ordinary way says what there is.
	return !errors.Is(err, syscall.EIO), err
}

// ReadScattered is as in [ndfile.Scattered].
func (l *Block) ReadScattered(ctx context.Context, starts []int64, n int64, dst ndarray.Buffer) (done bool, err error) {
	to := dst.Bytes()
	if l.Mapped == nil || l.Fortran || to == nil || !l.DType.Equal(dst.DType) && !l.DType.IsSwapOf(dst.DType) {
		return false, nil
	}
	m := l.Mapped
	if !m.hold(l.File) {
		return false, nil
	}
	defer m.mu.RUnlock()
	size := n * int64(l.DType.Size)
	all, err := ndarray.NBytes(l.Shape, l.DType.Size)
	if end, ok := ndarray.Add(l.Offset, all); err != nil || !ok || end > int64(len(m.data)) {
		return false, err // the ordinary way says what is missing
	}
	elements := m.data[l.Offset : l.Offset+all]
	const step = 1 << 20
	for from := 0; from < len(starts); from += step {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		some := starts[from:min(from+step, len(starts))]
		part := to[int64(from)*size:][:int64(len(some))*size]
		if err := vfs.Guarded(m.data, func() error { gather(part, elements, some, size); return nil }); err != nil {
			return false, nil
		}
	}
	if l.DType.IsSwapOf(dst.DType) && !l.DType.Equal(dst.DType) {
		ndarray.SwapBytes(to, l.DType)
	}
	return true, nil
}

// gather copies pieces of size bytes, numbered in src, one after the other.
func gather(dst, src []byte, numbers []int64, size int64) {
	switch size {
	case 1:
		for i, k := range numbers {
			dst[i] = src[k]
		}
	case 2:
		for i, k := range numbers {
			binary.NativeEndian.PutUint16(dst[2*i:], binary.NativeEndian.Uint16(src[2*k:]))
		}
	case 4:
		for i, k := range numbers {
			binary.NativeEndian.PutUint32(dst[4*i:], binary.NativeEndian.Uint32(src[4*k:]))
		}
	case 8:
		for i, k := range numbers {
			binary.NativeEndian.PutUint64(dst[8*i:], binary.NativeEndian.Uint64(src[8*k:]))
		}
	default:
		for i, k := range numbers {
			copy(dst[int64(i)*size:int64(i+1)*size], src[k*size:])
		}
	}
}

// sparse reports whether a box is worth a mapping.
func (l *Block) sparse(box *ndarray.Box) bool {
	size := int64(l.DType.Size)
	count, runs, span, stride := int64(1), int64(1), int64(0), size
	for axis := len(l.Shape) - 1; axis >= 0; axis-- {
		n, step := box.Count[axis], stepOf(box, axis)
		if n == 0 {
			return false
		}
		span += (n - 1) * stride * step
		if axis < len(l.Shape)-1 || step != 1 {
			runs *= n
		}
		count *= n
		stride *= l.Shape[axis]
	}
	return runs >= minSparse && span/sparse > count*size
}

func stepOf(box *ndarray.Box, axis int) int64 {
	if box.Step == nil {
		return 1
	}
	return box.Step[axis]
}

// part is a box of the array in the bytes of the file.
func (l *Block) part(box *ndarray.Box, file []byte) ndarray.Buffer {
	b := ndarray.Buffer{DType: l.DType, Shape: box.Count, Strides: make([]int64, len(l.Shape)), Offset: l.Offset, Data: file}
	stride := int64(l.DType.Size)
	for axis := len(l.Shape) - 1; axis >= 0; axis-- {
		b.Strides[axis] = stride * stepOf(box, axis)
		b.Offset += box.Start[axis] * stride
		stride *= l.Shape[axis]
	}
	return b
}
