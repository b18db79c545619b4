package formattest

import (
	"context"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// watch is a file system that counts open files and tells of every call before
// it is made; one of the calls can fail. Its FS takes WriteFile to pieces.
type watch struct {
	vfs.FS
	before func(op string) // may be nil
	fault  *fault          // may be nil

	mu   sync.Mutex
	open map[*watchFile]bool
	ops  []string // of all calls so far
}

// fault says which call fails, and how. It is for one watch.
type fault struct {
	at    int  // the number of the call
	after bool // and all calls after it
	short bool // a write stores half, and there is no space for the rest; other calls do not fail
	full  bool // the disk is full: from then on all calls fail that need room, the first write after it stored half

	op string // which call it was; "" when none failed
}

// how says it in words.
func (f *fault) how() string {
	switch {
	case f.short:
		return "is short"
	case f.full:
		return "finds the disk full, and all after it"
	case f.after:
		return "fails, and all after it"
	}
	return "fails"
}

func newWatch(fsys vfs.FS) *watch { return &watch{FS: fsys, open: map[*watchFile]bool{}} }

// pieces is the file system to give to a format.
func (w *watch) pieces() vfs.FS { return vfs.NewFault(w) }

// tell counts a call and returns the error that it is to give.
func (w *watch) tell(op, path string) (short bool, err error) {
	w.mu.Lock()
	i := len(w.ops)
	w.ops = append(w.ops, op)
	if f := w.fault; f != nil && f.full {
		if i >= f.at && needsRoom(op) {
			if short = f.op == "" && op == "write"; !short {
				err = &vfs.PathError{Op: op, Path: path, Errno: syscall.ENOSPC}
			}
			f.op = op
		}
	} else if f != nil && (i == f.at || f.after && i > f.at) {
		if short = f.short && op == "write"; !f.short {
			err = &vfs.PathError{Op: op, Path: path, Errno: syscall.EIO}
		}
		if i == f.at && (short || err != nil) {
			f.op = op
		}
	}
	w.mu.Unlock()
	if w.before != nil {
		w.before(op)
	}
	return short, err
}

// left lists the files that are still open.
func (w *watch) left() (paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.open {
		paths = append(paths, f.Name())
	}
	return paths
}

// do makes a call.
func (w *watch) do(op, path string, call func() error) error {
	if _, err := w.tell(op, path); err != nil {
		return err
	}
	return call()
}

// opening makes a call that gives a file.
func (w *watch) opening(op, path string, call func() (vfs.File, error)) (f vfs.File, err error) {
	err = w.do(op, path, func() (err error) { f, err = call(); return err })
	if err != nil || f == nil {
		return nil, err
	}
	wf := &watchFile{File: f, fs: w}
	w.mu.Lock()
	w.open[wf] = true
	w.mu.Unlock()
	return wf, nil
}

func (w *watch) Open(path string) (vfs.File, error) {
	return w.opening("open", path, func() (vfs.File, error) { return w.FS.Open(path) })
}

func (w *watch) OpenRW(path string) (vfs.File, error) {
	return w.opening("open", path, func() (vfs.File, error) { return w.FS.OpenRW(path) })
}

func (w *watch) Create(path string, excl bool) (vfs.File, error) {
	return w.opening("create", path, func() (vfs.File, error) { return w.FS.Create(path, excl) })
}

func (w *watch) CreatePrivate(path string) (vfs.File, error) {
	return w.opening("create", path, func() (vfs.File, error) { return w.FS.CreatePrivate(path) })
}

func (w *watch) Adopt(path, like string, all bool) error {
	return w.do("adopt", path, func() error { return w.FS.Adopt(path, like, all) })
}

func (w *watch) ReadSmall(ctx context.Context, path string, buf []byte) (n int, rest vfs.File, err error) {
	rest, err = w.opening("read", path, func() (rest vfs.File, err error) { n, rest, err = w.FS.ReadSmall(ctx, path, buf); return rest, err })
	return n, rest, err
}

func (w *watch) Stat(path string) (info vfs.Info, err error) {
	err = w.do("stat", path, func() (err error) { info, err = w.FS.Stat(path); return err })
	return info, err
}

func (w *watch) Lstat(path string) (info vfs.Info, err error) {
	err = w.do("lstat", path, func() (err error) { info, err = w.FS.Lstat(path); return err })
	return info, err
}

func (w *watch) Readlink(path string) (to string, err error) {
	err = w.do("readlink", path, func() (err error) { to, err = w.FS.Readlink(path); return err })
	return to, err
}

func (w *watch) ReadDir(path string) (list []vfs.DirEntry, err error) {
	err = w.do("readdir", path, func() (err error) { list, err = w.FS.ReadDir(path); return err })
	return list, err
}

func (w *watch) Mkdir(path string) error {
	return w.do("mkdir", path, func() error { return w.FS.Mkdir(path) })
}

func (w *watch) MkdirPrivate(path string) error {
	return w.do("mkdir", path, func() error { return w.FS.MkdirPrivate(path) })
}

func (w *watch) Remove(path string) error {
	return w.do("remove", path, func() error { return w.FS.Remove(path) })
}

func (w *watch) Rmdir(path string) error {
	return w.do("rmdir", path, func() error { return w.FS.Rmdir(path) })
}

func (w *watch) Rename(old, new string) error {
	return w.do("rename", old, func() error { return w.FS.Rename(old, new) })
}

func (w *watch) RenameNoReplace(old, new string) error {
	return w.do("rename", old, func() error { return w.FS.RenameNoReplace(old, new) })
}

func (w *watch) Link(old, new string) error {
	return w.do("link", old, func() error { return w.FS.Link(old, new) })
}

func (w *watch) Exchange(a, b string) error {
	return w.do("exchange", a, func() error { return w.FS.Exchange(a, b) })
}

func (w *watch) SyncDir(path string) error {
	return w.do("syncdir", path, func() error { return w.FS.SyncDir(path) })
}

type watchFile struct {
	vfs.File
	fs *watch
}

func (f *watchFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.fs.do("read", f.Name(), func() (err error) { n, err = f.File.ReadAt(p, off); return err })
	return n, err
}

func (f *watchFile) WriteAt(p []byte, off int64) (int, error) {
	short, err := f.fs.tell("write", f.Name())
	if err != nil {
		return 0, err
	}
	if short {
		n, err := f.File.WriteAt(p[:len(p)/2], off)
		if err == nil {
			err = &vfs.PathError{Op: "write", Path: f.Name(), Errno: syscall.ENOSPC}
		}
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f *watchFile) Size() (n int64, err error) {
	err = f.fs.do("stat", f.Name(), func() (err error) { n, err = f.File.Size(); return err })
	return n, err
}

func (f *watchFile) Truncate(size int64) error {
	return f.fs.do("truncate", f.Name(), func() error { return f.File.Truncate(size) })
}

func (f *watchFile) Sync() error { return f.fs.do("sync", f.Name(), f.File.Sync) }

func (f *watchFile) Flush(wait bool) error {
	return f.fs.do("flush", f.Name(), func() error { return f.File.Flush(wait) })
}

func (f *watchFile) Map(off, n int64) (data []byte, unmap func() error, err error) {
	err = f.fs.do("map", f.Name(), func() (err error) { data, unmap, err = f.File.Map(off, n); return err })
	return data, unmap, err
}

// Close closes the file also when it fails.
func (f *watchFile) Close() error {
	_, injected := f.fs.tell("close", f.Name())
	f.fs.mu.Lock()
	delete(f.fs.open, f)
	f.fs.mu.Unlock()
	if err := f.File.Close(); err != nil {
		return err
	}
	return injected
}

// needsRoom tells whether a call needs room on the disk.
func needsRoom(op string) bool {
	switch op {
	case "create", "write", "mkdir", "link", "truncate":
		return true
	}
	return false
}

// changes tells whether a call changes the file system.
func changes(op string) bool {
	switch op {
	case "create", "write", "truncate", "sync", "flush", "mkdir", "rename", "link", "exchange", "syncdir":
		return true
	}
	return false
}
