package crosstest

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/crashtest"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/zarr"
)

var (
	i4      = ndarray.MustParse("<i4")
	extents = []int64{7, 5}
)

// changes are what is done to a store of early zarr. same: the values stay.
var changes = map[string]struct {
	do    func(dir string) error
	same  bool
	parts bool // each chunk may be old or new
	adds  bool // where it is done already, it is not done again
}{
	"migrate to v2": {do: func(dir string) error { return migrate(dir, "zarr2") }, same: true},
	"migrate to v3": {do: func(dir string) error { return migrate(dir, "zarr3") }, same: true},
	"shrink":        {do: func(dir string) error { return update(dir, resize(4, 3)) }},
	"grow":          {do: func(dir string) error { return update(dir, resize(9, 9)) }},
	"attrs": {do: func(dir string) error {
		return update(dir, func(f ndfile.File, _ ndfile.Array) error {
			f.Attrs().Set("title", ndfile.StringValue("new"))
			return nil
		})
	}},
	"append": {adds: true, do: func(dir string) error {
		return update(dir, func(_ ndfile.File, a ndfile.Array) error {
			return a.(ndfile.Resizer).Append(ctx, 0, counting(100, 4, extents[1]))
		})
	}},
	"modify": {parts: true, do: func(dir string) error {
		return update(dir, func(_ ndfile.File, a ndfile.Array) error {
			return a.WriteBox(ctx, ndarray.Box{Start: []int64{1, 1}, Count: []int64{5, 3}}, counting(100, 5, 3))
		})
	}},
}

func TestMain(m *testing.M) {
	ops := map[string]func(string) error{}
	for name, c := range changes {
		ops[name] = c.do
		for _, format := range []string{"zarr0", "zarr2", "zarr3"} {
			ops["synced: "+name+" "+format] = func(dir string) error { sync = true; return c.do(dir) }
			ops["flushed: "+name+" "+format] = func(dir string) error { flush = true; return c.do(dir) }
		}
	}
	for name, do := range groupChanges {
		for _, format := range []string{"zarr2", "zarr3"} {
			ops["synced: "+name+" "+format] = func(dir string) error { sync = true; return updateGroup(dir, do) }
			ops["flushed: "+name+" "+format] = func(dir string) error { flush = true; return updateGroup(dir, do) }
		}
	}
	for name, do := range shardChanges {
		ops[name] = do
	}
	crashtest.Main(m, ops)
}

// groupChanges are what is done to a group.
var groupChanges = map[string]func(f ndfile.File) error{
	"add": func(f ndfile.File) error {
		a, err := f.Add(ctx, "new", ndfile.Spec{DType: i4, Shape: extents, Chunks: []int64{3, 2}})
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full(extents), counting(50, extents...))
		}
		return err
	},
	"add below": func(f ndfile.File) error {
		_, err := f.Add(ctx, "below/it/new", ndfile.Spec{DType: i4, Shape: extents, Chunks: []int64{3, 2}})
		return err
	},
	"write in group": func(f ndfile.File) error {
		a, err := f.Array("old")
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full(extents), counting(50, extents...))
		}
		return err
	},
	"attrs in group": func(f ndfile.File) error {
		f.Attrs().Set("title", ndfile.StringValue("new"))
		return nil
	},
}

// newGroup makes a group with an array, in a new folder.
func newGroup(t *testing.T, format ndfile.Format) (dir string) {
	template := t.TempDir()
	f, err := format.Create(ctx, ndfile.OS, storePath(template), ndfile.CreateOptions{})
	if err == nil {
		_, err = f.Add(ctx, "old", ndfile.Spec{DType: i4, Shape: extents, Chunks: []int64{3, 2}})
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// sync opens the store with Sync, flush flushes it so before it is closed.
var sync, flush bool

func storePath(dir string) string { return filepath.Join(dir, "a.zarr") }

func migrate(dir, to string) error {
	_, err := ndfile.Convert(ctx, formats, storePath(dir), storePath(dir), ndfile.ConvertOptions{To: to})
	return err
}

func update(dir string, do func(ndfile.File, ndfile.Array) error) error {
	return updateGroup(dir, func(f ndfile.File) error {
		a, err := f.Array("")
		if err == nil {
			err = do(f, a)
		}
		return err
	})
}

func updateGroup(dir string, do func(ndfile.File) error) error {
	f, err := ndfile.Open(ctx, formats, storePath(dir), ndfile.OpenOptions{Mode: ndfile.Update, Sync: sync})
	if err != nil {
		return err
	}
	err = do(f)
	if err == nil && flush {
		err = f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{Sync: true})
	}
	if err != nil {
		f.Abort()
		return err
	}
	return f.Close(ctx)
}

func resize(shape ...int64) func(ndfile.File, ndfile.Array) error {
	return func(_ ndfile.File, a ndfile.Array) error { return a.(ndfile.Resizer).Resize(ctx, shape) }
}

// counting is an array of rising numbers.
func counting(from byte, shape ...int64) ndarray.Buffer {
	b, err := ndarray.NewBuffer(i4, shape)
	if err != nil {
		panic(err)
	}
	for i := range b.Data {
		b.Data[i] = from + byte(i/4)
	}
	return b
}

// content is what a store holds.
type content struct {
	format, attrs string
	shape         []int64
	data          []byte
}

func contentOf(dir string) (s content, err error) {
	f, format, err := ndfile.OpenAs(ctx, formats, storePath(dir), ndfile.OpenOptions{})
	if err != nil {
		return s, err
	}
	defer f.Abort()
	a, err := f.Array("")
	if err != nil {
		return s, err
	}
	s.format, s.attrs, s.shape = format.Name(), string(ndfile.AppendJSON(nil, f.Attrs())), slices.Clone(a.Spec().Shape)
	b, err := ndarray.NewBuffer(i4, s.shape)
	if err == nil {
		err = a.ReadBox(ctx, ndarray.Full(s.shape), b)
	}
	s.data = b.Data
	return s, err
}

// equal compares the values, not the format.
func (s content) equal(t content) bool {
	return s.attrs == t.attrs && slices.Equal(s.shape, t.shape) && bytes.Equal(s.data, t.data)
}

// mixed reports whether each element of s is that of the one or the other content. All of a chunk's elements that a
// test changes are new together: they are told apart by their values, and chunks are 3 by 2.
func (s content) mixed(old, new content) bool {
	if !slices.Equal(s.shape, old.shape) {
		return false
	}
	chunk := map[string][2]bool{} // seen: old values, new values
	for i := range int(s.shape[0]) {
		for j := range int(s.shape[1]) {
			at := 4 * (i*int(s.shape[1]) + j)
			got, was, is := s.data[at:at+4], old.data[at:at+4], new.data[at:at+4]
			if bytes.Equal(was, is) {
				if !bytes.Equal(got, was) {
					return false
				}
				continue
			}
			key := fmt.Sprint(i/3, j/2)
			seen := chunk[key]
			seen[0] = seen[0] || bytes.Equal(got, was)
			seen[1] = seen[1] || bytes.Equal(got, is)
			if seen[0] == seen[1] { // neither, or both in one chunk
				return false
			}
			chunk[key] = seen
		}
	}
	return true
}

// newStore makes the store that is changed, in a new folder.
func newStore(t *testing.T, format ndfile.Format) (dir string) {
	template := t.TempDir()
	f, err := format.Create(ctx, ndfile.OS, storePath(template), ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.Attrs().Set("title", ndfile.StringValue("old"))
	a, err := f.Add(ctx, "", ndfile.Spec{DType: i4, Shape: extents, Chunks: []int64{3, 2}})
	if err == nil {
		err = a.WriteBox(ctx, ndarray.Full(extents), counting(1, extents...))
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func TestKilled(t *testing.T) {
	template := newStore(t, zarr.Format0)
	old, err := contentOf(template)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range slices.Sorted(maps.Keys(changes)) {
		t.Run(op, func(t *testing.T) {
			c := changes[op]
			var whole *content
			seen := map[string]int{}
			crashtest.Sweep(t, op, template, func(dir, at string) {
				s, err := contentOf(dir)
				switch {
				case err != nil:
					t.Errorf("%s: %v", at, err)
					return
				case whole == nil:
					whole = &s
				case c.same && s.equal(old):
					seen[s.format]++
				case s.equal(old):
					seen["old"]++
				case s.equal(*whole):
					seen["new"]++
				case c.parts && s.mixed(old, *whole):
					seen["mixed"]++
				default:
					t.Errorf("%s: neither the old content nor the new one", at)
				}
				if !c.same {
					crashtest.Undamaged(t, zarr.Format0, storePath(dir), at)
				}
				if c.adds && !s.equal(old) {
					return
				}
				// Done again it succeeds, and ends as it would have.
				if err := c.do(dir); err != nil && s.format == old.format {
					t.Errorf("%s: done again: %v", at, err)
				}
				if again, err := contentOf(dir); err != nil || !again.equal(*whole) || again.format != whole.format {
					t.Errorf("%s: done again it is %s %v (%v)", at, again.format, again.shape, err)
				}
			})
			t.Log(seen)
			if seen["old"]+seen["zarr0"] == 0 {
				t.Errorf("found %v, expected old states too", seen)
			}
		})
	}
}
