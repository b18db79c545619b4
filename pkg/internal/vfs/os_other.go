//go:build !linux && !darwin

package vfs

import (
	"context"
	"io"
	"os"
)

// OS reads the files of the operating system. Changes are EROFS: what a kill or a
// power cut leaves is known for Linux and macOS only.
var OS FS = osFS{}

type osFS struct{ refusing }

// Near is OS; on Linux it is quicker for many small files.
type Near struct{ osFS }

// Close does nothing here.
func (n *Near) Close() {}

// LockWatch is told of the descriptors of lock files, of which there are none here.
type LockWatch struct {
	Forks func() int64
	Open  func(fd int, open bool)
}

// Locks is not used here.
var Locks LockWatch

func (osFS) Open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, storeError("open", path, err)
	}
	return &storeFile{value: osValue{f}, name: path}, nil
}

func (o osFS) ReadSmall(_ context.Context, path string, buf []byte) (int, File, error) {
	f, err := o.Open(path)
	if err != nil {
		return 0, nil, err
	}
	n, err := f.ReadAt(buf, 0)
	switch err {
	case nil:
		return n, f, nil
	case io.EOF:
		err = nil
	}
	f.Close()
	return n, nil, err
}

func (osFS) Stat(path string) (Info, error) {
	info, err := os.Stat(path)
	return describe(info, err), storeError("stat", path, err)
}

func (osFS) Lstat(path string) (Info, error) {
	info, err := os.Lstat(path)
	return describe(info, err), storeError("lstat", path, err)
}

func describe(info os.FileInfo, err error) Info {
	if err != nil {
		return Info{}
	}
	return Info{Size: info.Size(), Mode: kindOf(info.Mode()), ModTime: info.ModTime().UnixNano(), Perm: uint32(info.Mode().Perm())}
}

func kindOf(mode os.FileMode) FileMode {
	switch {
	case mode.IsRegular():
		return Regular
	case mode.IsDir():
		return Dir
	case mode&os.ModeSymlink != 0:
		return Symlink
	}
	return Other
}

func (osFS) Readlink(path string) (string, error) {
	to, err := os.Readlink(path)
	return to, storeError("readlink", path, err)
}

func (osFS) ReadDir(path string) ([]DirEntry, error) {
	entries, err := os.ReadDir(path)
	list := make([]DirEntry, len(entries))
	for i, e := range entries {
		list[i] = DirEntry{Name: e.Name(), Mode: kindOf(e.Type())}
	}
	return list, storeError("readdir", path, err)
}

func (osFS) TempName(path string) string { return tempName(path) }

// osValue is an open file as a value of a store.
type osValue struct{ *os.File }

func (v osValue) Size() (int64, error) {
	info, err := v.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Gone tells that there is no process of that number, where the system can tell.
func Gone(pid int) bool { return false }
