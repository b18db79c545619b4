package formattest

import (
	"maps"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// watch is a file system that counts open files and tells of every call before
// it is made. It goes under a vfs.Fault, which takes WriteFile to pieces.
type watch struct {
	vfs.FS
	before func(op string) // may be nil

	mu   sync.Mutex
	open map[*watchFile]bool
	ops  []string // of all calls so far
}

func newWatch(fsys vfs.FS) *watch { return &watch{FS: fsys, open: map[*watchFile]bool{}} }

func (w *watch) tell(op string) {
	w.mu.Lock()
	w.ops = append(w.ops, op)
	w.mu.Unlock()
	if w.before != nil {
		w.before(op)
	}
}

// left lists the files that are still open.
func (w *watch) left() (paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.open {
		paths = append(paths, f.Name())
	}
	return paths
}

func (w *watch) opened(f vfs.File, err error) (vfs.File, error) {
	if err != nil || f == nil {
		return nil, err
	}
	wf := &watchFile{File: f, fs: w}
	w.mu.Lock()
	w.open[wf] = true
	w.mu.Unlock()
	return wf, nil
}

func (w *watch) Open(path string) (vfs.File, error) {
	w.tell("open")
	return w.opened(w.FS.Open(path))
}

func (w *watch) OpenRW(path string) (vfs.File, error) {
	w.tell("open")
	return w.opened(w.FS.OpenRW(path))
}

func (w *watch) Create(path string, excl bool) (vfs.File, error) {
	w.tell("create")
	return w.opened(w.FS.Create(path, excl))
}

func (w *watch) ReadSmall(path string, buf []byte) (int, vfs.File, error) {
	w.tell("read")
	n, rest, err := w.FS.ReadSmall(path, buf)
	rest, err = w.opened(rest, err)
	return n, rest, err
}

func (w *watch) Stat(path string) (vfs.Info, error)   { w.tell("stat"); return w.FS.Stat(path) }
func (w *watch) Lstat(path string) (vfs.Info, error)  { w.tell("lstat"); return w.FS.Lstat(path) }
func (w *watch) Readlink(path string) (string, error) { w.tell("readlink"); return w.FS.Readlink(path) }
func (w *watch) ReadDir(path string) ([]vfs.DirEntry, error) {
	w.tell("readdir")
	return w.FS.ReadDir(path)
}
func (w *watch) Mkdir(path string) error      { w.tell("mkdir"); return w.FS.Mkdir(path) }
func (w *watch) Remove(path string) error     { w.tell("remove"); return w.FS.Remove(path) }
func (w *watch) Rmdir(path string) error      { w.tell("rmdir"); return w.FS.Rmdir(path) }
func (w *watch) Rename(old, new string) error { w.tell("rename"); return w.FS.Rename(old, new) }
func (w *watch) RenameNoReplace(old, new string) error {
	w.tell("rename")
	return w.FS.RenameNoReplace(old, new)
}
func (w *watch) Exchange(a, b string) error { w.tell("exchange"); return w.FS.Exchange(a, b) }
func (w *watch) SyncDir(path string) error  { w.tell("syncdir"); return w.FS.SyncDir(path) }

type watchFile struct {
	vfs.File
	fs *watch
}

func (f *watchFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.tell("read")
	return f.File.ReadAt(p, off)
}

func (f *watchFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.tell("write")
	return f.File.WriteAt(p, off)
}

func (f *watchFile) Size() (int64, error)      { f.fs.tell("stat"); return f.File.Size() }
func (f *watchFile) Truncate(size int64) error { f.fs.tell("truncate"); return f.File.Truncate(size) }
func (f *watchFile) Sync() error               { f.fs.tell("sync"); return f.File.Sync() }

func (f *watchFile) Map(off, n int64) ([]byte, func() error, error) {
	f.fs.tell("map")
	return f.File.Map(off, n)
}

func (f *watchFile) Close() error {
	f.fs.tell("close")
	f.fs.mu.Lock()
	delete(f.fs.open, f)
	f.fs.mu.Unlock()
	return f.File.Close()
}

// changes tells whether a call changes the file system.
func changes(op string) bool {
	switch op {
	case "create", "write", "truncate", "sync", "mkdir", "rename", "exchange", "syncdir":
		return true
	}
	return false
}

// tree reads all files under a folder: path -> content. Folders are the paths
// that end in a slash.
func (s *suite) tree(fsys ndfile.FS, dir string) map[string]string {
	s.tb.Helper()
	t := map[string]string{}
	list, err := fsys.ReadDir(dir)
	s.ok(err)
	for _, e := range list {
		path := dir + "/" + e.Name
		if dir == "/" {
			path = dir + e.Name
		}
		if e.Mode == vfs.Dir {
			t[path+"/"] = ""
			for p, c := range s.tree(fsys, path) {
				t[p] = c
			}
			continue
		}
		f, err := fsys.Open(path)
		s.ok(err)
		n, err := f.Size()
		s.ok(err)
		data := make([]byte, n)
		if n > 0 {
			_, err = f.ReadAt(data, 0)
			s.ok(err)
		}
		f.Close()
		t[path] = string(data)
	}
	return t
}

// plant makes a tree on an empty file system.
func (s *suite) plant(t map[string]string) *ndfile.Mem {
	s.tb.Helper()
	m := ndfile.NewMem()
	for _, p := range sorted(t) {
		if p[len(p)-1] == '/' {
			s.ok(m.Mkdir(p[:len(p)-1]))
			continue
		}
		s.ok(m.WriteFile(p, [][]byte{[]byte(t[p])}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}))
	}
	return m
}

// sorted gives the paths of a tree, folders before what is in them.
func sorted(t map[string]string) []string {
	return slices.Sorted(maps.Keys(t))
}

// only reports files and folders in the root beside those at the given paths.
func (s *suite) only(fsys ndfile.FS, paths ...string) {
	s.tb.Helper()
	list, err := fsys.ReadDir("/")
	s.ok(err)
next:
	for _, e := range list {
		for _, p := range paths {
			if p == "/"+e.Name {
				continue next
			}
		}
		s.errorf("%q is left behind", e.Name)
	}
}
