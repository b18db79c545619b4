package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// unnamed opens a file without a name.
func unnamed(t *testing.T, dir string) int {
	fd, err := open(dir, syscall.O_WRONLY|openUnnamed, 0o666)
	if err != nil {
		t.Skipf("the file system of %s has no files without names: %v", dir, err)
	}
	return fd
}

// TestWriteUnnamed makes new files, and leaves all other cases alone.
func TestWriteUnnamed(t *testing.T) {
	s := subject{OS, t.TempDir(), syscall.Symlink}
	syscall.Close(unnamed(t, s.root))
	before := openFiles(t)
	parts := [][]byte{[]byte("con"), nil, []byte("tent")}
	write := func(path string) bool {
		return writeUnnamed(atFDCWD, folderOf(path), path, parts, WriteOptions{})
	}
	replacing.Store(false)
	old := s.path("old")
	put(t, s, old, "old")
	s.Mkdir(s.path("d"))
	s.symlink("nowhere", s.path("dangling"))
	s.symlink("d", s.path("link"))
	for path, want := range map[string]bool{
		"new": true, "d/new": true, "link/also": true, "d/../x": true,
		"old": false, "d": false, "d/": false, "dangling": false, "no/f": false, "old/f": false, "\x00": false,
	} {
		if write(s.path(path)) != want {
			t.Errorf("%q: expected %v", path, want)
		}
		if want {
			wantGet(t, s, s.path(path), "content")
		}
	}
	wantGet(t, s, s.path("old"), "old")
	if got := names(t, s, s.root) + "|" + names(t, s, s.path("d")); got != "d/ dangling@ link@ new old x|also new" {
		t.Errorf("left: %s", got)
	}
	if n := testing.AllocsPerRun(20, func() { write(old) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors leaked", after-before)
	}
}

// TestLinkProc names a file in the way of older kernels.
func TestLinkProc(t *testing.T) {
	s := subject{OS, t.TempDir(), syscall.Symlink}
	fd := unnamed(t, s.root)
	defer syscall.Close(fd)
	syscall.Write(fd, []byte("content"))
	var space pathSpace
	for _, want := range []syscall.Errno{0, syscall.EEXIST} {
		to, _ := cpath(&space, s.path("f"))
		if err := linkProc(fd, atFDCWD, to); errnoOf(err) != want {
			t.Errorf("%v, expected %v", err, want)
		}
	}
	wantGet(t, s, s.path("f"), "content")
}

// TestWriteFileTurns writes new and existing files in turn, which is when the
// way that is tried first is the wrong one.
func TestWriteFileTurns(t *testing.T) {
	s := subject{OS, t.TempDir(), syscall.Symlink}
	for i := range 20 {
		for _, text := range []string{"new", "replaced"}[:1+i%2] {
			put(t, s, s.path(fmt.Sprint(i)), text)
			wantGet(t, s, s.path(fmt.Sprint(i)), text)
		}
		put(t, s, s.path("0"), fmt.Sprint(i))
		wantGet(t, s, s.path("0"), fmt.Sprint(i))
	}
	if list, err := s.ReadDir(s.root); err != nil || len(list) != 20 {
		t.Errorf("left: %v, %v", list, err)
	}
}

// TestExclusiveRace lets one of many writers win, whatever way they take.
func TestExclusiveRace(t *testing.T) {
	s := subject{OS, t.TempDir(), syscall.Symlink}
	for round := range 30 {
		path := s.path(fmt.Sprint(round))
		replacing.Store(round%2 == 0)
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				err := s.WriteFile(path, [][]byte{bytes.Repeat([]byte{byte('a' + i)}, 1000)}, WriteOptions{Exclusive: true})
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got := get(s, path)
		if won.Load() != 1 || len(got) != 1000 || got != string(bytes.Repeat([]byte{got[0]}, 1000)) {
			t.Errorf("%d writers won; %d bytes", won.Load(), len(got))
		}
	}
	if list, err := s.ReadDir(s.root); err != nil || len(list) != 30 {
		t.Errorf("left: %v, %v", list, err)
	}
}
