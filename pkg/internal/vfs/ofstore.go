package vfs

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ndfile/ndfile/pkg/store"
)

// OfStore is a file system over a store: paths are keys, with "/" or "./" before them
// or not. There are no symbolic links. To open a file is no request, unless the store
// holds values; to describe it is one. What the store can write, see [Writable]; else
// what changes something is EROFS.
func OfStore(r store.Reader) FS { return mount(r, "") }

// Mount is OfStore where the store is at a path, not at the root.
func Mount(r store.Reader, at string) FS { return mount(r, strings.Clone(at)) }

func mount(r store.Reader, at string) *ofStore {
	w, _ := r.(store.Writer)
	return &ofStore{r: r, w: w, at: at}
}

type ofStore struct {
	refusing
	r      store.Reader
	w      store.Writer         // nil: it is for reading
	at     string               // the path of the whole store
	memo   atomic.Pointer[memo] // nil: nothing is remembered
	drafts drafts
}

// IsStore tells whether fsys reads from a store: each read is a request.
func IsStore(fsys FS) bool { return inside(fsys) != nil }

// Around is a file system around another one, which shows the same files.
type Around interface{ Inner() FS }

// inside is the store that fsys reads from, or nil.
func inside(fsys FS) *ofStore {
	for {
		switch f := fsys.(type) {
		case *ofStore:
			return f
		case Around:
			fsys = f.Inner()
		default:
			return nil
		}
	}
}

// HasFile tells whether path leads to a file. What is no file, or cannot be one, is
// none; of a store it is one request.
func HasFile(fsys FS, path string) (bool, error) {
	var err error
	if s := inside(fsys); s != nil {
		_, err = s.size(s.keyOf(path))
		err = storeError("stat", path, err)
	} else {
		var info Info
		if info, err = fsys.Stat(path); err == nil && info.Mode != Regular {
			return false, nil
		}
	}
	switch errno := errnoOf(err); {
	case errors.Is(err, fs.ErrNotExist), errno == syscall.ENOTDIR, errno == syscall.ELOOP, errno == syscall.ENAMETOOLONG:
		return false, nil
	}
	return err == nil, err
}

func (s *ofStore) withoutLinks() FS { return s }

// keyOf is the key of a path; "" is the whole store.
func (s *ofStore) keyOf(path string) string {
	if below, ok := strings.CutPrefix(path, s.at); ok {
		path = below
	}
	path = strings.TrimPrefix(path, "/")
	for strings.HasPrefix(path, "./") {
		path = strings.TrimLeft(path[2:], "/")
	}
	path = strings.TrimRight(path, "/")
	if path == "." {
		return ""
	}
	return path
}

// storeError is an error of a store.
func storeError(op, path string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	errno := syscall.EIO
	switch {
	case errors.Is(err, fs.ErrNotExist):
		errno = syscall.ENOENT
	case errors.Is(err, store.ErrCondition):
		errno = syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		errno = syscall.EACCES
	case errors.Is(err, errors.ErrUnsupported):
		errno = syscall.ENOTSUP
	default:
		errors.As(err, &errno)
	}
	return causeError(op, path, errno, err)
}

func (s *ofStore) Open(path string) (File, error) {
	if f := s.drafts.find(path); f != nil {
		return f, nil
	}
	v, err := store.Open(context.Background(), s.r, s.keyOf(path))
	if err != nil {
		return nil, storeError("open", path, err)
	}
	return &storeFile{value: v, name: strings.Clone(path)}, nil
}

func (s *ofStore) ReadSmall(ctx context.Context, path string, buf []byte) (int, File, error) {
	n, rest, err := s.hold(ctx, s.keyOf(path), buf)
	if err != nil {
		return 0, nil, storeError("open", path, err)
	}
	if rest == nil {
		return n, nil, nil
	}
	return n, &storeFile{value: rest, name: strings.Clone(path)}, nil
}

// seed is for the numbers of what has a name only.
var seed = maphash.MakeSeed()

func (s *ofStore) Stat(path string) (Info, error) {
	key := s.keyOf(path)
	same := maphash.String(seed, key)
	if key == "" {
		return Info{Mode: Dir, Ino: same}, nil
	}
	size, err := s.size(key)
	if err == nil {
		return Info{Size: size, Mode: Regular, Ino: same}, nil
	}
	if l, ok := s.r.(store.Lister); ok && errors.Is(err, fs.ErrNotExist) {
		found := errors.New("found")
		if e := l.List(context.Background(), key, func(store.Entry) error { return found }); errors.Is(e, found) {
			return Info{Mode: Dir, Ino: same}, nil
		}
	}
	return Info{}, storeError("stat", path, err)
}

func (s *ofStore) Lstat(path string) (Info, error) { return s.Stat(path) }

func (s *ofStore) Readlink(path string) (string, error) {
	return "", pathError("readlink", path, syscall.EINVAL)
}

func (s *ofStore) ReadDir(path string) (list []DirEntry, err error) {
	l, ok := s.r.(store.Lister)
	if !ok {
		return nil, storeError("readdir", path, syscall.ENOTSUP)
	}
	err = l.List(context.Background(), s.keyOf(path), func(e store.Entry) error {
		mode := Regular
		if e.Folder {
			mode = Dir
		}
		list = append(list, DirEntry{Name: e.Name, Mode: mode})
		return nil
	})
	if err == nil && len(list) == 0 && s.keyOf(path) != "" {
		err = fs.ErrNotExist
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	return list, storeError("readdir", path, err)
}

func (s *ofStore) TempName(path string) string { return tempName(path) }

// storeFile is a value of a store as a file, which is a [store.ContextValue].
type storeFile struct {
	value store.Value
	name  string
}

func (f *storeFile) Name() string { return f.name }

func (f *storeFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.value.ReadAt(p, off)
	return n, storeError("read", f.name, err)
}

func (f *storeFile) ReadContext(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := store.ReadFull(ctx, f.value, p, off)
	if err == io.ErrUnexpectedEOF {
		return n, io.EOF
	}
	return n, storeError("read", f.name, err)
}

func (f *storeFile) ReadParts(ctx context.Context, parts []store.Part) error {
	return storeError("read", f.name, store.ReadParts(ctx, f.value, parts))
}

func (f *storeFile) Size() (int64, error) {
	size, err := f.value.Size()
	return size, storeError("stat", f.name, err)
}

func (f *storeFile) Close() error { return storeError("close", f.name, f.value.Close()) }

func (f *storeFile) Map(off, n int64) (data []byte, unmap func() error, err error) {
	return nil, nil, causeError("map", f.name, syscall.ENODEV, ErrNoMap)
}

func (f *storeFile) WriteAt([]byte, int64) (int, error) {
	return 0, pathError("write", f.name, syscall.EBADF)
}
func (f *storeFile) Truncate(int64) error { return pathError("truncate", f.name, syscall.EBADF) }
func (f *storeFile) Sync() error          { return pathError("sync", f.name, syscall.EBADF) }
func (f *storeFile) Flush(bool) error     { return pathError("flush", f.name, syscall.EBADF) }

// refusing has the changes of a file system that can only be read.
type refusing struct{}

func refuse(op, path string) error { return pathError(op, path, syscall.EROFS) }

func (refusing) OpenRW(path string) (File, error)         { return nil, refuse("open", path) }
func (refusing) Create(path string, _ bool) (File, error) { return nil, refuse("create", path) }
func (refusing) CreatePrivate(path string) (File, error)  { return nil, refuse("create", path) }
func (refusing) Adopt(path, _ string, _ bool) error       { return refuse("adopt", path) }
func (refusing) Mkdir(path string) error                  { return refuse("mkdir", path) }
func (refusing) MkdirPrivate(path string) error           { return refuse("mkdir", path) }
func (refusing) Remove(path string) error                 { return refuse("remove", path) }
func (refusing) Rmdir(path string) error                  { return refuse("rmdir", path) }
func (refusing) Rename(path, _ string) error              { return refuse("rename", path) }
func (refusing) RenameNoReplace(path, _ string) error     { return refuse("rename", path) }
func (refusing) Link(_, path string) error                { return refuse("link", path) }
func (refusing) Exchange(path, _ string) error            { return refuse("exchange", path) }
func (refusing) SyncDir(path string) error                { return refuse("syncdir", path) }
func (refusing) WriteFile(path string, _ [][]byte, _ WriteOptions) error {
	return refuse("create", path)
}
