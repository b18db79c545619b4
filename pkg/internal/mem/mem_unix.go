//go:build unix

package mem

import "syscall"

// allocate gives n bytes of zeros.
func allocate(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func release(p []byte) { syscall.Munmap(p) }
