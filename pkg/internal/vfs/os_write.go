//go:build linux || darwin

package vfs

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// replacing is whether the last path that was looked at, because it was not
// simply a new file, existed. The next one may be like it: what exists is cheap
// to look at, but looking for what does not waits for the lock of the folder.
var replacing atomic.Bool

func (o osFS) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	if opt.Like == "" && writeUnnamed(atFDCWD, folderOf(path), path, parts, opt) {
		return nil
	}
	target, old := path, old{path: opt.Like}
	if opt.Commit == CommitAtomic || opt.Sync || opt.Like != "" || opt.OnlyFile {
		// One lstat covers new and plain files; the rest is findTarget's.
		info, err := lstat(path)
		found := err == nil
		if found != replacing.Load() {
			replacing.Store(found)
		}
		if err != syscall.ENOENT && (err != nil || info.Mode != Regular || opt.Exclusive) {
			if err == nil && info.Mode == Symlink && o.noFollow != 0 {
				return pathError("create", path, syscall.ELOOP)
			}
			var mode FileMode
			if target, mode, found, err = findTarget(o, path, opt.Exclusive); err != nil {
				return err
			}
			if found && mode == Other {
				if opt.OnlyFile {
					return pathError("create", path, syscall.ESPIPE)
				}
				opt.Commit, opt.Sync, opt.Ordered = CommitDirect, false, false
			} else if found {
				if info, err = lstat(target); err != nil {
					return pathError("lstat", path, err)
				}
			}
		}
		if found {
			old.path, old.info, old.replaced = target, info, true
		} else if opt.Like != "" {
			if old.info, err = o.Stat(opt.Like); err != nil {
				return err
			}
		}
	}
	op, err := "", error(nil)
	if opt.Commit == CommitDirect {
		op, err = o.writeDirect(target, parts, opt, &old)
	} else {
		op, err = writeAtomic(target, parts, opt, &old)
	}
	if err != nil {
		return pathError(op, path, err)
	}
	if opt.Sync {
		return o.SyncDir(folderOf(target))
	}
	return nil
}

// old is the file whose access a new one gets, if path is not empty.
type old struct {
	path     string
	info     Info
	replaced bool // it is the one that was there
}

// create makes a new file, which is at no time more open than the old one.
func (o *old) create(path string, flags int) (fd int, op string, err error) {
	flags |= syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL
	if o.path == "" {
		fd, err = open(path, flags, 0o666)
		return fd, "create", err
	}
	var space [512]byte
	names, err := attributes(-1, o.path, "", space[:])
	if err != nil {
		return -1, "adopt", err
	}
	perm := uint32(privateFile)
	if want := o.info.Perm & 0o777; len(names) == 0 && want>>3&^want&7 == 0 {
		perm = want // others may do what the group may: whatever the group is, nobody gets more
	}
	if fd, err = open(path, flags, perm); err != nil {
		return fd, "create", err
	}
	if err = adopt(fd, o.path, names, o.info, o.replaced); err != nil {
		syscall.Close(fd)
		syscall.Unlink(path)
	}
	return fd, "adopt", err
}

func (o osFS) writeDirect(path string, parts [][]byte, opt WriteOptions, like *old) (op string, err error) {
	var fd int
	if like.path != "" && !like.replaced {
		fd, op, err = like.create(path, o.noFollow)
	} else {
		fd, err = open(path, syscall.O_WRONLY|createFlags(opt.Exclusive)|o.noFollow, 0o666)
		op = "create"
	}
	if err != nil {
		return op, err
	}
	if op, err = writeClose(fd, parts, opt); err != nil {
		if torn, mode, found, err := findTarget(OS, path, false); err == nil && !(found && mode == Other) {
			syscall.Unlink(torn)
		}
	}
	return op, err
}

func writeAtomic(path string, parts [][]byte, opt WriteOptions, like *old) (op string, err error) {
	var space [320]byte // as pathSpace of Linux
	var temp string
	fd := -1
	for range maxTempTries {
		name := appendTempName(space[:0], path)
		temp = unsafe.String(unsafe.SliceData(name), len(name))
		fd, op, err = like.create(temp, 0)
		if err != syscall.EEXIST {
			break
		}
	}
	if err != nil {
		return op, err
	}
	op, err = writeClose(fd, parts, opt)
	if err == nil {
		op = "rename"
		if opt.Exclusive {
			err = renameNoReplace(temp, path)
		} else {
			err = rename(temp, path)
		}
	}
	if err != nil {
		syscall.Unlink(temp)
	}
	return op, err
}

// writeClose writes parts to fd, syncs or flushes it if asked to, and closes it
// always.
func writeClose(fd int, parts [][]byte, opt WriteOptions) (op string, err error) {
	op, err = "write", writeParts(fd, parts, maxIO)
	switch {
	case err != nil:
	case opt.Sync:
		op, err = "sync", fsync(fd)
	case opt.Ordered:
		op, err = "flush", flush(fd, true)
	}
	if cerr := syscall.Close(fd); err == nil {
		op, err = "close", cerr
	}
	return op, err
}

// writeParts writes parts one after the other from the present offset of fd, at
// most limit bytes a call.
func writeParts(fd int, parts [][]byte, limit int) error {
	if len(parts) == 1 {
		return writeAll(fd, parts[0], limit)
	}
	var iov [32]syscall.Iovec
	i, off := 0, 0 // parts[i][off] is the next byte to write
	for {
		count, total, from := 0, 0, off
		for j := i; j < len(parts) && count < len(iov) && total < limit; j++ {
			p := parts[j][from:]
			p = p[:min(len(p), limit-total)]
			from = 0
			if len(p) == 0 {
				continue
			}
			iov[count].Base = unsafe.SliceData(p)
			iov[count].SetLen(len(p))
			count++
			total += len(p)
		}
		if count == 0 {
			return nil
		}
		n, _, errno := syscall.Syscall(syscall.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&iov)), uintptr(count))
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return errno
		}
		if n == 0 {
			return syscall.EIO
		}
		for left := int(n); left > 0; i, off = i+1, 0 {
			if rest := len(parts[i]) - off; left < rest {
				off += left
				break
			} else {
				left -= rest
			}
		}
	}
}

// writeAll is writeParts for one part, which write is cheaper for than writev.
func writeAll(fd int, p []byte, limit int) error {
	for len(p) > 0 {
		n, err := syscall.Write(fd, p[:min(len(p), limit)])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err
		case n == 0:
			return syscall.EIO
		default:
			p = p[n:]
		}
	}
	return nil
}
