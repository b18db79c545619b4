package vfs

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"syscall"
	"testing"
)

// oursHere knows meta, and data with the chunks in it.
func oursHere(rel string, mode FileMode) bool {
	switch rel {
	case "meta":
		return mode == Regular
	case "data":
		return mode == Dir
	}
	return strings.HasPrefix(rel, "data/c") && mode == Regular
}

// noExchange is a file system that cannot exchange folders.
type noExchange struct{ FS }

func (n noExchange) Exchange(a, b string) error {
	return renameError("exchange", a, b, syscall.EINVAL)
}

// fillFolder writes a small store whose every file says which one it is.
func fillFolder(fsys FS, dir, text string, opt WriteOptions) error {
	if err := fsys.Mkdir(dir + "/data"); err != nil {
		return err
	}
	for _, name := range []string{"/data/c0", "/data/c1", "/meta"} {
		err := fsys.WriteFile(dir+name, [][]byte{[]byte(text)}, WriteOptions{Commit: CommitDirect, Sync: opt.Sync})
		if err != nil {
			return err
		}
	}
	return nil
}

// makeFolder is what a format does to create a store.
func makeFolder(fsys FS, path, text string, opt WriteOptions) error {
	f, err := NewFolder(fsys, path, opt, oursHere)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := fillFolder(fsys, f.Path(), text, opt); err != nil {
		return f.Named(err)
	}
	return f.Commit()
}

// store tells what a folder holds: the text of its files if all is there.
func keep(t *testing.T, fsys FS, path string) string {
	t.Helper()
	info, err := fsys.Stat(path)
	if err != nil {
		return errnoOf(err).Error()
	}
	if info.Mode != Dir {
		return "a file"
	}
	got := names(t, fsys, path)
	if got != "data/ meta" {
		return "torn: " + got
	}
	got = names(t, fsys, path+"/data")
	text := get(fsys, path+"/meta")
	if got != "c0 c1" || get(fsys, path+"/data/c0") != text || get(fsys, path+"/data/c1") != text {
		return "torn: " + got
	}
	return text
}

func wantStore(t *testing.T, fsys FS, path, want string) {
	t.Helper()
	if got := keep(t, fsys, path); got != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

// eachExchange runs test with file systems that can exchange folders and not.
func eachExchange(t *testing.T, test func(t *testing.T, s subject)) {
	eachFS(t, test)
	eachFS(t, func(t *testing.T, s subject) {
		s.FS = noExchange{s.FS}
		test(t, s)
	})
}

func TestFolder(t *testing.T) {
	eachExchange(t, func(t *testing.T, s subject) {
		for _, opt := range allOptions {
			path := s.path("d")
			if err := makeFolder(s, path+"//", "first", opt); err != nil {
				t.Fatal(err)
			}
			wantStore(t, s, path, "first")
			err := makeFolder(s, path, "second", opt)
			if opt.Exclusive {
				if !errors.Is(err, fs.ErrExist) {
					t.Errorf("%+v over a folder: %v", opt, err)
				}
				wantStore(t, s, path, "first")
			} else {
				if err != nil {
					t.Errorf("%+v: %v", opt, err)
				}
				wantStore(t, s, path, "second")
			}
			if err := RemoveTree(s, path, oursHere); err != nil {
				t.Error(err)
			}
			s.Mkdir(path) // an empty folder may go
			if err := makeFolder(s, path, "third", opt); (err == nil) == opt.Exclusive {
				t.Errorf("%+v over an empty folder: %v", opt, err)
			}
			if err := RemoveTree(s, path, nil); err != nil {
				t.Error(err)
			}
			if got := names(t, s, s.root); got != "" {
				t.Errorf("%+v leaves %s", opt, got)
			}
		}
	})
}

// TestFolderForeign: what somebody else put into the folder is never touched.
func TestFolderForeign(t *testing.T) {
	plant := map[string]func(s subject, dir string) (name string){
		"file":         func(s subject, dir string) string { put(t, s, dir+"/x", "x"); return "/x" },
		"inner file":   func(s subject, dir string) string { put(t, s, dir+"/data/x", "x"); return "/data/x" },
		"folder":       func(s subject, dir string) string { s.Mkdir(dir + "/x"); return "/x" },
		"chunk folder": func(s subject, dir string) string { s.Mkdir(dir + "/data/c2"); return "/data/c2" },
		"symlink":      func(s subject, dir string) string { s.symlink("../..", dir+"/data/c2"); return "/data/c2" },
	}
	eachExchange(t, func(t *testing.T, s subject) {
		for name, put := range plant {
			for _, opt := range []WriteOptions{{}, {Commit: CommitDirect}, {Sync: true}} {
				path := s.path("d")
				if err := makeFolder(s, path, "old", opt); err != nil {
					t.Fatal(err)
				}
				// In the folder already, and turning up while the new one is written.
				f, err := NewFolder(s, path, opt, oursHere)
				if err != nil {
					t.Fatal(err)
				}
				fillFolder(s, f.Path(), "new", opt)
				foreign := path + put(s, path)
				_, early := NewFolder(s, path, opt, oursHere)
				for when, err := range map[string]error{"before": early, "during": f.Commit(), "removing": RemoveTree(s, path, oursHere)} {
					var pe *PathError
					if !errors.Is(err, fs.ErrExist) || !errors.As(err, &pe) || pe.Path != foreign {
						t.Errorf("%s, %s: error %v, want one about %s", name, when, err, foreign)
					}
				}
				if _, err := s.Lstat(foreign); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				wantGet(t, s, path+"/data/c0", "old")
				if got := names(t, s, s.root); got != "d/" {
					t.Errorf("%s: left %s", name, got)
				}
				if err := RemoveTree(s, path, nil); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestFolderPaths(t *testing.T) {
	eachExchange(t, func(t *testing.T, s subject) {
		put(t, s, s.path("file"), "x")
		s.symlink("nowhere/deep", s.path("lost"))
		s.symlink("loop", s.path("loop"))
		for _, c := range []struct {
			path string
			want syscall.Errno
		}{
			{s.path("file"), syscall.EEXIST}, {s.path("none/d"), syscall.ENOENT}, {s.path("file/d"), syscall.ENOTDIR},
			{s.path("lost"), syscall.ENOENT}, {s.path("loop"), syscall.ELOOP}, {"", syscall.ENOENT}, {"/", syscall.EBUSY},
			{s.path("."), syscall.EBUSY}, {s.path(".."), syscall.EBUSY}, {s.path("a\x00b"), syscall.EINVAL},
		} {
			for _, commit := range []Commit{CommitAtomic, CommitDirect} {
				_, err := NewFolder(s, c.path, WriteOptions{Commit: commit}, oursHere)
				wantErrno(t, c.path, err, c.want)
			}
		}
		wantGet(t, s, s.path("file"), "x")
		wantErrno(t, "RemoveTree of a file", RemoveTree(s, s.path("file"), nil), syscall.ENOTDIR)
		wantErrno(t, "RemoveTree of nothing", RemoveTree(s, s.path("none"), nil), syscall.ENOENT)

		// A symlink stays: the folder that it leads to is made and replaced.
		s.Mkdir(s.path("else"))
		s.symlink("else/d", s.path("link"))
		wantErrno(t, "a link, exclusively", makeFolder(s, s.path("link"), "x", WriteOptions{Exclusive: true}), syscall.EEXIST)
		for _, text := range []string{"one", "two"} {
			if err := makeFolder(s, s.path("link"), text, WriteOptions{}); err != nil {
				t.Error(err)
			}
			wantStore(t, s, s.path("else/d"), text)
		}
		wantErrno(t, "RemoveTree of a link", RemoveTree(s, s.path("link"), nil), syscall.ENOTDIR)
		if got := names(t, s, s.root) + "|" + names(t, s, s.path("else")); got != "else/ file link@ loop@ lost@|d/" {
			t.Errorf("left: %s", got)
		}
	})
}

// TestFolderTemporaries: leftovers of a crash are ours, whatever they hold, and
// links in them are not followed.
func TestFolderTemporaries(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		put(t, s, s.path("precious"), "x")
		path := s.path("d")
		if err := makeFolder(s, path, "old", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		put(t, s, s.TempName(path+"/meta"), "half")
		column := s.TempName(path + "/column")
		s.Mkdir(column)
		put(t, s, column+"/anything", "x")
		s.Mkdir(column + "/deep")
		s.symlink("../../..", column+"/deep/link")
		if err := makeFolder(s, path, "new", WriteOptions{}); err != nil {
			t.Error(err)
		}
		wantStore(t, s, path, "new")
		if got := names(t, s, s.root); got != "d/ precious" {
			t.Errorf("left: %s", got)
		}
	})
}

func TestFolderAbort(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		for _, old := range []bool{false, true} {
			for _, opt := range allOptions {
				if old && opt.Exclusive {
					continue
				}
				path := s.path("d")
				if old {
					makeFolder(s, path, "old", WriteOptions{})
				}
				f, err := NewFolder(s, path, opt, oursHere)
				if err != nil {
					t.Fatal(err)
				}
				if direct := opt.Commit == CommitDirect && !old; (f.Path() == path) != direct {
					t.Errorf("%+v writes into %s", opt, f.Path())
				}
				fillFolder(s, f.Path(), "new", opt)
				for range 2 {
					if err := f.Abort(); err != nil {
						t.Error(err)
					}
				}
				if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
					t.Errorf("Commit after Abort: %v", err)
				}
				if old {
					wantStore(t, s, path, "old")
					RemoveTree(s, path, nil)
				}
				if got := names(t, s, s.root); got != "" {
					t.Errorf("%+v leaves %s", opt, got)
				}
			}
		}
		// Commit, then Abort: it stays. A folder that turns up meanwhile does too.
		f, _ := NewFolder(s, s.path("d"), WriteOptions{Exclusive: true}, oursHere)
		fillFolder(s, f.Path(), "mine", WriteOptions{})
		g, _ := NewFolder(s, s.path("d"), WriteOptions{Exclusive: true}, oursHere)
		fillFolder(s, g.Path(), "yours", WriteOptions{})
		if err := f.Commit(); err != nil {
			t.Error(err)
		}
		f.Abort()
		if err := g.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("the second of two exclusive folders: %v", err)
		}
		wantStore(t, s, s.path("d"), "mine")
		if got := names(t, s, s.root); got != "d/" {
			t.Errorf("left: %s", got)
		}
	})
}

// TestFolderFaultSweep makes each call fail: the path holds the old folder or the
// new one. Nothing else is left, unless it could not be removed, or the old one
// was kept because its successor might not survive a power failure.
func TestFolderFaultSweep(t *testing.T) {
	arms := maps.Clone(arms)
	arms["names"] = func(f *Fault, i int64) { f.FailAt(i, syscall.EEXIST) }
	for _, opt := range allOptions {
		for _, exchange := range []bool{true, false} {
			for _, old := range []string{"old", syscall.ENOENT.Error()} {
				if opt.Exclusive && old == "old" {
					continue
				}
				for name, arm := range arms {
					for i := int64(0); ; i++ {
						m := NewMem()
						if old == "old" {
							makeFolder(m, "d", "old", WriteOptions{})
						}
						f := NewFault(m)
						arm(f, i)
						var fsys FS = f
						if !exchange {
							fsys = noExchange{f}
						}
						err := makeFolder(fsys, "d", "new", opt)
						if f.Count() <= i {
							if err != nil || i < 10 {
								t.Fatalf("%d calls without a fault: %v", i, err)
							}
							break
						}
						what := func(s string) {
							t.Errorf("%+v exchange %v old %q, call %d %s: %s; error %v", opt, exchange, old, i, name, s, err)
						}
						var pe *PathError
						removal := errors.As(err, &pe) && (pe.Op == "remove" || pe.Op == "rmdir" || pe.Op == "readdir" || pe.Op == "lstat" || pe.Op == "syncdir")
						got, left := keep(t, m, "d"), names(t, m, "/")
						switch {
						case err == nil && got != "new":
							what("holds " + got)
						case err != nil && got == "new" && !removal && name != "from":
							what("failed, but the new folder is there")
						case got == old || got == "new":
						case opt.Commit == CommitDirect && old != "old" && name == "from":
						case !exchange && name == "from" && strings.Count(left, tempMark) > 0: // killed between the two renames
						default:
							what("holds " + got)
						}
						if strings.Contains(left, tempMark) && name != "from" && !(removal && got == "new") {
							what("left " + left)
						}
						if err != nil && strings.Contains(err.Error(), tempMark) && !strings.Contains(left, tempMark) {
							what("names what is not there")
						}
					}
				}
			}
		}
	}
}

// TestFolderCrashSweep pulls the plug before each call: with Sync the old folder
// or the new one survives, whole.
func TestFolderCrashSweep(t *testing.T) {
	for _, opt := range allOptions {
		if !opt.Sync {
			continue
		}
		for _, old := range []string{"old", syscall.ENOENT.Error()} {
			if opt.Exclusive && old == "old" {
				continue
			}
			for i := int64(0); ; i++ {
				m := NewMem()
				if old == "old" {
					if err := makeFolder(m, "d", "old", WriteOptions{Sync: true}); err != nil {
						t.Fatal(err)
					}
				}
				f := NewFault(m)
				f.FailFrom(i, syscall.EIO)
				err := makeFolder(f, "d", "new", opt)
				got := keep(t, m.CrashClone(), "d")
				torn := opt.Commit == CommitDirect && old != "old" && err != nil
				if got != "new" && (got != old || err == nil) && !torn {
					t.Errorf("%+v old %q, power lost at call %d: %q, error %v", opt, old, i, got, err)
				}
				if f.Count() <= i {
					break
				}
			}
		}
	}
}
