package vfs

import (
	"errors"
	"io/fs"
	"syscall"
)

// InStore is fsys for changes of a store: files and folders that it makes get the
// access of the store's own, the first of the named files in folder that exists,
// and of folder itself. Where there is none of them, and over a store.Writer, it is
// fsys.
func InStore(fsys FS, folder string, names ...string) FS {
	if IsStore(fsys) {
		return fsys
	}
	for _, name := range names {
		if info, err := fsys.Stat(folder + "/" + name); err == nil && info.Mode == Regular {
			return InStoreLike(fsys, folder, name, info, &Unsynced{})
		}
	}
	return fsys
}

// InStoreLike is InStore where the file is known, which info describes. What is
// changed without being synced is noted in changes.
func InStoreLike(fsys FS, folder, name string, info Info, changes *Unsynced) FS {
	if info.Mode != Regular || IsStore(fsys) {
		return fsys
	}
	return inStore{fsys, folder + "/" + name, folder, info, changes}
}

type inStore struct {
	FS
	file, folder string // whose access is taken
	like         Info   // of file, when the store was opened
	changes      *Unsynced
}

func (s inStore) withoutLinks() FS {
	return inStore{NoFollow(s.FS), s.file, s.folder, s.like, s.changes}
}

func (s inStore) Create(path string, excl bool) (File, error) {
	if !excl {
		if _, err := s.FS.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			s.changes.wrote(path)
			return s.FS.Create(path, false)
		}
	}
	s.changes.wrote(path)
	return CreateLike(s.FS, path, s.file)
}

// inStore completes options for a file of the store.
func (s inStore) inStore(opt WriteOptions) WriteOptions {
	if opt.Like == "" {
		opt.Like = s.file
	}
	opt.Sync = opt.Sync || s.changes.synced()
	return opt
}

func (s inStore) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	opt = s.inStore(opt)
	err := s.FS.WriteFile(path, parts, opt)
	if err == nil && !opt.Sync {
		s.changes.wrote(path)
	}
	return err
}

// OpenLock implements Locker, if the file system inside does; else ENOTSUP.
func (s inStore) OpenLock(path string) (LockFile, error) {
	l, ok := s.FS.(Locker)
	if !ok {
		return nil, pathError("lock", path, syscall.ENOTSUP)
	}
	f, err := l.OpenLock(path)
	if err != nil {
		return nil, err
	}
	// A new one, which is empty, is for all who may write to the store.
	mine, err := f.Info()
	if err == nil && mine.Size == 0 && (mine.Perm != s.like.Perm || mine.UID != s.like.UID || mine.GID != s.like.GID) {
		s.FS.Adopt(path, s.file, false) // others who must not cannot open it either
	}
	return f, nil
}

func (s inStore) Mkdir(path string) error {
	err := MkdirLike(s.FS, path, s.folder)
	if err == nil {
		s.changes.listed(path)
	}
	return err
}

func (s inStore) Remove(path string) error {
	err := s.FS.Remove(path)
	if err == nil {
		s.changes.listed(path)
	}
	return err
}

func (s inStore) Rmdir(path string) error {
	err := s.FS.Rmdir(path)
	if err == nil {
		s.changes.listed(path)
	}
	return err
}

func (s inStore) Rename(old, new string) error {
	err := s.FS.Rename(old, new)
	if err == nil {
		s.moved(old, new)
	}
	return err
}

func (s inStore) RenameNoReplace(old, new string) error {
	err := s.FS.RenameNoReplace(old, new)
	if err == nil {
		s.moved(old, new)
	}
	return err
}

// moved notes that something has another name, with all that is in it: it may have
// been written by others.
func (s inStore) moved(old, new string) {
	s.changes.moved(old, new)
	tree, _ := listTree(s.FS, nil, new, "", nil) // of a file there is none
	for _, e := range tree {
		switch e.mode {
		case Regular:
			s.changes.wrote(e.path)
		case Dir:
			s.changes.listed(e.path)
		}
	}
}

func (s inStore) SyncDir(path string) error {
	err := s.FS.SyncDir(path)
	if err == nil {
		s.changes.settled(path)
	}
	return err
}
