package ds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// sample is a dataset with every kind of variable.
func sample() map[string]content {
	r := rand.New(rand.NewPCG(7, 7))
	all := map[string]content{}
	for _, d := range []string{"<f8", ">i4", "|b1", "bytes", "str"} {
		for i := range 2 {
			c := randomOf(r, ndarray.MustParse(d), 60)
			for c.count() == 0 || c.masked != (i == 1) {
				c = randomOf(r, c.dtype, 60)
			}
			all[fmt.Sprint(d, i)] = c
		}
	}
	return all
}

func itemsFor(all map[string]content) []ndfile.Item {
	r := rand.New(rand.NewPCG(8, 8))
	var items []ndfile.Item
	for name, c := range all {
		items = append(items, c.item(r, name))
	}
	return items
}

// writeAll writes a dataset through Create; any error aborts it.
func writeAll(fsys ndfile.FS, path string, all map[string]content, opt ndfile.WriteOptions) error {
	f, err := Format.Create(ctx, fsys, path, ndfile.CreateOptions{WriteOptions: opt})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(9, 9))
	for name, c := range all {
		a, err := f.Add(ctx, name, ndfile.Spec{DType: c.dtype, Shape: c.shape, Masked: c.masked})
		if err == nil {
			err = writeBox(r, a, c, ndarray.Full(c.shape))
		}
		if err != nil {
			f.Abort()
			return err
		}
	}
	return f.Close(ctx)
}

// writeDeclared is writeAll of plain numbers that are all declared before the first is
// written.
func writeDeclared(fsys ndfile.FS, path string, opt ndfile.WriteOptions) error {
	f, err := Format.Create(ctx, fsys, path, ndfile.CreateOptions{WriteOptions: opt})
	if err != nil {
		return err
	}
	b, _ := ndarray.NewBuffer(ndarray.MustParse("<i4"), []int64{40})
	var arrays []ndfile.Array
	for _, name := range []string{"x", "y"} {
		a, err := f.Add(ctx, name, ndfile.Spec{DType: b.DType, Shape: b.Shape})
		if err != nil {
			f.Abort()
			return err
		}
		arrays = append(arrays, a)
	}
	for _, a := range arrays {
		if err := a.WriteBox(ctx, ndarray.Full(b.Shape), b); err != nil {
			f.Abort()
			return err
		}
	}
	return f.Close(ctx)
}

// TestFaults makes every call of the file system fail once, in all ways of
// writing: the old file is there or the new one, and nothing else.
func TestFaults(t *testing.T) {
	all := sample()
	small := itemsFor(all)
	long := append(small, ndfile.Item{Name: "long", Data: ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{3 * smallFile}, Data: make([]byte, 3*smallFile)}})
	old := []byte("the old file")
	for what, write := range map[string]func(fsys ndfile.FS, opt ndfile.WriteOptions) error{
		"save": func(fsys ndfile.FS, opt ndfile.WriteOptions) error {
			return Format.(ndfile.OneShot).Save(ctx, fsys, "x.ds", small, ndfile.SaveOptions{WriteOptions: opt})
		},
		"save long": func(fsys ndfile.FS, opt ndfile.WriteOptions) error {
			return Format.(ndfile.OneShot).Save(ctx, fsys, "x.ds", long, ndfile.SaveOptions{WriteOptions: opt})
		},
		"create":   func(fsys ndfile.FS, opt ndfile.WriteOptions) error { return writeAll(fsys, "x.ds", all, opt) },
		"declared": func(fsys ndfile.FS, opt ndfile.WriteOptions) error { return writeDeclared(fsys, "x.ds", opt) },
	} {
		for _, opt := range []ndfile.WriteOptions{{}, {Sync: true}, {Commit: ndfile.CommitDirect}} {
			whole := ndfile.NewMem()
			if err := write(whole, opt); err != nil {
				t.Fatal(what, err)
			}
			want := readAll(t, whole, "x.ds")
			calls := int64(1)
			for i := int64(0); i < calls; i++ {
				for _, mode := range []string{"once", "from", "short"} {
					mem := ndfile.NewMem()
					if err := mem.WriteFile("x.ds", [][]byte{old}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}); err != nil {
						t.Fatal(err)
					}
					fault := vfs.NewFault(mem)
					broken := errors.New("broken disk")
					switch mode {
					case "once":
						fault.FailAt(i, broken)
					case "from":
						fault.FailFrom(i, broken)
					default:
						fault.ShortWriteAt(i)
					}
					err := write(fault, opt)
					calls = max(calls, fault.Count())
					place := fmt.Sprintf("%s %+v, call %d %s", what, opt, i, mode)
					checkAfterFault(t, place, mem, err, old, want, mode == "from", opt)
				}
			}
			if calls < 3 {
				t.Errorf("%s: only %d calls", what, calls)
			}
		}
	}
}

func checkAfterFault(t *testing.T, place string, mem *ndfile.Mem, err error, old, want []byte, dead bool, opt ndfile.WriteOptions) {
	t.Helper()
	list, lerr := mem.ReadDir(".")
	if lerr != nil {
		t.Fatal(lerr)
	}
	found := []byte(nil)
	for _, e := range list {
		switch {
		case e.Name == "x.ds":
			found = readAll(t, mem, "x.ds")
		case !dead || !vfs.IsTempName(e.Name): // who cannot remove leaves something
			if !vfs.IsTempName(e.Name) || err == nil {
				t.Errorf("%s: %s is left, error %v", place, e.Name, err)
			}
		}
	}
	switch {
	case err == nil && !bytes.Equal(found, want):
		t.Errorf("%s: no error, but the file is not the new one", place)
	case opt.Commit == ndfile.CommitDirect:
	case err != nil && !bytes.Equal(found, old) && !bytes.Equal(found, want):
		t.Errorf("%s: neither the old file nor the new one: %.80q", place, found)
	}
}

// TestAbort leaves nothing behind.
func TestAbort(t *testing.T) {
	mem := ndfile.NewMem()
	f, err := Format.Create(ctx, mem, "x.ds", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(ctx, "x", ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{4}})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := ndarray.NewBuffer(ndarray.MustParse("<i4"), []int64{4})
	if err := a.WriteBox(ctx, ndarray.Full(b.Shape), b); err != nil {
		t.Fatal(err)
	}
	if list, _ := mem.ReadDir("."); len(list) != 1 || !vfs.IsTempName(list[0].Name) {
		t.Errorf("before: %v", list)
	}
	if err := f.Abort(); err != nil {
		t.Error(err)
	}
	if list, _ := mem.ReadDir("."); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
	if err := a.WriteBox(ctx, ndarray.Full(b.Shape), b); ndfile.KindOf(orNil(err)) != ndfile.ErrHandle {
		t.Errorf("write after abort: %v", err)
	}
	if err := f.Close(ctx); ndfile.KindOf(orNil(err)) != ndfile.ErrHandle {
		t.Errorf("close after abort: %v", err)
	}
	// A canceled Close leaves nothing either.
	canceled, cancel := context.WithCancel(ctx)
	f, _ = Format.Create(ctx, mem, "x.ds", ndfile.CreateOptions{})
	cancel()
	if err := f.Close(canceled); ndfile.KindOf(orNil(err)) != ndfile.ErrCanceled {
		t.Errorf("canceled: %v", err)
	}
	if list, _ := mem.ReadDir("."); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
}

// TestOrder writes what may come in any order, and refuses what may not.
func TestOrder(t *testing.T) {
	mem := ndfile.NewMem()
	f, err := Format.Create(ctx, mem, "x.ds", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plain := randomOf(rand.New(rand.NewPCG(1, 1)), ndarray.MustParse(">i2"), 1)
	plain.shape, plain.data, plain.masked, plain.mask = []int64{7, 6}, make([]byte, 84), false, nil
	for i := range plain.data {
		plain.data[i] = byte(i * 7)
	}
	add := func(name string, spec ndfile.Spec) ndfile.Array {
		t.Helper()
		a, err := f.Add(ctx, name, spec)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	refused := func(what string, err error, kind *ndfile.ErrorKind, text string) {
		t.Helper()
		if ndfile.KindOf(orNil(err)) != kind || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %v with %q", what, err, kind, text)
		}
	}
	r := rand.New(rand.NewPCG(2, 2))
	a := add("plain", ndfile.Spec{DType: plain.dtype, Shape: plain.shape})
	for _, column := range []int64{3, 0, 5, 1, 1, 2} {
		box := ndarray.Box{Start: []int64{0, column}, Count: []int64{7, 1}}
		if err := writeBox(r, a, plain, box); err != nil {
			t.Fatal(err)
		}
	}
	m := add("masked", ndfile.Spec{DType: plain.dtype, Shape: plain.shape, Masked: true})
	rows := func(start, n, columns int64) ndarray.Box {
		return ndarray.Box{Start: []int64{start, 0}, Count: []int64{n, columns}}
	}
	refused("a later row", writeBox(r, m, plain, rows(1, 1, 6)), ndfile.ErrOrder, "from row 0 on")
	refused("part of a row", writeBox(r, m, plain, rows(0, 1, 5)), ndfile.ErrOrder, "whole rows")
	if err := writeBox(r, m, plain, rows(0, 2, 6)); err != nil {
		t.Fatal(err)
	}
	refused("a row twice", writeBox(r, m, plain, rows(1, 1, 6)), ndfile.ErrOrder, "from row 2 on")
	refused("too many rows", writeBox(r, m, content{dtype: plain.dtype, shape: []int64{9, 6}, data: make([]byte, 108)}, rows(2, 6, 6)), ndfile.ErrBounds, "")
	if err := writeBox(r, m, plain, rows(2, 5, 6)); err != nil {
		t.Fatal(err)
	}
	b := add("bool", ndfile.Spec{DType: ndarray.MustParse("|b1"), Shape: []int64{3}})
	mask := []byte{0, 1, 0}
	flags := ndarray.Buffer{DType: ndarray.MustParse("|b1"), Shape: []int64{3}, Data: []byte{1, 0, 1}}
	refused("a mask", b.(ndfile.Masked).WriteMasked(ctx, ndarray.Full([]int64{3}), flags, mask), ndfile.ErrMasked, "not declared")
	refused("another type", b.WriteBox(ctx, ndarray.Full([]int64{3}), ndarray.Buffer{DType: ndarray.MustParse("|i1"), Shape: []int64{3}, Data: []byte{1, 0, 1}}), ndfile.ErrDType, "")
	refused("strings", b.(ndfile.Strings).WriteStrings(ctx, ndarray.Full([]int64{3}), make([]int64, 4), nil, nil), ndfile.ErrDType, "")
	refused("reading", b.ReadBox(ctx, ndarray.Full([]int64{3}), flags), ndfile.ErrNotSupported, "while it is written")
	if err := b.WriteBox(ctx, ndarray.Full([]int64{3}), flags); err != nil {
		t.Fatal(err)
	}
	s := add("scalar", ndfile.Spec{DType: ndarray.MustParse("str")})
	if err := s.(ndfile.Strings).WriteStrings(ctx, ndarray.Full(nil), []int64{0, 2}, []byte("ab"), nil); err != nil {
		t.Fatal(err)
	}
	refused("a scalar twice", s.(ndfile.Strings).WriteStrings(ctx, ndarray.Full(nil), []int64{0, 2}, []byte("ab"), nil), ndfile.ErrOrder, "already")
	add("empty", ndfile.Spec{DType: ndarray.MustParse("<f4"), Shape: []int64{0, 3}})
	add("nothing", ndfile.Spec{DType: ndarray.MustParse("<f4"), NoData: true})
	wide := add("wide", ndfile.Spec{DType: ndarray.MustParse("<f8"), Shape: []int64{2}, Masked: true})
	narrow := ndarray.Buffer{DType: ndarray.MustParse(">i2"), Shape: []int64{2}, Data: []byte{1, 0, 0, 2}}
	if err := wide.WriteBox(ctx, ndarray.Full([]int64{2}), narrow); err != nil {
		t.Error(err)
	}
	if err := f.Close(ctx); ndfile.KindOf(orNil(err)) != ndfile.ErrOrder || !strings.Contains(err.Error(), `"plain"`) || !strings.Contains(err.Error(), "number 4") {
		t.Errorf("close with a column not written: %v", err)
	}
	if list, _ := mem.ReadDir("."); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
}

// TestPlainBoxes writes plain numbers by random boxes until all are there.
func TestPlainBoxes(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := randomOf(r, ndarray.MustParse(">f4"), 500)
		c.masked, c.mask = false, nil
		mem := ndfile.NewMem()
		f, err := Format.Create(ctx, mem, "x.ds", ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Add(ctx, "x", ndfile.Spec{DType: c.dtype, Shape: c.shape})
		if err != nil {
			t.Fatal(err)
		}
		index := content{dtype: ndarray.MustParse("<i8"), shape: c.shape, data: make([]byte, 8*c.count())}
		for i := range c.count() {
			copy(index.data[8*i:], nativeBytes(uint64(i), 8))
		}
		seen := map[string]bool{}
		for len(seen) < int(c.count()) {
			box := randomBox(r, c.shape)
			if err := writeBox(r, a, c, box); err != nil {
				t.Fatal(err)
			}
			part := index.at(box)
			for ; len(part.data) > 0; part.data = part.data[8:] {
				seen[string(part.data[:8])] = true
			}
			if p := a.(*pending); (p.done.FirstMissing(p.count) < 0) != (len(seen) == int(c.count())) {
				t.Fatalf("seed %d: %d of %d written, first missing %d", seed, len(seen), p.count, p.done.FirstMissing(p.count))
			}
		}
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
		got, err := readFile(mem, "x.ds")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "x", got["x"], c.stored())
	}
}

// TestManyVariables writes 10,000 variables and counts the calls of the file
// system: they grow with the variables, not with their square.
func TestManyVariables(t *testing.T) {
	calls := func(n int) int64 {
		fault := vfs.NewFault(ndfile.NewMem())
		all := map[string]content{}
		for i := range n {
			all[fmt.Sprint("v", i)] = content{dtype: ndarray.MustParse("|u1"), shape: []int64{1}, data: []byte{byte(i)}}
		}
		if err := writeAll(fault, "x.ds", all, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		written := fault.Count()
		f, err := Format.Open(ctx, fault, "x.ds", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close(ctx)
		for _, name := range f.Names() {
			a, err := f.Array(name)
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, readArray(a), all[name])
		}
		return written
	}
	few, many := calls(1000/thin), calls(10000/thin)
	if many > 11*few {
		t.Errorf("1,000 variables take %d calls, 10,000 take %d", few, many)
	}
}

// TestSavedLikeReference reads a file of ds-format, changes it, and saves it as
// ds-format 5.0.2 does: testdata/more.py.
func TestSavedLikeReference(t *testing.T) {
	items, attrs := itemsOf(t, ndfile.OS, "testdata/valid/attrs.ds")
	it := &items[0]
	it.Attrs.Set("units", pyjson.String("m"))
	it.Attrs.Delete("big")
	it.Attrs.Set("new", pyjson.List(pyjson.Int(1)))
	it.Attrs.Set(".dot2", pyjson.String("x"))
	it.Dims = []string{"t", "u"}
	it.Data = ndarray.Buffer{DType: ndarray.MustParse(">f4"), Shape: []int64{2, 1}, Data: []byte{0x3f, 0, 0, 0, 0x3f, 0x80, 0, 0}}
	attrs.Set("title", pyjson.String("other"))
	want, err := os.ReadFile("testdata/rewritten.ds")
	if err != nil {
		t.Fatal(err)
	}
	mem := ndfile.NewMem()
	if err := save(mem, "x.ds", items, attrs); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, mem, "x.ds"); !bytes.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	// The same through Create.
	f, err := Format.Create(ctx, mem, "y.ds", ndfile.CreateOptions{Attrs: attrs})
	if err != nil {
		t.Fatal(err)
	}
	if err := ndfile.SaveFile(ctx, f, items); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, mem, "y.ds"); !bytes.Equal(got, want) {
		t.Errorf("create: %q\nwant\n%q", got, want)
	}
}

// TestRefused saves what the format cannot hold.
func TestRefused(t *testing.T) {
	mem := ndfile.NewMem()
	check := func(what string, kind *ndfile.ErrorKind, items ...ndfile.Item) {
		t.Helper()
		err := save(mem, "x.ds", items, nil)
		if ndfile.KindOf(orNil(err)) != kind {
			t.Errorf("%s: %v, want %v", what, err, kind)
		}
		if list, _ := mem.ReadDir("."); len(list) != 0 {
			t.Fatalf("%s: left %v", what, list)
		}
	}
	for _, name := range []string{"<f2", "<f16", "<c8", "<c16", "<c4", "<M8[s]", "<m8[s]", "|V3", "bfloat16", "<i16", "<u16", `[["a", "<i4"]]`} {
		d := ndarray.MustParse(name)
		check(name, ndfile.ErrDType, ndfile.Item{Name: "x", Data: ndarray.Buffer{DType: d, Data: make([]byte, d.Size)}})
		f, _ := Format.Create(ctx, mem, "x.ds", ndfile.CreateOptions{})
		if _, err := f.Add(ctx, "x", ndfile.Spec{DType: d}); ndfile.KindOf(orNil(err)) != ndfile.ErrDType {
			t.Errorf("add %s: %v", name, err)
		}
		f.Abort()
	}
	u1 := func(name string) ndfile.Item {
		return ndfile.Item{Name: name, Data: ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{2}, Data: []byte{1, 2}}}
	}
	with := func(change func(it *ndfile.Item)) ndfile.Item {
		it := u1("x")
		change(&it)
		return it
	}
	text := func(s string, offsets ...int64) ndfile.Item {
		return ndfile.Item{Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: []int64{int64(len(offsets)) - 1}, Data: []byte(s)}, Offsets: offsets}
	}
	check("a name twice", ndfile.ErrNameExists, u1("x"), u1("y"), u1("x"))
	check("a name that is not UTF-8", ndfile.ErrValue, u1("a\xff"))
	check("a name with a pair of surrogates", ndfile.ErrValue, u1("\xed\xa0\xbd\xed\xb8\x80"))
	check("no dtype", ndfile.ErrDType, ndfile.Item{Name: "x"})
	check("a short mask", ndfile.ErrShape, with(func(it *ndfile.Item) { it.Mask = []byte{1} }))
	check("dims", ndfile.ErrShape, with(func(it *ndfile.Item) { it.Dims = []string{"a", "b"} }))
	check("short data", ndfile.ErrBounds, with(func(it *ndfile.Item) { it.Data.Data = it.Data.Data[:1] }))
	check("text that is not UTF-8", ndfile.ErrValue, text("a\xff", 0, 1, 2))
	check("a character cut in two", ndfile.ErrValue, text("é", 0, 1, 2))
	check("offsets that fall", ndfile.ErrBounds, text("abc", 0, 2, 1))
	check("offsets past the end", ndfile.ErrBounds, text("abc", 0, 2, 4))
	check("too few offsets", ndfile.ErrShape, with(func(it *ndfile.Item) { it.Data.DType, it.Offsets = ndarray.MustParse("bytes"), []int64{0, 1} }))
	check("a character that is none", ndfile.ErrValue, ndfile.Item{Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("<U1"), Data: []byte{0, 0xd8, 0, 0}}})
	if _, err := Format.Open(ctx, memFile(t, []byte("ds-1.0\n{}\n")), "x.ds", ndfile.OpenOptions{Mode: ndfile.Update}); ndfile.KindOf(orNil(err)) != ndfile.ErrNotSupported {
		t.Errorf("r+: %v", err)
	}
	exclusive := ndfile.SaveOptions{WriteOptions: ndfile.WriteOptions{Exclusive: true}}
	fsys := memFile(t, []byte("old"))
	if err := Format.(ndfile.OneShot).Save(ctx, fsys, "x.ds", nil, exclusive); ndfile.KindOf(orNil(err)) != ndfile.ErrExists {
		t.Errorf("save over a file: %v", err)
	}
	if _, err := Format.Create(ctx, fsys, "x.ds", exclusive); ndfile.KindOf(orNil(err)) != ndfile.ErrExists {
		t.Errorf("create over a file: %v", err)
	}
}

// TestFixedStrings saves numpy's strings of fixed size, as ds-format does.
func TestFixedStrings(t *testing.T) {
	ucs4 := func(order ndarray.Order, list ...string) (data []byte) {
		for _, s := range list {
			chars := append([]rune(s), make([]rune, 4-len([]rune(s)))...)
			for _, c := range chars {
				b := nativeBytes(uint64(c), 4)
				if order != ndarray.NativeOrder {
					slices.Reverse(b)
				}
				data = append(data, b...)
			}
		}
		return data
	}
	want := map[string]content{
		"s": {dtype: ndarray.MustParse("bytes"), shape: []int64{3}, strings: []string{"ab", "", "a\x00b"}},
		"u": {dtype: ndarray.MustParse("str"), shape: []int64{2, 2}, strings: []string{"žluť", "", "a\x00😀", "x"}},
		"m": {dtype: ndarray.MustParse("str"), shape: []int64{3}, strings: []string{"a", "", "c"}, masked: true, mask: []byte{0, 1, 0}},
	}
	mem := ndfile.NewMem()
	items := []ndfile.Item{
		{Name: "s", Data: ndarray.Buffer{DType: ndarray.MustParse("S4"), Shape: []int64{3}, Data: []byte("ab\x00\x00\x00\x00\x00\x00a\x00b\x00")}},
		{Name: "u", Data: ndarray.Buffer{DType: ndarray.MustParse(">U4"), Shape: []int64{2, 2}, Data: ucs4(ndarray.Big, "žluť", "", "a\x00😀", "x")}},
		{Name: "m", Data: ndarray.Buffer{DType: ndarray.MustParse("<U4"), Shape: []int64{3}, Data: ucs4(ndarray.Little, "a", "zzz", "c")}, Mask: []byte{0, 1, 0}},
	}
	if err := save(mem, "x.ds", items, nil); err != nil {
		t.Fatal(err)
	}
	f, err := Format.Create(ctx, mem, "y.ds", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ndfile.SaveFile(ctx, f, items); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x.ds", "y.ds"} {
		got, err := readFile(mem, path)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range want {
			same(t, path+" "+name, got[name], c)
		}
	}
}
