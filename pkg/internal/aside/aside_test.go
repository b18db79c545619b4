package aside

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

func put(t testing.TB, fsys vfs.FS, path, text string) {
	t.Helper()
	if err := fsys.WriteFile(path, [][]byte{[]byte(text)}, vfs.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func tree(t testing.TB, fsys vfs.FS, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(dir, below string)
	walk = func(dir, below string) {
		entries, err := fsys.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Mode == vfs.Dir {
				all[below+e.Name+"/"] = ""
				walk(dir+"/"+e.Name, below+e.Name+"/")
				continue
			}
			text, err := read(fsys, dir+"/"+e.Name, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			all[below+e.Name] = string(text)
		}
	}
	walk(dir, "")
	return all
}

// store plants a store to be repaired, and gives the steps of a repair.
func store(t testing.TB, fsys vfs.FS, dir string) []Step {
	for _, d := range []string{dir, dir + "/s", dir + "/s/data", dir + "/s/folder"} {
		if err := fsys.Mkdir(d); err != nil {
			t.Fatal(err)
		}
	}
	put(t, fsys, dir+"/s/data/5", "five")
	put(t, fsys, dir+"/s/sizes", "old")
	put(t, fsys, dir+"/s/folder/x", "x")
	put(t, fsys, dir+"/s/\"\xff\n", "odd name")
	return []Step{{Path: dir + "/s/data/5"}, {Path: dir + "/s/sizes", Text: []byte("new")}, {Path: dir + "/s/folder"}, {Path: dir + "/s/made", Text: []byte{}}, {Path: dir + "/s/\"\xff\n"}}
}

// TestStopped stops a repair, and then an undo, at each of their calls: what Undo
// gives back at last is always what was there.
func TestStopped(t *testing.T) {
	broken := errors.New("stop")
	for _, what := range []string{"repair", "undo"} {
		for stop := int64(0); ; stop++ {
			mem := vfs.NewMem()
			steps := store(t, mem, "/d")
			before := tree(t, mem, "/d")
			fault := vfs.NewFault(mem)
			if what == "undo" && !run(mem, steps) {
				t.Fatal("no repair")
			}
			fault.FailFrom(stop, broken)
			if what == "undo" {
				Undo(fault, "/d/s", nil)
			} else {
				run(fault, steps)
			}
			if err := Undo(mem, "/d/s", nil); err != nil && !errors.Is(err, ErrNone) {
				t.Fatalf("%s stopped at %d: %v", what, stop, err)
			}
			after := tree(t, mem, "/d")
			maps.DeleteFunc(after, func(path, _ string) bool { return vfs.IsTempName(path) })
			if !maps.Equal(before, after) {
				t.Fatalf("%s stopped at %d: %q, expected %q", what, stop, after, before)
			}
			if fault.Count() <= stop {
				break
			}
		}
	}
}

func run(fsys vfs.FS, steps []Step) bool {
	r, err := Begin(fsys, "/d/s", steps)
	for i := 0; err == nil && i < len(steps); i++ {
		_, err = r.Do(i)
	}
	return err == nil
}

// TestUndo gives back, stopped anywhere and called again, in reverse order of two
// repairs, through a symbolic link, on disk and in memory.
func TestUndo(t *testing.T) {
	for _, fsys := range []vfs.FS{vfs.NewMem(), vfs.OS} {
		dir := "/d"
		if fsys == vfs.OS {
			dir = t.TempDir() + "/d"
		}
		steps := store(t, fsys, dir)
		before := tree(t, fsys, dir)
		for i := range steps {
			r, err := Begin(fsys, dir+"/s//", []Step{steps[i]})
			if err != nil {
				t.Fatal(err)
			}
			kept, err := r.Do(0)
			if want := fmt.Sprintf("%s/s.ndf-removed-%d/1", dir, i+1); err != nil || kept != want {
				t.Fatal(kept, err)
			}
		}
		if got := tree(t, fsys, dir+"/s"); len(got) != 3 || got["sizes"] != "new" {
			t.Errorf("%q", got)
		}
		var given []string
		for range steps {
			if err := Undo(fsys, dir+"/s", func(path string) { given = append(given, path[len(dir+"/s/"):]) }); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"\"\xff\n", "made", "folder", "sizes", "data/5"}; !slices.Equal(given, want) {
			t.Errorf("%q", given)
		}
		if after := tree(t, fsys, dir); !maps.Equal(before, after) {
			t.Errorf("%q, expected %q", after, before)
		}
		if err := Undo(fsys, dir+"/s", nil); !errors.Is(err, ErrNone) {
			t.Error(err)
		}
	}
}

// TestUndoRefuses undoes nothing where something would be lost by it.
func TestUndoRefuses(t *testing.T) {
	for name, change := range map[string]func(fsys vfs.FS){
		"written anew": func(fsys vfs.FS) { put(t, fsys, "/d/s/sizes", "newer") },
		"made anew":    func(fsys vfs.FS) { put(t, fsys, "/d/s/made", "newer") },
		"place taken":  func(fsys vfs.FS) { put(t, fsys, "/d/s/data/5", "another") },
		"gone":         func(fsys vfs.FS) { fsys.Remove("/d/s.ndf-removed-1/1") },
	} {
		mem := vfs.NewMem()
		if !run(mem, store(t, mem, "/d")) {
			t.Fatal("no repair")
		}
		change(mem)
		before := tree(t, mem, "/d")
		if err := Undo(mem, "/d/s", nil); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if after := tree(t, mem, "/d"); !maps.Equal(before, after) {
			t.Errorf("%s: %q, was %q", name, after, before)
		}
	}
	for _, journal := range []string{"", "x", "ndfile repair 1\ntime x\nmoved 1 \"../x\"\nend\n", "ndfile repair 1\ntime x\nmoved 1 \"x\"\n", "ndfile repair 1\ntime x\nmoved -1 \"x\"\nend\n",
		"ndfile repair 1\ntime x\nmoved 1 \"x\" 00\nend\n", "ndfile repair 1\ntime x\nmoved 1 \"/x\"\nend\n", "ndfile repair 1\ntime x\nmoved 1 x\nend\n", "ndfile repair 1\ntime x\nburnt 1 \"x\"\nend\n"} {
		mem := vfs.NewMem()
		store(t, mem, "/d")
		mem.Mkdir("/d/s.ndf-removed-7")
		put(t, mem, "/d/s.ndf-removed-7/1", "1")
		put(t, mem, "/d/s.ndf-removed-7/journal", journal)
		if err := Undo(mem, "/d/s", nil); !errors.Is(err, ErrJournal) {
			t.Errorf("%q: %v", journal, err)
		}
	}
	mem := vfs.NewMem()
	store(t, mem, "/d")
	for _, path := range []string{"/d/other/x", "/d/s/../x", "/d/s/a//b"} {
		if _, err := Begin(mem, "/d/s", []Step{{Path: path}}); err == nil {
			t.Errorf("a step %s", path)
		}
	}
	for _, path := range []string{".", "/d/..", "/"} {
		if _, err := Begin(mem, path, nil); err == nil {
			t.Errorf("a repair of %s", path)
		}
	}
	for name, is := range map[string]bool{"a.ndf-removed-1": true, "a.ndf-removed-": false, "a.ndf-removed-01": false, "a.ndf-removed-x": false, "ndf-removed-1": false} {
		if IsName(name) != is {
			t.Error(name)
		}
	}
}
