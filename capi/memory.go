package main

// #include "internal.h"
import "C"

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// This file turns memory of the caller into Go's types and back. What it gives is the caller's memory itself, valid
// for the time of the call: nothing here copies unless it says so, and nothing may keep it.
//
// Pointers in structs come as numbers (the ndfgo_ structs of internal.h). For empty arrays other languages hand out
// addresses such as 8, which Go does not bear as pointers; pointer makes them NULL, as the shims do with arguments.

// lowest is the first number that can be an address.
const lowest = 4096

// address is a void * of C.
type address = unsafe.Pointer

// pointer is the address a, or nil when it cannot be one.
func pointer(a C.uintptr_t) address {
	if a < lowest {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&a))
}

// textAt is the NUL-terminated text at p; "" for NULL.
func textAt(p *C.char) string {
	if p == nil {
		return ""
	}
	// The NUL is searched from page to page: what follows the last page of the text may not be memory.
	const page = 4096
	for n := 0; ; {
		at := unsafe.Add(unsafe.Pointer(p), n)
		rest := page - int(uintptr(at)%page)
		if i := strings.IndexByte(unsafe.String((*byte)(at), rest), 0); i >= 0 {
			return unsafe.String((*byte)(unsafe.Pointer(p)), n+i)
		}
		n += rest
	}
}

// bytesOf are the bytes of a text, not to be changed.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// fieldText is the text that a pointer in a struct leads to.
func fieldText(a C.uintptr_t) string { return textAt((*C.char)(pointer(a))) }

// sliceAt are n elements of the caller; nil when n is 0.
func sliceAt[T any](what string, p address, n int64) ([]T, error) {
	var t T
	bytes, ok := ndarray.Mul(n, int64(unsafe.Sizeof(t)))
	switch {
	case n < 0:
		return nil, badArgument(what + ": " + strconv.FormatInt(n, 10) + " elements")
	case n == 0:
		return nil, nil
	case !ok || uint64(bytes) > uint64(^uintptr(0)-uintptr(p)):
		return nil, badArgument(what + ": " + strconv.FormatInt(n, 10) + " elements do not fit into memory")
	case p == nil:
		return nil, badArgument(what + " is NULL")
	}
	return unsafe.Slice((*T)(p), n), nil
}

// roomAt are the n bytes for output at p, which may be NULL when n is 0.
func roomAt(what, count string, p address, n int64) ([]byte, error) {
	if n < 0 || p == nil && n > 0 {
		return nil, badArgument(count + " is " + strconv.FormatInt(n, 10) + ", expected the bytes at " + what)
	}
	return sliceAt[byte](what, p, n)
}

// axesAt are the ndim numbers, one an axis, at p.
func axesAt(what string, ndim C.int32_t, p *C.int64_t) ([]int64, error) {
	if ndim < 0 || ndim > ndarray.MaxNDim {
		return nil, ndfile.NewError(ndfile.ErrShape, what+": "+strconv.Itoa(int(ndim))+" axes, expected 0 to "+strconv.Itoa(ndarray.MaxNDim))
	}
	return sliceAt[int64](what, address(p), int64(ndim))
}

// bufferAt is an array in the caller's memory with element 0 at p. Nil strides mean row-major without gaps.
func bufferAt(what string, d ndarray.DType, shape, strides []int64, p address) (ndarray.Buffer, error) {
	b := ndarray.Buffer{DType: d, Shape: shape, Strides: strides}
	lo, hi, err := ndarray.Extent(shape, strides, d.Size)
	if err != nil || lo == hi {
		return b, err
	}
	if p != nil && uint64(-lo)+lowest > uint64(uintptr(p)) || hi-lo < 0 {
		return b, badArgument(what + ": the strides lead out of memory")
	}
	first := unsafe.Pointer(nil)
	if p != nil {
		first = unsafe.Add(p, lo)
	}
	b.Offset = -lo
	b.Data, err = sliceAt[byte](what, first, hi-lo)
	return b, err
}

// startOf is the address of the first byte; nil when there is none.
func startOf(b []byte) address { return address(unsafe.SliceData(b)) }

// aligned reports whether b begins at a multiple of n bytes in memory, or is empty.
func aligned(b []byte, n int) bool { return len(b) == 0 || uintptr(startOf(b))%uintptr(n) == 0 }

// structSize reads and checks the size that the caller has set in a struct called name.
func structSize(name string, p address) (uintptr, error) {
	const least, most = 8, 64 << 10
	size := *(*uint32)(p)
	if size < least || size > most {
		return 0, badArgument(name + ": struct_size is " + strconv.Itoa(int(size)) + "; set it to sizeof(" + name + ")")
	}
	return uintptr(size), nil
}

// structStride is the distance between the structs of an array that begins at p.
func structStride(name string, p address) (uintptr, error) {
	n, err := structSize(name, p)
	if err == nil && n%8 != 0 {
		err = badArgument(name + ": struct_size is " + strconv.Itoa(int(n)) + ", expected a multiple of 8 in an array")
	}
	return n, err
}

// structsAt calls fn for each of n structs called name at p.
func structsAt[T any](name string, p address, n int64, fn func(*T) error) error {
	if n < 0 || p == nil && n > 0 {
		return badArgument("n is " + strconv.FormatInt(n, 10) + ", expected the number of structs " + name)
	}
	if n == 0 {
		return nil
	}
	stride, err := structStride(name, p)
	for i := int64(0); i < n && err == nil; i++ {
		at := element(p, i, stride)
		if uintptr(*(*uint32)(at)) != stride {
			return badArgument(name + " " + strconv.FormatInt(i, 10) + ": struct_size differs from that of the first")
		}
		err = fn((*T)(at))
	}
	return err
}

// element is element i of an array of structs that are stride bytes apart.
func element(p address, i int64, stride uintptr) address { return unsafe.Add(p, uintptr(i)*stride) }

// input copies the caller's struct at p over own, which is zero, as far as both go. Fields behind those of own, which
// a newer header knows, must be 0: they ask for what this library cannot do.
func input[Theirs, Own any](name string, p *Theirs, own *Own) error {
	n, err := structSize(name, address(p))
	if err != nil {
		return err
	}
	theirs := unsafe.Slice((*byte)(address(p)), n)
	known := copy(unsafe.Slice((*byte)(address(own)), unsafe.Sizeof(*own)), theirs)
	for i, b := range theirs[known:] {
		if b != 0 {
			return ndfile.NewError(ndfile.ErrNotSupported, name+": byte "+strconv.Itoa(known+i)+" is not 0, a field that libndfile "+version+" does not know")
		}
	}
	return nil
}

// output copies our struct own over the caller's at p, as far as both go. struct_size stays.
func output[T any](name string, p, own *T) error {
	n, err := structSize(name, address(p))
	if err == nil {
		copyStruct(address(p), own, n)
	}
	return err
}

// outputAt copies size bytes of a struct but struct_size.
func outputAt(p, out address, size uintptr) {
	const head = unsafe.Sizeof(uint32(0)) // of struct_size
	copy(unsafe.Slice((*byte)(unsafe.Add(p, head)), size-head), unsafe.Slice((*byte)(unsafe.Add(out, head)), size-head))
}

// copyStruct copies our struct own, up to size bytes of it, over the caller's at p. struct_size stays.
func copyStruct[T any](p address, own *T, size uintptr) {
	outputAt(p, address(own), min(size, unsafe.Sizeof(*own)))
}

// setName stores a text that fits, and a NUL, in an array of a struct.
func setName(dst []C.char, text string) {
	n := copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)-1), text)
	dst[n] = 0
}

// textOut gives a text to the caller: see Memory in the package's documentation.
func textOut(text string, buf *C.char, length *C.int64_t) error {
	room := int64(*length)
	if room < 0 || buf == nil && room > 0 {
		return badArgument("len is " + strconv.FormatInt(room, 10) + ", expected the capacity of buf")
	}
	need := int64(len(text)) + 1
	if need > room {
		*length = C.int64_t(need)
		return ndfile.NewError(ndfile.ErrBuffer, "the text takes "+strconv.FormatInt(need, 10)+" bytes, the buffer has "+strconv.FormatInt(room, 10))
	}
	dst := unsafe.Slice((*byte)(unsafe.Pointer(buf)), need)
	copy(dst, text)
	dst[need-1] = 0
	*length = C.int64_t(need - 1)
	return nil
}

// bytesOut gives bytes to the caller as textOut gives a text, but without a NUL.
func bytesOut(what string, b []byte, buf address, length *C.int64_t) error {
	dst, err := roomAt("buf", "len", buf, int64(*length))
	if err != nil {
		return err
	}
	*length = C.int64_t(len(b))
	if len(b) > len(dst) {
		return ndfile.NewError(ndfile.ErrBuffer, what+" takes "+strconv.Itoa(len(b))+" bytes, the buffer has "+strconv.Itoa(len(dst)))
	}
	copy(dst, b)
	return nil
}

// infoSize is the size of a description, for Go and for C.
const infoSize = unsafe.Sizeof(ndfile.LoadInfo{})

// The two layouts are the same, or this does not compile: the index of an array of one element is 0.
var (
	goInfo ndfile.LoadInfo
	cInfo  C.ndf_load_info
	_      = [1]bool{}[infoSize-unsafe.Sizeof(cInfo)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.NDim)-unsafe.Offsetof(cInfo.ndim)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.Flags)-unsafe.Offsetof(cInfo.flags)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.Count)-unsafe.Offsetof(cInfo.count)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.ItemSize)-unsafe.Offsetof(cInfo.itemsize)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.NameOffset)-unsafe.Offsetof(cInfo.name_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.NameLen)-unsafe.Offsetof(cInfo.name_len)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.DataOffset)-unsafe.Offsetof(cInfo.data_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.DataLen)-unsafe.Offsetof(cInfo.data_len)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.MaskOffset)-unsafe.Offsetof(cInfo.mask_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.OffsetsOffset)-unsafe.Offsetof(cInfo.offsets_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.DTypeOffset)-unsafe.Offsetof(cInfo.dtype_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.DTypeLen)-unsafe.Offsetof(cInfo.dtype_len)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.MetaOffset)-unsafe.Offsetof(cInfo.meta_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.DimsOffset)-unsafe.Offsetof(cInfo.dims_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.AttrsLen)-unsafe.Offsetof(cInfo.attrs_len)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.StoredOffset)-unsafe.Offsetof(cInfo.stored_offset)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.DType)-unsafe.Offsetof(cInfo.dtype)]
	_      = [1]bool{}[unsafe.Offsetof(goInfo.Shape)-unsafe.Offsetof(cInfo.shape)]
)
