package ds

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestLoadSeries loads files one after the other with the same memory, so that some
// replay the one before, and each with fresh memory: the results are the same.
func TestLoadSeries(t *testing.T) {
	const (
		x     = `"x": {".size": [2], ".offset": 0, ".len": 8, ".type": "int32", ".missing": false, ".endian": "l"}`
		y     = `"y": {".size": [], ".offset": 8, ".len": 2, ".type": "uint16", ".missing": false, ".endian": "l"}`
		body  = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"
		other = "\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a"
	)
	file := func(body string, vars ...string) string {
		return versionLine + "{" + strings.Join(append(vars, `".": {}}`), ", ") + "\n" + body
	}
	of := func(typ string) string {
		return strings.Replace(strings.Replace(x, "int32", typ, 1), `"l"`, `"b"`, 1)
	}
	first := file(body, x, y)
	empty := `"e": {".size": [0], ".offset": 9223372036854775807, ".len": 0, ".type": "int8", ".missing": false, ".endian": "b"}`
	var many []string
	for i := range seriesArrays + 1 {
		many = append(many, strings.Replace(x, "x", "x"+strconv.Itoa(i), 1))
	}
	sc := new(scratch)
	for _, c := range []struct {
		what string
		file string
		sink ndfile.Sink
		how  string // new: a series; replay: of the series before; plain: neither
	}{
		{"the first", first, ndfile.Sink{}, "new"},
		{"the same", first, ndfile.Sink{}, "replay"},
		{"other elements", file(other, x, y), ndfile.Sink{}, "replay"},
		{"one array", file(other, x, y), ndfile.Sink{One: true, Name: "y"}, "new"},
		{"the same one", first, ndfile.Sink{One: true, Name: "y"}, "replay"},
		{"another one", first, ndfile.Sink{One: true, Name: "x"}, "new"},
		{"a missing one", first, ndfile.Sink{One: true, Name: "z"}, "plain"},
		{"after an error", first, ndfile.Sink{One: true, Name: "x"}, "replay"},
		{"all of them", first, ndfile.Sink{}, "new"},
		{"another name", file(body, strings.Replace(x, "x", "w", 1), y), ndfile.Sink{}, "new"},
		{"another type", file(body, strings.Replace(x, "int32", "uint8", 1), y), ndfile.Sink{}, "new"},
		{"another shape", file(body, strings.Replace(x, "[2]", "[1]", 1), y), ndfile.Sink{}, "new"},
		{"no variables", file(""), ndfile.Sink{}, "new"},
		{"no variables again", file(""), ndfile.Sink{}, "replay"},
		{"bytes behind", first + "more", ndfile.Sink{}, "new"},
		{"none behind", first, ndfile.Sink{}, "new"},
		{"one byte less", first[:len(first)-1], ndfile.Sink{}, "plain"},
		{"whole again", first, ndfile.Sink{}, "replay"},
		{"a limit", first, ndfile.Sink{Limits: ndfile.Limits{MaxHeader: 100}}, "plain"},
		{"a limit that holds", first, ndfile.Sink{Limits: ndfile.Limits{MaxHeader: 1000}}, "new"},
		{"no room", first, ndfile.Sink{Buf: make([]byte, 100), Limits: ndfile.Limits{MaxHeader: 1000}}, "plain"},
		{"room", first, ndfile.Sink{Limits: ndfile.Limits{MaxHeader: 1000}}, "replay"},
		{"no infos", first, ndfile.Sink{Infos: make([]ndfile.LoadInfo, 1), Limits: ndfile.Limits{MaxHeader: 1000}}, "plain"},
		{"bits", file(body, of("bool")), ndfile.Sink{}, "plain"},
		{"big-endian", file(body, of("int32")), ndfile.Sink{}, "plain"},
		{"a mask", file("\x40"+body, strings.Replace(x, "false", "true", 1)), ndfile.Sink{}, "plain"},
		{"no data", file(body, strings.Replace(x, "[2]", "null", 1)), ndfile.Sink{}, "plain"},
		{"strings", file(strings.Repeat("\x00", 16), of("str")), ndfile.Sink{}, "plain"},
		{"of those the number", file(strings.Repeat("\x00", 26), of("str"), strings.Replace(y, "8", "16", 1)), ndfile.Sink{One: true, Name: "y"}, "new"},
		{"an empty one anywhere", file(body, x, empty), ndfile.Sink{}, "plain"},
		{"many variables", file(body, many...), ndfile.Sink{}, "plain"},
		{"a long header", file(body, x, `"l": {"a": "`+strings.Repeat("a", seriesHead)+`", ".size": null}`), ndfile.Sink{One: true, Name: "x"}, "plain"},
		{"nothing", "", ndfile.Sink{}, "plain"},
	} {
		before := lastSeries.Load()
		want, wantErr := load(t, new(scratch), c.file, c.sink)
		fresh := lastSeries.Load() > before
		number := sc.loads.number
		got, err := load(t, sc, c.file, c.sink)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, want %v", c.what, err, wantErr)
		}
		if got.N != want.N || got.Need != want.Need || !bytes.Equal(got.Buf, want.Buf) || !slices.Equal(got.Infos, want.Infos) {
			t.Errorf("%s: %+v\nwant %+v", c.what, got, want)
		}
		how := "plain"
		switch {
		case got.Series == 0:
		case got.Series == number:
			how = "replay"
		case got.Series > number && fresh:
			how = "new"
		}
		if how != c.how {
			t.Errorf("%s: %s, want %s", c.what, how, c.how)
		}
	}
}

// load is what Load does with the bytes of a small file, in a given scratch.
func load(t *testing.T, sc *scratch, file string, sink ndfile.Sink) (ndfile.Sink, error) {
	t.Helper()
	if sink.Buf == nil {
		sink.Buf = make([]byte, 1<<12)
	}
	if sink.Infos == nil {
		sink.Infos = make([]ndfile.LoadInfo, 2*seriesArrays)
	}
	for i := range sink.Infos {
		sink.Infos[i].StructSize = 728
	}
	n := copy(sc.buf[:], file)
	if !sc.loads.replay(sc.buf[:n], &sink) {
		sc.src = source{mem: sc.buf[:n], size: int64(n)}
		if err := sc.loadAll(ctx, &sink); err != nil {
			return sink, err
		}
	}
	for i := range sink.Infos[:sink.N] {
		if sink.Infos[i].StructSize != 728 {
			t.Error("struct_size was written")
		}
	}
	return sink, nil
}

// TestSaveSeries saves one after the other with the same memory, so that some
// replay the one before, and each with fresh memory: the files are the same.
func TestSaveSeries(t *testing.T) {
	le, be := ndarray.MustParse("<i4"), ndarray.MustParse(">i4")
	item := func(name string, d ndarray.DType, first byte, shape ...int64) ndfile.Item {
		n, err := ndarray.NBytes(shape, d.Size)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, n)
		for i := range data {
			data[i] = first + byte(i)
		}
		return ndfile.Item{Name: name, Data: ndarray.Buffer{DType: d, Shape: shape, Data: data}}
	}
	list := func(items ...ndfile.Item) []ndfile.Item { return items }
	with := func(change func(*ndfile.Item)) []ndfile.Item {
		it := item("x", le, 9, 2, 3)
		change(&it)
		return list(it)
	}
	noAttrs, attrs := ndfile.NewAttrs(), ndfile.NewAttrs()
	attrs.Set("a", ndfile.Value{})
	var many []ndfile.Item
	for i := range seriesArrays + 1 {
		many = append(many, item("x"+strconv.Itoa(i), le, 0))
	}
	sc := new(scratch)
	for _, c := range []struct {
		what  string
		items []ndfile.Item
		attrs *ndfile.Attrs
		how   string // new: a series; replay: of the series before; plain: neither
	}{
		{"the first", list(item("x", le, 0, 2, 3)), nil, "new"},
		{"other elements", list(item("x", le, 5, 2, 3)), nil, "replay"},
		{"no attributes", list(item("x", le, 5, 2, 3)), noAttrs, "replay"},
		{"attributes", list(item("x", le, 5, 2, 3)), attrs, "plain"},
		{"strides of a transposed", with(func(it *ndfile.Item) { it.Data.Strides = []int64{4, 8} }), nil, "plain"},
		{"without again", list(item("x", le, 5, 2, 3)), nil, "new"},
		{"an offset", with(func(it *ndfile.Item) { it.Data.Data, it.Data.Offset = append([]byte("abc"), it.Data.Data...), 3 }), nil, "replay"},
		{"too short", with(func(it *ndfile.Item) { it.Data.Data = it.Data.Data[:23] }), nil, "plain"},
		{"offset too far", with(func(it *ndfile.Item) { it.Data.Offset = 1 }), nil, "plain"},
		{"offset before", with(func(it *ndfile.Item) { it.Data.Offset = -1 }), nil, "plain"},
		{"after errors", list(item("x", le, 5, 2, 3)), nil, "new"},
		{"a mask", with(func(it *ndfile.Item) { it.Mask = make([]byte, 6); it.Mask[2] = 1 }), nil, "plain"},
		{"another dtype", list(item("x", be, 5, 2, 3)), nil, "new"},
		{"the same", list(item("x", be, 1, 2, 3)), nil, "replay"},
		{"another shape", list(item("x", be, 1, 3, 2)), nil, "new"},
		{"another name", list(item("y", be, 1, 3, 2)), nil, "new"},
		{"names of axes", with(func(it *ndfile.Item) {
			it.Name, it.Data.DType, it.Data.Shape, it.Dims = "y", be, []int64{3, 2}, []string{"a", "b"}
		}), nil, "plain"},
		{"an attribute", with(func(it *ndfile.Item) { it.Attrs = attrs }), nil, "plain"},
		{"extra", with(func(it *ndfile.Item) { it.Extra = attrs }), nil, "plain"},
		{"several, not sorted", list(item("z", le, 1, 2), item("", be, 2), item("e", le, 3, 0), item("y", le, 4, 1)), nil, "new"},
		{"several again", list(item("z", le, 5, 2), item("", be, 6), item("e", le, 7, 0), item("y", le, 8, 1)), nil, "replay"},
		{"in another order", list(item("y", le, 8, 1), item("z", le, 5, 2), item("", be, 6), item("e", le, 7, 0)), nil, "new"},
		{"one more", list(item("y", le, 8, 1), item("z", le, 5, 2), item("", be, 6), item("e", le, 7, 0), item("f", le, 7)), nil, "new"},
		{"none", nil, nil, "new"},
		{"none again", nil, nil, "replay"},
		{"a name twice", list(item("x", le, 1), item("x", le, 1)), nil, "plain"},
		{"bool", list(item("x", ndarray.MustParse("|b1"), 0, 9)), nil, "plain"},
		{"fixed strings", list(item("x", ndarray.MustParse("|S2"), 'a', 3)), nil, "plain"},
		{"large", list(item("x", le, 0, smallFile/4)), nil, "plain"},
		{"many", many, nil, "plain"},
		{"a long name", list(item(strings.Repeat("x", seriesHead), le, 0)), nil, "plain"},
	} {
		got, want := ndfile.NewMem(), ndfile.NewMem()
		opt := ndfile.SaveOptions{Attrs: c.attrs}
		how := "replay"
		if sc.saves.replay(make([]byte, 0, smallFile), c.items, c.attrs) == nil {
			how, sc.saves.head = "plain", sc.saves.head[:0]
		}
		err := sc.saveAll(ctx, got, "x.ds", c.items, opt)
		if how == "plain" && len(sc.saves.head) > 0 {
			how = "new"
		}
		if wantErr := new(scratch).saveAll(ctx, want, "x.ds", c.items, opt); (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, want %v", c.what, err, wantErr)
		} else if err == nil && !bytes.Equal(readAll(t, got, "x.ds"), readAll(t, want, "x.ds")) {
			t.Errorf("%s:\n%q\nwant\n%q", c.what, readAll(t, got, "x.ds"), readAll(t, want, "x.ds"))
		}
		if how != c.how {
			t.Errorf("%s: %s, want %s", c.what, how, c.how)
		}
	}
}
