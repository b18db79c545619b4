package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFolderLock: a folder is locked without a file, between two files of one
// process too, and its note outlives the lock.
func TestFolderLock(t *testing.T) {
	dir := t.TempDir()
	open := func() FolderLock {
		l, err := OpenFolderLock(NoFollow(OS), dir)
		if errors.Is(err, syscall.ENOTSUP) {
			t.Skip("the file system of the temporary folder is none where folders are locked")
		}
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	try := func(l FolderLock, kind LockKind, want bool) {
		t.Helper()
		if ok, err := l.TryLock(kind); ok != want || err != nil {
			t.Fatalf("TryLock(%d): %v, %v, expected %v", kind, ok, err, want)
		}
	}
	a, b := open(), open()
	try(a, Shared, true)
	try(b, Shared, true)
	try(b, Exclusive, false)
	try(a, Unlocked, true)
	try(b, Exclusive, true)
	try(a, Shared, false)
	if pid := a.Holder(); pid != os.Getpid() {
		t.Errorf("Holder is %d, expected %d", pid, os.Getpid())
	}
	if name := Program(os.Getpid()); name != filepath.Base(os.Args[0]) {
		t.Errorf("Program is %q", name)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if err := b.SetNote("rows 1 2"); errors.Is(err, syscall.ENOTSUP) {
		t.Skip("no notes here")
	} else if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	try(a, Exclusive, true)
	if note, err := a.Note(); note != "rows 1 2" || err != nil {
		t.Errorf("Note: %q, %v", note, err)
	}
	long := strings.Repeat("x", 1000)
	for _, text := range []string{long, "", ""} {
		err := a.SetNote(text)
		if note, err2 := a.Note(); note != text || err != nil || err2 != nil {
			t.Errorf("a note of %d bytes: %d, %v, %v", len(text), len(note), err, err2)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenFolderLock(OS, dir+"/none"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := OpenFolderLock(NewMem(), "/"); !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("a file system without: %v", err)
	}
}

// TestNoteIsNotCopied: what replaces a folder does not get its note.
func TestNoteIsNotCopied(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"old", "new"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := OpenFolderLock(OS, dir+"/old")
	if err == nil {
		defer l.Close()
		err = l.SetNote("rows 1 2")
	}
	if errors.Is(err, syscall.ENOTSUP) {
		t.Skip("no notes here")
	}
	if err == nil {
		err = OS.Adopt(dir+"/new", dir+"/old", true)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied, err := OpenFolderLock(OS, dir+"/new")
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if note, err := copied.Note(); note != "" || err != nil {
		t.Errorf("the note of the new folder: %q, %v", note, err)
	}
}
