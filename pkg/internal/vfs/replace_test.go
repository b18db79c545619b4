package vfs

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

var allOptions = []WriteOptions{
	{}, {Sync: true}, {Ordered: true}, {Exclusive: true}, {Exclusive: true, Sync: true},
	{Commit: CommitDirect}, {Commit: CommitDirect, Sync: true}, {Commit: CommitDirect, Exclusive: true},
}

// save writes content by WriteFile or by Replace.
func save(fsys FS, path, content string, opt WriteOptions, replace bool) error {
	parts := [][]byte{[]byte(content[:2]), nil, []byte(content[2:])}
	if !replace {
		return fsys.WriteFile(path, parts, opt)
	}
	r, err := NewReplace(fsys, path, opt)
	if err != nil {
		return err
	}
	defer r.Abort()
	if _, err := r.File().WriteAt(parts[2], 2); err != nil {
		return err
	}
	if _, err := r.File().WriteAt(parts[0], 0); err != nil {
		return err
	}
	return r.Commit()
}

// eachWay runs test on every file system with every way of writing a file.
func eachWay(t *testing.T, test func(t *testing.T, s subject, save func(path, content string) error, opt WriteOptions)) {
	eachFS(t, func(t *testing.T, s subject) {
		for i, opt := range allOptions {
			for _, replace := range []bool{false, true} {
				sub := s
				sub.root = s.path(strings.Repeat("i", i+1) + map[bool]string{true: "r"}[replace])
				s.Mkdir(sub.root)
				test(t, sub, func(path, content string) error { return save(s, path, content, opt, replace) }, opt)
			}
		}
	})
}

func TestReplace(t *testing.T) {
	eachWay(t, func(t *testing.T, s subject, save func(path, content string) error, opt WriteOptions) {
		if err := save(s.path("f"), "first"); err != nil {
			t.Fatal(err)
		}
		wantGet(t, s, s.path("f"), "first")
		if opt.Exclusive {
			if err := save(s.path("f"), "second"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%+v over a file: %v", opt, err)
			}
			wantGet(t, s, s.path("f"), "first")
		} else {
			for _, text := range []string{"the second", "3rd"} {
				if err := save(s.path("f"), text); err != nil {
					t.Error(err)
				}
				wantGet(t, s, s.path("f"), text)
			}
		}
		if got := names(t, s, s.root); got != "f" {
			t.Errorf("%+v leaves %s", opt, got)
		}
	})
}

func TestReplaceSymlink(t *testing.T) {
	eachWay(t, func(t *testing.T, s subject, save func(path, content string) error, opt WriteOptions) {
		s.Mkdir(s.path("d"))
		s.symlink("d/second", s.path("first"))
		s.symlink("../end", s.path("d/second"))
		s.symlink(s.path("f"), s.path("absolute"))
		put(t, s, s.path("f"), "old")
		if opt.Exclusive {
			for _, link := range []string{"first", "absolute"} {
				if err := save(s.path(link), "new"); !errors.Is(err, fs.ErrExist) {
					t.Errorf("%+v over a link: %v", opt, err)
				}
			}
			return
		}
		for range 2 { // the first round finds "first" dangling
			for link, file := range map[string]string{"first": "end", "absolute": "f"} {
				if err := save(s.path(link), "to "+link); err != nil {
					t.Errorf("%+v: %v", opt, err)
				}
				wantGet(t, s, s.path(file), "to "+link)
			}
		}
		if got := names(t, s, s.root) + "|" + names(t, s, s.path("d")); got != "absolute@ d/ end f first@|second@" {
			t.Errorf("%+v leaves %s", opt, got)
		}
	})
}

func TestReplaceAbort(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		for _, opt := range allOptions {
			r, err := NewReplace(s, s.path("f"), opt)
			if err != nil {
				t.Fatal(err)
			}
			r.File().WriteAt([]byte("x"), 0)
			for range 2 {
				if err := r.Abort(); err != nil {
					t.Error(err)
				}
			}
			if err := r.Commit(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Commit after Abort: %v", err)
			}
			if got := names(t, s, s.root); got != "" {
				t.Errorf("%+v leaves %s", opt, got)
			}
		}
		put(t, s, s.path("f"), "old")
		r, _ := NewReplace(s, s.path("f"), WriteOptions{})
		wantGet(t, s, s.path("f"), "old")
		r.Commit()
		if err := r.Abort(); err != nil {
			t.Error(err)
		}
		wantGet(t, s, s.path("f"), "")
		// A file that turns up between NewReplace and Commit stays.
		r, _ = NewReplace(s, s.path("g"), WriteOptions{Exclusive: true})
		put(t, s, s.path("g"), "other")
		if err := r.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		wantGet(t, s, s.path("g"), "other")
		if got := names(t, s, s.root); got != "f g" {
			t.Errorf("left: %s", got)
		}
	})
}

// errLost is the error of faults; arms are the ways in which call i fails.
var (
	errLost = errors.New("lost")
	arms    = map[string]func(f *Fault, i int64){
		"once":  func(f *Fault, i int64) { f.FailAt(i, errLost) },
		"from":  func(f *Fault, i int64) { f.FailFrom(i, errLost) },
		"short": (*Fault).ShortWriteAt,
	}
)

// TestFaultSweep makes each call of each way of writing fail: the path holds the
// old content or the new, or nothing where commit is direct, and no temporary
// file is left unless its removal failed too.
func TestFaultSweep(t *testing.T) {
	for _, opt := range allOptions {
		for _, replace := range []bool{false, true} {
			for name, arm := range arms {
				for i := int64(0); ; i++ {
					m := NewMem()
					old := syscall.ENOENT.Error()
					if !opt.Exclusive {
						old = "old"
						put(t, m, "f", old)
						m.Symlink("f", "link")
					} else {
						m.Mkdir("sub")
					}
					path := map[bool]string{false: "link", true: "f"}[opt.Exclusive]
					f := NewFault(m)
					arm(f, i)
					err := save(f, path, "new content", opt, replace)
					if f.Count() <= i {
						if err != nil || i < 5 {
							t.Fatalf("%d calls without a fault: %v", i, err)
						}
						break
					}
					got := get(m, "f")
					ok := got == old || got == "new content"
					if opt.Commit == CommitDirect && err != nil {
						ok = ok || got == syscall.ENOENT.Error() || name == "from"
					}
					if err == nil {
						ok = got == "new content"
					} else if name != "short" && !errors.Is(err, errLost) {
						t.Errorf("%+v call %d %s: error %v hides its cause", opt, i, name, err)
					}
					if !ok {
						t.Errorf("%+v call %d %s: %q after error %v", opt, i, name, got, err)
					}
					if left := names(t, m, "/"); name != "from" && strings.Contains(left, tempMark) {
						t.Errorf("%+v call %d %s: left %s", opt, i, name, left)
					}
				}
			}
		}
	}
}

// TestCrashSweep pulls the plug before each call of a synced write.
func TestCrashSweep(t *testing.T) {
	for _, opt := range allOptions {
		if !opt.Sync {
			continue
		}
		for i := int64(0); ; i++ {
			m := NewMem()
			old := syscall.ENOENT.Error()
			if !opt.Exclusive {
				old = "old"
				if err := m.WriteFile("f", [][]byte{[]byte(old)}, WriteOptions{Sync: true}); err != nil {
					t.Fatal(err)
				}
			}
			f := NewFault(m)
			f.FailFrom(i, syscall.EIO)
			err := save(f, "f", "new content", opt, false)
			got := get(m.CrashClone(), "f")
			if got != "new content" && (got != old || err == nil) {
				t.Errorf("%+v, power lost at call %d: %q, error %v", opt, i, got, err)
			}
			if f.Count() <= i {
				break
			}
		}
	}
}

func TestCrashClone(t *testing.T) {
	m := NewMem()
	m.Mkdir("d")
	m.SyncDir("/")
	m.Mkdir("unsynced")
	f, _ := m.Create("d/f", true)
	f.WriteAt([]byte("one"), 0)
	if got := names(t, m.CrashClone(), "d"); got != "" {
		t.Errorf("entries before SyncDir: %s", got)
	}
	m.SyncDir("d")
	wantGet(t, m.CrashClone(), "d/f", "")
	f.Sync()
	f.WriteAt([]byte("two"), 0)
	put(t, m, "d/g", "")
	c := m.CrashClone()
	wantGet(t, c, "d/f", "one")
	wantGet(t, m, "d/f", "two")
	if got := names(t, c, "/") + "|" + names(t, c, "d"); got != "d/|f" {
		t.Errorf("survivors: %s", got)
	}
	g, _ := c.OpenRW("d/f")
	g.WriteAt([]byte("X"), 0) // the clone stands alone
	wantGet(t, c.CrashClone(), "d/f", "one")
	wantGet(t, m.CrashClone(), "d/f", "one")
	m.Remove("d/f")
	wantGet(t, m.CrashClone(), "d/f", "one")
	m.SyncDir("d")
	wantGet(t, m.CrashClone(), "d/f", syscall.ENOENT.Error())
}

func TestFaultFile(t *testing.T) {
	f := NewFault(NewMem())
	file, _ := f.Create("f", true)
	f.ShortWriteAt(1)
	n, err := file.WriteAt([]byte("12345678"), 0)
	if n != 4 {
		t.Errorf("%d bytes written", n)
	}
	wantErrno(t, "short write", err, syscall.ENOSPC)
	f.FailAt(2, syscall.EDQUOT)
	wantErrno(t, "Close", file.Close(), syscall.EDQUOT)
	if err := file.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the failed Close did not close: %v", err)
	}
	if _, rest, err := f.ReadSmall(ctx, "f", make([]byte, 2)); err != nil {
		t.Error(err)
	} else if f.FailFrom(f.Count(), syscall.EIO); rest.Sync() == nil {
		t.Error("the rest of ReadSmall never fails")
	}
	if f.Count() != 6 {
		t.Errorf("%d calls", f.Count())
	}
}
