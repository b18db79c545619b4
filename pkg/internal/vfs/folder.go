package vfs

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// Folder writes a new folder that appears whole or not at all, with everything
// in it. It is for one goroutine; what is in the folder may be written from many.
type Folder struct {
	fsys   FS
	path   string // as given, for errors
	target string // the folder that is made or replaced
	work   string // the folder that is written into: a temporary one, or target
	opt    WriteOptions
	ours   func(rel string, mode FileMode) bool
	found  bool // there was a folder at target, which is replaced
	done   bool

	// Guard, if it is set, is called before a folder is replaced, with its path. An
	// error keeps it.
	Guard func(target string) error
}

// NewFolder starts a new folder at path. Its content is written below
// Folder.Path, then Commit makes it visible or Abort drops it.
//
// A folder that exists at path is replaced, but only if everything in it is
// ours: ours is asked about each entry, with its path below the folder (elements
// separated by slashes) and its kind. It is not asked about entries with a
// temporary name and what is in them, nor about LockName: these are ours. Anything else in the
// folder is EEXIST, which names it, and so is a file at path. A symlink stays:
// the folder it leads to is replaced or, when it dangles, created.
//
// CommitDirect writes a folder that does not exist yet in place; it replaces one
// that exists as CommitAtomic does. Over a store everything is CommitDirect, and what
// is replaced is removed at once: nothing can be given another name there.
//
// What replaces takes over the access of what was there under the same name, and
// its extended attributes (FS.Adopt). Further files get the access of the old
// folder's first file, further folders that of the old folder. Until then the new
// folder is for its owner only.
func NewFolder(fsys FS, path string, opt WriteOptions, ours func(rel string, mode FileMode) bool) (*Folder, error) {
	path = strings.Clone(path) // kept until Commit
	if cut := strings.TrimRight(path, "/"); cut != "" {
		path = cut
	}
	if _, base := splitPath(path); base == "" || base == "." || base == ".." {
		if path == "" {
			return nil, pathError("mkdir", path, syscall.ENOENT)
		}
		return nil, pathError("mkdir", path, syscall.EBUSY) // it has no name that could be given to another
	}
	target, mode, found, err := followLinks(fsys, path, opt.Exclusive)
	if err != nil {
		return nil, err
	}
	f := &Folder{fsys: fsys, path: path, target: target, work: target, opt: opt, ours: ours, found: found}
	if found {
		if err := f.checkOld(mode); err != nil {
			return nil, err
		}
	}
	if IsStore(fsys) {
		return f.inPlace()
	}
	if opt.Commit == CommitDirect && !found {
		err = fsys.Mkdir(target)
	} else {
		mkdir := fsys.Mkdir
		if found {
			mkdir = fsys.MkdirPrivate
		}
		for range maxTempTries {
			f.work = fsys.TempName(target)
			if err = mkdir(f.work); errnoOf(err) != syscall.EEXIST {
				break
			}
		}
	}
	if err != nil {
		return nil, f.Named(err)
	}
	return f, nil
}

// inPlace begins a folder of a store.
func (f *Folder) inPlace() (*Folder, error) {
	f.opt.Commit = CommitDirect
	err := f.fsys.Mkdir(f.target)
	if err == nil && f.found {
		f.found = false
		err = RemoveTree(f.fsys, f.target, f.ours)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Path is the folder to write into. It is not the path of NewFolder, but may
// become it by Commit.
func (f *Folder) Path() string { return f.work }

// Replaces gives the folder that is replaced: what the symlinks of the path lead to.
func (f *Folder) Replaces() (target string, found bool) { return f.target, f.found }

// Commit makes the folder visible. With WriteOptions.Sync it syncs the folders;
// files are synced by those who write them. When it fails, the new folder is
// removed and the old one is untouched. There are two exceptions, in which the
// new folder is in place: when the folder around it cannot be synced, and when
// the old one cannot be removed. Then the old one, or what is left of it, stays
// beside the new one under a temporary name.
//
// Where the file system cannot exchange two folders, nothing is at path for a
// moment, and after a crash in that moment the old folder has a temporary name.
func (f *Folder) Commit() error {
	if f.done {
		return causeError("commit", f.path, syscall.EBADF, fs.ErrClosed)
	}
	var old string
	err := f.sync()
	if err == nil && f.work != f.target {
		old, err = f.publish()
	}
	if err != nil {
		f.Abort()
		return f.Named(err)
	}
	f.done = true
	if f.opt.Sync {
		err = f.fsys.SyncDir(folderOf(f.target)) // before the old one goes
	}
	if err == nil && old != "" {
		err = RemoveTree(f.fsys, old, f.ours)
	}
	return err
}

// Abort removes the new folder and everything in it; of one that is written in
// place only if everything in it is ours. After Commit or Abort it does nothing.
// An error means that something is left.
func (f *Folder) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	if f.work == f.target {
		return RemoveTree(f.fsys, f.work, f.ours)
	}
	return RemoveTree(f.fsys, f.work, nil)
}

// sync makes the entries of the new folder and of those in it durable.
func (f *Folder) sync() error {
	if !f.opt.Sync {
		return nil
	}
	tree, err := listTree(f.fsys, nil, f.work, "", nil)
	if err != nil {
		return err
	}
	for _, e := range tree {
		if e.mode == Dir {
			if err := f.fsys.SyncDir(e.path); err != nil {
				return err
			}
		}
	}
	return f.fsys.SyncDir(f.work)
}

// flush writes what is in the new folder to the disk, before it takes the place of
// an old one: that one is removed, and a power failure must not leave neither. Of a
// file that is replaced the file system takes care in the same way.
func (f *Folder) flush() error {
	if f.opt.Sync {
		return nil // that was more
	}
	tree, err := listTree(f.fsys, nil, f.work, "", nil)
	for _, wait := range []bool{false, true} { // all are on their way before the first is waited for
		for i := 0; err == nil && i < len(tree); i++ {
			if tree[i].mode == Regular {
				err = flushFile(f.fsys, tree[i].path, wait)
			}
		}
	}
	return err
}

func flushFile(fsys FS, path string, wait bool) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Flush(wait)
}

// publish gives the new folder its name. If that was another folder's, old is
// what that one is called now.
func (f *Folder) publish() (old string, err error) {
	if f.opt.Exclusive {
		return "", f.fsys.RenameNoReplace(f.work, f.target)
	}
	info, err := f.fsys.Lstat(f.target)
	if errnoOf(err) == syscall.ENOENT {
		return "", f.fsys.RenameNoReplace(f.work, f.target)
	}
	if err == nil {
		err = f.checkOld(info.Mode)
	}
	if err == nil && f.Guard != nil {
		err = f.Guard(f.target)
	}
	if err == nil {
		err = adoptTree(f.fsys, f.work, f.target)
	}
	if err != nil {
		return "", err
	}
	if err := f.flush(); err != nil {
		return "", err
	}
	switch err := f.fsys.Exchange(f.work, f.target); errnoOf(err) {
	case 0:
		return f.work, nil
	case syscall.EINVAL, syscall.ENOSYS, syscall.ENOTSUP:
	default:
		return "", err
	}
	old = f.fsys.TempName(f.target)
	if err := f.fsys.RenameNoReplace(f.target, old); err != nil {
		return "", err
	}
	if err := f.fsys.RenameNoReplace(f.work, f.target); err != nil {
		if undo := f.fsys.RenameNoReplace(old, f.target); undo != nil {
			return "", undo // it tells where the old folder is
		}
		return "", err
	}
	return old, nil
}

// checkOld fails unless a folder of ours is at target.
func (f *Folder) checkOld(mode FileMode) error {
	if mode != Dir {
		return pathError("mkdir", f.path, syscall.EEXIST)
	}
	_, err := listTree(f.fsys, nil, f.target, "", f.ours)
	return err
}

// Named puts the path that the user knows in place of the temporary one in the
// *PathError that err is or wraps: for errors of what is written below Path.
func (f *Folder) Named(err error) error {
	var e *PathError
	if f.work != f.target && errors.As(err, &e) {
		if below, ok := strings.CutPrefix(e.Path, f.work); ok && (below == "" || below[0] == '/') {
			e.Path, e.To = f.path+below, ""
		}
	}
	return err
}

// Beside gives the path under which a new folder is written that is to get path when
// it is complete: a temporary one, and in a store path itself, where nothing must be.
func Beside(fsys FS, path string) (string, error) {
	if !IsStore(fsys) {
		return fsys.TempName(path), nil
	}
	switch _, err := fsys.Lstat(path); {
	case err == nil:
		return "", pathError("mkdir", path, syscall.EEXIST)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return path, nil
}

// Aside gives a file or folder that is to be removed a temporary name, and tells it:
// what is half removed then is known to be nobody's. In a store it stays path.
func Aside(fsys FS, path string) (string, error) {
	if IsStore(fsys) {
		return path, nil
	}
	temp := fsys.TempName(path)
	return temp, fsys.RenameNoReplace(path, temp)
}

// RemoveTree removes a folder and all that is in it, if all of it is ours, which
// is asked as by NewFolder; nil means that everything is. Otherwise it removes
// nothing and gives EEXIST, which names what is foreign. Symlinks are removed,
// not followed; at path itself there must be a folder.
func RemoveTree(fsys FS, path string, ours func(rel string, mode FileMode) bool) error {
	info, err := fsys.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode != Dir {
		return pathError("rmdir", path, syscall.ENOTDIR)
	}
	tree, err := listTree(fsys, nil, path, "", ours)
	if err != nil {
		return err
	}
	if IsStore(fsys) {
		// Nothing hides what is half removed: documents go before the chunks below.
		slices.SortStableFunc(tree, func(a, b treeEntry) int {
			return cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/"))
		})
	}
	for _, e := range tree {
		if e.mode == Dir {
			err = fsys.Rmdir(e.path)
		} else {
			err = fsys.Remove(e.path)
		}
		if err != nil {
			return err
		}
	}
	return fsys.Rmdir(path)
}

// treeEntry is something below a folder.
type treeEntry struct {
	path string
	mode FileMode
}

// listTree appends what is below a folder, folders after what is in them. below
// is the path of dir from where ours counts, with a slash at its end.
func listTree(fsys FS, list []treeEntry, dir, below string, ours func(rel string, mode FileMode) bool) ([]treeEntry, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return list, err
	}
	for _, e := range entries {
		path, rel, inner := dir+"/"+e.Name, below+e.Name, ours
		if IsTempName(e.Name) || e.Name == LockName {
			inner = nil
		} else if ours != nil && !ours(rel, e.Mode) {
			return list, pathError("remove", path, syscall.EEXIST)
		}
		if e.Mode == Dir {
			if list, err = listTree(fsys, list, path, rel+"/", inner); err != nil {
				return list, err
			}
		}
		list = append(list, treeEntry{path, e.Mode})
	}
	return list, nil
}
