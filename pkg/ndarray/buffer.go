package ndarray

import (
	"fmt"
	"math"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// Buffer is memory seen as an array. It does not own Data; views share it.
type Buffer struct {
	DType   DType // not of variable length
	Shape   []int64
	Strides []int64 // bytes, may be negative or 0; nil: row-major without gaps
	Data    []byte
	Offset  int64 // bytes from the start of Data to element 0
}

// maxAlloc is what [NewBuffer] allocates at most: make panics beyond 1<<48 bytes.
const maxAlloc = 1 << 46

// NewBuffer allocates a row-major array of zero bytes. Sizes that come from a file
// must be compared with the size of that file before. It fails with [ErrDType] for
// types of variable length and with [ErrOverflow] beyond 64 TiB;
// when there is no memory it is syscall.ENOMEM. The buffer shares shape.
func NewBuffer(d DType, shape []int64) (Buffer, error) {
	if err := checkFixed(&d); err != nil {
		return Buffer{}, err
	}
	n, err := NBytes(shape, d.Size)
	if err != nil {
		return Buffer{}, err
	}
	if n > maxAlloc || n > math.MaxInt {
		return Buffer{}, fmt.Errorf("%w: array of %d bytes, expected at most %d", ErrOverflow, n, int64(maxAlloc))
	}
	data, err := mem.Make[byte](int(n), 1)
	if err != nil {
		return Buffer{}, err
	}
	return Buffer{DType: d, Shape: shape, Data: data}, nil
}

// Check verifies that every element lies inside Data. It fails with [ErrDType],
// [ErrShape], [ErrOverflow] or [ErrBounds].
func (b Buffer) Check() error {
	if err := checkFixed(&b.DType); err != nil {
		return err
	}
	min, max, err := Extent(b.Shape, b.Strides, b.DType.Size)
	if err != nil {
		return err
	}
	if size := int64(len(b.Data)); b.Offset < -min || b.Offset > size || max > size-b.Offset {
		return fmt.Errorf("%w: buffer: expected elements within %d bytes, found offset %d reaching from %d to %d",
			ErrBounds, size, b.Offset, min, max)
	}
	return nil
}

// IsContiguous reports whether the elements follow each other in row-major order
// without gaps. An array of one element or none is contiguous.
func (b Buffer) IsContiguous() bool {
	n, err := Count(b.Shape)
	if err != nil || b.Strides != nil && len(b.Strides) != len(b.Shape) {
		return false
	}
	if b.Strides == nil || n == 0 {
		return true
	}
	stride := int64(b.DType.Size)
	for axis := len(b.Shape) - 1; axis >= 0; axis-- {
		if extent := b.Shape[axis]; extent != 1 {
			if b.Strides[axis] != stride {
				return false
			}
			stride *= extent // what overflows has no memory; see Check
		}
	}
	return true
}

// Bytes gives the bytes of all elements, sharing Data; nil when the buffer is not
// contiguous or does not pass [Buffer.Check].
func (b Buffer) Bytes() []byte {
	if !b.IsContiguous() || b.Check() != nil {
		return nil
	}
	n, _ := NBytes(b.Shape, b.DType.Size) // did not fail in Check
	return b.Data[b.Offset : b.Offset+n : b.Offset+n]
}

// stride is the stride in bytes of an axis, given that of the axes after it
// without gaps.
func (b *Buffer) stride(axis int, packed int64) int64 {
	if b.Strides == nil {
		return packed
	}
	return b.Strides[axis]
}

// Sub is the view of a box; it shares Data. It fails like [Box.Check] and
// [Buffer.Check].
func (b Buffer) Sub(box Box) (Buffer, error) {
	if err := box.Check(b.Shape); err != nil {
		return Buffer{}, err
	}
	if err := b.Check(); err != nil {
		return Buffer{}, err
	}
	n, _ := Count(box.Count) // no more than that of the shape
	shape := make([]int64, 2*len(b.Shape))
	shape, strides := shape[:len(b.Shape):len(b.Shape)], shape[len(b.Shape):]
	copy(shape, box.Count)
	v := Buffer{DType: b.DType, Shape: shape, Strides: strides, Data: b.Data, Offset: b.Offset}
	if n == 0 {
		return v, nil // any place is as good, strides are never used
	}
	packed := int64(b.DType.Size)
	for axis := len(b.Shape) - 1; axis >= 0; axis-- {
		stride := b.stride(axis, packed)
		packed *= b.Shape[axis]
		if b.Shape[axis] > 1 { // else the stride is never used and may be anything
			v.Offset += box.Start[axis] * stride
		}
		if box.Count[axis] > 1 {
			strides[axis] = stride * box.step(axis)
		}
	}
	return v, nil
}
