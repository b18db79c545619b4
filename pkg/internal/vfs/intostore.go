package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/store"
)

// A store is written value by value. Folders are there as far as there are values in
// them, access and durability are the store's own, and there are no locks. Nothing gets
// another name but a file that was made under a temporary one: that is in memory, and
// put when it is renamed.

// ErrNoList says that a store cannot list what it holds.
var ErrNoList = errors.New("the store cannot list")

// Writable is nil where fsys can be changed, and else EROFS or ErrNoList: what is
// replaced or removed has to be known.
func Writable(fsys FS) error {
	s := inside(fsys)
	if s == nil {
		return nil
	}
	if s.w == nil {
		return syscall.EROFS
	}
	if _, ok := s.r.(store.Lister); !ok {
		return ErrNoList
	}
	return nil
}

// put stores a value.
func (s *ofStore) put(op, path string, parts [][]byte, exclusive bool) error {
	if s.w == nil {
		return refuse(op, path)
	}
	_, err := s.w.Put(context.Background(), strings.Clone(s.keyOf(path)), parts, store.Condition{Absent: exclusive})
	return storeError(op, path, err)
}

func (s *ofStore) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	return s.put("create", path, parts, opt.Exclusive)
}

func (s *ofStore) Create(path string, excl bool) (File, error) {
	if s.w == nil || !IsTempName(path[strings.LastIndexByte(path, '/')+1:]) {
		return nil, refuse("create", path)
	}
	return s.drafts.create(path)
}

func (s *ofStore) CreatePrivate(path string) (File, error) { return s.Create(path, true) }

func (s *ofStore) Remove(path string) error {
	if f := s.drafts.find(path); f != nil {
		s.drafts.drop(f)
		return nil
	}
	if s.w == nil {
		return refuse("remove", path)
	}
	return storeError("remove", path, s.w.Delete(context.Background(), strings.Clone(s.keyOf(path))))
}

func (s *ofStore) Rename(old, new string) error          { return s.rename(old, new, false) }
func (s *ofStore) RenameNoReplace(old, new string) error { return s.rename(old, new, true) }

func (s *ofStore) rename(old, new string, exclusive bool) error {
	f := s.drafts.find(old)
	if f == nil {
		return renameError("rename", old, new, s.impossible())
	}
	f.mu.Lock()
	err := s.put("rename", new, [][]byte{f.data.B}, exclusive)
	f.mu.Unlock()
	if err == nil {
		s.drafts.drop(f)
	}
	return err
}

// impossible is the error of what no store can do.
func (s *ofStore) impossible() error {
	if s.w == nil {
		return syscall.EROFS
	}
	return syscall.ENOTSUP
}

func (s *ofStore) Link(old, new string) error      { return renameError("link", old, new, s.impossible()) }
func (s *ofStore) Exchange(a, b string) error      { return renameError("exchange", a, b, s.impossible()) }
func (s *ofStore) Mkdir(path string) error         { return s.nothing("mkdir", path) }
func (s *ofStore) Rmdir(path string) error         { return s.nothing("rmdir", path) }
func (s *ofStore) SyncDir(path string) error       { return s.nothing("syncdir", path) }
func (s *ofStore) MkdirPrivate(p string) error     { return s.nothing("mkdir", p) }
func (s *ofStore) Adopt(p, _ string, _ bool) error { return s.nothing("adopt", p) }

// nothing is all that a store has to do for what only folders have.
func (s *ofStore) nothing(op, path string) error {
	if s.w == nil {
		return refuse(op, path)
	}
	return nil
}

// drafts holds the files that have a temporary name.
type drafts struct {
	mu    sync.Mutex
	files map[string]*draft
}

func (d *drafts) find(path string) *draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.files[path]
}

func (d *drafts) create(path string) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[path] != nil {
		return nil, pathError("create", path, syscall.EEXIST)
	}
	if d.files == nil {
		d.files = map[string]*draft{}
	}
	f := &draft{name: strings.Clone(path)}
	d.files[f.name] = f
	return f, nil
}

func (d *drafts) drop(f *draft) {
	d.mu.Lock()
	delete(d.files, f.name)
	d.mu.Unlock()
	f.mu.Lock()
	f.data.Free()
	f.gone = true
	f.mu.Unlock()
}

// draft is a file in memory, until it is put or removed. Closing it changes
// nothing.
type draft struct {
	name string
	mu   sync.Mutex
	data mem.Buffer
	gone bool
}

func (f *draft) Name() string     { return f.name }
func (f *draft) Sync() error      { return nil }
func (f *draft) Flush(bool) error { return nil }
func (f *draft) Close() error     { return nil }

// lock begins a call.
func (f *draft) lock(op string, off int64) error {
	f.mu.Lock()
	switch {
	case f.gone:
		f.mu.Unlock()
		return causeError(op, f.name, syscall.EBADF, fs.ErrClosed)
	case off < 0:
		f.mu.Unlock()
		return pathError(op, f.name, syscall.EINVAL)
	}
	return nil
}

func (f *draft) Size() (int64, error) {
	if err := f.lock("stat", 0); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	return int64(len(f.data.B)), nil
}

func (f *draft) ReadAt(p []byte, off int64) (int, error) {
	if err := f.lock("read", off); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	n := copy(p, f.data.B[min(off, int64(len(f.data.B))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *draft) WriteAt(p []byte, off int64) (int, error) {
	if err := f.lock("write", off); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	if end := off + int64(len(p)); end > int64(len(f.data.B)) {
		if err := f.resize(end); err != nil {
			return 0, pathError("write", f.name, err)
		}
	}
	return copy(f.data.B[off:], p), nil
}

func (f *draft) Truncate(size int64) error {
	if err := f.lock("truncate", size); err != nil {
		return err
	}
	defer f.mu.Unlock()
	return pathError("truncate", f.name, f.resize(size))
}

// resize sets the size; new bytes are zero.
func (f *draft) resize(size int64) error {
	have := int64(len(f.data.B))
	if size <= have {
		f.data.B = f.data.B[:size]
		return nil
	}
	if size != int64(int(size)) {
		return syscall.EFBIG
	}
	fresh, err := f.data.Extend(int(size - have))
	clear(fresh)
	return err
}

func (f *draft) Map(off, n int64) (data []byte, unmap func() error, err error) {
	return nil, nil, causeError("map", f.name, syscall.ENODEV, ErrNoMap)
}
