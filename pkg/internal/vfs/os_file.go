//go:build linux || darwin

package vfs

import (
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
)

// pread is one read of at most maxIO bytes.
func pread(fd int, p []byte, off int64) (int, error) {
	p = p[:min(len(p), maxIO)]
	for {
		if n, err := syscall.Pread(fd, p, off); err != syscall.EINTR {
			return n, err
		}
	}
}

// pwrite is one write of at most maxIO bytes.
func pwrite(fd int, p []byte, off int64) (int, error) {
	p = p[:min(len(p), maxIO)]
	for {
		if n, err := syscall.Pwrite(fd, p, off); err != syscall.EINTR {
			return n, err
		}
	}
}

// osFile is an open descriptor. The lock keeps Close from freeing the number
// while a call uses it.
type osFile struct {
	mu     sync.RWMutex
	fd     int
	closed bool
	name   string
}

func newOSFile(path string, fd int) *osFile { return &osFile{fd: fd, name: strings.Clone(path)} }

// use runs call while the descriptor is open.
func (f *osFile) use(op string, call func(fd int) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return causeError(op, f.name, syscall.EBADF, fs.ErrClosed)
	}
	err := call(f.fd)
	if err == io.EOF {
		return err
	}
	return pathError(op, f.name, err)
}

func (f *osFile) Name() string { return f.name }

func (f *osFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.use("read", func(fd int) error {
		if off < 0 {
			return syscall.EINVAL
		}
		for n < len(p) {
			m, err := pread(fd, p[n:], off+int64(n))
			if err != nil {
				return err
			}
			if m == 0 {
				return io.EOF
			}
			n += m
		}
		return nil
	})
	return n, err
}

func (f *osFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.use("write", func(fd int) error {
		if off < 0 {
			return syscall.EINVAL
		}
		for n < len(p) {
			m, err := pwrite(fd, p[n:], off+int64(n))
			if err != nil {
				return err
			}
			if m == 0 {
				return syscall.EIO
			}
			n += m
		}
		return nil
	})
	return n, err
}

func (f *osFile) Size() (size int64, err error) {
	err = f.use("stat", func(fd int) error {
		var st syscall.Stat_t
		err := retry(func() error { return syscall.Fstat(fd, &st) })
		size = st.Size
		return err
	})
	return size, err
}

func (f *osFile) Truncate(size int64) error {
	return f.use("truncate", func(fd int) error {
		return retry(func() error { return syscall.Ftruncate(fd, size) })
	})
}

func (f *osFile) Sync() error { return f.use("sync", fsync) }

func (f *osFile) Flush(wait bool) error {
	return f.use("flush", func(fd int) error { return flush(fd, wait) })
}

func (f *osFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return causeError("close", f.name, syscall.EBADF, fs.ErrClosed)
	}
	f.closed = true
	return pathError("close", f.name, syscall.Close(f.fd)) // not retried: the number is free even after EINTR
}

func (f *osFile) Map(off, n int64) (data []byte, unmap func() error, err error) {
	size, err := f.Size()
	if err != nil {
		return nil, nil, err
	}
	if off < 0 || n < 0 || off > size || n > size-off {
		return nil, nil, pathError("map", f.name, syscall.EINVAL)
	}
	if n == 0 {
		return []byte{}, func() error { return nil }, nil
	}
	skip := off % int64(syscall.Getpagesize())
	var pages []byte
	err = f.use("map", func(fd int) (err error) {
		pages, err = syscall.Mmap(fd, off-skip, int(n+skip), syscall.PROT_READ, syscall.MAP_SHARED)
		return err
	})
	if err != nil {
		if errno := errnoOf(err); errno == syscall.ENODEV || errno == syscall.EACCES {
			err = causeError("map", f.name, errno, ErrNoMap)
		}
		return nil, nil, err
	}
	unmap = sync.OnceValue(func() error { return pathError("unmap", f.name, syscall.Munmap(pages)) })
	return pages[skip:], unmap, nil
}
