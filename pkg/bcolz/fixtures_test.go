package bcolz

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// fixture is an entry of testdata/expected.json or testdata/malformed.json.
type fixture struct {
	Root, Kind, What, Note string
	WrittenBy              string `json:"written_by"`
	Expect                 string
	Names                  []string
	Length                 int64
	Columns                map[string]content
	content
}

// content is an array of a fixture.
type content struct {
	DType json.RawMessage
	Shape []int64
	Raw   string
	Attrs json.RawMessage
}

func fixtures(t testing.TB, manifest string) []fixture {
	t.Helper()
	text, err := os.ReadFile("testdata/" + manifest)
	ok(t, err)
	var all struct{ Roots []fixture }
	ok(t, json.Unmarshal(text, &all))
	if len(all.Roots) < 40 {
		t.Fatalf("%d fixtures", len(all.Roots))
	}
	return all.Roots
}

// dtype is a dtype of the manifest: a string, or the descr of a record.
func (c *content) dtype(t testing.TB) ndarray.DType {
	var name string
	if json.Unmarshal(c.DType, &name) != nil {
		name = string(c.DType)
	}
	d, err := ndarray.Parse(name)
	ok(t, err)
	return d
}

// check reads an array whole, row by row, and in slices with steps.
func (c *content) check(t *testing.T, a ndfile.Array) {
	t.Helper()
	d := c.dtype(t)
	s := a.Spec()
	if !s.DType.Equal(d) || !slices.Equal(s.Shape, c.Shape) {
		t.Fatalf("%s %v, expected %s %v", s.DType, s.Shape, d, c.Shape)
	}
	want, err := os.ReadFile("testdata/" + c.Raw)
	ok(t, err)
	got, err := readAll(ctx, a)
	ok(t, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("other elements")
	}
	full := ndarray.Full(s.Shape)
	all := buffer(d, want, s.Shape...)
	for row := range s.Shape[0] {
		full.Start[0], full.Count[0] = row, 1
		checkBox(t, a, full, all)
	}
	for step := int64(2); step < 12 && s.Shape[0] > 0; step += 3 {
		box := ndarray.Full(s.Shape)
		box.Step = slices.Repeat([]int64{1}, len(s.Shape))
		box.Start[0] = step % s.Shape[0]
		box.Step[0] = step
		box.Count[0] = (s.Shape[0]-1-box.Start[0])/step + 1
		if last := len(box.Count) - 1; last > 0 {
			box.Start[last] = box.Count[last] / 2
			box.Count[last] -= box.Start[last]
		}
		checkBox(t, a, box, all)
	}
}

// checkBox reads a box in native byte order and compares it with the same box of
// all.
func checkBox(t testing.TB, a ndfile.Array, box ndarray.Box, all ndarray.Buffer) {
	t.Helper()
	part, err := all.Sub(box)
	ok(t, err)
	want, err := ndarray.NewBuffer(all.DType.Native(), box.Count)
	ok(t, err)
	ok(t, ndarray.Copy(want, part))
	got, err := ndarray.NewBuffer(all.DType.Native(), box.Count)
	ok(t, err)
	ok(t, a.ReadBox(ctx, box, got))
	if !bytes.Equal(got.Data, want.Data) {
		t.Fatalf("box %v: %x, expected %x", box, got.Data, want.Data)
	}
}

// checkAttrs compares attributes with those of the manifest.
func checkAttrs(t testing.TB, got *ndfile.Attrs, want json.RawMessage) {
	t.Helper()
	o, err := pyjson.ParseObject(want, pyjson.Limits{})
	ok(t, err)
	if o.Len() != got.Len() {
		t.Fatalf("attributes %s, expected %s", ndfile.AppendJSON(nil, got), want)
	}
	for i := range o.Len() {
		key, v := o.At(i)
		if text, ok := v.Str(); ok && strings.HasSuffix(text, " (literal)") {
			v, _ = pyjson.Number(strings.TrimSuffix(text, " (literal)"))
		}
		if have, _ := got.Get(key); !have.Equal(v) {
			t.Errorf("attribute %q: %s, expected %s", key, metafile.Short(have), metafile.Short(v))
		}
	}
}

func TestFixtures(t *testing.T) {
	for _, fx := range fixtures(t, "expected.json") {
		t.Run(filepath.Base(fx.Root), func(t *testing.T) {
			path := "testdata/" + fx.Root
			m, err := Format.Detect(ctx, ndfile.OS, path)
			if m != ndfile.Certain || err != nil {
				t.Errorf("Detect: %v, %v", m, err)
			}
			f, err := Format.Open(ctx, ndfile.OS, path, ndfile.OpenOptions{})
			if fx.Expect == "refuse" {
				is(t, err, ndfile.ErrNotSupported, path+"/"+storageFile)
				return
			}
			ok(t, err)
			defer f.Close(ctx)
			checkAttrs(t, f.Attrs(), fx.Attrs)
			if fx.Kind == "carray" {
				if f.Kind() != ndfile.Single || !slices.Equal(f.Names(), []string{""}) {
					t.Fatalf("%v %q", f.Kind(), f.Names())
				}
				a := array(t, f, "")
				if a.Attrs() != f.Attrs() {
					t.Error("the file and its array have different attributes")
				}
				fx.check(t, a)
				return
			}
			if f.Kind() != ndfile.Table || !slices.Equal(f.Names(), fx.Names) || f.(ndfile.RowResizer).Rows() != fx.Length {
				t.Fatalf("%v %q %d rows", f.Kind(), f.Names(), f.(ndfile.RowResizer).Rows())
			}
			for name, c := range fx.Columns {
				a := array(t, f, name)
				checkAttrs(t, a.Attrs(), c.Attrs)
				c.check(t, a)
				alone := open(t, ndfile.OS, path+"/"+name, ndfile.ReadOnly)
				c.check(t, array(t, alone, ""))
				ok(t, alone.Close(ctx))
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	for _, fx := range fixtures(t, "malformed.json") {
		t.Run(filepath.Base(fx.Root), func(t *testing.T) {
			path := "testdata/" + fx.Root
			if m, err := Format.Detect(ctx, ndfile.OS, path); m == ndfile.NoMatch || err != nil {
				t.Errorf("Detect: %v, %v", m, err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readRoot(path)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			if strings.HasSuffix(path, "/t_uneven") {
				ok(t, err)
				return
			}
			if err == nil || ndfile.KindOf(err) == ndfile.ErrInternal || !strings.Contains(err.Error(), path+"/") {
				t.Fatalf("%s: %v", fx.What, err)
			}
			if allocated > 64<<20 {
				t.Errorf("%d bytes allocated", allocated)
			}
		})
	}
}

// readRoot reads all that there is in a root.
func readRoot(path string) error {
	f, err := Format.Open(ctx, ndfile.OS, path, ndfile.OpenOptions{})
	if err != nil {
		return err
	}
	defer f.Close(ctx)
	f.Attrs()
	return readFile(f)
}

// readFile reads all arrays of a file.
func readFile(f ndfile.File) error {
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			return err
		}
		if _, err := readAll(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
