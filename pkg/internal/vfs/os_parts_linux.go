package vfs

import (
	"context"
	"io"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/store"
)

const (
	// gapBytes is the largest hole between two parts that is read rather than
	// skipped: that takes as long as another call.
	gapBytes = 8 << 10
	// batchBytes is about the most that one call reads.
	batchBytes = 16 << 20
)

// batch is what one call reads: parts and the holes between them.
type batch struct {
	iov  [512]syscall.Iovec
	gap  [gapBytes]byte
	used int // most of iov
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// ReadParts fills parts of the file, in as few calls as can be.
func (f *osFile) ReadParts(ctx context.Context, parts []store.Part) error {
	b := batches.Get().(*batch)
	defer batches.Put(b)
	err := f.use("read", func(fd int) error {
		for len(parts) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, err := b.read(fd, parts)
			if err != nil {
				return err
			}
			parts = parts[n:]
		}
		return nil
	})
	clear(b.iov[:b.used]) // it points into the caller's memory
	if cause := ctx.Err(); cause != nil && err != nil {
		return cause
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// read fills the first n parts.
func (b *batch) read(fd int, parts []store.Part) (n int, err error) {
	at, end, count := parts[0].Off, parts[0].Off, 0
	add := func(p []byte) {
		b.iov[count].Base = unsafe.SliceData(p)
		b.iov[count].SetLen(len(p))
		count++
		end += int64(len(p))
	}
	for _, p := range parts {
		gap := p.Off - end
		if n > 0 && (gap < 0 || gap > gapBytes || count+2 > len(b.iov) || end-at > batchBytes) {
			break
		}
		if gap > 0 {
			add(b.gap[:gap])
		}
		add(p.Dst)
		n++
	}
	b.used = max(b.used, count)
	total := end - at
	for {
		done, _, errno := syscall.Syscall6(syscall.SYS_PREADV, uintptr(fd), uintptr(unsafe.Pointer(&b.iov)), uintptr(count), uintptr(at), 0, 0)
		switch {
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			return 0, errno
		case int64(done) == total:
			return n, nil
		}
		// It was interrupted, or the file ends: pieces one by one tell.
		for _, p := range parts[:n] {
			for dst, off := p.Dst, p.Off; len(dst) > 0; {
				m, err := pread(fd, dst, off)
				if err != nil {
					return 0, err
				}
				if m == 0 {
					return 0, io.EOF
				}
				dst, off = dst[m:], off+int64(m)
			}
		}
		return n, nil
	}
}
