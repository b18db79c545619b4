package ndarray

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// Element is a Go type that has a dtype: bool, numbers, and types made of them.
type Element interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// TypeOf is the dtype of a Go type, in native byte order: "<f8" of float64.
func TypeOf[T Element]() DType {
	d, _ := TypeFor(reflect.TypeFor[T]())
	return d
}

// TypeFor is [TypeOf] of a type that is known when the program runs; ok is false
// where it is no [Element].
func TypeFor(t reflect.Type) (d DType, ok bool) {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		d.Kind = Bool
	case k >= reflect.Int && k <= reflect.Int64:
		d.Kind = Int
	case k >= reflect.Uint && k <= reflect.Uint64:
		d.Kind = Uint
	case k == reflect.Float32 || k == reflect.Float64:
		d.Kind = Float
	case k == reflect.Complex64 || k == reflect.Complex128:
		d.Kind = Complex
	default:
		return DType{}, false
	}
	if d.Size = int(t.Size()); d.Size > 1 {
		d.Order = NativeOrder
	}
	return d, true
}

// Of sees a slice as an array, row-major; without a shape it has one axis. The array
// shares the slice. A shape that does not fit is an error where the array is used.
func Of[T Element](data []T, shape ...int64) Buffer {
	if shape == nil {
		shape = []int64{int64(len(data))}
	}
	return Buffer{DType: TypeOf[T](), Shape: shape, Data: bytesOf(data)}
}

// Values copies the elements of an array, in row-major order and widened exactly
// where T is a wider type; see [CanConvert]. It fails as [Copy] does.
func Values[T Element](b Buffer) ([]T, error) {
	n, err := Count(b.Shape)
	if err != nil {
		return nil, err
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	values, err := Make[T](n)
	if err != nil {
		return nil, err
	}
	dst := Of(values, b.Shape...)
	err = Copy(dst, b)
	TidyBools(dst)
	return values, err
}

// TidyBools makes every element of a contiguous array of bools 0 or 1, which is what
// Go's bool may be. Arrays of other types stay as they are.
func TidyBools(b Buffer) {
	if b.DType.Kind != Bool {
		return
	}
	for i, e := range b.Data {
		if e > 1 {
			b.Data[i] = 1
		}
	}
}

// Make makes a slice of n elements; when there is no memory for them it is
// syscall.ENOMEM. A count that no slice can have is [ErrOverflow].
func Make[T Element](n int64) ([]T, error) {
	size := int64(unsafe.Sizeof(*new(T)))
	if n < 0 || n > maxAlloc/size {
		return nil, fmt.Errorf("%w: %d elements of %d bytes", ErrOverflow, n, size)
	}
	return mem.Make[T](int(n), int(size))
}

// bytesOf is the memory of a slice.
func bytesOf[T Element](data []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(*new(T))))
}
