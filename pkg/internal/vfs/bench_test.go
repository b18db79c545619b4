//go:build linux

package vfs

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

func benchDir(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "vfs")
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// rawOpen is open without care: the floor.
func rawOpen(path *byte, flags int) uintptr {
	fd, _, _ := syscall.Syscall6(syscall.SYS_OPENAT, atFDCWD, uintptr(unsafe.Pointer(path)), uintptr(flags), 0o666, 0, 0)
	return fd
}

func BenchmarkReadSmall(b *testing.B) {
	path := benchDir(b) + "/f"
	OS.WriteFile(path, [][]byte{make([]byte, 130)}, WriteOptions{})
	buf := make([]byte, 64<<10)
	cpath, _ := syscall.BytePtrFromString(path)
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			fd := rawOpen(cpath, syscall.O_RDONLY|syscall.O_CLOEXEC)
			syscall.Syscall6(syscall.SYS_PREAD64, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0)
			syscall.Syscall(syscall.SYS_CLOSE, fd, 0, 0)
		}
	})
	b.Run("vfs", func(b *testing.B) {
		for b.Loop() {
			OS.ReadSmall(ctx, path, buf)
		}
	})
	b.Run("os.ReadFile", func(b *testing.B) {
		for b.Loop() {
			os.ReadFile(path)
		}
	})
}

func BenchmarkWriteFile(b *testing.B) {
	path := benchDir(b) + "/f"
	one := [][]byte{make([]byte, 130)}
	two := [][]byte{make([]byte, 48), make([]byte, 82)}
	cpath, _ := syscall.BytePtrFromString(path)
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			fd := rawOpen(cpath, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC|syscall.O_CLOEXEC)
			syscall.Syscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&one[0][0])), 130)
			syscall.Syscall(syscall.SYS_CLOSE, fd, 0, 0)
		}
	})
	bench := func(name string, parts [][]byte, opt WriteOptions) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				OS.WriteFile(path, parts, opt)
			}
		})
	}
	bench("direct", one, WriteOptions{Commit: CommitDirect})
	bench("direct2", two, WriteOptions{Commit: CommitDirect})
	bench("atomic", one, WriteOptions{})
	b.Run("lstat", func(b *testing.B) {
		for b.Loop() {
			lstat(path)
		}
	})
	b.Run("os.WriteFile", func(b *testing.B) {
		for b.Loop() {
			os.WriteFile(path, one[0], 0o666)
		}
	})
}
