package vfs

import (
	"context"
	"strings"
	"syscall"
	"time"
)

// Locker is a file system whose files can be locked against other processes.
// The implementations of this package all are.
type Locker interface {
	// OpenLock opens the lock file at path, which is created if it does not
	// exist; a symlink is ELOOP. Nothing is locked yet.
	OpenLock(path string) (LockFile, error)
}

// LockKind says what a lock keeps out.
type LockKind uint8

// The kinds of locks.
const (
	Unlocked  LockKind = iota
	Shared             // keeps out exclusive ones
	Exclusive          // keeps out all others
)

// LockFile is an open file whose bytes can be locked. The locks are advisory and
// belong to the open file (F_OFD_SETLK): they keep out other processes and other
// open files of this one, and those that lock by fcntl or lockf, as Python's
// fasteners does; they end with Close or with the process. Whatever the file
// holds is not touched by locking.
type LockFile interface {
	// TryLock sets the lock of n bytes from off on, which need not exist; n = 0
	// is all that follow. ok is false when others keep it out. What the file held
	// of these bytes before is replaced in one step, or stays.
	TryLock(kind LockKind, off, n int64) (ok bool, err error)

	// Info describes the file, whatever its path leads to now.
	Info() (Info, error)

	// ReadAt follows io.ReaderAt, WriteAt io.WriterAt.
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)

	// Close ends the locks and closes the file.
	Close() error
}

// waits between two attempts to take a lock.
const (
	firstWait = 50 * time.Microsecond
	lastWait  = time.Millisecond
)

// WaitLock waits until try, which takes a lock, succeeds or ctx is done. It asks again
// and again, since a process that sleeps in the kernel for a lock could not be woken.
func WaitLock(ctx context.Context, try func() (ok bool, err error)) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		ok, err := try()
		if ok || err != nil {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
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

// Lock takes the exclusive lock of all bytes of the file at path, which stays
// there. It waits for others to release it until ctx is done. A file system
// without locks is ENOTSUP.
func Lock(ctx context.Context, fsys FS, path string) (unlock func() error, err error) {
	l, ok := fsys.(Locker)
	if !ok {
		return nil, pathError("lock", path, syscall.ENOTSUP)
	}
	f, err := l.OpenLock(path)
	if err != nil {
		return nil, err
	}
	if err := WaitLock(ctx, func() (bool, error) { return f.TryLock(Exclusive, 0, 0) }); err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}

// memRange is a lock of the bytes from off up to end.
type memRange struct {
	file     *memLock
	kind     LockKind
	off, end int64
}

// memLock is a LockFile.
type memLock struct {
	*memFile
	node *memNode
}

// OpenLock implements Locker.
func (m *Mem) OpenLock(path string) (LockFile, error) {
	var node *memNode
	err := m.at("lock", path, never, func(p place) error {
		switch {
		case p.node != nil && p.node.mode == Symlink:
			return syscall.ELOOP
		case p.slash || p.node != nil && p.node.mode == Dir:
			return syscall.EISDIR
		case p.node == nil:
			p.node = m.newNode(Regular)
			p.put(p.node)
		}
		node = p.node
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &memLock{&memFile{fs: m, node: node, name: strings.Clone(path), write: true}, node}, nil
}

func (l *memLock) TryLock(kind LockKind, off, n int64) (ok bool, err error) {
	end := off + n
	if n == 0 {
		end = 1<<63 - 1
	}
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	var rest []memRange
	for _, r := range l.node.locks {
		apart := r.end <= off || end <= r.off
		switch {
		case apart:
			rest = append(rest, r)
		case r.file == l: // what is left of it on both sides
			if r.off < off {
				rest = append(rest, memRange{l, r.kind, r.off, off})
			}
			if end < r.end {
				rest = append(rest, memRange{l, r.kind, end, r.end})
			}
		case kind == Exclusive || kind == Shared && r.kind == Exclusive:
			return false, nil
		default:
			rest = append(rest, r)
		}
	}
	if kind != Unlocked {
		rest = append(rest, memRange{l, kind, off, end})
	}
	l.node.locks = rest
	return true, nil
}

func (l *memLock) Info() (Info, error) {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	return l.node.info(), nil
}

func (l *memLock) Close() error {
	l.TryLock(Unlocked, 0, 0)
	return l.memFile.Close()
}

// OpenLock implements Locker, if the file system inside does; else ENOTSUP.
func (f *Fault) OpenLock(path string) (LockFile, error) {
	return ask(f, "lock", path, func() (LockFile, error) {
		l, ok := f.inner.(Locker)
		if !ok {
			return nil, pathError("lock", path, syscall.ENOTSUP)
		}
		return l.OpenLock(path)
	})
}
