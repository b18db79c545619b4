package ndfile_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ds"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/rawarray"
)

var formats = []ndfile.Format{ds.Format, rawarray.Format}

func item(name, dtype string, shape ...int64) ndfile.Item {
	b, err := ndarray.NewBuffer(ndarray.MustParse(dtype), shape)
	if err != nil {
		panic(err)
	}
	for i := range b.Data {
		b.Data[i] = byte(i)
	}
	return ndfile.Item{Name: name, Data: b}
}

func save(t *testing.T, path string, trailing []byte, items ...ndfile.Item) string {
	t.Helper()
	path = filepath.Join(t.TempDir(), path)
	if err := ndfile.Save(t.Context(), formats, path, items, ndfile.SaveOptions{Trailing: trailing}); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A file converted to another format and back has the same bytes, or the loss is
// named.
func TestConvertThereAndBack(t *testing.T) {
	for _, test := range []struct {
		it     ndfile.Item
		losses []string // to ds
	}{
		{item("", "<f8", 3, 4), nil},
		{item("", ">i2", 5), nil},
		{item("", "<f4", 0, 3), nil},
		{item("", "|u1"), nil},
		{item("", "<u8", 2, 1, 3), nil},
		{item("", "<c8", 2), []string{"data"}},
		{item("", "<f2", 2), []string{"data"}},
		{item("", "|V3", 2), []string{"data"}},
	} {
		ra := save(t, "a.ra", nil, test.it)
		there, back := filepath.Join(t.TempDir(), "b.ds"), filepath.Join(t.TempDir(), "c.ra")
		losses, err := ndfile.Convert(t.Context(), formats, ra, there, ndfile.ConvertOptions{})
		if test.losses != nil {
			if err == nil || !strings.Contains(err.Error(), test.it.Data.DType.String()) {
				t.Errorf("%v: %v, %v", test.it.Data.DType, losses, err)
			}
			if list, _ := os.ReadDir(filepath.Dir(there)); len(list) > 0 {
				t.Errorf("%v: left %v", test.it.Data.DType, list)
			}
			continue
		}
		if err == nil {
			_, err = ndfile.Convert(t.Context(), formats, there, back, ndfile.ConvertOptions{})
		}
		if err != nil || !bytes.Equal(read(t, ra), read(t, back)) {
			t.Errorf("%v %v: %v", test.it.Data.DType, test.it.Data.Shape, err)
		}
	}
}

func TestConvertDSToRawArray(t *testing.T) {
	masked := item("masked", "<i4", 4)
	masked.Mask = []byte{0, 1, 0, 1}
	flags := item("flags", "|b1", 3)
	flags.Data.Data = []byte{1, 0, 1}
	texts := ndfile.Item{Name: "texts", Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: []int64{2}, Data: []byte("abc")}, Offsets: []int64{0, 1, 3}}
	dims := item("dims", "<f8", 2)
	dims.Dims = []string{"x"}
	dims.Attrs = ndfile.NewAttrs()
	dims.Attrs.Set("units", ndfile.StringValue("m"))
	path := save(t, "a.ds", nil, masked, flags, texts, dims)
	for _, test := range []struct {
		name, loss string
		want       []byte // of the elements
	}{
		{"masked", "mask", []byte{0, 1, 2, 3, 0, 0, 0, 0, 8, 9, 10, 11, 0, 0, 0, 0}},
		{"flags", "dtype", []byte{1, 0, 1}},
		{"texts", "", nil},
		{"dims", "dims", dims.Data.Data},
	} {
		out := filepath.Join(t.TempDir(), "x.ra")
		opt := ndfile.ConvertOptions{Name: test.name}
		losses, err := ndfile.Convert(t.Context(), formats, path, out, opt)
		if test.loss == "" {
			if kind := ndfile.KindOf(err); kind == ndfile.ErrLoss || err == nil || !strings.Contains(err.Error(), "str") {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if ndfile.KindOf(err) != ndfile.ErrLoss || len(losses) == 0 || losses[0].What != test.loss || losses[0].Array != test.name {
			t.Errorf("%s: %v, %v", test.name, losses, err)
		}
		opt.AllowLoss = true
		if _, err := ndfile.Convert(t.Context(), formats, path, out, opt); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if b := read(t, out); !bytes.HasSuffix(b, test.want) {
			t.Errorf("%s: % x", test.name, b)
		}
	}
	if _, err := ndfile.Convert(t.Context(), formats, path, filepath.Join(t.TempDir(), "x.ra"), ndfile.ConvertOptions{}); ndfile.KindOf(err) != ndfile.ErrArgument {
		t.Errorf("four arrays into one: %v", err)
	}
}

// Bytes after the data go along between RawArray files only.
func TestConvertTrailing(t *testing.T) {
	path := save(t, "a.ra", []byte("tail"), item("", "<f8", 2))
	dir := t.TempDir()
	if _, err := ndfile.Convert(t.Context(), formats, path, dir+"/b.ra", ndfile.ConvertOptions{}); err != nil || !bytes.Equal(read(t, path), read(t, dir+"/b.ra")) {
		t.Error(err)
	}
	if _, err := ndfile.Convert(t.Context(), formats, path, dir+"/b.ds", ndfile.ConvertOptions{}); ndfile.KindOf(err) != ndfile.ErrLoss || !strings.Contains(err.Error(), "trailing") {
		t.Error(err)
	}
}

// Every readable file of the formats' own tests converts within its format, with
// all that it holds.
func TestConvertFixtures(t *testing.T) {
	n := 0
	for _, f := range formats {
		paths, err := filepath.Glob("../" + f.Name() + "/testdata/*/*" + f.Extensions()[0])
		if err != nil {
			t.Fatal(err)
		}
		more, _ := filepath.Glob("../" + f.Name() + "/testdata/*" + f.Extensions()[0])
		for _, path := range append(paths, more...) {
			var problems []ndfile.Problem
			if err := ndfile.Verify(t.Context(), formats, path, ndfile.VerifyOptions{}, func(p ndfile.Problem) { problems = append(problems, p) }); err != nil {
				t.Fatal(err)
			}
			if len(problems) > 0 {
				continue // made to be refused
			}
			n++
			losses, err := ndfile.Convert(t.Context(), formats, path, filepath.Join(t.TempDir(), "x"+f.Extensions()[0]), ndfile.ConvertOptions{})
			if err != nil || losses != nil {
				t.Errorf("%s: %v, %v", path, losses, err)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d files were found", n)
	}
}

// Compressed chunks go from bcolz to zarr as they are, whatever is in them.
func TestConvertCopiesChunks(t *testing.T) {
	dir := t.TempDir()
	it := item("", "<i4", 2500)
	f, err := ndfile.Create(t.Context(), all.Formats, dir+"/a.bcolz", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(t.Context(), "", ndfile.Spec{DType: it.Data.DType, Shape: it.Data.Shape, Chunks: []int64{1000}, Codecs: ndfile.Compression{Codec: "zlib", Level: 9}.Codecs()})
	if err == nil {
		err = a.WriteBox(t.Context(), ndarray.Full(it.Data.Shape), it.Data)
	}
	if err == nil {
		err = f.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ndfile.Convert(t.Context(), all.Formats, dir+"/a.bcolz", dir+"/b", ndfile.ConvertOptions{To: "zarr2"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0", "1"} {
		if !bytes.Equal(read(t, dir+"/a.bcolz/data/__"+name+".blp")[16:], read(t, dir+"/b/"+name)) {
			t.Errorf("chunk %s was encoded anew", name)
		}
	}
	if len(read(t, dir+"/b/2")) <= 16 {
		t.Error("the last chunk")
	}
}

// A table on disk, through everything that works on tables.
func TestTableOnDisk(t *testing.T) {
	const n = 5000
	path := t.TempDir() + "/t.bcolz"
	f, err := ndfile.Create(t.Context(), all.Formats, path, ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, dtype := range map[string]string{"a": "<u2", "b": ">f8"} {
		it := item(name, "<u2", n)
		for i := range n {
			binary.LittleEndian.PutUint16(it.Data.Data[2*i:], uint16(i*7919))
		}
		a, err := f.Add(t.Context(), name, ndfile.Spec{DType: ndarray.MustParse(dtype), Shape: []int64{n}, Chunks: []int64{300}})
		if err == nil {
			wide, _ := ndarray.NewBuffer(ndarray.MustParse(dtype), []int64{n})
			if err = ndarray.Copy(wide, it.Data); err == nil {
				err = a.WriteBox(t.Context(), ndarray.Full(wide.Shape), wide)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f, err = ndfile.Open(t.Context(), all.Formats, path, ndfile.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	var want, got []int64
	sum := uint64(0)
	for i := range int64(n) {
		v := uint16(i * 7919)
		sum += uint64(v)
		if v >= 60000 && v != 65000 {
			want = append(want, i)
		}
	}
	q := ndfile.Query{Terms: []ndfile.Term{{Column: "a", Op: ndfile.GreaterEqual, Value: ndfile.IntValue(60000)}, {Column: "b", Op: ndfile.NotEqual, Value: ndfile.FloatValue(65000)}}}
	err = ndfile.Select(t.Context(), f, q, []string{"b"}, func(rows []int64, cols []ndarray.Buffer) (bool, error) {
		for i, row := range rows {
			if v := math.Float64frombits(binary.LittleEndian.Uint64(cols[0].Data[8*i:])); v != float64(uint16(row*7919)) {
				t.Fatalf("row %d is %v", row, v)
			}
		}
		got = append(got, rows...)
		return true, nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows, %v, expected %d", len(got), err, len(want))
	}
	a, err := f.Array("a")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ndfile.Reduce(t.Context(), a, ndarray.Full([]int64{n}), ndfile.ReduceSum)
	if err != nil || s.Sum.Uint != sum {
		t.Errorf("%+v, %v, expected %d", s, err, sum)
	}
}

func TestVerifyFiles(t *testing.T) {
	text := ndfile.Item{Name: "t", Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: []int64{2}, Data: []byte("abc")}, Offsets: []int64{0, 1, 3}}
	path := save(t, "a.ds", nil, item("x", "<f8", 100), text)
	verify := func(path string) (problems []ndfile.Problem) {
		t.Helper()
		if err := ndfile.Verify(t.Context(), formats, path, ndfile.VerifyOptions{}, func(p ndfile.Problem) { problems = append(problems, p) }); err != nil {
			t.Error(err)
		}
		return problems
	}
	if p := verify(path); p != nil {
		t.Errorf("a good file: %+v", p)
	}
	whole := read(t, path)
	spoilt := slices.Clone(whole)
	spoilt[bytes.Index(whole, []byte("abc"))-1] = 0x7f // the length of the second text
	if err := os.WriteFile(path, spoilt, 0o666); err != nil {
		t.Fatal(err)
	}
	if p := verify(path); len(p) != 1 || p[0].Array != "t" || p[0].Path != path || p[0].Kind != ndfile.ErrCorrupt {
		t.Errorf("a bad length: %+v", p)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	if p := verify(path); len(p) == 0 || p[0].Path != path {
		t.Errorf("a short file: %+v", p)
	}
	// The extension tells what a file without a magic should be.
	ra := save(t, "a.ra", nil, item("", "<f8", 2))
	b := read(t, ra)
	binary.LittleEndian.PutUint64(b, 0)
	if err := os.WriteFile(ra, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if p := verify(ra); len(p) != 1 || p[0].Path != ra || p[0].Msg == "" {
		t.Errorf("no magic: %+v", p)
	}
}
