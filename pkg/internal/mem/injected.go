//go:build linux || darwin

package mem

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// injected is what a test of the built library shares with it: which request for
// large memory is to fail.
type injected struct {
	seen    int64 // requests since the test set it to 0
	first   int64 // the number of the one that fails, from 1 on; 0 is none
	onwards int64 // not 0: all behind it fail too
}

// Inject has requests for large memory fail as the file at path says, which a test
// maps too; "" is none. It is how programs in other languages test what SetFault does
// in Go. The file holds three numbers of 8 bytes, see injected. What is no such file
// is passed over: false.
func Inject(path string) bool {
	if path == "" {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	size := int(unsafe.Sizeof(injected{}))
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != int64(size) {
		return false
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return false
	}
	test := (*injected)(unsafe.Pointer(unsafe.SliceData(page)))
	SetFault(func(int) bool {
		n, first := atomic.AddInt64(&test.seen, 1), atomic.LoadInt64(&test.first)
		return first > 0 && (n == first || n > first && atomic.LoadInt64(&test.onwards) != 0)
	})
	return true
}
