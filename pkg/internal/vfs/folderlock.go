package vfs

import "syscall"

// FolderLocker is a file system some of whose folders can be locked themselves,
// which costs a fraction of a lock file that is made and removed.
type FolderLocker interface {
	// OpenFolderLock opens a folder. Nothing is locked yet. It is ENOTSUP where not
	// all who reach the folder would meet its lock, as other machines.
	OpenFolderLock(path string) (FolderLock, error)
}

// FolderLock is an open folder that can be locked. The lock is advisory and belongs
// to what was opened, as that of LockFile.
type FolderLock interface {
	// TryLock sets the lock. ok is false when others keep it out; what was held
	// before is given up then.
	TryLock(kind LockKind) (ok bool, err error)

	// Note is a text kept with the folder, which outlives lock and process; "" is
	// none. SetNote replaces it. Where folders have no notes it is ENOTSUP.
	Note() (string, error)
	SetNote(text string) error

	// Info describes the folder, whatever its path leads to now.
	Info() (Info, error)

	// Holder is a process that has the lock; 0 is not known.
	Holder() int

	// Close ends the lock and closes the folder.
	Close() error
}

// OpenFolderLock opens a folder of fsys, if fsys is a FolderLocker; else ENOTSUP.
func OpenFolderLock(fsys FS, path string) (FolderLock, error) {
	if l, ok := fsys.(FolderLocker); ok {
		return l.OpenFolderLock(path)
	}
	return nil, pathError("lock", path, syscall.ENOTSUP)
}

func (n noFollow) OpenFolderLock(path string) (FolderLock, error) { return OpenFolderLock(n.FS, path) }
func (s inStore) OpenFolderLock(path string) (FolderLock, error)  { return OpenFolderLock(s.FS, path) }

func (f *Fault) OpenFolderLock(path string) (FolderLock, error) {
	return ask(f, "lock", path, func() (FolderLock, error) { return OpenFolderLock(f.inner, path) })
}
