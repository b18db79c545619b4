package vfs

import (
	"context"
	"errors"
	"strings"
	"syscall"
)

// FS is a file system. All methods may be called from any goroutine. Every
// error is a *PathError. A path with a NUL byte is refused with EINVAL.
type FS interface {
	// Open opens a file for reading. It never waits for the writer of a FIFO.
	// A folder can be opened, but reading it gives EISDIR.
	Open(path string) (File, error)

	// OpenRW opens an existing file for reading and writing.
	OpenRW(path string) (File, error)

	// Create opens a new or truncated file for reading and writing, mode
	// 0666 &^ umask. With excl the path must not exist, not even as a dangling
	// symlink: EEXIST.
	Create(path string, excl bool) (File, error)

	// CreatePrivate is Create with excl of a file that is for its owner only: mode
	// 0600 &^ umask.
	CreatePrivate(path string) (File, error)

	// Adopt gives the new file or folder at path, which is this process's own, the
	// access of like, one of the same kind: mode, owner and group, ACL. With all it
	// gets the other extended attributes too, as what replaces like. Owner and group
	// are kept where that is permitted; a group that cannot be kept is given no more
	// than all others have. Attributes of the system are copied where that is
	// permitted. On macOS only mode, owner and group are.
	Adopt(path, like string, all bool) error

	// ReadSmall opens path and fills buf with one read at offset 0. When the
	// file ends within buf (n < len(buf)) it is closed again and rest is nil;
	// otherwise rest is the open file, whose first n bytes are in buf. Without
	// rest nothing is allocated. A folder gives EISDIR.
	ReadSmall(ctx context.Context, path string, buf []byte) (n int, rest File, err error)

	// WriteFile makes parts, one after the other, the whole content of path.
	// It follows the rules of NewReplace and Replace.Commit, except that a FIFO
	// can be written too.
	WriteFile(path string, parts [][]byte, opt WriteOptions) error

	// Stat describes path, following symlinks.
	Stat(path string) (Info, error)

	// Lstat describes path, which may be a symlink.
	Lstat(path string) (Info, error)

	// Readlink returns the text of a symlink; EINVAL when path is none.
	Readlink(path string) (string, error)

	// ReadDir lists a folder without "." and "..", sorted by name.
	ReadDir(path string) ([]DirEntry, error)

	// Mkdir creates a folder, mode 0777 &^ umask.
	Mkdir(path string) error

	// MkdirPrivate creates a folder that is for its owner only: mode 0700 &^ umask.
	MkdirPrivate(path string) error

	// Remove removes a file or a symlink.
	Remove(path string) error

	// Rmdir removes an empty folder.
	Rmdir(path string) error

	// Rename renames a file or folder; an existing file at new is replaced.
	Rename(old, new string) error

	// RenameNoReplace renames a file or folder; EEXIST when new exists.
	RenameNoReplace(old, new string) error

	// Link gives the file at old a second name; EEXIST when new exists. A
	// symlink is not followed where the system can link it itself. File systems
	// without hard links give EPERM, ENOTSUP or EXDEV.
	Link(old, new string) error

	// Exchange swaps two files or folders in one step.
	Exchange(a, b string) error

	// SyncDir makes the entries of a folder survive a power failure. Where the
	// file system cannot sync folders it does nothing.
	SyncDir(path string) error

	// TempName returns a name for a temporary file or folder next to path that
	// nobody else uses: path + ".ndf-tmp-" + something unique. IsTempName
	// recognises it. The base of path is cut where the name would become longer
	// than a file system allows.
	TempName(path string) string
}

// File is an open file. All methods may be called from any goroutine; after
// Close they give an error that is fs.ErrClosed.
type File interface {
	// ReadAt follows io.ReaderAt: less than len(p) bytes come with an error,
	// io.EOF at the end of the file. A negative offset is EINVAL.
	ReadAt(p []byte, off int64) (int, error)

	// WriteAt follows io.WriterAt. A negative offset is EINVAL.
	WriteAt(p []byte, off int64) (int, error)

	// Size returns the present size in bytes.
	Size() (int64, error)

	// Truncate sets the size in bytes; new bytes are zero.
	Truncate(size int64) error

	// Sync makes the content survive a power failure, not the name: see SyncDir.
	Sync() error

	// Flush has the content written to the disk, and with wait waits for that. It
	// costs less than Sync, and promises less: on file systems that keep order, a
	// change of a folder that is made later and survives a power failure finds this
	// content (ext4: also without wait; XFS, APFS: with it).
	Flush(wait bool) error

	// Close waits for running calls and closes the file. A second Close gives
	// an error that is fs.ErrClosed and does nothing.
	Close() error

	// Map returns n bytes from any off as a read-only shared mapping, valid
	// until unmap, even after Close. A range outside the file is EINVAL. If the
	// file shrinks under the mapping, touching it kills the process. The error
	// is ErrNoMap where the file system cannot map.
	Map(off, n int64) (data []byte, unmap func() error, err error)

	// Name returns the path that the file was opened with.
	Name() string
}

// Commit says how new content of a file becomes visible.
type Commit uint8

const (
	// CommitAtomic writes a temporary file in the same folder and renames it:
	// others see the old content or the new, also after a failure. On Linux
	// WriteFile makes a new file without a temporary name, where the file system
	// can and Sync is not asked for: of a process that is killed nothing is left.
	CommitAtomic Commit = iota

	// CommitDirect writes in place. Old content is gone at once; when writing
	// fails the torn file is removed. For one writer of new files, for speed.
	CommitDirect
)

// WriteOptions are the options of WriteFile and NewReplace.
type WriteOptions struct {
	Commit    Commit
	Sync      bool // sync the file and its folder
	Exclusive bool // the path must not exist: EEXIST

	// Ordered flushes the file before it gets its name (File.Flush). Linux itself
	// does so on ext4 where a file is replaced; this is for new ones that others rely
	// on. With Sync it says nothing.
	Ordered bool

	// OnlyFile refuses a path where a device, FIFO or socket is: ESPIPE. Else these
	// are written to.
	OnlyFile bool

	// Like is the path of a file whose access a file gets where none is replaced:
	// one of the same store. Empty: mode 0666 &^ umask.
	Like string
}

// FileMode is the kind of a folder's entry.
type FileMode uint8

// The kinds of entries. Other is a FIFO, socket or device.
const (
	Other FileMode = iota
	Regular
	Dir
	Symlink
)

// IsRegular reports whether m is a regular file.
func (m FileMode) IsRegular() bool { return m == Regular }

// IsDir reports whether m is a folder.
func (m FileMode) IsDir() bool { return m == Dir }

// Info describes a file or folder. Ino and Dev together identify it.
type Info struct {
	Size    int64 // bytes
	Mode    FileMode
	ModTime int64 // nanoseconds since 1970 UTC
	Ino     uint64
	Dev     uint64

	Perm     uint32 // permission bits with set-user-ID, set-group-ID and sticky
	UID, GID uint32 // owner and group
}

// DirEntry is one entry of a folder. Mode is that of the entry itself: symlinks
// are not followed.
type DirEntry struct {
	Name string
	Mode FileMode
}

// ErrNoMap says that a file cannot be mapped into memory, only read.
var ErrNoMap = errors.New("file cannot be mapped")

// PathError is every error of a file system, except io.EOF. errors.Is finds the
// errno and what it stands for: fs.ErrNotExist, fs.ErrExist, fs.ErrPermission.
type PathError struct {
	Op    string // open, read, write, rename, ...
	Path  string
	To    string // second path of a rename or exchange, else empty
	Errno syscall.Errno

	cause error // what errors.Is finds besides Errno, or nil
}

// Error returns "op path: reason".
func (e *PathError) Error() string {
	s := e.Op + " " + e.Path
	if e.To != "" {
		s += " -> " + e.To
	}
	if e.cause != nil {
		return s + ": " + e.cause.Error()
	}
	return s + ": " + e.Errno.Error()
}

// Unwrap returns the errno.
func (e *PathError) Unwrap() error { return e.Errno }

// Is reports whether target is the cause of e that no errno can tell:
// fs.ErrClosed, ErrNoMap or the error given to Fault.
func (e *PathError) Is(target error) bool { return e.cause != nil && errors.Is(e.cause, target) }

// pathError names the operation and path of err; nil stays nil. An error that
// holds no errno counts as EIO and stays visible as the cause.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	e := &PathError{Op: op, Path: strings.Clone(path), Errno: syscall.EIO}
	if errno, ok := err.(syscall.Errno); ok {
		e.Errno = errno
	} else {
		errors.As(err, &e.Errno)
		e.cause = err
	}
	return e
}

// errnoOf returns the errno in err, 0 if there is none.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	errors.As(err, &e)
	return e
}

// causeError is a PathError that is errno and cause.
func causeError(op, path string, errno syscall.Errno, cause error) error {
	return &PathError{Op: op, Path: strings.Clone(path), Errno: errno, cause: cause}
}

// renameError is pathError for two paths.
func renameError(op, from, to string, err error) error {
	err = pathError(op, from, err)
	if e, ok := err.(*PathError); ok {
		e.To = strings.Clone(to)
	}
	return err
}
