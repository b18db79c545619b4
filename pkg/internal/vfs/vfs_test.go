package vfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var ctx = context.Background()

// subject is a file system under test with a folder to work in.
type subject struct {
	FS
	root    string
	symlink func(target, path string) error
}

func (s subject) path(name string) string { return s.root + "/" + name }

// eachFS runs test on every file system; the rules are the same for all.
func eachFS(t *testing.T, test func(t *testing.T, s subject)) {
	mem := func() subject {
		m := NewMem()
		if err := m.Mkdir("/t"); err != nil {
			t.Fatal(err)
		}
		return subject{m, "/t", m.Symlink}
	}
	real := func(t *testing.T) subject { return subject{OS, t.TempDir(), syscall.Symlink} }
	faulty := func(s subject) subject { s.FS = NewFault(s.FS); return s }
	t.Run("OS", func(t *testing.T) { test(t, real(t)) })
	t.Run("Mem", func(t *testing.T) { test(t, mem()) })
	t.Run("Fault(OS)", func(t *testing.T) { test(t, faulty(real(t))) })
	t.Run("Fault(Mem)", func(t *testing.T) { test(t, faulty(mem())) })
}

func put(t *testing.T, fsys FS, path, content string) {
	t.Helper()
	if err := fsys.WriteFile(path, [][]byte{[]byte(content)}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// get returns the content of path, or the errno as text.
func get(fsys FS, path string) string {
	buf := make([]byte, 1<<20)
	n, rest, err := fsys.ReadSmall(ctx, path, buf)
	if err != nil {
		return errnoOf(err).Error()
	}
	if rest != nil {
		rest.Close()
		return "too long"
	}
	return string(buf[:n])
}

func wantGet(t *testing.T, fsys FS, path, want string) {
	t.Helper()
	if got := get(fsys, path); got != want {
		t.Errorf("content of %s: %.60q, want %.60q", path, got, want)
	}
}

func wantErrno(t *testing.T, what string, err error, want syscall.Errno) {
	t.Helper()
	if errnoOf(err) != want {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
	var pe *PathError
	if want != 0 && !errors.As(err, &pe) {
		t.Errorf("%s: %T is no *PathError", what, err)
	}
}

func names(t *testing.T, fsys FS, dir string) string {
	t.Helper()
	list, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name+[]string{"?", "", "/", "@"}[e.Mode])
	}
	return strings.Join(all, " ")
}

func TestFile(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		f, err := s.Create(s.path("f"), false)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != s.path("f") {
			t.Errorf("Name %q", f.Name())
		}
		if n, err := f.WriteAt([]byte("world"), 5); n != 5 || err != nil {
			t.Errorf("WriteAt = %d, %v", n, err)
		}
		f.WriteAt([]byte("hello"), 0)
		if n, err := f.WriteAt(nil, 100); n != 0 || err != nil {
			t.Errorf("empty WriteAt = %d, %v", n, err)
		}
		buf := make([]byte, 20)
		for _, c := range []struct {
			off  int64
			len  int
			want string
			err  error
		}{{0, 10, "helloworld", nil}, {3, 4, "lowo", nil}, {6, 20, "orld", io.EOF}, {10, 1, "", io.EOF}, {99, 1, "", io.EOF}, {99, 0, "", nil}} {
			n, err := f.ReadAt(buf[:c.len], c.off)
			if string(buf[:n]) != c.want || err != c.err {
				t.Errorf("ReadAt(%d, %d) = %q, %v", c.len, c.off, buf[:n], err)
			}
		}
		_, err = f.ReadAt(buf, -1)
		wantErrno(t, "ReadAt(-1)", err, syscall.EINVAL)
		_, err = f.WriteAt(buf, -1)
		wantErrno(t, "WriteAt(-1)", err, syscall.EINVAL)
		wantErrno(t, "Truncate(-1)", f.Truncate(-1), syscall.EINVAL)
		for _, size := range []int64{3, 6} {
			if err := f.Truncate(size); err != nil {
				t.Error(err)
			}
			if n, err := f.Size(); n != size || err != nil {
				t.Errorf("Size = %d, %v, want %d", n, err, size)
			}
		}
		wantErrno(t, "Sync", f.Sync(), 0)
		wantErrno(t, "Flush", f.Flush(false), 0)
		wantErrno(t, "Flush, waiting", f.Flush(true), 0)
		wantErrno(t, "Close", f.Close(), 0)
		wantGet(t, s, s.path("f"), "hel\x00\x00\x00")

		_, readErr := f.ReadAt(buf, 0)
		_, writeErr := f.WriteAt(buf, 0)
		_, sizeErr := f.Size()
		_, _, mapErr := f.Map(0, 1)
		for i, err := range []error{f.Close(), readErr, writeErr, sizeErr, mapErr, f.Truncate(0), f.Sync(), f.Flush(true)} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("call %d after Close: %v", i, err)
			}
		}
	})
}

func TestOpen(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		put(t, s, s.path("f"), "abc")
		f, err := s.OpenRW(s.path("f"))
		if err != nil {
			t.Fatal(err)
		}
		f.WriteAt([]byte("x"), 1)
		f.Close()
		r, err := s.Open(s.path("f"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = r.WriteAt([]byte("y"), 1)
		wantErrno(t, "write to a file open for reading", err, syscall.EBADF)
		if errors.Is(err, fs.ErrClosed) {
			t.Error("an open file counts as closed")
		}
		wantErrno(t, "truncate a file open for reading", r.Truncate(0), syscall.EINVAL)
		if err := s.Remove(s.path("f")); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 3)
		if _, err := r.ReadAt(buf, 0); err != nil || string(buf) != "axc" {
			t.Errorf("removed but open file: %q, %v", buf, err)
		}
		d, err := s.Open(s.root)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		_, err = d.ReadAt(buf, 0)
		wantErrno(t, "read of a folder", err, syscall.EISDIR)
	})
}

func TestReadSmall(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		put(t, s, s.path("f"), "0123456789")
		buf := make([]byte, 11)
		if n, rest, err := s.ReadSmall(ctx, s.path("f"), buf); n != 10 || rest != nil || err != nil || string(buf[:n]) != "0123456789" {
			t.Errorf("whole file: %d, %v, %v", n, rest, err)
		}
		for _, size := range []int{10, 4, 0} {
			n, rest, err := s.ReadSmall(ctx, s.path("f"), buf[:size])
			if n != size || rest == nil || err != nil {
				t.Fatalf("%d bytes: %d, %v, %v", size, n, rest, err)
			}
			if m, err := rest.ReadAt(buf, int64(n)); m != 10-n || err != io.EOF {
				t.Errorf("rest after %d: %d, %v", size, m, err)
			}
			rest.Close()
		}
		_, _, err := s.ReadSmall(ctx, s.root, buf)
		wantErrno(t, "folder", err, syscall.EISDIR)
	})
}

// TestErrno compares what every call says about odd paths.
func TestErrno(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		put(t, s, s.path("f"), "f")
		put(t, s, s.path("g"), "g")
		s.Mkdir(s.path("d"))
		s.Mkdir(s.path("d/sub"))
		s.Mkdir(s.path("empty"))
		s.symlink("loop", s.path("loop"))
		closed := func(f File, err error) error {
			if err == nil {
				f.Close()
			}
			return err
		}
		two := func(f func(a, b string) error, b string) func(string) error {
			return func(a string) error { return f(a, s.path(b)) }
		}
		write := func(opt WriteOptions) func(string) error {
			return func(p string) error { return s.WriteFile(p, [][]byte{{1}}, opt) }
		}
		calls := map[string]func(path string) error{
			"open":         func(p string) error { return closed(s.Open(p)) },
			"openrw":       func(p string) error { return closed(s.OpenRW(p)) },
			"create":       func(p string) error { return closed(s.Create(p, false)) },
			"createExcl":   func(p string) error { return closed(s.Create(p, true)) },
			"readsmall":    func(p string) error { _, _, err := s.ReadSmall(ctx, p, make([]byte, 9)); return err },
			"atomic":       write(WriteOptions{}),
			"atomicSync":   write(WriteOptions{Sync: true}),
			"direct":       write(WriteOptions{Commit: CommitDirect}),
			"directSync":   write(WriteOptions{Commit: CommitDirect, Sync: true}),
			"excl":         write(WriteOptions{Exclusive: true}),
			"directExcl":   write(WriteOptions{Commit: CommitDirect, Exclusive: true}),
			"stat":         func(p string) error { _, err := s.Stat(p); return err },
			"lstat":        func(p string) error { _, err := s.Lstat(p); return err },
			"readlink":     func(p string) error { _, err := s.Readlink(p); return err },
			"readdir":      func(p string) error { _, err := s.ReadDir(p); return err },
			"mkdir":        s.Mkdir,
			"remove":       s.Remove,
			"rmdir":        s.Rmdir,
			"rename":       two(s.Rename, "new"),
			"renameOver":   two(s.Rename, "g"),
			"renameOnDir":  two(s.Rename, "d"),
			"renameInside": two(s.Rename, "d/sub/new"),
			"renameNew":    two(s.RenameNoReplace, "g"),
			"link":         two(s.Link, "new"),
			"linkOver":     two(s.Link, "g"),
			"exchange":     two(s.Exchange, "nothing"),
			"exchangeIn":   two(s.Exchange, "d/sub"),
			"syncdir":      s.SyncDir,
		}
		const all = "open openrw create createExcl readsmall atomic atomicSync direct directSync excl directExcl stat lstat readlink readdir mkdir remove rmdir rename renameOver renameNew link linkOver exchange syncdir"
		const needed = "open openrw readsmall stat lstat readlink readdir remove rmdir rename renameOver renameNew link linkOver exchange syncdir"
		long := func(n int) string { return strings.Repeat("n", n) }
		cases := []struct {
			path  string
			errno syscall.Errno
			calls string
		}{
			{"a\x00b", syscall.EINVAL, all},
			{"nothing", syscall.ENOENT, needed},
			{"no/file", syscall.ENOENT, all},
			{"f/x", syscall.ENOTDIR, all},
			{"f/", syscall.ENOTDIR, "open openrw readsmall stat lstat readlink readdir remove rmdir rename renameOver syncdir"},
			{"f/../f", syscall.ENOTDIR, all},
			{"new/", syscall.EISDIR, "create"},
			{"d", syscall.EISDIR, "openrw create readsmall atomic atomicSync direct directSync remove"},
			{"d", syscall.EEXIST, "createExcl excl directExcl mkdir renameNew linkOver"},
			{"d", syscall.EPERM, "link"},
			{"d", syscall.ENOTDIR, "renameOver"},
			{"d", syscall.ENOTEMPTY, "rmdir"},
			{"d", syscall.EINVAL, "readlink renameInside exchangeIn"},
			{"d", syscall.ENOENT, "exchange"},
			{"f", syscall.EEXIST, "createExcl excl directExcl mkdir renameNew linkOver"},
			{"f", syscall.ENOTDIR, "readdir rmdir syncdir"},
			{"f", syscall.EISDIR, "renameOnDir"},
			{"f", syscall.EINVAL, "readlink"},
			{"empty", syscall.ENOTEMPTY, "renameOnDir"},
			{"loop", syscall.ELOOP, "open openrw create readsmall atomic direct stat readdir syncdir"},
			{"loop", syscall.EEXIST, "createExcl excl directExcl mkdir"},
			{"loop/x", syscall.ELOOP, all},
			{long(256), syscall.ENAMETOOLONG, all},
			{strings.Repeat("d/../", 1000), syscall.ENAMETOOLONG, all},
		}
		for _, c := range cases {
			for _, name := range strings.Fields(c.calls) {
				if call := calls[name]; call != nil {
					wantErrno(t, name+" "+c.path[:min(len(c.path), 20)], call(s.path(c.path)), c.errno)
				}
			}
		}
		for _, name := range strings.Fields(all) {
			wantErrno(t, name+" of an empty path", calls[name](""), syscall.ENOENT)
		}
		if got := names(t, s, s.root); got != "d/ empty/ f g loop@" {
			t.Errorf("folder afterwards: %s", got)
		}
		wantGet(t, s, s.path("f"), "f")
		wantGet(t, s, s.path("g"), "g")
	})
}

func TestLongPaths(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		for _, size := range []int{254, 255, 256, 300, 319, 320, 321, 3900} {
			p := s.root + strings.Repeat("/.", (size-len(s.root)-2)/2) + "/f"
			p += strings.Repeat("g", size-len(p))
			for _, opt := range []WriteOptions{{}, {Commit: CommitDirect}, {Sync: true}} {
				if err := s.WriteFile(p, [][]byte{[]byte("x")}, opt); err != nil {
					t.Errorf("%d bytes: %v", size, err)
				}
				wantGet(t, s, p, "x")
				if err := s.Remove(p); err != nil {
					t.Error(err)
				}
			}
		}
		p := s.path(strings.Repeat("n", 250) + "ä" + "xyz") // room for no temporary suffix
		put(t, s, p, "long name")
		wantGet(t, s, p, "long name")
	})
}

func TestFolders(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		for _, d := range []string{"b", "a", "a/in"} {
			if err := s.Mkdir(s.path(d)); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range []string{"c", "a.x", "A"} {
			put(t, s, s.path(f), f)
		}
		s.symlink("a", s.path("link"))
		if got := names(t, s, s.root); got != "A a/ a.x b/ c link@" {
			t.Errorf("ReadDir: %s", got)
		}
		if got := names(t, s, s.path("link")); got != "in/" {
			t.Errorf("ReadDir of a link: %s", got)
		}
		if err := s.Rename(s.path("a"), s.path("b")); err != nil { // over an empty folder
			t.Error(err)
		}
		if err := s.RenameNoReplace(s.path("b"), s.path("e/")); err != nil {
			t.Error(err)
		}
		if err := s.Exchange(s.path("e"), s.path("c")); err != nil {
			t.Error(err)
		}
		if got := names(t, s, s.root); got != "A a.x c/ e link@" {
			t.Errorf("after renames: %s", got)
		}
		wantGet(t, s, s.path("e"), "c")
		wantErrno(t, "rmdir", s.Rmdir(s.path("c/in")), 0)
		wantErrno(t, "syncdir", s.SyncDir(s.path("c")), 0)
		for i := range 500 {
			put(t, s, s.path("c/"+strings.Repeat("x", i%100)+string(rune('a'+i/100))), "")
		}
		list, err := s.ReadDir(s.path("c"))
		if err != nil || len(list) != 500 || !slices.IsSortedFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%d entries, %v", len(list), err)
		}
	})
}

func TestStat(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		put(t, s, s.path("f"), "12345")
		s.symlink(s.path("f"), s.path("link"))
		f, err := s.Stat(s.path("f"))
		if err != nil || f.Size != 5 || !f.Mode.IsRegular() || f.Ino == 0 || f.Dev == 0 || f.ModTime < 1e18 {
			t.Errorf("%+v, %v", f, err)
		}
		if via, err := s.Stat(s.path("link")); via != f || err != nil {
			t.Errorf("through the link: %+v, %v", via, err)
		}
		l, err := s.Lstat(s.path("link"))
		if err != nil || l.Mode != Symlink || l.Size != int64(len(s.path("f"))) || l.Ino == f.Ino {
			t.Errorf("the link: %+v, %v", l, err)
		}
		if to, err := s.Readlink(s.path("link")); to != s.path("f") || err != nil {
			t.Errorf("Readlink: %q, %v", to, err)
		}
		if d, err := s.Stat(s.root); !d.Mode.IsDir() || err != nil {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

func TestConcurrent(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		old, new := strings.Repeat("a", 9999), strings.Repeat("b", 5000)
		put(t, s, s.path("f"), old)
		var wg sync.WaitGroup
		for _, text := range []string{old, new} {
			wg.Go(func() {
				for range 20 {
					put(t, s, s.path("f"), text)
				}
			})
		}
		for range 2 {
			wg.Go(func() {
				for range 40 {
					if got := get(s, s.path("f")); got != old && got != new {
						t.Errorf("torn file of %d bytes", len(got))
					}
				}
			})
		}
		f, err := s.Open(s.path("f"))
		if err != nil {
			t.Fatal(err)
		}
		for range 4 { // reads beside Close: the content or ErrClosed
			wg.Go(func() {
				for range 50 {
					if n, err := f.ReadAt(make([]byte, 10), 0); err != nil && !errors.Is(err, fs.ErrClosed) || n != 10 && err == nil {
						t.Errorf("%d, %v", n, err)
					}
				}
			})
		}
		f.Close()
		wg.Wait()
	})
}

func TestTempName(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		name := OS.TempName("/x/y.ds")
		if !strings.HasPrefix(name, "/x/y.ds.ndf-tmp-") || !IsTempName(name[3:]) || seen[name] {
			t.Fatalf("%q", name)
		}
		seen[name] = true
	}
	for _, base := range []string{strings.Repeat("n", 255), strings.Repeat("ä", 127)} {
		_, got := splitPath(OS.TempName("d/" + base))
		if len(got) > 255 || !IsTempName(got) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
	for _, base := range []string{"", "x", "x.ndf-tmp-", "x.ndf-tmp-1-2", "x.ndf-tmp-1-2-3.ds", "x.ndf-tmp-1--3", "x.ndf-tmp-A-2-3"} {
		if IsTempName(base) {
			t.Errorf("%q counts as temporary", base)
		}
	}
}

func TestPathError(t *testing.T) {
	path := []byte("/no/such/file")
	_, err := OS.Open(string(path))
	if want := "open /no/such/file: no such file or directory"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, syscall.ENOENT) || errors.Is(err, fs.ErrExist) {
		t.Error("errors.Is fails")
	}
	if got := OS.Rename("/no/a", "/no/b").Error(); got != "rename /no/a -> /no/b: no such file or directory" {
		t.Error(got)
	}
	cause := errors.New("lost")
	f := NewFault(NewMem())
	f.FailAt(0, cause)
	err = f.Mkdir("/d")
	if !errors.Is(err, cause) || !errors.Is(err, syscall.EIO) || err.Error() != "mkdir /d: lost" {
		t.Error(err)
	}
}

func TestMemLimits(t *testing.T) {
	f, _ := NewMem().Create("f", false)
	wantErrno(t, "Truncate", f.Truncate(1<<60), syscall.EFBIG)
	_, err := f.WriteAt([]byte{1, 2}, 1<<63-2)
	wantErrno(t, "WriteAt", err, syscall.EFBIG)
	if _, _, err := f.Map(0, 0); !errors.Is(err, ErrNoMap) {
		t.Error(err)
	}
	f.WriteAt(bytes.Repeat([]byte{7}, 100), 0)
	f.Truncate(1)
	f.Truncate(50)
	buf := make([]byte, 50)
	if f.ReadAt(buf, 0); buf[0] != 7 || bytes.Count(buf, []byte{0}) != 49 {
		t.Errorf("old bytes come back: %v", buf)
	}
}
