package netcdf

import (
	"context"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ds"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestGroups writes groups, some without arrays, and reads them back, also through a
// format without groups.
func TestGroups(t *testing.T) {
	needLibrary(t)
	ctx := context.Background()
	dir := t.TempDir()
	formats := []ndfile.Format{Format, ds.Format}
	f, err := ndfile.Create(ctx, formats, dir+"/a.nc", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	tree := f.(ndfile.Tree)
	units := ndfile.NewAttrs()
	units.Set("units", ndfile.StringValue("m"))
	if err := tree.AddGroup(ctx, "a/b", units); err != nil {
		t.Fatal(err)
	}
	if err := tree.AddGroup(ctx, "a/b", nil); ndfile.KindOf(err) != ndfile.ErrNameExists {
		t.Errorf("a group that is there: %v", err)
	}
	if err := tree.AddGroup(ctx, "a/b c/", nil); ndfile.KindOf(err) != ndfile.ErrValue {
		t.Errorf("a name that cannot be: %v", err)
	}
	x, err := f.Add(ctx, "c/x", ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{2}})
	if err == nil {
		err = ndfile.Write(ctx, x, ndarray.Full([]int64{2}), []int32{1, 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.GroupAttrs(ctx, "d"); ndfile.KindOf(err) != ndfile.ErrName {
		t.Errorf("an unknown group: %v", err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{{"a.nc", "b.nc"}, {"b.nc", "c.ds"}, {"c.ds", "d.nc"}} {
		if losses, err := ndfile.Convert(ctx, formats, dir+"/"+step[0], dir+"/"+step[1], ndfile.ConvertOptions{}); err != nil || losses != nil {
			t.Fatal(step, losses, err)
		}
	}
	for _, name := range []string{"a.nc", "b.nc", "d.nc"} {
		f, err := ndfile.Open(ctx, formats, dir+"/"+name, ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Abort()
		tree := f.(ndfile.Tree)
		if got := tree.Groups(); !slices.Equal(got, []string{"a", "a/b", "c"}) {
			t.Errorf("%s: groups %v", name, got)
		}
		attrs, err := tree.GroupAttrs(ctx, "a/b")
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := attrs.Get("units"); !v.Equal(ndfile.StringValue("m")) {
			t.Errorf("%s: attributes %s", name, ndfile.AppendJSON(nil, attrs))
		}
		if f.Attrs().Len() != 0 {
			t.Errorf("%s: attributes of the file %s", name, ndfile.AppendJSON(nil, f.Attrs()))
		}
	}
}
