package vfs

import (
	"strconv"
	"syscall"
	"unsafe"
)

const (
	openUnnamed     = 0o20000000 | syscall.O_DIRECTORY // O_TMPFILE
	atSymlinkFollow = 0x400
	atEmptyPath     = 0x1000
)

// writeUnnamed makes a new file in folder that gets its name when it is complete.
// Both paths are relative to dir. It is cheaper than writeAtomic, takes the lock
// of the folder, for which other writers wait, once instead of twice, and leaves
// nothing of a process that is killed. It reports whether name is written. If
// not, nothing has happened: that is not what opt wants, name exists, the file
// system cannot do this, or another way fails too and tells why.
func writeUnnamed(dir uintptr, folder, name string, parts [][]byte, opt WriteOptions) bool {
	if opt.Commit != CommitAtomic || opt.Sync || replacing.Load() {
		return false
	}
	fd, err := openat(dir, folder, syscall.O_WRONLY|openUnnamed, 0o666)
	if err != nil {
		return false
	}
	err = writeParts(fd, parts, maxIO)
	if err == nil && opt.Ordered {
		err = flush(fd, true)
	}
	if err == nil {
		err = linkOpen(fd, dir, name)
	}
	linked := err == nil
	if cerr := syscall.Close(fd); linked && cerr != nil {
		syscall.Unlinkat(int(dir), name)
		return false
	}
	return linked
}

// linkOpen gives the open file fd a name relative to dir, where nothing must be.
func linkOpen(fd int, dir uintptr, name string) error {
	var space pathSpace
	to, err := cpath(&space, name)
	if err != nil {
		return err
	}
	var empty byte
	err = linkat(uintptr(fd), &empty, dir, to, atEmptyPath)
	if err == syscall.ENOENT { // before Linux 6.10 for the privileged only
		err = linkProc(fd, dir, to)
	}
	return err
}

// linkProc does it by the name that every open file has in /proc.
func linkProc(fd int, dir uintptr, to *byte) error {
	var space [32]byte
	from := append(strconv.AppendInt(append(space[:0], "/proc/self/fd/"...), int64(fd), 10), 0)
	return linkat(atFDCWD, unsafe.SliceData(from), dir, to, atSymlinkFollow)
}

func linkat(fromDir uintptr, from *byte, toDir uintptr, to *byte, flags uintptr) error {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, fromDir, uintptr(unsafe.Pointer(from)),
			toDir, uintptr(unsafe.Pointer(to)), flags, 0)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}
