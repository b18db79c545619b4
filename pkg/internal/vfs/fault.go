package vfs

import (
	"context"
	"sync"
	"syscall"
)

// Fault is a file system whose calls fail when told to. It counts the calls of
// its own methods and of the files that it opened, from 0, except for TempName
// and File.Name. WriteFile is no call of its own: it is done by, and counted as,
// the other methods, so that each step can fail.
//
// A failing call does nothing but give a *PathError that is the error told; only
// Close closes all the same.
type Fault struct {
	inner FS

	mu    sync.Mutex
	count int64
	at    map[int64]error
	short map[int64]bool
	from  int64 // -1: none
	err   error // of from
}

// NewFault returns a Fault around inner in which nothing fails yet.
func NewFault(inner FS) *Fault {
	return &Fault{inner: inner, at: map[int64]error{}, short: map[int64]bool{}, from: -1}
}

// FailAt makes call i fail with err.
func (f *Fault) FailAt(i int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[i] = err
}

// FailFrom makes call i and all later ones fail with err: the disk is gone or
// the process killed.
func (f *Fault) FailFrom(i int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from, f.err = i, err
}

// ShortWriteAt makes call i, if it is a File.WriteAt, write half of its bytes
// and then fail with ENOSPC.
func (f *Fault) ShortWriteAt(i int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.short[i] = true
}

// Count returns the number of calls so far.
func (f *Fault) Count() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// step counts a call and returns the error that it is to give.
func (f *Fault) step(op, path string) (short bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.count
	f.count++
	err = f.at[i]
	if err == nil && f.from >= 0 && i >= f.from {
		err = f.err
	}
	return f.short[i], pathError(op, path, err)
}

func (f *Fault) call(op, path string, do func() error) error {
	if _, err := f.step(op, path); err != nil {
		return err
	}
	return do()
}

// ask is call for a result.
func ask[T any](f *Fault, op, path string, do func() (T, error)) (v T, err error) {
	if _, err := f.step(op, path); err != nil {
		return v, err
	}
	return do()
}

func (f *Fault) open(op, path string, do func() (File, error)) (File, error) {
	file, err := ask(f, op, path, do)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fault: f}, nil
}

// Open is FS.Open.
func (f *Fault) Open(path string) (File, error) {
	return f.open("open", path, func() (File, error) { return f.inner.Open(path) })
}

// OpenRW is FS.OpenRW.
func (f *Fault) OpenRW(path string) (File, error) {
	return f.open("open", path, func() (File, error) { return f.inner.OpenRW(path) })
}

// Create is FS.Create.
func (f *Fault) Create(path string, excl bool) (File, error) {
	return f.open("create", path, func() (File, error) { return f.inner.Create(path, excl) })
}

// CreatePrivate is FS.CreatePrivate.
func (f *Fault) CreatePrivate(path string) (File, error) {
	return f.open("create", path, func() (File, error) { return f.inner.CreatePrivate(path) })
}

// Adopt is FS.Adopt.
func (f *Fault) Adopt(path, like string, all bool) error {
	return f.call("adopt", path, func() error { return f.inner.Adopt(path, like, all) })
}

// ReadSmall is FS.ReadSmall.
func (f *Fault) ReadSmall(ctx context.Context, path string, buf []byte) (n int, rest File, err error) {
	err = f.call("read", path, func() (err error) { n, rest, err = f.inner.ReadSmall(ctx, path, buf); return err })
	if rest != nil {
		rest = &faultFile{File: rest, fault: f}
	}
	return n, rest, err
}

// WriteFile is FS.WriteFile, step by step.
func (f *Fault) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	return writeFile(f, path, parts, opt)
}

// Stat is FS.Stat.
func (f *Fault) Stat(path string) (Info, error) {
	return ask(f, "stat", path, func() (Info, error) { return f.inner.Stat(path) })
}

// Lstat is FS.Lstat.
func (f *Fault) Lstat(path string) (Info, error) {
	return ask(f, "lstat", path, func() (Info, error) { return f.inner.Lstat(path) })
}

// Readlink is FS.Readlink.
func (f *Fault) Readlink(path string) (string, error) {
	return ask(f, "readlink", path, func() (string, error) { return f.inner.Readlink(path) })
}

// ReadDir is FS.ReadDir.
func (f *Fault) ReadDir(path string) ([]DirEntry, error) {
	return ask(f, "readdir", path, func() ([]DirEntry, error) { return f.inner.ReadDir(path) })
}

// Mkdir is FS.Mkdir.
func (f *Fault) Mkdir(path string) error {
	return f.call("mkdir", path, func() error { return f.inner.Mkdir(path) })
}

// MkdirPrivate is FS.MkdirPrivate.
func (f *Fault) MkdirPrivate(path string) error {
	return f.call("mkdir", path, func() error { return f.inner.MkdirPrivate(path) })
}

// Remove is FS.Remove.
func (f *Fault) Remove(path string) error {
	return f.call("remove", path, func() error { return f.inner.Remove(path) })
}

// Rmdir is FS.Rmdir.
func (f *Fault) Rmdir(path string) error {
	return f.call("rmdir", path, func() error { return f.inner.Rmdir(path) })
}

// Rename is FS.Rename.
func (f *Fault) Rename(old, new string) error {
	return f.call("rename", old, func() error { return f.inner.Rename(old, new) })
}

// RenameNoReplace is FS.RenameNoReplace.
func (f *Fault) RenameNoReplace(old, new string) error {
	return f.call("rename", old, func() error { return f.inner.RenameNoReplace(old, new) })
}

// Link is FS.Link.
func (f *Fault) Link(old, new string) error {
	return f.call("link", old, func() error { return f.inner.Link(old, new) })
}

// Exchange is FS.Exchange.
func (f *Fault) Exchange(a, b string) error {
	return f.call("exchange", a, func() error { return f.inner.Exchange(a, b) })
}

// SyncDir is FS.SyncDir.
func (f *Fault) SyncDir(path string) error {
	return f.call("syncdir", path, func() error { return f.inner.SyncDir(path) })
}

// TempName is FS.TempName.
func (f *Fault) TempName(path string) string { return f.inner.TempName(path) }

type faultFile struct {
	File
	fault *Fault
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	return ask(f.fault, "read", f.Name(), func() (int, error) { return f.File.ReadAt(p, off) })
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	short, err := f.fault.step("write", f.Name())
	if err != nil {
		return 0, err
	}
	if short {
		n, err := f.File.WriteAt(p[:len(p)/2], off)
		if err == nil {
			err = pathError("write", f.Name(), syscall.ENOSPC)
		}
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f *faultFile) Size() (int64, error) {
	return ask(f.fault, "stat", f.Name(), f.File.Size)
}

func (f *faultFile) Truncate(size int64) error {
	return f.fault.call("truncate", f.Name(), func() error { return f.File.Truncate(size) })
}

func (f *faultFile) Sync() error {
	return f.fault.call("sync", f.Name(), f.File.Sync)
}

func (f *faultFile) Flush(wait bool) error {
	return f.fault.call("flush", f.Name(), func() error { return f.File.Flush(wait) })
}

func (f *faultFile) Close() error {
	_, injected := f.fault.step("close", f.Name())
	if err := f.File.Close(); err != nil {
		return err
	}
	return injected
}

func (f *faultFile) Map(off, n int64) (data []byte, unmap func() error, err error) {
	err = f.fault.call("map", f.Name(), func() (err error) { data, unmap, err = f.File.Map(off, n); return err })
	return data, unmap, err
}
