package vfs

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	mem := NewMem()
	for name, where := range map[string]struct {
		fsys FS
		dir  string
	}{"os": {OS, t.TempDir()}, "mem": {mem, ""}, "fault": {NewFault(mem), ""}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(where.dir, "/x.lock")
			unlock, err := Lock(context.Background(), where.fsys, path)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := where.fsys.Lstat(path); err != nil || info.Size != 0 || info.Mode != Regular {
				t.Errorf("the file of the lock: %+v, %v", info, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if _, err := Lock(ctx, where.fsys, path); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a second Lock: %v, expected the end of its context", err)
			}
			if err := unlock(); err != nil {
				t.Error(err)
			}
			// Many at once: no count is lost. It is in a file, since the race
			// detector does not know of locks in the kernel.
			var wg sync.WaitGroup
			number := path + ".n"
			if err := where.fsys.WriteFile(number, [][]byte{{0}}, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			for range 8 {
				wg.Go(func() {
					for range 20 {
						unlock, err := Lock(context.Background(), where.fsys, path)
						if err != nil {
							t.Error(err)
							return
						}
						count := make([]byte, 2)
						if _, _, err := where.fsys.ReadSmall(ctx, number, count); err != nil {
							t.Error(err)
						}
						count[0]++
						if err := where.fsys.WriteFile(number, [][]byte{count[:1]}, WriteOptions{}); err != nil {
							t.Error(err)
						}
						if err := unlock(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			count := make([]byte, 2)
			if _, _, err := where.fsys.ReadSmall(ctx, number, count); err != nil || count[0] != 160 {
				t.Errorf("counted to %d, expected 160; %v", count[0], err)
			}
			if _, err := Lock(context.Background(), where.fsys, filepath.Join(where.dir, "/none/x.lock")); !errors.Is(err, syscall.ENOENT) {
				t.Errorf("Lock in a folder that does not exist: %v", err)
			}
		})
	}
	fault := NewFault(mem)
	fault.FailAt(0, syscall.EIO)
	if _, err := Lock(context.Background(), fault, "/y.lock"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a Lock that is to fail: %v", err)
	}
}

// TestLockPOSIX: locks of fcntl and lockf, which belong to a process, exclude
// these and are excluded by them.
func TestLockPOSIX(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	unlock, err := Lock(context.Background(), OS, path)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(path, syscall.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	whole := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(uintptr(fd), syscall.F_SETLK, &whole); err != syscall.EAGAIN && err != syscall.EACCES {
		t.Errorf("fcntl takes a lock that is held: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.FcntlFlock(uintptr(fd), syscall.F_SETLK, &whole); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, OS, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock of what fcntl holds: %v", err)
	}
}
