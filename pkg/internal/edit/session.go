package edit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Mode says what a file is open for.
type Mode uint8

// The modes.
const (
	Reading  Mode = iota
	Updating      // r+
	Creating
)

// Session is what every open file has beside its content. Files embed it.
//
// RWMutex is held for writing by what changes the structure, by Close and Abort,
// and for reading by what reads and writes elements. The other fields are set
// when the file is opened.
type Session struct {
	sync.RWMutex
	Path   string // as the caller knows it
	Root   string // the file or folder that is read and written: Path or a temporary one
	Mode   Mode
	Write  ndfile.WriteOptions // of what is written
	Folder *vfs.Folder         // of a folder being created

	shared   bool
	lock     *Lock   // nil: there is none
	parts    []*Lock // of what is replaced beside it
	closed   bool
	unsynced vfs.Unsynced // when updating
}

// Open begins the session of a store, a folder, that is to be read or changed. For
// changes it takes the writer lock, which End releases; sign is a file in the
// folder: where none of them is there, it is no store, and not touched.
//
// The file system that it gives is the one to write to: what is new gets the access
// that the store has.
func (s *Session) Open(ctx context.Context, fsys ndfile.FS, path string, opt *ndfile.OpenOptions, signs ...string) (ndfile.FS, error) {
	s.Path = strings.Clone(path)
	s.Root = s.Path
	if err := ctx.Err(); err != nil || opt.Mode != ndfile.Update {
		if err == nil && opt.Shared {
			err = ndfile.NewError(ndfile.ErrArgument, "shared is for writers: open the file for changes (mode r+)")
		}
		return fsys, err
	}
	s.Mode, s.shared, s.Write.Sync = Updating, opt.Shared, opt.Sync
	for _, sign := range signs {
		info, err := fsys.Stat(s.Root + "/" + sign)
		if err == nil {
			fsys = vfs.InStoreLike(fsys, s.Root, sign, info, &s.unsynced)
			s.lock, err = lockStore(ctx, fsys, s.Root, opt)
			return fsys, err
		}
		if ndfile.KindOf(err) == ndfile.ErrIO && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP) {
			return fsys, err
		}
	}
	s.Mode = Reading // opening tells what is wrong
	return fsys, nil
}

// Hold takes the writer lock of Root alone, for a repair or a change beside a
// session; timeout is as in OpenOptions.
func (s *Session) Hold(ctx context.Context, fsys ndfile.FS, timeout time.Duration) (err error) {
	s.lock, err = lockStore(ctx, fsys, s.Root, &ndfile.OpenOptions{Timeout: timeout})
	return err
}

// Moved tells a session that its store has another place now.
func (s *Session) Moved(path, root string) {
	if s.lock != nil {
		s.lock.path = root + "/" + vfs.LockName
	}
	s.Path, s.Root = path, root
}

// Borrow begins a session for changes of the store that of is a session of, under
// the lock that it holds.
func (s *Session) Borrow(of *Session) { s.Path, s.Root, s.Mode = of.Path, of.Root, Updating }

// Opened ends the opening of a store, which gave err.
func (s *Session) Opened(err error, opt *ndfile.OpenOptions) error {
	if err == nil && s.Mode == Reading && opt.Mode == ndfile.Update {
		err = ndfile.NewError(ndfile.ErrBusy, "the store was not there a moment ago: another program makes it")
	}
	if err != nil {
		s.End()
	}
	return s.Located(err)
}

// Replaced says what a new folder may replace.
type Replaced struct {
	Ours  func(rel string, mode vfs.FileMode) bool // as in vfs.NewFolder
	Signs []string                                 // files of a store, as in Open
	Parts []string                                 // stores in the store, which have locks of their own
}

// Create begins the session of a new folder, as vfs.NewFolder makes it. Where it
// replaces a store, it holds the writer lock of that one until End: what others are
// about to write there would be lost.
func (s *Session) Create(ctx context.Context, fsys ndfile.FS, path string, opt *ndfile.CreateOptions, old Replaced) error {
	folder, err := vfs.NewFolder(fsys, path, opt.WriteOptions, old.Ours)
	if err != nil {
		return err
	}
	lock := func(store string, timeout time.Duration) (*Lock, error) {
		return lockStore(ctx, vfs.InStore(fsys, store, old.Signs...), store, &ndfile.OpenOptions{Timeout: timeout, Progress: opt.Progress})
	}
	s.Path, s.Root, s.Mode = strings.Clone(path), folder.Path(), Creating
	s.Write = ndfile.WriteOptions{Commit: ndfile.CommitDirect, Sync: opt.Sync}
	if store, found := folder.Replaces(); found {
		s.lock, err = lock(store, opt.Timeout)
		for i := 0; i < len(old.Parts) && err == nil; i++ {
			var part *Lock
			if part, err = lock(store+"/"+old.Parts[i], opt.Timeout); part != nil {
				s.parts = append(s.parts, part)
			}
		}
	} else {
		folder.Guard = func(store string) error { // it came meanwhile
			came, err := lock(store, -1)
			if came != nil {
				s.parts = append(s.parts, came)
			}
			return err
		}
	}
	if err != nil {
		folder.Abort()
		s.End()
		return err
	}
	s.Folder = folder
	return nil
}

// TakeOver makes s the session of what of has created, which is no longer used.
func (s *Session) TakeOver(of *Session) {
	s.Path, s.Root, s.Mode, s.Write, s.Folder = of.Path, of.Root, of.Mode, of.Write, of.Folder
	s.lock, s.parts = of.lock, of.parts
	of.lock, of.parts = nil, nil
}

// HoldStore takes the writer lock of the store in a folder, whatever its format, for
// a change that needs no session.
func HoldStore(ctx context.Context, fsys ndfile.FS, folder string) (release func(), err error) {
	lock, err := lockStore(ctx, fsys, folder, &ndfile.OpenOptions{})
	if err != nil || lock == nil {
		return func() {}, err
	}
	return lock.release, nil
}

// Check is what every call begins with, the mutex held. write: it changes the
// file.
func (s *Session) Check(write bool) error {
	switch {
	case s.closed:
		return ndfile.ErrClosed()
	case write && s.Mode == Reading:
		return ndfile.NewError(ndfile.ErrReadOnly, "")
	}
	return nil
}

// Begin is Check for what changes the structure: writers that share the store do
// not.
func (s *Session) Begin(ctx context.Context) error {
	if err := s.Check(true); err != nil {
		return err
	}
	if err := s.Alone(); err != nil {
		return err
	}
	return ctx.Err()
}

// Alone fails where others share the store.
func (s *Session) Alone() error {
	if s.shared {
		return ndfile.NewError(ndfile.ErrNotSupported, "writers that share the store write regions only: for changes of shape, arrays or attributes open it without shared")
	}
	return nil
}

// Shared tells whether others write regions of the store at the same time.
func (s *Session) Shared() bool { return s.shared }

// Locked tells whether other writers are kept out, as far as they take locks.
func (s *Session) Locked() bool { return s.lock != nil }

// Flush writes what is still in memory, by write, into a file open for changes; of
// one that is being created nothing is visible before it is closed. With Sync all
// that the session has changed is on the disk afterwards: first what was written
// before, then what write writes, in its order, each file when it is written. fsys
// is what Open gave. The mutex is held.
func (s *Session) Flush(ctx context.Context, fsys ndfile.FS, opt ndfile.FlushOptions, write func(context.Context) error) error {
	switch err := s.Check(true); {
	case err != nil:
		return err
	case s.Mode == Creating && opt.Sync:
		return ndfile.NewError(ndfile.ErrNotSupported, "a file that is being created appears when it is closed, and not before: create it with sync")
	case s.Mode == Creating:
		return nil
	case !opt.Sync:
		return write(ctx)
	}
	if err := s.unsynced.Flush(fsys, s.Root); err != nil {
		return err
	}
	was := s.Write.Sync
	s.Write.Sync = true
	s.unsynced.SyncAll(true)
	err := write(ctx)
	s.unsynced.SyncAll(false)
	s.Write.Sync = was
	if err == nil {
		err = s.unsynced.Flush(fsys, s.Root)
	}
	return err
}

// Closed tells whether the file was closed.
func (s *Session) Closed() bool { return s.closed }

// End closes the file: no call after it succeeds. It releases the writer lock.
func (s *Session) End() {
	s.closed = true
	if s.lock != nil {
		s.lock.release()
		s.lock = nil
	}
	for _, part := range s.parts {
		part.release()
	}
	s.parts = nil
}

// LockChunk locks a chunk against the others who share the store. number is not
// negative and the same for all of them; it may stand for more than one chunk.
func (s *Session) LockChunk(ctx context.Context, number int64) (unlock func() error, err error) {
	if s.lock == nil { // the file system has no locks
		return func() error { return nil }, nil
	}
	return s.lock.chunk(ctx, number)
}

// Located gives an error the path that the caller knows.
func (s *Session) Located(err error) error {
	return ndfile.Locate(Moved(err, s.Root, s.Path), s.Path, "", false)
}

// Moved puts another folder in the place of the one that the path of an error
// begins with.
func Moved(err error, from, to string) error {
	if err == nil || from == to {
		return err
	}
	change := func(path *string) {
		if below, ok := strings.CutPrefix(*path, from); ok && (below == "" || below[0] == '/') {
			*path = to + below
		}
	}
	var own *ndfile.Error
	if errors.As(err, &own) {
		change(&own.Path)
	}
	var file *vfs.PathError
	if errors.As(err, &file) {
		change(&file.Path)
		change(&file.To)
	}
	return err
}
