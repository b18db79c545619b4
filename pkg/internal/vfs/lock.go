package vfs

import (
	"context"
	"sync"
	"syscall"
)

// Locker is a file system whose files can be locked against other processes.
// The implementations of this package all are.
type Locker interface {
	// Lock takes the exclusive lock of the file at path, which is created if it
	// does not exist and never removed; a symlink is ELOOP. It waits for others to release it until
	// ctx is done. The lock holds until unlock or the end of the process.
	//
	// The lock is advisory, of all bytes of the file, and belongs to the open
	// file (F_OFD_SETLK): it keeps out other processes and other callers in this
	// one, and those that lock by fcntl or lockf, as Python's fasteners does.
	Lock(ctx context.Context, path string) (unlock func() error, err error)
}

// memLocks are the locked files of all file systems in memory, each with what is
// closed when it is unlocked.
var memLocks = struct {
	sync.Mutex
	held map[*memNode]chan struct{}
}{held: map[*memNode]chan struct{}{}}

// Lock implements Locker.
func (m *Mem) Lock(ctx context.Context, path string) (unlock func() error, err error) {
	var node *memNode
	err = m.at("lock", path, never, func(p place) error {
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
	for {
		memLocks.Lock()
		released := memLocks.held[node]
		if released == nil {
			mine := make(chan struct{})
			memLocks.held[node] = mine
			memLocks.Unlock()
			return func() error {
				memLocks.Lock()
				defer memLocks.Unlock()
				delete(memLocks.held, node)
				close(mine)
				return nil
			}, nil
		}
		memLocks.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-released:
		}
	}
}

// Lock implements Locker, if the file system inside does; else ENOTSUP.
func (f *Fault) Lock(ctx context.Context, path string) (unlock func() error, err error) {
	return ask(f, "lock", path, func() (func() error, error) {
		l, ok := f.inner.(Locker)
		if !ok {
			return nil, pathError("lock", path, syscall.ENOTSUP)
		}
		return l.Lock(ctx, path)
	})
}
