package ndfile

import (
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// number is an element that loops work on as it lies in memory.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// sizeOf is the size of an element in bytes.
func sizeOf[T number]() int { return int(unsafe.Sizeof(*new(T))) }

// view sees aligned memory as elements in the machine's byte order.
func view[T number](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[T]())
}

// sized gives n bytes of undefined content, aligned for every [number]. What b gave
// before is no longer valid.
func sized(b *mem.Block, n int64) ([]byte, error) {
	if n > math.MaxInt {
		return nil, NewError(ErrNoMemory, strconv.FormatInt(n, 10)+" bytes")
	}
	return b.Sized(int(n))
}

// dropMissing moves the elements that are not missing to the front, and tells how
// many there are. mask has one byte an element, 1 = missing.
func dropMissing(data []byte, itemsize int, mask []byte) (n int) {
	for i, m := range mask {
		if m == 0 {
			if n < i {
				copy(data[n*itemsize:(n+1)*itemsize], data[i*itemsize:(i+1)*itemsize])
			}
			n++
		}
	}
	return n
}

// memoryOf is the memory of a slice of elements, or of arrays of them.
func memoryOf(slice reflect.Value) []byte {
	return unsafe.Slice((*byte)(slice.UnsafePointer()), slice.Len()*int(slice.Type().Elem().Size()))
}
