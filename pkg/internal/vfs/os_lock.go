//go:build linux || darwin

package vfs

import (
	"runtime"
	"strings"
	"syscall"
)

// fcntl's F_OFD_SETLK, which package syscall lacks.
const (
	ofdSetLkLinux  = 37
	ofdSetLkDarwin = 90
)

// LockWatch is told of the descriptors of lock files. A child of fork inherits
// them, and with them the locks: it has to close them before it does anything.
type LockWatch struct {
	Forks func() int64            // how often the process was forked until now
	Open  func(fd int, open bool) // fd is, or is no longer, one of a lock file
}

// Locks is set before the first lock is taken, or never.
var Locks LockWatch

// osLock is a LockFile.
type osLock struct {
	fd   int
	path string
}

// OpenLock implements Locker.
func (osFS) OpenLock(path string) (LockFile, error) {
	fd, err := openWatched(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_NOFOLLOW|syscall.O_NONBLOCK)
	if err != nil {
		return nil, pathError("lock", path, err)
	}
	return &osLock{fd, strings.Clone(path)}, nil
}

// openWatched is open of what is going to be locked.
func openWatched(path string, flags int) (int, error) {
	for {
		var forks int64
		if Locks.Forks != nil {
			forks = Locks.Forks()
		}
		fd, err := open(path, flags, 0o666)
		if err != nil {
			return -1, err
		}
		watch(fd, true)
		if Locks.Forks == nil || Locks.Forks() == forks {
			return fd, nil
		}
		closeWatched(fd) // a child has it, unwatched: it is opened once more
	}
}

func watch(fd int, open bool) {
	if Locks.Open != nil {
		Locks.Open(fd, open)
	}
}

// closeWatched closes a descriptor, which stops being watched before its number can
// be another file's.
func closeWatched(fd int) error {
	watch(fd, false)
	return syscall.Close(fd)
}

func (l *osLock) TryLock(kind LockKind, off, n int64) (ok bool, err error) {
	cmd := ofdSetLkLinux
	if runtime.GOOS == "darwin" {
		cmd = ofdSetLkDarwin
	}
	lock := syscall.Flock_t{Type: [...]int16{syscall.F_UNLCK, syscall.F_RDLCK, syscall.F_WRLCK}[kind], Start: off, Len: n}
	err = retry(func() error { return syscall.FcntlFlock(uintptr(l.fd), cmd, &lock) })
	if err == syscall.EAGAIN || err == syscall.EACCES {
		return false, nil
	}
	return err == nil, pathError("lock", l.path, err)
}

func (l *osLock) Info() (Info, error) {
	var st syscall.Stat_t
	err := retry(func() error { return syscall.Fstat(l.fd, &st) })
	return infoOf(&st), pathError("stat", l.path, err)
}

func (l *osLock) ReadAt(p []byte, off int64) (int, error) {
	n, err := pread(l.fd, p, off)
	return n, pathError("read", l.path, err)
}

func (l *osLock) WriteAt(p []byte, off int64) (n int, err error) {
	err = retry(func() error { n, err = syscall.Pwrite(l.fd, p, off); return err })
	return n, pathError("write", l.path, err)
}

// Close unlocks before it closes: a child that was forked just now may have the
// file open too.
func (l *osLock) Close() error {
	l.TryLock(Unlocked, 0, 0)
	return pathError("unlock", l.path, closeWatched(l.fd))
}
