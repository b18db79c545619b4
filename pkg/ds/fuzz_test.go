package ds

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// FuzzOpen reads any bytes in all ways. They must agree, and nothing may panic.
func FuzzOpen(f *testing.F) {
	for _, data := range good(f) {
		f.Add(data)
	}
	for _, fx := range fixtures(f, "malformed") {
		f.Add(readAll(f, ndfile.OS, fx.path))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all := both(t, data)
		fsys := memFile(t, data)
		file, err := Format.Open(ctx, fsys, "x.ds", ndfile.OpenOptions{})
		if err != nil {
			return
		}
		defer file.Close(ctx)
		file.Attrs()
		r := rand.New(rand.NewPCG(uint64(len(data)), 1))
		for _, name := range file.Names() {
			a, err := file.Array(name)
			if err != nil {
				t.Fatal(err)
			}
			spec, whole := a.Spec(), all[name]
			if spec.NoData || len(spec.Shape) > 0 && whole.err != nil && ndfile.KindOf(whole.err) == ndfile.ErrLimit {
				continue
			}
			box := randomBox(r, spec.Shape)
			if n, err := ndarray.Count(box.Count); err != nil || n > 1<<16 {
				continue
			}
			part := readBox(a, box)
			switch {
			case whole.err == nil:
				same(t, name, part, whole.at(box))
			case part.err == nil && ndfile.KindOf(whole.err) != ndfile.ErrCorrupt:
				t.Errorf("%q: a box is read, but all is %v", name, whole.err)
			}
		}
	})
}

// FuzzSave makes a dataset of any bytes, saves it in both ways and reads it back.
func FuzzSave(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, "name", []byte("text"), uint16(50))
	}
	f.Add(uint64(9), "\\.x", []byte("\xff\x00"), uint16(9000))
	f.Add(uint64(10), "\xed\xa0\x80", []byte(""), uint16(0))
	f.Fuzz(func(t *testing.T, seed uint64, name string, text []byte, most uint16) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := randomContent(r, int64(most%10000)+1)
		for i := range c.strings {
			if r.IntN(4) == 0 {
				c.strings[i] = string(text)
			}
		}
		for i := range c.data {
			if len(text) > 0 && c.dtype.Kind != ndarray.Bool {
				c.data[i] ^= text[i%len(text)]
			}
		}
		attrs := ndfile.NewAttrs()
		fsys := ndfile.NewMem()
		item := c.item(r, name)
		item.Attrs = attrs
		err := save(fsys, "x.ds", []ndfile.Item{item}, nil)
		if err != nil {
			if k := ndfile.KindOf(err); k != ndfile.ErrValue {
				t.Fatal(err)
			}
			return
		}
		writeRows(t, r, fsys, "y.ds", map[string]content{name: c})
		if !bytes.Equal(readAll(t, fsys, "x.ds"), readAll(t, fsys, "y.ds")) {
			t.Error("Save and Create give different files")
		}
		got := both(t, readAll(t, fsys, "x.ds"))
		if _, ok := got[name]; !ok || len(got) != 1 {
			t.Fatalf("%d variables, and %q among them: %v", len(got), name, ok)
		}
		same(t, name, got[name], c.stored())
	})
}
