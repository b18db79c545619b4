package vfs

import (
	"fmt"
	"syscall"
	"testing"
)

// TestNear goes from folder to folder, and finds and writes what OS does.
func TestNear(t *testing.T) {
	before := openFiles(t)
	s := subject{OS, t.TempDir(), syscall.Symlink}
	var near Near
	for _, dir := range []string{"d", "e"} {
		s.Mkdir(s.path(dir))
		for i := range 4 {
			put(t, &near, s.path(fmt.Sprint(dir, "/", i)), fmt.Sprint(dir, i))
		}
	}
	s.symlink("1", s.path("d/link"))
	s.symlink("d", s.path("l"))
	for _, path := range []string{
		"d/0", "d/1", "d/2", "e/0", "e/1", "d/3", "e/2", "e/3", "l/0", "l/1", "l/link", "l/no", "l/no", "l/0/", "l/0/",
		"no/f", "no/f", "d/0/f", "d/0/f", "d/", "d/", "d/.", "d/.", "d/..", "\x00", "d/\x00", "d/\x00", "",
	} {
		if got, want := get(&near, s.path(path)), get(s, s.path(path)); got != want {
			t.Errorf("%q: %q, OS gives %q", path, got, want)
		}
	}
	// Written new, over the old, through a link, where nothing can be.
	for range 2 {
		for _, path := range []string{"d/new", "d/0", "d/link", "d/new"} {
			put(t, &near, s.path(path), "by "+path)
			wantGet(t, s, s.path(path), "by "+path)
		}
		for _, opt := range allOptions {
			if opt.Exclusive {
				wantErrno(t, "exclusive", near.WriteFile(s.path("d/new"), nil, opt), syscall.EEXIST)
			}
			wantErrno(t, "over a folder", near.WriteFile(s.root, nil, opt), map[bool]syscall.Errno{true: syscall.EEXIST, false: syscall.EISDIR}[opt.Exclusive])
			wantErrno(t, "nowhere", near.WriteFile(s.path("no/f"), nil, opt), syscall.ENOENT)
		}
	}
	wantGet(t, s, s.path("d/1"), "by d/link")
	if got := names(t, s, s.path("d")); got != "0 1 2 3 link@ new" {
		t.Errorf("left: %s", got)
	}
	near.Close()
	near.Close()
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors leaked", after-before)
	}
}

// TestNearMoves replaces the folder that is held: what is not in the old one is
// looked for by the path.
func TestNearMoves(t *testing.T) {
	s := subject{OS, t.TempDir(), syscall.Symlink}
	var near Near
	defer near.Close()
	s.Mkdir(s.path("d"))
	for range 3 {
		put(t, &near, s.path("d/f"), "old")
	}
	wantGet(t, &near, s.path("d/f"), "old")
	if err := RemoveTree(s, s.path("d"), nil); err != nil {
		t.Fatal(err)
	}
	wantGet(t, &near, s.path("d/f"), syscall.ENOENT.Error())
	s.Mkdir(s.path("d"))
	put(t, s, s.path("d/g"), "new")
	wantGet(t, &near, s.path("d/g"), "new")
	for i := range 3 {
		put(t, &near, s.path(fmt.Sprint("d/", i)), "written")
		wantGet(t, s, s.path(fmt.Sprint("d/", i)), "written")
	}
}

// TestNearAllocations is for files in a folder that is open.
func TestNearAllocations(t *testing.T) {
	var near Near
	defer near.Close()
	path := t.TempDir() + "/f"
	parts, buf := [][]byte{make([]byte, 100)}, make([]byte, 4096)
	put(t, &near, path, "")
	if n := testing.AllocsPerRun(20, func() { near.WriteFile(path, parts, WriteOptions{}); near.ReadSmall(ctx, path, buf) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
