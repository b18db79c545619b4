//go:build linux || darwin

package vfs

import (
	"context"
	"syscall"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

// osFS opens files with the flag noFollow: 0 or O_NOFOLLOW.
type osFS struct{ noFollow int }

// osNoFollow is OS without symlinks. Being made once, it costs no allocation.
var osNoFollow FS = osFS{syscall.O_NOFOLLOW}

func (osFS) withoutLinks() FS { return osNoFollow }

// maxIO is the most that one call reads or writes: kernels cap or refuse 2 GiB.
const maxIO = 1 << 30

// retry repeats call while a signal interrupts it.
func retry(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

// openRead opens for reading without waiting for the writer of a FIFO. For a
// regular file O_NONBLOCK only means not to wait for a lease to be broken;
// there waiting is right.
func (o osFS) openRead(path string) (int, error) {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|o.noFollow, 0)
	if err == syscall.EAGAIN {
		fd, err = open(path, syscall.O_RDONLY|o.noFollow, 0)
	}
	return fd, err
}

func openFile(path string, fd int, err error) (File, error) {
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return newOSFile(path, fd), nil
}

func (o osFS) Open(path string) (File, error) {
	fd, err := o.openRead(path)
	return openFile(path, fd, err)
}

func (o osFS) OpenRW(path string) (File, error) {
	fd, err := open(path, syscall.O_RDWR|o.noFollow, 0)
	return openFile(path, fd, err)
}

func (o osFS) Create(path string, excl bool) (File, error) {
	fd, err := open(path, syscall.O_RDWR|createFlags(excl)|o.noFollow, 0o666)
	if err != nil {
		return nil, pathError("create", path, err)
	}
	return newOSFile(path, fd), nil
}

func createFlags(excl bool) int {
	if excl {
		return syscall.O_CREAT | syscall.O_EXCL
	}
	return syscall.O_CREAT | syscall.O_TRUNC
}

func (o osFS) ReadSmall(ctx context.Context, path string, buf []byte) (int, File, error) {
	fd, err := o.openRead(path)
	if err != nil {
		return 0, nil, pathError("open", path, err)
	}
	return readSmall(path, fd, buf)
}

// readSmall is ReadSmall of a file that has been opened as fd.
func readSmall(path string, fd int, buf []byte) (int, File, error) {
	buf = buf[:min(len(buf), maxIO)]
	n, err := pread(fd, buf, 0)
	if err != nil {
		syscall.Close(fd)
		return 0, nil, pathError("read", path, err)
	}
	if n < len(buf) {
		syscall.Close(fd)
		return n, nil, nil
	}
	return n, newOSFile(path, fd), nil
}

func (osFS) Stat(path string) (Info, error) {
	info, err := stat(path)
	return info, pathError("stat", path, err)
}

func (osFS) Lstat(path string) (Info, error) {
	info, err := lstat(path)
	return info, pathError("lstat", path, err)
}

func infoOf(st *syscall.Stat_t) Info {
	mode := Other
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		mode = Regular
	case syscall.S_IFDIR:
		mode = Dir
	case syscall.S_IFLNK:
		mode = Symlink
	}
	return Info{Size: st.Size, Mode: mode, ModTime: modTime(st), Ino: st.Ino, Dev: uint64(st.Dev),
		Perm: uint32(st.Mode) & 0o7777, UID: st.Uid, GID: st.Gid}
}

func (osFS) Readlink(path string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := syscall.Readlink(path, buf)
		if err != nil {
			return "", pathError("readlink", path, err)
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

func (osFS) Mkdir(path string) error {
	return pathError("mkdir", path, retry(func() error { return syscall.Mkdir(path, 0o777) }))
}

func (osFS) Remove(path string) error {
	return pathError("remove", path, retry(func() error { return syscall.Unlink(path) }))
}

func (osFS) Rmdir(path string) error {
	return pathError("rmdir", path, retry(func() error { return syscall.Rmdir(path) }))
}

func (osFS) Rename(old, new string) error {
	return renameError("rename", old, new, rename(old, new))
}

func (osFS) RenameNoReplace(old, new string) error {
	return renameError("rename", old, new, renameNoReplace(old, new))
}

func renameNoReplace(old, new string) error {
	err := renameFlags(old, new, flagNoReplace)
	if err == syscall.ENOSYS || err == syscall.EINVAL || err == syscall.ENOTSUP {
		return linkNoReplace(old, new)
	}
	return err
}

// linkNoReplace renames by a hard link where the kernel or the file system knows
// no better. Folders have none, but a rename replaces none that holds anything.
func linkNoReplace(old, new string) error {
	info, err := lstat(old)
	if err != nil {
		return err
	}
	if info.Mode == Dir {
		if _, err := lstat(new); err != syscall.ENOENT {
			if err == nil {
				err = syscall.EEXIST
			}
			return err
		}
		return rename(old, new)
	}
	if err := link(old, new); err != nil {
		return err
	}
	if err := syscall.Unlink(old); err != nil {
		syscall.Unlink(new)
		return err
	}
	return nil
}

func (osFS) Link(old, new string) error {
	return renameError("link", old, new, link(old, new))
}

func link(old, new string) error {
	return retry(func() error { return syscall.Link(old, new) })
}

func (osFS) Exchange(a, b string) error {
	return renameError("exchange", a, b, renameFlags(a, b, flagExchange))
}

func (osFS) SyncDir(path string) error {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err == nil {
		err = fsync(fd)
		syscall.Close(fd)
		if err == syscall.EINVAL || err == syscall.ENOTSUP {
			err = nil // some network file systems have no such thing
		}
	}
	return pathError("syncdir", path, err)
}

func (osFS) TempName(path string) string { return tempName(path) }

// Gone tells that there is no process of that number.
func Gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
