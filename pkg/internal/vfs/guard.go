package vfs

import (
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// Guarded runs fn, which reads memory that is mapped from a file. Where the file has
// become shorter, and what is read is gone, the error is EIO instead of a signal.
func Guarded(memory []byte, fn func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface {
			runtime.Error
			Addr() uintptr
		})
		if !ok {
			panic(r)
		}
		if first := uintptr(unsafe.Pointer(unsafe.SliceData(memory))); fault.Addr() < first || fault.Addr()-first >= uintptr(len(memory)) {
			panic(r)
		}
		err = syscall.EIO
	}()
	return fn()
}
