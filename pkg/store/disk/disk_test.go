package disk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/disk"
	"github.com/ndfile/ndfile/pkg/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
		s := disk.New(t.TempDir() + "/sub/folder/")
		for key, value := range values {
			if _, err := s.Put(t.Context(), key, [][]byte{value}, store.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		return s
	})
}

// TestFolders: folders are there as long as values are in them; what writers need
// beside is no value.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	s := disk.New(dir)
	if _, err := s.Put(t.Context(), "a/b/c", [][]byte{{1}}, store.Condition{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", ".ndf-lock"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.List(t.Context(), "a", func(e store.Entry) error {
		if e != (store.Entry{Name: "b", Folder: true, Size: -1}) {
			t.Errorf("%+v", e)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), "a/b/c"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir + "/a/b"); !os.IsNotExist(err) {
		t.Error("an empty folder stays:", err)
	}
	if _, err := os.Stat(dir + "/a"); err != nil {
		t.Error("a folder that holds something is gone:", err)
	}
}

func ExampleNew() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	s := disk.New(dir)
	ctx := context.Background()
	if _, err := s.Put(ctx, "run/1", [][]byte{[]byte("one "), []byte("value")}, store.Condition{}); err != nil {
		fmt.Println(err)
	}
	value, err := store.ReadAll(ctx, s, "run/1", 100)
	fmt.Printf("%s %v\n", value, err)
	// Output: one value <nil>
}
