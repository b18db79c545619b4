//go:build linux || darwin

package vfs

import (
	"context"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// fcntl's F_OFD_SETLK, which package syscall lacks.
const (
	ofdSetLkLinux  = 37
	ofdSetLkDarwin = 90
)

// waits between two attempts to take a lock.
const (
	firstWait = 50 * time.Microsecond
	lastWait  = 10 * time.Millisecond
)

// Lock implements Locker. It asks again and again, since a process that sleeps
// in the kernel for a lock could not be woken by ctx.
func (osFS) Lock(ctx context.Context, path string) (unlock func() error, err error) {
	fd, err := open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, pathError("lock", path, err)
	}
	cmd := ofdSetLkLinux
	if runtime.GOOS == "darwin" {
		cmd = ofdSetLkDarwin
	}
	whole := syscall.Flock_t{Type: syscall.F_WRLCK}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := retry(func() error { return syscall.FcntlFlock(uintptr(fd), cmd, &whole) })
		if err == nil {
			path = strings.Clone(path)
			return func() error { return pathError("unlock", path, syscall.Close(fd)) }, nil
		}
		if err == syscall.EAGAIN || err == syscall.EACCES {
			err = nil
		} else {
			err = pathError("lock", path, err)
		}
		if err == nil {
			err = sleep(ctx, wait)
		}
		if err != nil {
			syscall.Close(fd)
			return nil, err
		}
	}
}

// sleep waits, and fails when ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
