package vfs

import (
	"io/fs"
	"strings"
	"syscall"
)

const (
	maxLinks     = 40   // symlinks followed before ELOOP, as Linux does
	maxTempTries = 1000 // temporary names tried before EEXIST
)

// Replace writes a new file that appears whole or not at all. It is for one
// goroutine; its File may be written from many.
type Replace struct {
	fsys    FS
	path    string // as given, for errors
	target  string // the file that is made or replaced
	written string // the file that is written: a temporary one, or target
	file    File
	opt     WriteOptions
	like    string // the file whose access the new one gets; "" for none
	device  bool   // target is neither file nor folder: it is not ours to remove
	done    bool
}

// NewReplace starts a new file at path. Its content is written to File, then
// Commit makes it visible or Abort drops it.
//
// A symlink stays: the file it leads to is replaced or, when it dangles,
// created. A device is never replaced but written in place. A folder is EISDIR.
//
// The new file takes over the access of the one that it replaces and its extended
// attributes (FS.Adopt); until then it is for its owner only, and stays so when
// the old one is removed meanwhile. It is another file: hard links of the old one
// keep the old content.
func NewReplace(fsys FS, path string, opt WriteOptions) (*Replace, error) {
	if s, ok := fsys.(interface {
		inStore(WriteOptions) WriteOptions
	}); ok {
		opt = s.inStore(opt)
	}
	if IsStore(fsys) {
		opt.Commit = CommitAtomic // the file is in memory until it is put, whole
	}
	path = strings.Clone(path) // kept until Commit
	target, mode, found, err := findTarget(fsys, path, opt.Exclusive)
	if err != nil {
		return nil, err
	}
	if found && mode == Other && opt.OnlyFile {
		return nil, pathError("create", path, syscall.ESPIPE)
	}
	r := &Replace{fsys: fsys, path: path, target: target, written: target, opt: opt, like: opt.Like, device: found && mode == Other}
	if found {
		r.like = target
	}
	if opt.Commit == CommitDirect || r.device {
		r.opt.Commit = CommitDirect
		if found || r.like == "" {
			r.file, err = fsys.Create(target, opt.Exclusive)
		} else {
			r.file, err = CreateLike(fsys, target, r.like)
		}
	} else {
		create := fsys.CreatePrivate
		if r.like == "" {
			create = func(path string) (File, error) { return fsys.Create(path, true) }
		}
		for range maxTempTries {
			r.written = fsys.TempName(target)
			r.file, err = create(r.written)
			if errnoOf(err) != syscall.EEXIST {
				break
			}
		}
	}
	if err != nil {
		return nil, r.named(err)
	}
	return r, nil
}

// File returns the file to write. Commit and Abort close it.
func (r *Replace) File() File { return r.file }

// Commit closes the file and makes it visible. When it fails, the new file is
// removed and, for CommitAtomic, the old one is untouched. The exception is a
// failed sync of the folder, the last step: then the new file is in place, but
// may not survive a power failure.
func (r *Replace) Commit() error {
	if r.done {
		return causeError("commit", r.path, syscall.EBADF, fs.ErrClosed)
	}
	if err := r.publish(); err != nil {
		r.Abort()
		return r.named(err)
	}
	r.done = true
	if r.opt.Sync && !r.device {
		return r.fsys.SyncDir(folderOf(r.target))
	}
	return nil
}

func (r *Replace) publish() error {
	if r.like != "" && r.written != r.target {
		if err := r.fsys.Adopt(r.written, r.like, r.like == r.target); err != nil && errnoOf(err) != syscall.ENOENT {
			return err
		}
	}
	if r.opt.Sync && !r.device {
		if err := r.file.Sync(); err != nil {
			return err
		}
	}
	if r.opt.Ordered && !r.opt.Sync && !r.device {
		if err := r.file.Flush(true); err != nil {
			return err
		}
	}
	if err := r.file.Close(); err != nil {
		return err
	}
	switch {
	case r.opt.Commit == CommitDirect:
		return nil
	case r.opt.Exclusive:
		return r.fsys.RenameNoReplace(r.written, r.target)
	}
	return r.fsys.Rename(r.written, r.target)
}

// Abort drops the new file. After Commit or Abort it does nothing. An error
// means that a temporary file, or for CommitDirect the torn file, is left.
func (r *Replace) Abort() error {
	if r.done {
		return nil
	}
	r.done = true
	r.file.Close() // the content is dropped: how closing ended does not matter
	if r.device {
		return nil
	}
	return r.fsys.Remove(r.written)
}

// named puts the path that the user knows in place of the temporary one.
func (r *Replace) named(err error) error {
	if e, ok := err.(*PathError); ok && e.Path == r.written {
		e.Path, e.To = r.path, ""
	}
	return err
}

// findTarget returns the file that new content of path goes to, after symlinks,
// and what is there.
func findTarget(fsys FS, path string, exclusive bool) (target string, mode FileMode, found bool, err error) {
	target, mode, found, err = followLinks(fsys, path, exclusive)
	if err == nil && found && mode == Dir {
		err = pathError("create", path, syscall.EISDIR)
	}
	return target, mode, found, err
}

// followLinks returns the path at the end of the symlinks that path begins with,
// and what is there. With exclusive nothing must be at path: EEXIST.
func followLinks(fsys FS, path string, exclusive bool) (target string, mode FileMode, found bool, err error) {
	target = path
	for range maxLinks {
		info, err := fsys.Lstat(target)
		if errnoOf(err) == syscall.ENOENT {
			return target, 0, false, nil
		}
		switch {
		case err != nil:
			return "", 0, false, err
		case exclusive:
			return "", 0, false, pathError("create", path, syscall.EEXIST)
		case info.Mode != Symlink:
			return target, info.Mode, true, nil
		}
		// /dev/stdout leads to a link like "pipe:[7]", which names nothing.
		if info, err := fsys.Stat(target); err == nil && info.Mode == Other {
			return target, Other, true, nil
		}
		link, err := fsys.Readlink(target)
		if err != nil {
			return "", 0, false, err
		}
		if link == "" || link[0] != '/' {
			dir, _ := splitPath(target)
			link = dir + link
		}
		target = link
	}
	return "", 0, false, pathError("create", path, syscall.ELOOP)
}

// writeFile is FS.WriteFile by the other methods of fsys.
func writeFile(fsys FS, path string, parts [][]byte, opt WriteOptions) error {
	r, err := NewReplace(fsys, path, opt)
	if err != nil {
		return err
	}
	off := int64(0)
	for _, p := range parts {
		n, err := r.file.WriteAt(p, off)
		if err != nil {
			r.Abort()
			return r.named(err)
		}
		off += int64(n)
	}
	return r.Commit()
}

// Resolve returns the path that the symlinks which path begins with lead to, be
// it dangling, without slashes at its end.
func Resolve(fsys FS, path string) (string, error) {
	if cut := strings.TrimRight(path, "/"); cut != "" {
		path = cut
	}
	target, _, _, err := followLinks(fsys, path, false)
	return target, err
}
