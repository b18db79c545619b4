package all_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// createForever begins new files and stores, tells of it, and waits to be killed.
func createForever(dir string, _, _ int64) error {
	for _, name := range []string{"new.ds", "new.bcolz", "sub/new.npy"} {
		f, err := ndfile.Create(ctx, all.Formats, dir+"/"+name, ndfile.CreateOptions{})
		if err != nil {
			return err
		}
		b := column(make([]int64, 1000)...)
		of := ""
		if f.Kind() == ndfile.Dataset {
			of = "x"
		}
		a, err := f.Add(ctx, of, ndfile.Spec{DType: b.DType, Shape: b.Shape})
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full(b.Shape), b)
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("begun")
	time.Sleep(time.Minute)
	return nil
}

// TestClean cleans a folder in which a writer is at work, and then is killed.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/sub", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := put("bcolz", dir+"/kept.bcolz", 1, 2); err != nil {
		t.Fatal(err)
	}
	clean := func(opt ndfile.CleanOptions) map[string]int {
		t.Helper()
		seen := map[string]int{}
		err := ndfile.Clean(ctx, all.Formats, dir, opt, func(l ndfile.Leftover) {
			seen[fmt.Sprint(l.Rest, " ", l.Removed)]++
		})
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	expect := func(what string, got, want map[string]int) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s: found %v, expected %v", what, got, want)
		}
	}
	writer, out := start(t, "create", dir, 0, 0)
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Fatal(err)
	}
	expect("a writer at work", clean(ndfile.CleanOptions{Remove: true, Unknown: true}), map[string]int{"alive false": 3})
	writer.Process.Kill()
	writer.Wait()
	expect("it was killed", clean(ndfile.CleanOptions{}), map[string]int{"dead false": 3})

	// A store of which only a temporary name is left, and what another machine writes.
	left, _ := filepath.Glob(dir + "/new.bcolz.ndf-tmp-*")
	name := left[0][len(dir+"/new.bcolz"):]
	for path, to := range map[string]string{"kept.bcolz": "old.bcolz" + name, "empty": "x.ds.ndf-tmp-1-zzzzzz-1"} {
		if path == "empty" {
			if err := os.WriteFile(dir+"/empty", nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(dir+"/"+path, dir+"/"+to); err != nil {
			t.Fatal(err)
		}
	}
	expect("removed", clean(ndfile.CleanOptions{Remove: true}), map[string]int{"dead true": 3, "only copy false": 1, "unknown false": 1})
	expect("again", clean(ndfile.CleanOptions{Remove: true, Unknown: true}), map[string]int{"only copy false": 1, "unknown true": 1})
	entries, _ := os.ReadDir(dir)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"old.bcolz" + name, "sub"}) {
		t.Errorf("left: %v", names)
	}
}
