package zarr

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// putFile writes a file.
func putFile(t *testing.T, fsys ndfile.FS, path, text string) {
	t.Helper()
	if err := fsys.WriteFile(path, [][]byte{[]byte(text)}, ndfile.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func mkdirs(t *testing.T, fsys ndfile.FS, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := fsys.Mkdir(p); err != nil {
			t.Fatal(err)
		}
	}
}

// makeGroup makes /g with the arrays a and sub/b of five numbers.
func makeGroup(t *testing.T, format ndfile.Format) ndfile.FS {
	t.Helper()
	m := ndfile.NewMem()
	mkdirs(t, m, "/g", "/g/sub", "/g/sub/empty")
	if format == Format2 {
		for _, p := range []string{"/g", "/g/sub", "/g/sub/empty"} {
			putFile(t, m, p+"/.zgroup", `{"zarr_format": 2}`)
		}
		putFile(t, m, "/g/.zattrs", `{"title": "two"}`)
	} else {
		for _, p := range []string{"/g", "/g/sub", "/g/sub/empty"} {
			putFile(t, m, p+"/zarr.json", `{"zarr_format": 3, "node_type": "group", "attributes": {"title": "two"}}`)
		}
	}
	for i, p := range []string{"/g/a", "/g/sub/b"} {
		f, err := format.Create(ctx, m, p, ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{5}, Chunks: []int64{2}})
		if err == nil {
			src := ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{5}, Data: slices.Repeat([]byte{byte(i + 1)}, 5)}
			err = a.WriteBox(ctx, ndarray.Full([]int64{5}), src)
		}
		if err == nil {
			err = f.Close(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func values(t *testing.T, f ndfile.File, name string) []byte {
	t.Helper()
	a, err := f.Array(name)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := ndarray.NewBuffer(ndarray.MustParse("|u1"), a.Spec().Shape)
	if err == nil {
		err = a.ReadBox(ctx, ndarray.Full(dst.Shape), dst)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dst.Data
}

// TestGroup opens groups as datasets, changes an array of one, and verifies it.
func TestGroup(t *testing.T) {
	for _, format := range []ndfile.Format{Format2, Format3} {
		m := makeGroup(t, format)
		f, err := format.Open(ctx, m, "/g", ndfile.OpenOptions{Mode: ndfile.Update})
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind() != ndfile.Dataset || !slices.Equal(f.Names(), []string{"a", "sub/b"}) {
			t.Errorf("%s: %s of %q", format.Name(), f.Kind(), f.Names())
		}
		if title, _ := f.Attrs().Get("title"); title.Kind() == 0 {
			t.Errorf("%s: attributes %v", format.Name(), f.Attrs().Keys())
		}
		if got := values(t, f, "sub/b"); string(got) != "\x02\x02\x02\x02\x02" {
			t.Errorf("%s: sub/b is %x", format.Name(), got)
		}
		for _, name := range []string{"", "b", "sub", "sub/empty", "sub/b/", "../g/a"} {
			if _, err := f.Array(name); !errors.Is(err, ndfile.ErrName) {
				t.Errorf("%s: the array %q: %v", format.Name(), name, err)
			}
		}
		a, _ := f.Array("a")
		one := ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{1}, Data: []byte{9}}
		if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{3}, Count: []int64{1}}, one); err != nil {
			t.Error(err)
		}
		if !ndfile.Locked(f) {
			t.Errorf("%s: a group open for changes is not locked", format.Name())
		}
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
		if _, err := f.Array("a"); !errors.Is(err, ndfile.ErrHandle) {
			t.Errorf("%s: an array of a closed group: %v", format.Name(), err)
		}
		putFile(t, m, "/g/sub/b/0", "damage")
		var found []string
		err = format.(ndfile.Verifier).Verify(ctx, m, "/g", ndfile.VerifyOptions{}, func(p ndfile.Problem) { found = append(found, p.Array+" "+p.Path) })
		if err != nil || !slices.Equal(found, []string{"sub/b /g/sub/b/0"}) {
			t.Errorf("%s: verify: %q, %v", format.Name(), found, err)
		}
	}
}

// TestConsolidated reads groups of which only consolidated metadata are left, and
// refuses copies that lead outside.
func TestConsolidated(t *testing.T) {
	m := makeGroup(t, Format2)
	document := func(path string) string {
		buf := make([]byte, 1<<16)
		n, _, err := m.ReadSmall(ctx, path, buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	copies := `{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"title": "copy"}, "a/.zarray": ` +
		document("/g/a/.zarray") + `, "sub/.zgroup": {"zarr_format": 2}, "sub/b/.zarray": ` + document("/g/sub/b/.zarray") + `}}`
	for _, path := range []string{"/g/.zgroup", "/g/.zattrs", "/g/a/.zarray", "/g/sub/b/.zarray", "/g/sub/.zgroup"} {
		if err := m.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	putFile(t, m, "/g/.zmetadata", copies)
	f, err := Format2.Open(ctx, m, "/g", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, f, "a"); !slices.Equal(f.Names(), []string{"a", "sub/b"}) || string(got) != "\x01\x01\x01\x01\x01" {
		t.Errorf("%q, a is %x", f.Names(), got)
	}
	if title, _ := f.Attrs().Get("title"); title.Kind() == 0 {
		t.Errorf("attributes %v", f.Attrs().Keys())
	}
	for _, bad := range []string{"../x/.zarray", "/x/.zarray", "a//.zarray", `a\\b/.zarray`, "a/./.zarray"} {
		putFile(t, m, "/g/.zmetadata", strings.Replace(copies, "a/.zarray", bad, 1))
		if _, err := Format2.Open(ctx, m, "/g", ndfile.OpenOptions{}); !errors.Is(err, ndfile.ErrCorrupt) {
			t.Errorf("a copy of %s: %v", bad, err)
		}
	}
}
