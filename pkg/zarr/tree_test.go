package zarr

import (
	"errors"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// addBytes adds an array of bytes.
func addBytes(t *testing.T, f ndfile.File, name string, elems ...byte) {
	t.Helper()
	a, err := f.Add(ctx, name, ndfile.Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{int64(len(elems))}, Chunks: []int64{2}})
	if err == nil {
		err = a.WriteBox(ctx, ndarray.Full(a.Spec().Shape), ndarray.Buffer{DType: a.Spec().DType, Shape: a.Spec().Shape, Data: elems})
	}
	if err != nil {
		t.Fatalf("Add %q: %v", name, err)
	}
}

// attrsOf makes attributes of one number.
func attrsOf(key string) *ndfile.Attrs {
	a := ndfile.NewAttrs()
	a.Set(key, ndfile.StringValue("x"))
	return a
}

// checkTree compares names, groups and the elements of each array, its first one given.
func checkTree(t *testing.T, f ndfile.File, groups []string, arrays map[string]byte) {
	t.Helper()
	if got := f.(ndfile.Tree).Groups(); !slices.Equal(got, groups) {
		t.Errorf("groups %q, expected %q", got, groups)
	}
	if len(f.Names()) != len(arrays) {
		t.Errorf("arrays %q, expected %v", f.Names(), arrays)
	}
	for name, first := range arrays {
		if got := values(t, f, name); got[0] != first {
			t.Errorf("%s begins with %d, expected %d", name, got[0], first)
		}
	}
}

// TestTree makes, renames and removes nodes, while a file is created and afterwards,
// with and without consolidated metadata, and reads them back.
func TestTree(t *testing.T) {
	for _, format := range []ndfile.Format{Format2, Format3} {
		for _, late := range []bool{false, true} {
			for _, consolidated := range []bool{false, true} {
				m := ndfile.NewMem()
				f, err := format.Create(ctx, m, "/f", ndfile.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if late { // everything is done to a file that exists
					if err := f.(ndfile.Tree).AddGroup(ctx, "z", nil); err != nil {
						t.Fatal(err)
					}
					if err = f.Close(ctx); err == nil {
						f, err = format.Open(ctx, m, "/f", ndfile.OpenOptions{Mode: ndfile.Update})
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				tree := f.(ndfile.Tree)
				addBytes(t, f, "a/b/c", 1, 2, 3)
				addBytes(t, f, "a/d", 4, 5)
				addBytes(t, f, "gone/e", 6)
				for _, err := range []error{
					tree.AddGroup(ctx, "g/h", attrsOf("units")),
					tree.Rename(ctx, "a/b", "g/i/j"),
					f.(ndfile.Remover).Remove(ctx, "gone"),
					tree.Consolidate(ctx, consolidated),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				checkTree(t, f, withZ(late, "a", "g", "g/h", "g/i", "g/i/j"), map[string]byte{"a/d": 4, "g/i/j/c": 1})
				attrs, err := tree.GroupAttrs(ctx, "g/i/j")
				if err != nil {
					t.Fatal(err)
				}
				attrs.Set("k", ndfile.StringValue("late"))
				if err := f.Close(ctx); err != nil {
					t.Fatal(err)
				}
				f, err = format.Open(ctx, m, "/f", ndfile.OpenOptions{})
				if err != nil {
					t.Fatal(err)
				}
				checkTree(t, f, withZ(late, "a", "g", "g/h", "g/i", "g/i/j"), map[string]byte{"a/d": 4, "g/i/j/c": 1})
				for name, key := range map[string]string{"g/h": "units", "g/i/j": "k"} {
					attrs, err := f.(ndfile.Tree).GroupAttrs(ctx, name)
					if _, there := attrs.Get(key); err != nil || !there {
						t.Errorf("attributes of %s: %v, %v", name, attrs.Keys(), err)
					}
				}
				list, err := found(format, m, "/f")
				if err != nil || len(list) != 0 {
					t.Errorf("%s: verify: %v, %v", format.Name(), list, err)
				}
				m.Rename("/f", "/whole") // nothing is left beside
				if entries, _ := m.ReadDir("/"); len(entries) != 1 {
					t.Errorf("left behind: %v", entries)
				}
			}
		}
	}
}

func withZ(late bool, names ...string) []string {
	if late {
		return append(names, "z")
	}
	return names
}

func found(format ndfile.Format, fsys ndfile.FS, path string) (list []string, err error) {
	err = format.(ndfile.Verifier).Verify(ctx, fsys, path, ndfile.VerifyOptions{}, func(p ndfile.Problem) { list = append(list, p.Path+": "+p.Msg) })
	return list, err
}

// TestTreeRefuses: what cannot be made, renamed and removed.
func TestTreeRefuses(t *testing.T) {
	m := makeGroup(t, Format3)
	f, err := Format3.Open(ctx, m, "/g", ndfile.OpenOptions{Mode: ndfile.Update})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	tree, u1 := f.(ndfile.Tree), ndarray.MustParse("|u1")
	putFile(t, m, "/g/sub/notes", "of somebody")
	for i, c := range []struct {
		err  error
		kind *ndfile.ErrorKind
	}{
		{tree.AddGroup(ctx, "sub", nil), ndfile.ErrNameExists},
		{tree.AddGroup(ctx, "a", nil), ndfile.ErrNameExists},
		{tree.AddGroup(ctx, "a/x", nil), ndfile.ErrArgument},
		{tree.AddGroup(ctx, "sub/notes", nil), ndfile.ErrNameExists},
		{tree.AddGroup(ctx, "__x", nil), ndfile.ErrArgument},
		{tree.AddGroup(ctx, "x/../y", nil), ndfile.ErrArgument},
		{tree.AddGroup(ctx, "x//y", nil), ndfile.ErrArgument},
		{tree.AddGroup(ctx, "zarr.json", nil), ndfile.ErrArgument},
		{tree.AddGroup(ctx, "", nil), ndfile.ErrArgument},
		{tree.Rename(ctx, "none", "x"), ndfile.ErrName},
		{tree.Rename(ctx, "a", "sub"), ndfile.ErrNameExists},
		{tree.Rename(ctx, "sub", "sub/empty/x"), ndfile.ErrArgument},
		{f.(ndfile.Remover).Remove(ctx, "none"), ndfile.ErrName},
		{f.(ndfile.Remover).Remove(ctx, ""), ndfile.ErrName},
		{second(f.Add(ctx, "sub/b", ndfile.Spec{DType: u1, Shape: []int64{1}})), ndfile.ErrNameExists},
		{second(f.Add(ctx, "", ndfile.Spec{DType: u1, Shape: []int64{1}})), ndfile.ErrArgument},
		{second(tree.GroupAttrs(ctx, "a")), ndfile.ErrName},
	} {
		if ndfile.KindOf(c.err) != c.kind {
			t.Errorf("%d: %v, expected %s", i, c.err, c.kind.C)
		}
	}
	checkTree(t, f, []string{"sub", "sub/empty"}, map[string]byte{"a": 1, "sub/b": 2})
}

func second[T any](_ T, err error) error { return err }

// TestTreeLocks: what others have open for changes is not renamed or removed, nor
// are nodes made in it.
func TestTreeLocks(t *testing.T) {
	m := makeGroup(t, Format2)
	inner, err := Format2.Open(ctx, m, "/g/sub", ndfile.OpenOptions{Mode: ndfile.Update})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Format2.Open(ctx, m, "/g", ndfile.OpenOptions{Mode: ndfile.Update, Timeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	tree := f.(ndfile.Tree)
	for what, err := range map[string]error{
		"rename": tree.Rename(ctx, "sub", "other"), "remove": f.(ndfile.Remover).Remove(ctx, "sub"), "add": tree.AddGroup(ctx, "sub/more", nil),
	} {
		if !errors.Is(err, ndfile.ErrBusy) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := inner.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := tree.Rename(ctx, "sub", "other"); err != nil {
		t.Error(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := m.Lstat("/g/other/" + vfs.LockName); err == nil {
		t.Error("a lock is left behind")
	}
}

// TestConsolidatedIsKept: every change of a store, also of one of its arrays alone,
// keeps consolidated metadata true; what others change verify tells, and repairs.
func TestConsolidatedIsKept(t *testing.T) {
	for _, format := range []ndfile.Format{Format2, Format3} {
		m := makeGroup(t, format)
		change := func(path string, do func(f ndfile.File) error) {
			t.Helper()
			f, err := format.Open(ctx, m, path, ndfile.OpenOptions{Mode: ndfile.Update})
			if err == nil {
				err = do(f)
			}
			if err == nil {
				err = f.Close(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
			if list, err := found(format, m, "/g"); err != nil || len(list) > 0 {
				t.Errorf("%s: %q, %v", format.Name(), list, err)
			}
		}
		change("/g", func(f ndfile.File) error { return f.(ndfile.Tree).Consolidate(ctx, true) })
		change("/g/sub/b", func(f ndfile.File) error {
			a, err := f.Array("")
			if err != nil {
				return err
			}
			return a.(ndfile.Resizer).Resize(ctx, []int64{3})
		})
		change("/g/sub", func(f ndfile.File) error { f.Attrs().Set("k", ndfile.StringValue("v")); return nil })
		change("/g/sub", func(f ndfile.File) error { return f.(ndfile.Tree).Rename(ctx, "b", "c") })
		f, err := format.Create(ctx, m, "/g/sub/new", ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		addBytes(t, f, "", 7)
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
		change("/g", func(f ndfile.File) error {
			checkTree(t, f, []string{"sub", "sub/empty"}, map[string]byte{"a": 1, "sub/c": 2, "sub/new": 7})
			return nil
		})
		watched := &countReads{FS: m}
		f, err = format.Open(ctx, watched, "/g", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkTree(t, f, []string{"sub", "sub/empty"}, map[string]byte{"a": 1, "sub/c": 2, "sub/new": 7})
		f.Abort()
		if watched.lists > 0 {
			t.Errorf("%s: opening lists folders", format.Name())
		}
		// A program that forgets them.
		if err := vfs.RemoveTree(m, "/g/a", nil); err != nil {
			t.Fatal(err)
		}
		list, err := found(format, m, "/g")
		if err != nil || len(list) != 1 {
			t.Errorf("%s: stale: %q, %v", format.Name(), list, err)
		}
		err = ndfile.Verify(ctx, []ndfile.Format{format}, "/g", ndfile.VerifyOptions{FS: m, Repair: true}, func(ndfile.Problem) {})
		if list, e := found(format, m, "/g"); err != nil || e != nil || len(list) > 0 {
			t.Errorf("%s: repaired: %q, %v, %v", format.Name(), list, err, e)
		}
	}
}

// countReads counts what is listed.
type countReads struct {
	ndfile.FS
	lists int
}

func (c *countReads) ReadDir(path string) ([]vfs.DirEntry, error) {
	c.lists++
	return c.FS.ReadDir(path)
}
