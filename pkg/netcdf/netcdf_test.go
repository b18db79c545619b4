//go:build cgo

package netcdf

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var (
	ctx     = context.Background()
	formats = []ndfile.Format{Format}
)

func open(t *testing.T, path string) ndfile.File {
	t.Helper()
	needLibrary(t)
	f, err := ndfile.Open(ctx, formats, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Abort() })
	return f
}

func create(t *testing.T) (f ndfile.File, path string) {
	t.Helper()
	needLibrary(t)
	path = filepath.Join(t.TempDir(), "f.nc")
	f, err := ndfile.Create(ctx, formats, path, ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Abort() })
	return f, path
}

func attrs(t *testing.T, text string) *ndfile.Attrs {
	t.Helper()
	a, err := ndfile.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// isKind checks the kind of an error and that its text says what is wrong.
func isKind(t *testing.T, err error, kind *ndfile.ErrorKind, says string) {
	t.Helper()
	if err == nil || ndfile.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s with %q", err, kind.Text, says)
	}
}

func ints(shape []int64, v ...byte) ndarray.Buffer {
	return ndarray.Buffer{DType: ndarray.MustParse("|i1"), Shape: shape, Data: v}
}

// TestUserTypes: a variable of a type without dtype is refused by name, and the
// others are read.
func TestUserTypes(t *testing.T) {
	f := open(t, "testdata/users.nc")
	if want := []string{"pairs", "colours", "plain"}; !slices.Equal(f.Names(), want) {
		t.Errorf("names: got %q, want %q", f.Names(), want)
	}
	pairs, err := f.Array("pairs")
	if err != nil || pairs.Spec().DType.String() != `[["a", "<i4"], ["b", "<f8"]]` {
		t.Fatalf("pairs: %v, %v", pairs, err)
	}
	_, err = f.Array("rows")
	isKind(t, err, ndfile.ErrDType, `variable-length type "ragged"`)
	a, err := f.Array("colours")
	if err != nil {
		t.Fatal(err)
	}
	b := ndarray.Buffer{DType: a.Spec().DType, Shape: []int64{2}, Data: make([]byte, 2)}
	mask := make([]byte, 2)
	if err := a.(ndfile.Masked).ReadMasked(ctx, ndarray.Full(b.Shape), b, mask); err != nil || string(b.Data) != "\x01\x00" || string(mask) != "\x00\x01" {
		t.Errorf("colours: %v, mask %v, %v", b.Data, mask, err)
	}
	isKind(t, a.ReadBox(ctx, ndarray.Full(b.Shape), b), ndfile.ErrMasked, "")
}

// TestFillValue: what is given to Add stands for missing elements, so that present
// ones cannot have it.
func TestFillValue(t *testing.T) {
	f, path := create(t)
	shape := []int64{3}
	a, err := f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: shape, Masked: true, Attrs: attrs(t, `{"_FillValue": -9, "units": "K"}`)})
	if err != nil {
		t.Fatal(err)
	}
	box := ndarray.Full(shape)
	minus9 := byte(0xf7)
	isKind(t, a.WriteBox(ctx, box, ints(shape, 1, minus9, 3)), ndfile.ErrValue, "-9")
	if err := a.(ndfile.Masked).WriteMasked(ctx, box, ints(shape, 1, 2, 3), []byte{0, 1, 0}); err != nil {
		t.Fatal(err)
	}
	_, err = f.Add(ctx, "b", ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: shape, Attrs: attrs(t, `{"_FillValue": 999}`)})
	isKind(t, err, ndfile.ErrValue, "999")
	c, err := f.Add(ctx, "c", ndfile.Spec{DType: ndarray.MustParse("<f4"), Shape: nil, Attrs: attrs(t, `{"_FillValue": -999}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteBox(ctx, ndarray.Box{}, ndarray.Buffer{DType: ndarray.MustParse("<f4"), Data: make([]byte, 4)}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	g := open(t, path)
	for name, want := range map[string]string{"a": `{"_FillValue": -9, "units": "K"}`, "c": `{"_FillValue": -999}`} {
		a, err := g.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(ndfile.AppendJSON(nil, a.Attrs())); got != want {
			t.Errorf("attributes of %s: got %s, want %s", name, got, want)
		}
	}
}

// TestLateFillValue: after Add it is too late.
func TestLateFillValue(t *testing.T) {
	f, path := create(t)
	a, err := f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: []int64{1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteBox(ctx, ndarray.Full([]int64{1}), ints([]int64{1}, 1)); err != nil {
		t.Fatal(err)
	}
	a.Attrs().Set("_FillValue", ndfile.IntValue(1))
	isKind(t, f.Close(ctx), ndfile.ErrNotSupported, "_FillValue")
	if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestRefused: what NetCDF does not have is refused when it is added.
func TestRefused(t *testing.T) {
	f, _ := create(t)
	i1, shape := ndarray.MustParse("|i1"), []int64{2}
	if _, err := f.Add(ctx, "g/first", ndfile.Spec{DType: i1, Shape: shape, Dims: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spec ndfile.Spec
		kind *ndfile.ErrorKind
		says string
	}{
		"half":    {ndfile.Spec{DType: ndarray.MustParse("<f2"), Shape: shape}, ndfile.ErrDType, "<f2"},
		"time":    {ndfile.Spec{DType: ndarray.MustParse("<M8[ns]"), Shape: shape}, ndfile.ErrDType, "M8"},
		"bytes":   {ndfile.Spec{DType: ndarray.MustParse("bytes"), Shape: shape}, ndfile.ErrDType, "bytes"},
		"none":    {ndfile.Spec{DType: i1, Shape: shape, NoData: true}, ndfile.ErrNotSupported, "without data"},
		"texts":   {ndfile.Spec{DType: ndarray.MustParse("str"), Shape: shape, Masked: true}, ndfile.ErrNotSupported, "missing strings"},
		"g/other": {ndfile.Spec{DType: i1, Shape: []int64{3}, Dims: []string{"x"}}, ndfile.ErrValue, `dimension "x" has the length 2`},
		"axis":    {ndfile.Spec{DType: i1, Shape: shape, Dims: []string{"_unnamed_2"}}, ndfile.ErrValue, "_unnamed_"},
		"g":       {ndfile.Spec{DType: i1, Shape: shape}, ndfile.ErrNameExists, "group"},
		"a//b":    {ndfile.Spec{DType: i1, Shape: shape}, ndfile.ErrValue, "1 to 256 bytes"},
		"end ":    {ndfile.Spec{DType: i1, Shape: shape}, ndfile.ErrValue, "space"},
		"mark":    {ndfile.Spec{DType: i1, Shape: shape, Attrs: attrs(t, `{"_ndfile": 1}`)}, ndfile.ErrValue, "for itself"},
		"deep":    {ndfile.Spec{DType: i1, Shape: slices.Repeat([]int64{1}, 33)}, ndfile.ErrNotSupported, "32 axes"},
	} {
		_, err := f.Add(ctx, name, c.spec)
		isKind(t, err, c.kind, c.says)
	}
	_, err := ndfile.Open(ctx, formats, "testdata/cdf1.nc", ndfile.OpenOptions{Mode: ndfile.Update})
	isKind(t, err, ndfile.ErrNotSupported, "r+")
}

// TestStrings: texts of all lengths in a box of several axes, in pieces and with steps.
func TestStrings(t *testing.T) {
	f, path := create(t)
	shape := []int64{3, 2}
	texts := []string{"", "a", "naïve", strings.Repeat("long ", 1000), "😀", "last"}
	for _, dtype := range []string{"str", "<U7"} {
		a, err := f.Add(ctx, strings.Trim(dtype, "<"), ndfile.Spec{DType: ndarray.MustParse(dtype), Shape: shape})
		if err != nil {
			t.Fatal(err)
		}
		w := a.(ndfile.Strings)
		for row := range int64(3) {
			one, two := texts[2*row], texts[2*row+1]
			box := ndarray.Box{Start: []int64{row, 0}, Count: []int64{1, 2}}
			if err := w.WriteStrings(ctx, box, []int64{0, int64(len(one)), int64(len(one + two))}, []byte(one+two), nil); err != nil {
				t.Fatal(err)
			}
		}
		isKind(t, w.WriteStrings(ctx, ndarray.Box{Start: []int64{0, 0}, Count: []int64{1, 1}}, []int64{0, 2}, []byte("a\x00"), nil), ndfile.ErrValue, "NUL")
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	g := open(t, path)
	for _, name := range g.Names() {
		a, err := g.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		if a.Spec().Dims != nil || a.Spec().DType.String() != "str" {
			t.Errorf("%s: %v", name, a.Spec())
		}
		for _, c := range []struct {
			box  ndarray.Box
			want []string
		}{
			{ndarray.Full(shape), texts},
			{ndarray.Box{Start: []int64{0, 1}, Count: []int64{2, 1}, Step: []int64{2, 1}}, []string{texts[1], texts[5]}},
		} {
			offsets := make([]int64, len(c.want)+1)
			data, err := ndfile.ReadAllStrings(ctx, a, c.box, offsets, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				if got := string(data[offsets[i]:offsets[i+1]]); got != want {
					t.Errorf("%s, string %d: got %.20q, want %.20q", name, i, got, want)
				}
			}
		}
	}
}

// TestAttributes: those of groups have the group's path, and what NetCDF has no
// type for comes back too.
func TestAttributes(t *testing.T) {
	f, path := create(t)
	const text = `{"title": "naïve", "one": 1, "float": 1.0, "list": [1, 2], "single": [1], "mixed": [1, 2.0, "x", null], "yes": true, ` +
		`"nothing": null, "object": {"a": [{}]}, "words": ["a", "b"], "big": 12345678901234567890123, "empty": "", "none": [], "nan": NaN}`
	want := attrs(t, text)
	for i := range want.Len() {
		f.Attrs().Set(want.At(i))
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := string(ndfile.AppendJSON(nil, open(t, path).Attrs())); got != string(ndfile.AppendJSON(nil, want)) {
		t.Errorf("got  %s\nwant %s", got, ndfile.AppendJSON(nil, want))
	}
}

// TestLargeSteps: boxes with steps, wide and narrow, of an array larger than a block.
func TestLargeSteps(t *testing.T) {
	f, path := create(t)
	shape := []int64{3, maxBlock/2 + 5}
	a, err := f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("|u1"), Shape: shape})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ndarray.NewBuffer(a.Spec().DType, shape)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Data {
		b.Data[i] = byte(i * 7 >> 3)
	}
	if err := a.WriteBox(ctx, ndarray.Full(shape), b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := open(t, path).Array("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range []ndarray.Box{
		ndarray.Full(shape),
		{Start: []int64{0, 3}, Count: []int64{2, shape[1] / 3}, Step: []int64{2, 3}},
		{Start: []int64{1, 0}, Count: []int64{2, 8}, Step: []int64{1, shape[1] / 8}},
	} {
		got, err := ndarray.NewBuffer(b.DType, box.Count)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := ndarray.NewBuffer(b.DType, box.Count)
		src, err := b.Sub(box)
		if err != nil {
			t.Fatal(err)
		}
		if err := ndarray.Copy(want, src); err != nil {
			t.Fatal(err)
		}
		if err := r.ReadBox(ctx, box, got); err != nil || string(got.Data) != string(want.Data) {
			t.Errorf("%v: wrong elements, %v", box, err)
		}
	}
}

// TestClassicRead reads the fixtures, and sees that a truncated one is refused.
func TestClassicRead(t *testing.T) {
	for _, name := range []string{"cdf1.nc", "cdf2.nc", "cdf5.nc"} {
		f := open(t, "testdata/"+name)
		a, err := f.Array("record")
		if err != nil {
			t.Fatal(err)
		}
		if s := a.Spec(); !slices.Equal(s.Shape, []int64{2, 3}) || !slices.Equal(s.Dims, []string{"time", "x"}) || s.Masked {
			t.Errorf("%s: %+v", name, s)
		}
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		short := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(short, data[:len(data)-20], 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = ndfile.Open(ctx, formats, short, ndfile.OpenOptions{})
		isKind(t, err, ndfile.ErrCorrupt, short)
	}
}

// TestNoLibrary: the error says in two lines what to install and what was tried.
// Classic files are read and written nevertheless.
func TestNoLibrary(t *testing.T) {
	defer func() { loaded = false }() // the next use loads it again
	path := filepath.Join(t.TempDir(), "f.nc")
	for _, c := range []struct{ library, says string }{
		{"/does/not/exist.so", "\nTried: not there: /does/not/exist.so"},
		{"libm.so.6", "\nTried: libm.so.6 (it has no nc_inq_libvers)"},
	} {
		t.Setenv("NDFILE_LIBNETCDF", c.library)
		loaded = false
		_, err := ndfile.Open(ctx, formats, "testdata/users.nc", ndfile.OpenOptions{})
		isKind(t, err, ndfile.ErrNotSupported, c.says)
		isKind(t, err, ndfile.ErrNotSupported, "pip install netCDF4")
		f, err := ndfile.Create(ctx, formats, path, ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("<f4")})
		isKind(t, err, ndfile.ErrNotSupported, c.says)
		if err := f.Abort(); err != nil {
			t.Error(err)
		}
		_, err = ndfile.Convert(ctx, formats, "testdata/cdf1.nc", path, ndfile.ConvertOptions{Overwrite: true})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestNormalForm: names that libnetcdf would change are refused.
func TestNormalForm(t *testing.T) {
	const name = "e\u0301" // é in two characters
	one := []int64{1}
	for what, add := range map[string]func(f ndfile.File) (ndfile.Array, error){
		"variable": func(f ndfile.File) (ndfile.Array, error) {
			return f.Add(ctx, name, ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: one})
		},
		"group": func(f ndfile.File) (ndfile.Array, error) {
			return f.Add(ctx, name+"/a", ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: one})
		},
		"dimension": func(f ndfile.File) (ndfile.Array, error) {
			return f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: one, Dims: []string{name}})
		},
		"attribute": func(f ndfile.File) (ndfile.Array, error) {
			return f.Add(ctx, "a", ndfile.Spec{DType: ndarray.MustParse("|i1"), Shape: one, Attrs: attrs(t, `{"e\u0301": 1}`)})
		},
	} {
		f, _ := create(t)
		a, err := add(f)
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full(one), ints(one, 1))
		}
		if err == nil {
			err = f.Close(ctx)
		}
		if ndfile.KindOf(err) != ndfile.ErrValue || !strings.Contains(err.Error(), "NFC") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
