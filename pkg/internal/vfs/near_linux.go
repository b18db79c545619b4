package vfs

import (
	"context"
	"syscall"
)

const openPath = 0x200000 // O_PATH

// Near is OS for one goroutine that reads or writes many small files. It keeps
// the folder of the last ones open, so that the kernel looks up a name and not a
// path, which makes a fifth of reading a tiny file. A folder that is renamed
// meanwhile is still the folder. Close it after use; it can be used again.
type Near struct {
	osFS
	folder []byte  // of the last file, with the slash
	dir    uintptr // the folder, where it is open
	opened bool
}

// Close closes the folder.
func (n *Near) Close() {
	if n.opened {
		syscall.Close(int(n.dir))
	}
	n.folder, n.opened = n.folder[:0], false
}

// enter returns the open folder of path and the name in it. One file in a folder
// is not worth opening it: ok is false.
func (n *Near) enter(path string) (dir uintptr, name string, ok bool) {
	folder, name := splitPath(path)
	if folder == "" {
		return 0, "", false
	}
	if string(n.folder) != folder {
		n.Close()
		n.folder = append(n.folder, folder...)
		return 0, "", false
	}
	if !n.opened {
		dir, err := open(folder, openPath|syscall.O_DIRECTORY, 0)
		n.dir, n.opened = uintptr(dir), err == nil
	}
	return n.dir, name, n.opened
}

// ReadSmall follows FS. What goes wrong is looked at again by the path.
func (n *Near) ReadSmall(ctx context.Context, path string, buf []byte) (int, File, error) {
	if dir, name, ok := n.enter(path); ok {
		if fd, err := openat(dir, name, syscall.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			return readSmall(path, fd, buf)
		}
	}
	return n.osFS.ReadSmall(ctx, path, buf)
}

// WriteFile follows FS.
func (n *Near) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	if dir, name, ok := n.enter(path); ok && opt.Like == "" && writeUnnamed(dir, ".", name, parts, opt) {
		return nil
	}
	return n.osFS.WriteFile(path, parts, opt)
}
