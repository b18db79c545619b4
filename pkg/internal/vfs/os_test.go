//go:build linux || darwin

package vfs

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}

func TestNoAllocations(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/" + strings.Repeat("p", 250-len(dir))
	parts := [][]byte{make([]byte, 100), make([]byte, 30)}
	buf := make([]byte, 4096)
	for _, opt := range []WriteOptions{{}, {Commit: CommitDirect}, {Sync: true}} {
		if n := testing.AllocsPerRun(20, func() { OS.WriteFile(path, parts, opt) }); n != 0 {
			t.Errorf("WriteFile %+v allocates %v times", opt, n)
		}
	}
	if n := testing.AllocsPerRun(20, func() { OS.ReadSmall(ctx, path, buf) }); n != 0 {
		t.Errorf("ReadSmall allocates %v times", n)
	}
	f, err := OS.OpenRW(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := testing.AllocsPerRun(20, func() { f.ReadAt(buf[:130], 0); f.WriteAt(buf[:130], 0) }); n != 0 {
		t.Errorf("ReadAt and WriteAt allocate %v times", n)
	}
}

// TestWriteParts writes more parts, and longer ones, than one call takes.
func TestWriteParts(t *testing.T) {
	path := t.TempDir() + "/f"
	for _, count := range []int{0, 1, 31, 32, 33, 100} {
		var parts [][]byte
		var want []byte
		for i := range count {
			p := bytes.Repeat([]byte{byte(i)}, i%7*i)
			parts = append(parts, p)
			want = append(want, p...)
		}
		for _, limit := range []int{5, 1000, maxIO} {
			fd, err := open(path, syscall.O_WRONLY|createFlags(false), 0o666)
			if err != nil {
				t.Fatal(err)
			}
			err = writeParts(fd, parts, limit)
			syscall.Close(fd)
			if got, _ := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d parts, %d bytes a call: %d bytes, want %d, %v", count, limit, len(got), len(want), err)
			}
		}
	}
}

func TestLinkNoReplace(t *testing.T) {
	s := subject{OS, t.TempDir(), os.Symlink}
	put(t, s, s.path("f"), "f")
	put(t, s, s.path("g"), "g")
	s.Mkdir(s.path("d"))
	s.Mkdir(s.path("e"))
	s.symlink("g", s.path("l"))
	for _, c := range []struct {
		old, new string
		want     syscall.Errno
	}{
		{"f", "g", syscall.EEXIST}, {"f", "l", syscall.EEXIST}, {"f", "d", syscall.EEXIST}, {"d", "e", syscall.EEXIST}, {"d", "f", syscall.EEXIST},
		{"no", "x", syscall.ENOENT}, {"f", "no/x", syscall.ENOENT}, {"d", "no/x", syscall.ENOENT}, {"d", "f/x", syscall.ENOTDIR},
		{"f", "new", 0}, {"d", "dnew", 0},
	} {
		if err := linkNoReplace(s.path(c.old), s.path(c.new)); errnoOf(err) != c.want {
			t.Errorf("%s to %s: %v, want %v", c.old, c.new, err, c.want)
		}
	}
	if got := names(t, s, s.root); got != "dnew/ e/ g l@ new" {
		t.Errorf("afterwards: %s", got)
	}
	wantGet(t, s, s.path("new"), "f")
	wantGet(t, s, s.path("g"), "g")
}

func TestMode(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	dir := t.TempDir()
	check := func(name string, want os.FileMode) {
		t.Helper()
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %o", name, info.Mode(), err, want)
		}
	}
	put(t, OS, dir+"/atomic", "")
	check("atomic", 0o640)
	OS.WriteFile(dir+"/direct", nil, WriteOptions{Commit: CommitDirect})
	check("direct", 0o640)
	OS.Mkdir(dir + "/d")
	check("d", 0o750)
	os.Chmod(dir+"/atomic", 0o600)
	put(t, OS, dir+"/atomic", "")
	check("atomic", 0o600)
}

func TestSpecialFiles(t *testing.T) {
	before := openFiles(t)
	dir := t.TempDir()
	fifo := dir + "/fifo"
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Skip(err)
	}
	buf := make([]byte, 10)
	_, _, err := OS.ReadSmall(ctx, fifo, buf) // does not wait
	wantErrno(t, "ReadSmall of a FIFO", err, syscall.ESPIPE)
	if info, err := OS.Stat(fifo); err != nil || info.Mode != Other {
		t.Errorf("%+v, %v", info, err)
	}
	if err := os.Symlink("fifo", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, opt := range allOptions {
		if opt.Exclusive {
			wantErrno(t, "exclusive over a FIFO", OS.WriteFile(fifo, nil, opt), syscall.EEXIST)
			continue
		}
		text := make(chan string)
		go func() {
			got, _ := os.ReadFile(fifo)
			text <- string(got)
		}()
		wantErrno(t, "write to a FIFO", OS.WriteFile(dir+"/link", [][]byte{[]byte("hello")}, opt), 0)
		if got := <-text; got != "hello" {
			t.Errorf("FIFO gave %q", got)
		}
	}
	if got := names(t, OS, dir); got != "fifo? link@" {
		t.Errorf("left: %s", got)
	}
	if info, err := OS.Lstat("/dev/full"); err == nil && info.Mode == Other {
		os.Symlink("/dev/full", dir+"/full")
		for _, opt := range allOptions {
			if opt.Exclusive {
				continue
			}
			for _, replace := range []bool{false, true} {
				wantErrno(t, "/dev/full", save(OS, "/dev/full", "content", opt, replace), syscall.ENOSPC)
				wantErrno(t, "link to /dev/full", save(OS, dir+"/full", "content", opt, replace), syscall.ENOSPC)
			}
		}
		if now, err := OS.Lstat("/dev/full"); err != nil || now.Ino != info.Ino {
			t.Errorf("/dev/full is now %+v, %v", now, err)
		}
		if got := names(t, OS, dir); got != "fifo? full@ link@" {
			t.Errorf("left: %s", got)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors leaked", after-before)
	}
}

func TestMap(t *testing.T) {
	path := t.TempDir() + "/f"
	content := make([]byte, 10000)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	put(t, OS, path, string(content))
	f, err := OS.OpenRW(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int64{{0, 10000}, {4095, 2}, {4096, 4096}, {5000, 5000}, {9999, 1}, {10000, 0}, {0, 0}} {
		data, unmap, err := f.Map(c[0], c[1])
		if err != nil || !bytes.Equal(data, content[c[0]:c[0]+c[1]]) {
			t.Fatalf("Map(%d, %d): %v", c[0], c[1], err)
		}
		for range 2 {
			wantErrno(t, "unmap", unmap(), 0)
		}
	}
	for _, c := range [][2]int64{{-1, 1}, {0, -1}, {0, 10001}, {10000, 1}, {1, 1<<63 - 1}, {1<<63 - 1, 1}} {
		_, _, err := f.Map(c[0], c[1])
		wantErrno(t, fmt.Sprintf("Map(%d, %d)", c[0], c[1]), err, syscall.EINVAL)
	}
	data, unmap, err := f.Map(100, 10)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("shared"), 100)
	f.Close()
	if string(data[:6]) != "shared" {
		t.Errorf("the mapping shows %q", data)
	}
	unmap()
}

// TestDescriptors makes OS fail in each way that needs no broken disk.
func TestDescriptors(t *testing.T) {
	before := openFiles(t)
	dir := t.TempDir()
	put(t, OS, dir+"/f", "content")
	for range 3 {
		_, rest, err := OS.ReadSmall(ctx, dir+"/f", make([]byte, 3))
		if err != nil {
			t.Fatal(err)
		}
		reused, err := OS.Open(dir + "/f")
		if err != nil {
			t.Fatal(err)
		}
		rest.Close()
		again, err := OS.Open(dir + "/f") // takes the number of rest
		if err != nil {
			t.Fatal(err)
		}
		rest.Close()
		if _, err := again.ReadAt(make([]byte, 7), 0); err != nil {
			t.Errorf("the second Close closed another file: %v", err)
		}
		again.Close()
		reused.Close()
		OS.ReadSmall(ctx, dir, make([]byte, 3))
		for _, opt := range allOptions {
			for _, bad := range []string{dir, dir + "/f/x", dir + "/no/f", dir + "/\x00", "", dir + "/" + strings.Repeat("n", 300)} {
				for _, replace := range []bool{false, true} {
					if save(OS, bad, "content", opt, replace) == nil {
						t.Errorf("%+v writes %q", opt, bad)
					}
				}
			}
		}
		OS.SyncDir(dir)
		OS.ReadDir(dir)
	}
	if got := names(t, OS, dir); got != "f" {
		t.Errorf("left: %s", got)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors leaked", after-before)
	}
}

// TestMemIsLikeOS does the same random calls on both.
func TestMemIsLikeOS(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	paths := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "e", "e/../a", "l", "l/a", "d/l", "b/", "d/", "d/.", "e/..", "x/"}
	pick := func() string { return paths[rnd.IntN(len(paths))] }
	for round := range 40 {
		m := NewMem()
		m.Mkdir("/t")
		dir := t.TempDir() + "/t" // links may lead out of t
		OS.Mkdir(dir)
		both := []subject{{OS, dir, syscall.Symlink}, {m, "/t", m.Symlink}}
		for step := range 150 {
			op, a, b, seed := rnd.IntN(17), pick(), pick(), rnd.IntN(len(allOptions))
			var said [2]string
			for i, s := range both {
				said[i] = s.do(op, s.path(a), s.path(b), seed)
			}
			if said[0] != said[1] {
				t.Fatalf("round %d step %d: call %d of %q and %q: OS %s, Mem %s in %s", round, step, op, a, b, said[0], said[1], tree(t, both[0], both[0].root))
			}
		}
		if o, m := tree(t, both[0], both[0].root), tree(t, both[1], both[1].root); o != m {
			t.Fatalf("round %d: OS %s\nMem %s", round, o, m)
		}
	}
}

// do makes one call and describes what it gave.
func (s subject) do(op int, a, b string, n int) string {
	errno := func(err error) string { return errnoOf(err).Error() }
	switch op {
	case 0, 1:
		// Several calls on Mem, fewer on OS: which error comes first may differ.
		return fmt.Sprint(save(s, a, "content", allOptions[n], op == 1) == nil)
	case 2, 3, 4:
		return errno(s.Mkdir(a))
	case 5:
		return errno(s.Remove(a))
	case 6:
		return errno(s.Rmdir(a))
	case 7, 8:
		return errno(s.Rename(a, b))
	case 9:
		return errno(s.RenameNoReplace(a, b))
	case 10:
		return errno(s.Exchange(a, b))
	case 11:
		return errno(s.symlink([]string{"a", "d", "../d", "e/a", "l"}[n%5], a))
	case 12:
		return get(s, a)
	case 13:
		info, err := s.Lstat(a)
		return fmt.Sprint(info.Mode, errno(err))
	case 14:
		list, err := s.ReadDir(a)
		return fmt.Sprint(list, errno(err))
	case 15:
		return errno(s.Link(a, b))
	}
	f, err := s.Create(a, n%2 == 0)
	if err == nil {
		_, err = f.ReadAt(make([]byte, 1), 0)
		f.Close()
		if err != io.EOF {
			return "created file is not empty"
		}
		return "created"
	}
	return errno(err)
}

// tree lists everything below dir.
func tree(t *testing.T, s subject, dir string) string {
	list, err := s.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range list {
		p := dir + "/" + e.Name
		fmt.Fprintf(&b, "%s:%d", e.Name, e.Mode)
		switch e.Mode {
		case Dir:
			b.WriteString("(" + tree(t, s, p) + ")")
		case Regular:
			b.WriteString("=" + get(s, p))
		case Symlink:
			link, err := s.Readlink(p)
			b.WriteString("->" + link + errnoOf(err).Error())
		}
		b.WriteByte(' ')
	}
	return b.String()
}
