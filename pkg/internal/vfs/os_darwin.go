package vfs

import (
	"syscall"
	"unsafe"
)

const (
	sysRenameatxNp = 488
	atFDCWD        = ^uintptr(1) // -2: relative to the working folder

	flagExchange  = 2 // RENAME_SWAP
	flagNoReplace = 4 // RENAME_EXCL
)

// open returns a descriptor that programs started later do not inherit.
func open(path string, flags int, perm uint32) (fd int, err error) {
	err = retry(func() (err error) { fd, err = syscall.Open(path, flags|syscall.O_CLOEXEC, perm); return err })
	return fd, err
}

func stat(path string) (Info, error) {
	var st syscall.Stat_t
	err := retry(func() error { return syscall.Stat(path, &st) })
	return infoOf(&st), err
}

func lstat(path string) (Info, error) {
	var st syscall.Stat_t
	err := retry(func() error { return syscall.Lstat(path, &st) })
	return infoOf(&st), err
}

func rename(old, new string) error {
	return retry(func() error { return syscall.Rename(old, new) })
}

func renameFlags(old, new string, flags uintptr) error {
	from, err := syscall.BytePtrFromString(old)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(new)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(sysRenameatxNp, atFDCWD, uintptr(unsafe.Pointer(from)),
		atFDCWD, uintptr(unsafe.Pointer(to)), flags, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// fsync makes the drive write its cache too, where it can.
func fsync(fd int) error {
	return retry(func() error {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_FULLFSYNC, 0); errno != syscall.ENOTSUP {
			if errno == 0 {
				return nil
			}
			return errno
		}
		return syscall.Fsync(fd)
	})
}

// flush keeps the content of a file before all that is written later.
func flush(fd int, wait bool) error {
	const barrier = 85 // F_BARRIERFSYNC
	if !wait {
		return nil // the barrier does not wait
	}
	return retry(func() error {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), barrier, 0); errno == 0 {
			return nil
		}
		return syscall.Fsync(fd)
	})
}

func modTime(st *syscall.Stat_t) int64 { return syscall.TimespecToNsec(st.Mtimespec) }
