package ds

import (
	"bytes"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestPlaces writes variables through Create in several orders: the file is always the
// one that Save makes, and what was declared before the first of it was written stands
// in its place before the file is closed.
func TestPlaces(t *testing.T) {
	plain := func(name string, n int) ndfile.Item {
		b, _ := ndarray.NewBuffer(ndarray.MustParse("<i4"), []int64{int64(n)})
		for i := range b.Data {
			b.Data[i] = byte(i*7 + n)
		}
		return ndfile.Item{Name: name, Data: b}
	}
	masked := plain("m", 9)
	masked.Mask = []byte{0, 1, 0, 0, 1, 0, 0, 0, 1}
	a, b, empty := plain("b", 40), plain("a", 30), plain("c", 0)
	note := ndfile.NewAttrs()
	note.Set("note", pyjson.String("longer than before"))
	for what, c := range map[string]struct {
		first, later []ndfile.Item // declared before and after the first is written
		attrs        *ndfile.Attrs // set then
		opt          ndfile.WriteOptions
		inPlace      bool
	}{
		"plain":           {first: []ndfile.Item{a, b, empty}, inPlace: true},
		"large":           {first: []ndfile.Item{a, plain("z", 400_000)}, inPlace: true},
		"one more":        {first: []ndfile.Item{a}, later: []ndfile.Item{b}},
		"one more, empty": {first: []ndfile.Item{a, b}, later: []ndfile.Item{empty}},
		"masked":          {first: []ndfile.Item{a, masked}},
		"attributes":      {first: []ndfile.Item{a, b}, attrs: note},
		"direct":          {first: []ndfile.Item{a, b}, opt: ndfile.WriteOptions{Commit: ndfile.CommitDirect}},
	} {
		mem := ndfile.NewMem()
		all := append(append([]ndfile.Item(nil), c.first...), c.later...)
		if err := Format.(ndfile.OneShot).Save(ctx, mem, "want.ds", all, ndfile.SaveOptions{Attrs: c.attrs}); err != nil {
			t.Fatal(what, err)
		}
		want := readAll(t, mem, "want.ds")
		if err := mem.Remove("want.ds"); err != nil {
			t.Fatal(err)
		}
		f, err := Format.Create(ctx, mem, "x.ds", ndfile.CreateOptions{WriteOptions: c.opt})
		if err != nil {
			t.Fatal(what, err)
		}
		for _, items := range [][]ndfile.Item{c.first, c.later} {
			var arrays []ndfile.Array
			for i := range items {
				it := &items[i]
				a, err := f.Add(ctx, it.Name, ndfile.Spec{DType: it.Data.DType, Shape: it.Data.Shape, Masked: it.Mask != nil})
				if err != nil {
					t.Fatal(what, err)
				}
				arrays = append(arrays, a)
			}
			for i, a := range arrays {
				if err := a.(ndfile.Masked).WriteMasked(ctx, ndarray.Full(items[i].Data.Shape), items[i].Data, items[i].Mask); err != nil {
					t.Fatal(what, err)
				}
			}
		}
		for i := range c.attrs.Len() {
			f.Attrs().Set(c.attrs.At(i))
		}
		list, err := mem.ReadDir(".")
		if err != nil || len(list) != 1 {
			t.Fatal(what, list, err)
		}
		before := readAll(t, mem, list[0].Name)
		body := bytes.IndexByte(want[len(versionLine):], '\n') + len(versionLine) + 1
		if in := len(before) == len(want) && bytes.Equal(before[body:], want[body:]); in != c.inPlace {
			t.Errorf("%s: the elements are in place: %t", what, in)
		}
		if err := f.Close(ctx); err != nil {
			t.Fatal(what, err)
		}
		if got := readAll(t, mem, "x.ds"); !bytes.Equal(got, want) {
			t.Errorf("%s: got %.200q, want %.200q", what, got, want)
		}
		if list, _ := mem.ReadDir("."); len(list) != 1 {
			t.Errorf("%s: left: %v", what, list)
		}
	}
}
