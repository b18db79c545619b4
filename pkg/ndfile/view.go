package ndfile

import "unsafe"

// number is an element that loops work on as it lies in memory.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// words allocates n zero bytes that are aligned for every [number].
func words(n int64) []byte {
	w := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)[:n]
}

// sizeOf is the size of an element in bytes.
func sizeOf[T number]() int { return int(unsafe.Sizeof(*new(T))) }

// view sees memory from words as elements in the machine's byte order.
func view[T number](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[T]())
}

// grown gives n aligned bytes of undefined content, in b if it is long enough.
func grown(b []byte, n int64) []byte {
	if n <= int64(cap(b)) {
		return b[:n]
	}
	return words(n)
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
