package vfs

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// acl is a POSIX ACL: owner rw, user 77, owning group and mask as given, others r.
func acl(user, group, mask uint16) string {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][2]uint16{{1, 6}, {2, user}, {aclGroup, group}, {16, mask}, {aclOther, 4}} {
		id := ^uint32(0)
		if e[0] == 2 {
			id = 77
		}
		b = binary.LittleEndian.AppendUint16(b, e[0])
		b = binary.LittleEndian.AppendUint16(b, e[1])
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return string(b)
}

func attribute(t *testing.T, path, name string) string {
	buf := make([]byte, 1<<17)
	n, err := syscall.Getxattr(path, name, buf)
	if err != nil && err != syscall.ENODATA && err != syscall.ENOTSUP {
		t.Fatal(path, name, err)
	}
	return string(buf[:max(n, 0)])
}

func setAttribute(t *testing.T, path, name, value string) {
	if err := syscall.Setxattr(path, name, []byte(value), 0); err == syscall.ENOTSUP {
		t.Skip(path, name, err)
	} else if err != nil {
		t.Fatal(path, name, err)
	}
}

// TestAdoptAttributes replaces a file with attributes of all kinds, in a folder
// that gives new files an ACL of its own.
func TestAdoptAttributes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	for name, write := range map[string]func(path string) error{
		"WriteFile": func(path string) error { return OS.WriteFile(path, [][]byte{[]byte("new")}, WriteOptions{}) },
		"Replace":   func(path string) error { return writeFile(OS, path, [][]byte{[]byte("new")}, WriteOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, plain := dir+"/f", dir+"/plain"
			for _, p := range []string{path, plain} {
				if err := os.WriteFile(p, []byte("old"), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			long := strings.Repeat("long ", 200)
			want := map[string]string{accessACL: acl(6, 4, 6), "user.empty": "", "user.note": "n", "user.long": long}
			for name, value := range want {
				setAttribute(t, path, name, value)
			}
			for i := range 20 { // their names do not fit the first buffer
				setAttribute(t, path, "user.name-"+strings.Repeat("x", 20+i), "v")
			}
			setAttribute(t, dir, defaultACL, acl(6, 6, 6))
			for _, p := range []string{path, plain} {
				if err := write(p); err != nil {
					t.Fatal(err)
				}
			}
			for name, value := range want {
				if got := attribute(t, path, name); got != value {
					t.Errorf("%s is %q, expected %q", name, got, value)
				}
			}
			if attribute(t, path, "user.name-"+strings.Repeat("x", 39)) != "v" {
				t.Error("the last of many attributes is gone")
			}
			if got := attribute(t, plain, accessACL); got != "" {
				t.Errorf("the file without an ACL has got %x", got)
			}
			if info, err := os.Stat(plain); err != nil || info.Mode() != 0o640 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if got := attribute(t, dir+"/f", "user.long"); got != long {
				t.Error("a long attribute is cut")
			}
		})
	}
}

// TestAdoptOfStranger replaces a file of somebody else, whose owner and group
// cannot be kept: the writer's own group does not inherit what the other one had.
func TestAdoptOfStranger(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir := t.TempDir()
	for p := dir; p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		os.Chmod(p, 0o777)
	}
	for name, group := range map[string]int{"theirs": 1234, "shared": 4321} {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte("old"), 0o664); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 1234, group); err != nil {
			t.Fatal(err)
		}
		setAttribute(t, path, accessACL, acl(6, 6, 6))
	}
	os.WriteFile(dir+"/mine", nil, 0o600)
	os.Chown(dir+"/mine", 4321, 4321)

	done := make(chan error)
	go func() { // on a thread of its own that ends with it
		runtime.LockOSThread()
		syscall.RawSyscall(syscall.SYS_SETFSGID, 4321, 0, 0)
		syscall.RawSyscall(syscall.SYS_SETFSUID, 4321, 0, 0)
		var err error
		for _, name := range []string{"theirs", "shared", "mine"} {
			if e := OS.WriteFile(dir+"/"+name, [][]byte{[]byte("new")}, WriteOptions{}); e != nil {
				err = e
			}
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		perm uint32
		acl  string
	}{"theirs": {0o644, acl(6, 4, 4)}, "shared": {0o664, acl(6, 6, 6)}, "mine": {0o600, ""}} {
		info, err := OS.Stat(dir + "/" + name)
		if err != nil || info.Perm != want.perm || info.UID != 4321 || info.GID != 4321 {
			t.Errorf("%s: %o %d:%d, %v, expected %o", name, info.Perm, info.UID, info.GID, err, want.perm)
		}
		if got := attribute(t, dir+"/"+name, accessACL); got != want.acl {
			t.Errorf("%s: ACL %x, expected %x", name, got, want.acl)
		}
	}
}

// TestReadOnly replaces a read-only file, and does nothing in a folder that is.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/f"
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	put(t, OS, path, "new")
	if info, err := OS.Stat(path); err != nil || info.Perm != 0o444 || info.Size != 3 {
		t.Errorf("%o, %v", info.Perm, err)
	}
	if os.Getuid() == 0 {
		return // nothing is read-only for root
	}
	os.Chmod(dir, 0o555)
	defer os.Chmod(dir, 0o755)
	wantErrno(t, "in a read-only folder", OS.WriteFile(path, nil, WriteOptions{}), syscall.EACCES)
}
