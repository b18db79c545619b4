package edit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The writer lock of a store is a lock of its folder, where the file system has one
// that all meet (vfs.FolderLocker), and byte 0 of the file vfs.LockName in it:
// exclusive for a lone writer, shared for writers of regions. A lone writer who finds
// the folder free and no such file does without one. The file is made where folders
// cannot be locked; by who waits, since byte 1 is the turn: he locks it until he has
// the rest, so that nobody who has just come gets in front of him; and by writers of
// regions, who lock one of the bytes behind byte 1 for each chunk.
//
// The last writer removes the file, which only its exclusive lock allows; so whoever
// gets the lock looks whether the path still leads to what was locked, and begins
// again if not. The file of a writer that was killed stays, unlocked, until the next
// one has come and gone, or longer where that one has not settled what was begun and
// is noted there (see intent.go). It stays as long as somebody waits.

// The bytes of the file.
const (
	byteLock = iota
	byteTurn
	byteChunks // the first one
)

// DefaultTimeout is how long Open waits for other writers.
const DefaultTimeout = 5 * time.Second

// step is how long the waiting goes without asking whether to go on.
const step = 50 * time.Millisecond

// Lock is the writer lock of a store, which the caller holds.
type Lock struct {
	fsys   vfs.FS
	path   string         // of the file, in the folder
	folder vfs.FolderLock // nil: folders have no locks here
	file   vfs.LockFile   // nil: the folder is enough
	shared bool

	mu    sync.Mutex
	held  map[int64]bool // bytes of chunks, which the goroutines of this file lock
	freed *sync.Cond

	intent string // what was begun and is not known to be settled
	noted  bool   // there is a note of something begun
}

// lockStore takes the writer lock of the store in a folder. Where the file system
// has no locks, or the folder cannot be written to, lock is nil, unless they are
// required.
func lockStore(ctx context.Context, fsys ndfile.FS, folder string, opt *ndfile.OpenOptions) (lock *Lock, err error) {
	l := &Lock{fsys: fsys, path: folder + "/" + vfs.LockName, shared: opt.Shared}
	locker, ok := fsys.(vfs.Locker)
	err = syscall.ENOTSUP
	if ok {
		err = l.take(ctx, locker, folder, opt)
	}
	switch {
	case err == nil:
		return l, nil
	case !l.unable(err):
		return nil, err
	case opt.RequireLock, opt.Shared:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "the store cannot be locked against other writers, which was required").Because(err).On(folder)
	}
	return nil, nil
}

// unable tells whether an error says that there are no locks here.
func (l *Lock) unable(err error) bool {
	if err == nil {
		return false
	}
	for _, none := range []error{syscall.ENOLCK, syscall.ENOTSUP, syscall.ENOSYS, syscall.EINVAL, syscall.EROFS} {
		if errors.Is(err, none) {
			return true
		}
	}
	if errors.Is(err, fs.ErrPermission) { // a file that is there is a lock that others may hold
		_, err := l.fsys.Lstat(l.path)
		return errors.Is(err, fs.ErrNotExist)
	}
	return false
}

func (l *Lock) take(ctx context.Context, locker vfs.Locker, folder string, opt *ndfile.OpenOptions) error {
	w := &wait{folder: folder, begin: time.Now(), timeout: opt.Timeout, progress: opt.Progress}
	if w.timeout == 0 {
		w.timeout = DefaultTimeout
	}
	for folders := true; ; {
		err := l.enter(ctx, locker, w, folders, !opt.RequireLock)
		same := false
		if err == nil {
			same, err = l.same(folder)
		}
		if same {
			l.intent, err = l.readIntent()
			same = err == nil
		}
		if same {
			l.noted = l.intent != ""
			l.sign()
			return nil
		}
		if err != nil {
			l.giveUp(folder)
		}
		l.close()
		switch {
		case folders && errors.Is(err, syscall.ENOTSUP):
			folders = false
		case err != nil:
			return err
		}
	}
}

// enter locks the store. folders: they can be locked; alone: a lone writer may do
// without the file.
func (l *Lock) enter(ctx context.Context, locker vfs.Locker, w *wait, folders, alone bool) (err error) {
	if folders {
		if l.folder, err = vfs.OpenFolderLock(l.fsys, w.folder); err != nil {
			l.folder = nil
			return err
		}
	}
	if l.folder != nil && !l.shared && alone {
		ok, err := l.folder.TryLock(vfs.Exclusive)
		if ok {
			if _, err := l.fsys.Lstat(l.path); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			_, err = l.folder.TryLock(vfs.Unlocked) // others wait, or come by the file
		}
		if err != nil {
			return err
		}
	}
	if l.file, err = locker.OpenLock(l.path); err != nil {
		return err
	}
	if l.shared {
		return l.await(ctx, w, func() (bool, error) { return l.try(vfs.Shared) })
	}
	err = l.await(ctx, w, func() (bool, error) { return l.file.TryLock(vfs.Exclusive, byteTurn, 1) })
	if err == nil {
		err = l.await(ctx, w, func() (bool, error) { return l.try(vfs.Exclusive) })
	}
	if err == nil {
		_, err = l.file.TryLock(vfs.Unlocked, byteTurn, 1)
	}
	return err
}

// try locks folder and byte 0, or neither.
func (l *Lock) try(kind vfs.LockKind) (ok bool, err error) {
	if ok, err = l.file.TryLock(kind, byteLock, 1); !ok || err != nil || l.folder == nil {
		return ok, err
	}
	if ok, err = l.folder.TryLock(kind); !ok || err != nil {
		l.file.TryLock(vfs.Unlocked, byteLock, 1)
	}
	return ok, err
}

// giveUp removes the file that was made for waiting where nobody else waits, holds it
// or has noted something in it.
func (l *Lock) giveUp(folder string) {
	if l.file == nil {
		return
	}
	if ok, err := l.file.TryLock(vfs.Exclusive, byteLock, 2); !ok || err != nil {
		return
	}
	if same, err := l.same(folder); !same || err != nil {
		return
	}
	if intent, err := l.readIntent(); err == nil && (intent == "" || l.folder != nil) {
		l.fsys.Remove(l.path) // what stays does no harm
	}
}

// close closes what is open.
func (l *Lock) close() {
	if l.file != nil {
		l.file.Close()
	}
	if l.folder != nil {
		l.folder.Close()
	}
	l.file, l.folder = nil, nil
}

// wait is the waiting for a lock.
type wait struct {
	folder   string
	begin    time.Time
	timeout  time.Duration
	progress func(done, total int64) bool
}

// await waits until try succeeds.
func (l *Lock) await(ctx context.Context, w *wait, try func() (bool, error)) error {
	for {
		if ok, err := try(); ok || err != nil {
			return err
		}
		waited := time.Since(w.begin)
		left := w.timeout - waited
		if left <= 0 {
			return l.busy(w.folder)
		}
		if w.progress != nil && !w.progress(waited.Milliseconds(), w.timeout.Milliseconds()) {
			return ndfile.NewError(ndfile.ErrCanceled, "")
		}
		part, cancel := context.WithTimeout(ctx, min(left, step))
		err := vfs.WaitLock(part, try)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// same tells whether the paths still lead to what is locked.
func (l *Lock) same(folder string) (bool, error) {
	alike := func(locked interface{ Info() (vfs.Info, error) }, look func(string) (vfs.Info, error), path string) (bool, error) {
		was, err := locked.Info()
		if err != nil {
			return false, err
		}
		now, err := look(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && now.Ino == was.Ino && now.Dev == was.Dev, err
	}
	if l.folder != nil {
		if ok, err := alike(l.folder, l.fsys.Stat, folder); !ok {
			return false, err
		}
	}
	if l.file == nil {
		return true, nil
	}
	return alike(l.file, l.fsys.Lstat, l.path)
}

// The file tells its reader who holds the lock: process, host, since when, and
// program, in one line with tabs. It is for messages only; of a holder without a file
// the kernel tells the process.

// self is what the line says of this process at all times.
var self = sync.OnceValues(func() (host, program string) {
	host, _ = os.Hostname()
	if len(os.Args) > 0 {
		program = filepath.Base(os.Args[0])
	}
	return host, program
})

// sign writes who holds the lock. Of several writers of regions the last who came
// is named.
func (l *Lock) sign() {
	if l.file == nil {
		return
	}
	host, program := self()
	line := strconv.Itoa(os.Getpid()) + "\t" + host + "\t" + time.Now().UTC().Format(time.RFC3339) + "\t" + program
	l.file.WriteAt([]byte(strings.ReplaceAll(line, "\n", " ")+"\n"), 0) // a message can do without
}

// busy is the error of a lock that others hold.
func (l *Lock) busy(folder string) error {
	return ndfile.NewError(ndfile.ErrBusy, "the store is open for changes elsewhere"+l.holder()+
		"; try again later, wait longer (timeout), or have all writers open it shared where they write regions only").On(folder)
}

// holder names who holds the lock, where that is known.
func (l *Lock) holder() string {
	buf := make([]byte, 512)
	n, _ := l.file.ReadAt(buf, 0)
	line, _, ok := strings.Cut(string(buf[:n]), "\n")
	fields := strings.SplitN(line, "\t", 4)
	if !ok || len(fields) < 4 {
		return l.unsigned()
	}
	text := ", by process " + fields[0]
	if fields[3] != "" {
		text += " (" + fields[3] + ")"
	}
	text += " on " + fields[1] + " since " + fields[2]
	pid, err := strconv.Atoi(fields[0])
	if host, _ := self(); err == nil && host == fields[1] {
		switch {
		case pid == os.Getpid():
			text += ", which is this one"
		case vfs.Gone(pid):
			return ", by a process that is not named (" + fields[0] + ", the last one that was, is gone)"
		}
	}
	return text
}

// unsigned names who holds the lock of the folder.
func (l *Lock) unsigned() string {
	pid := 0
	if l.folder != nil {
		pid = l.folder.Holder()
	}
	switch program := vfs.Program(pid); {
	case pid == 0:
		return ""
	case pid == os.Getpid():
		return ", by this process (" + strconv.Itoa(pid) + ")"
	default:
		return ", by process " + strconv.Itoa(pid) + " (" + program + ")"
	}
}

// release gives the lock up. Whoever is the last removes the file: for that he must
// be the only one, nobody next, and the file still be the one in the store. He
// forgets what was noted and is settled.
func (l *Lock) release() {
	alone := true
	if l.file != nil {
		ok, err := l.file.TryLock(vfs.Exclusive, byteLock, 2)
		alone = ok && err == nil
	}
	if alone && l.intent == "" {
		if l.folder != nil && (l.noted || l.shared) {
			l.folder.SetNote("") // what stays does no harm, here and below
		}
		if l.file != nil {
			if same, err := l.same(path.Dir(l.path)); same && err == nil {
				l.fsys.Remove(l.path)
			}
		}
	}
	l.close()
}

// chunk locks a byte of a chunk. It is for stores opened shared.
func (l *Lock) chunk(ctx context.Context, number int64) (unlock func() error, err error) {
	off := byteChunks + number
	// The goroutines of this file have one lock between them.
	l.mu.Lock()
	if l.held == nil {
		l.held, l.freed = map[int64]bool{}, sync.NewCond(&l.mu)
	}
	for l.held[off] {
		l.freed.Wait()
	}
	l.held[off] = true
	l.mu.Unlock()
	free := func() {
		l.mu.Lock()
		delete(l.held, off)
		l.mu.Unlock()
		l.freed.Broadcast()
	}
	if err := vfs.WaitLock(ctx, func() (bool, error) { return l.file.TryLock(vfs.Exclusive, off, 1) }); err != nil {
		free()
		return nil, err
	}
	return func() error {
		_, err := l.file.TryLock(vfs.Unlocked, off, 1)
		free()
		return err
	}, nil
}
