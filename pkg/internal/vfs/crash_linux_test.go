package vfs_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/crashtest"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

func TestMain(m *testing.M) {
	write := func(name string) func(dir string) error {
		return func(dir string) error {
			return vfs.OS.WriteFile(filepath.Join(dir, name), [][]byte{[]byte("new")}, vfs.WriteOptions{})
		}
	}
	crashtest.Main(m, map[string]func(string) error{"create": write("new"), "replace": write("old")})
}

// TestKill kills a process at each call of a WriteFile. A file that is replaced
// holds the one or the other; a new one is there as a whole or not at all, and
// nothing else.
func TestKill(t *testing.T) {
	template := t.TempDir()
	if err := os.WriteFile(filepath.Join(template, "old"), []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	content := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			return "none"
		}
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	crashtest.Sweep(t, "replace", template, func(dir, at string) {
		if got := content(dir, "old"); got != "old" && got != "new" {
			t.Errorf("%s: %q", at, got)
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, e := range list {
			info, err := e.Info()
			if err != nil || info.Mode()&^0o640 != 0 {
				t.Errorf("%s: %s has mode %v, %v, more than the old file", at, e.Name(), info.Mode(), err)
			}
		}
	})
	const tmpfile = 0o20000000 // O_TMPFILE
	fd, err := syscall.Open(template, syscall.O_WRONLY|syscall.O_DIRECTORY|tmpfile, 0o666)
	if err != nil {
		t.Skipf("the file system has no files without names: %v", err)
	}
	syscall.Close(fd)
	crashtest.Sweep(t, "create", template, func(dir, at string) {
		got := content(dir, "new")
		list, err := os.ReadDir(dir)
		whole := got == "new" && len(list) == 2 || got == "none" && len(list) == 1
		if err != nil || !whole || content(dir, "old") != "old" {
			t.Errorf("%s: %q, in the folder are %v, %v", at, got, list, err)
		}
	})
}
