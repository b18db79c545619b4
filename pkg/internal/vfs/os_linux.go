package vfs

import (
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of small files take their path from the stack: package syscall
// would allocate a copy. They are Syscall, not RawSyscall, so that a slow
// network file system does not hold up the scheduler.

const (
	atFDCWD           = ^uintptr(99) // -100: relative to the working folder
	atSymlinkNofollow = 0x100

	flagNoReplace = 1 // RENAME_NOREPLACE
	flagExchange  = 2 // RENAME_EXCHANGE
)

// pathSpace holds paths up to 255 bytes with the suffix of a temporary name;
// longer ones go to the heap.
type pathSpace [320]byte

// cpath returns path with a NUL at its end, in space if it fits.
func cpath(space *pathSpace, path string) (*byte, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return nil, syscall.EINVAL
	}
	return unsafe.SliceData(append(append(space[:0], path...), 0)), nil
}

// open returns a descriptor that programs started later do not inherit.
func open(path string, flags int, perm uint32) (int, error) {
	return openat(atFDCWD, path, flags, perm)
}

// openat is open relative to the folder dir.
func openat(dir uintptr, path string, flags int, perm uint32) (int, error) {
	var space pathSpace
	p, err := cpath(&space, path)
	if err != nil {
		return -1, err
	}
	for {
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, dir, uintptr(unsafe.Pointer(p)),
			uintptr(flags|syscall.O_CLOEXEC), uintptr(perm), 0, 0)
		if errno == 0 {
			return int(fd), nil
		}
		if errno != syscall.EINTR {
			return -1, errno
		}
	}
}

func stat(path string) (Info, error)  { return fstatat(path, 0) }
func lstat(path string) (Info, error) { return fstatat(path, atSymlinkNofollow) }

func fstatat(path string, flags uintptr) (Info, error) {
	var space pathSpace
	p, err := cpath(&space, path)
	if err != nil {
		return Info{}, err
	}
	var st syscall.Stat_t
	for {
		_, _, errno := syscall.Syscall6(unix.SYS_NEWFSTATAT, atFDCWD, uintptr(unsafe.Pointer(p)),
			uintptr(unsafe.Pointer(&st)), flags, 0, 0)
		if errno == 0 {
			return infoOf(&st), nil
		}
		if errno != syscall.EINTR {
			return Info{}, errno
		}
	}
}

func rename(old, new string) error { return renameFlags(old, new, 0) }

// renameFlags needs Linux 3.15 only where flags say something.
func renameFlags(old, new string, flags uintptr) error {
	var space1, space2 pathSpace
	from, err := cpath(&space1, old)
	if err != nil {
		return err
	}
	to, err := cpath(&space2, new)
	if err != nil {
		return err
	}
	trap := uintptr(sysRenameat)
	if flags != 0 {
		trap = unix.SYS_RENAMEAT2
	}
	for {
		_, _, errno := syscall.Syscall6(trap, atFDCWD, uintptr(unsafe.Pointer(from)),
			atFDCWD, uintptr(unsafe.Pointer(to)), flags, 0)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}

func fsync(fd int) error {
	return retry(func() error { return syscall.Fdatasync(fd) })
}

// flush writes the content of a file to the disk, but not the disk's cache, and
// waits for no journal. Devices and file systems that cannot do it are synced.
func flush(fd int, wait bool) error {
	const waitBefore, write, waitAfter = 1, 2, 4 // SYNC_FILE_RANGE_*
	how := write
	if wait {
		how |= waitBefore | waitAfter
	}
	err := retry(func() error { return syscall.SyncFileRange(fd, 0, 0, how) })
	if wait && (err == syscall.ENOSYS || err == syscall.ESPIPE || err == syscall.EINVAL) {
		return fsync(fd)
	}
	if !wait {
		return nil // it comes again, with wait
	}
	return err
}

func modTime(st *syscall.Stat_t) int64 { return syscall.TimespecToNsec(st.Mtim) }
