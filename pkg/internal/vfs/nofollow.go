package vfs

import (
	"context"
	"syscall"
)

// NoFollow is fsys, but for files whose path ends in a symlink: Open, OpenRW,
// Create, ReadSmall and WriteFile refuse them with ELOOP. Folders on the way may
// be symlinks.
func NoFollow(fsys FS) FS {
	if f, ok := fsys.(interface{ withoutLinks() FS }); ok {
		return f.withoutLinks()
	}
	return noFollow{fsys}
}

// noFollow looks at a path before it uses it. The OS does so in one step.
type noFollow struct{ FS }

func (n noFollow) withoutLinks() FS { return n }

// OpenLock implements Locker, if the file system inside does; else ENOTSUP. It
// never follows symlinks.
func (n noFollow) OpenLock(path string) (LockFile, error) {
	l, ok := n.FS.(Locker)
	if !ok {
		return nil, pathError("lock", path, syscall.ENOTSUP)
	}
	return l.OpenLock(path)
}

func (n noFollow) check(op, path string) error {
	if info, err := n.FS.Lstat(path); err == nil && info.Mode == Symlink {
		return pathError(op, path, syscall.ELOOP)
	}
	return nil // what else is wrong with path, the call that follows tells
}

func (n noFollow) Open(path string) (File, error) {
	if err := n.check("open", path); err != nil {
		return nil, err
	}
	return n.FS.Open(path)
}

func (n noFollow) OpenRW(path string) (File, error) {
	if err := n.check("open", path); err != nil {
		return nil, err
	}
	return n.FS.OpenRW(path)
}

func (n noFollow) Create(path string, excl bool) (File, error) {
	if err := n.check("create", path); err != nil {
		return nil, err
	}
	return n.FS.Create(path, excl)
}

func (n noFollow) ReadSmall(ctx context.Context, path string, buf []byte) (int, File, error) {
	if err := n.check("open", path); err != nil {
		return 0, nil, err
	}
	return n.FS.ReadSmall(ctx, path, buf)
}

func (n noFollow) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	if err := n.check("create", path); err != nil {
		return err
	}
	return n.FS.WriteFile(path, parts, opt)
}
