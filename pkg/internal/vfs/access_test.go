package vfs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestFolderAccess replaces a folder whose files differ in who may read them, and
// fails at each call: what is there then is never more open than the old.
func TestFolderAccess(t *testing.T) {
	build := func() *Mem {
		m := NewMem()
		for _, dir := range []string{"/s", "/s/in"} {
			m.Mkdir(dir)
			m.SetAccess(dir, MemAccess{Perm: 0o2750, UID: 7, GID: 8})
		}
		for i, file := range []string{"/s/a", "/s/in/b"} {
			put(t, m, file, "old")
			m.SetAccess(file, MemAccess{Perm: 0o640 + uint32(i)*0o20, UID: 7, GID: 8, Attributes: map[string]string{"user.x": file}})
		}
		return m
	}
	all := func(m *Mem, root string) string {
		tree, err := listTree(m, nil, root, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		list := []string{}
		for _, e := range append(tree, treeEntry{path: root}) {
			a, err := m.Access(e.path)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, fmt.Sprintf("%s %o %d:%d %s", e.path[len(root):], a.Perm, a.UID, a.GID, a.Attributes["user.x"]))
		}
		slices.Sort(list)
		return strings.Join(list, "|")
	}
	replace := func(fsys FS) error {
		f, err := NewFolder(fsys, "/s", WriteOptions{}, func(string, FileMode) bool { return true })
		if err != nil {
			return err
		}
		for _, dir := range []string{"/in", "/more"} {
			if err == nil {
				err = fsys.Mkdir(f.Path() + dir)
			}
		}
		for _, file := range []string{"/a", "/in/b", "/in/new", "/more/new"} {
			if err == nil {
				err = fsys.WriteFile(f.Path()+file, [][]byte{[]byte("new")}, WriteOptions{Commit: CommitDirect})
			}
		}
		if err != nil {
			f.Abort()
			return err
		}
		return f.Commit()
	}
	m := build()
	if err := replace(m); err != nil {
		t.Fatal(err)
	}
	want := " 2750 7:8 |/a 640 7:8 /s/a|/in 2750 7:8 |/in/b 660 7:8 /s/in/b|/in/new 640 7:8 |/more 2750 7:8 |/more/new 640 7:8 "
	if got := all(m, "/s"); got != want {
		t.Errorf("replaced:\n%s\nexpected\n%s", got, want)
	}
	for i := int64(0); ; i++ {
		m := build()
		f := NewFault(m)
		f.FailFrom(i, syscall.EIO)
		err := replace(f)
		if err == nil {
			break
		}
		entries, _ := m.ReadDir("/")
		for _, e := range entries {
			a, _ := m.Access("/" + e.Name)
			if a.Perm&0o007 != 0 {
				t.Errorf("call %d: %s has mode %o", i, e.Name, a.Perm)
			}
		}
	}
}

// TestInStore makes files and folders in a store.
func TestInStore(t *testing.T) {
	m := NewMem()
	m.Mkdir("/s")
	put(t, m, "/s/meta", "")
	m.SetAccess("/s", MemAccess{Perm: 0o700, UID: 7})
	m.SetAccess("/s/meta", MemAccess{Perm: 0o600, UID: 7, Attributes: map[string]string{"user.x": "meta", accessACLName: "acl"}})
	s := NoFollow(InStore(m, "/s", "none", "meta"))
	create := func(excl bool) func(path string) error {
		return func(path string) error {
			f, err := s.Create(path, excl)
			if err == nil {
				err = f.Close()
			}
			return err
		}
	}
	for name, make := range map[string]func(path string) error{
		"folder": s.Mkdir, "created": create(false), "exclusive": create(true),
		"written": func(path string) error { return s.WriteFile(path, nil, WriteOptions{}) },
		"direct":  func(path string) error { return s.WriteFile(path, nil, WriteOptions{Commit: CommitDirect}) },
		"once":    func(path string) error { return s.WriteFile(path, nil, WriteOptions{Exclusive: true}) },
	} {
		path := "/s/" + name
		if err := make(path); err != nil {
			t.Fatal(name, err)
		}
		got, err := m.Access(path)
		want := "600 7 acl"
		if name == "folder" {
			want = "700 7 "
		}
		if is := fmt.Sprintf("%o %d %s", got.Perm, got.UID, got.Attributes[accessACLName]+got.Attributes["user.x"]); err != nil || is != want {
			t.Errorf("%s: %s, %v, expected %s", name, is, err, want)
		}
	}
	m.SetAccess("/s/created", MemAccess{Perm: 0o604})
	for _, again := range []func(string) error{create(false), func(path string) error { return s.WriteFile(path, nil, WriteOptions{}) }} {
		if err := again("/s/created"); err != nil {
			t.Fatal(err)
		}
		if got, _ := m.Access("/s/created"); got.Perm != 0o604 {
			t.Errorf("a file that was there has now mode %o", got.Perm)
		}
	}
	f := NewFault(m)
	f.FailAt(2, errors.New("no")) // the Adopt after Stat and Create
	if _, err := InStore(f, "/s", "meta").Create("/s/failed", true); err == nil {
		t.Error("no error")
	}
	if _, err := m.Lstat("/s/failed"); errnoOf(err) != syscall.ENOENT {
		t.Errorf("a file is left: %v", err)
	}
	if InStore(m, "/s", "none") != FS(m) {
		t.Error("without a file to be like nothing changes")
	}
}

const accessACLName = "system.posix_acl_access"
