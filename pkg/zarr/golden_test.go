package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// fixture is a case of testdata/zarr0/*/manifest.json.
type fixture struct {
	Name     string
	Shape    []int64
	Chunks   []int64
	DType    json.RawMessage
	CName    string
	CLevel   int
	Shuffle  int
	Fill     string `json:"fill_value_json"`
	Expected string
	Attrs    json.RawMessage
	Expect   string // of malformed ones
}

func fixtures(t testing.TB, kind string) []fixture {
	t.Helper()
	text, err := os.ReadFile("testdata/zarr0/" + kind + "/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Cases []fixture }
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m.Cases
}

func fixturePath(kind, name string) string { return filepath.Join("testdata/zarr0", kind, name) }

// readFile is the content of a file, "" of one that does not exist.
func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func openArray(t testing.TB, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, ndfile.Array) {
	t.Helper()
	f, err := Format0.Open(ctx, fsys, path, opt)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	return f, a
}

// readBox reads a box of an array in its own dtype.
func readBox(t testing.TB, a ndfile.Array, box ndarray.Box) []byte {
	t.Helper()
	dst, err := ndarray.NewBuffer(a.Spec().DType, box.Count)
	if err == nil {
		err = a.ReadBox(ctx, box, dst)
	}
	if err != nil {
		t.Fatalf("box %v: %v", box, err)
	}
	return dst.Data
}

// pick takes a box out of the bytes of a whole array.
func pick(t testing.TB, d ndarray.DType, shape []int64, whole []byte, box ndarray.Box) []byte {
	t.Helper()
	src, err := ndarray.Buffer{DType: d, Shape: shape, Data: whole}.Sub(box)
	if err != nil {
		t.Fatal(err)
	}
	dst, _ := ndarray.NewBuffer(d, box.Count)
	if err := ndarray.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	return dst.Data
}

func randomBox(rng *rand.Rand, shape []int64) ndarray.Box {
	b := ndarray.Box{Start: make([]int64, len(shape)), Count: make([]int64, len(shape)), Step: make([]int64, len(shape))}
	for axis, n := range shape {
		b.Step[axis] = 1 + rng.Int64N(4)
		b.Start[axis] = rng.Int64N(n + 1)
		b.Count[axis] = rng.Int64N((n-b.Start[axis]+b.Step[axis]-1)/b.Step[axis] + 1)
	}
	return b
}

func TestFixtures(t *testing.T) {
	cases := fixtures(t, "valid")
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			path := fixturePath("valid", c.Name)
			if m, err := Format0.Detect(ctx, ndfile.OS, path); m != ndfile.Certain {
				t.Errorf("Detect: %v, %v", m, err)
			}
			f, a := openArray(t, ndfile.OS, path, ndfile.OpenOptions{})
			defer f.Close(ctx)
			spec := a.Spec()
			d := mustDType(t, string(c.DType))
			if !spec.DType.Equal(d) || !slices.Equal(spec.Shape, c.Shape) || !slices.Equal(spec.Chunks, c.Chunks) ||
				!reflect.DeepEqual(spec.Codecs, ndfile.Compression{Codec: c.CName, Level: c.CLevel, Shuffle: c.Shuffle}.Codecs()) {
				t.Errorf("Spec: %+v", spec)
			}
			if fill, err := fillBytes(d, mustJSON(t, c.Fill)); err != nil || !bytes.Equal(spec.Fill, fill) || (fill == nil) != (spec.Fill == nil) {
				t.Errorf("Fill: %x, expected %x; %v", spec.Fill, fill, err)
			}
			if c.Attrs != nil {
				want := mustJSON(t, string(c.Attrs)).Object()
				for _, key := range want.Keys() {
					got, _ := f.Attrs().Get(key)
					if v, _ := want.Get(key); !got.Equal(v) {
						t.Errorf("attribute %q: %s, expected %s", key, pyjson.Append(nil, got), pyjson.Append(nil, v))
					}
				}
				if f.Attrs().Len() != want.Len() || a.Attrs() != f.Attrs() {
					t.Errorf("attributes: %v, expected %v", f.Attrs().Keys(), want.Keys())
				}
			}
			whole := []byte(readFile(t, "testdata/zarr0/valid/"+c.Expected))
			if got := readBox(t, a, ndarray.Full(c.Shape)); !bytes.Equal(got, whole) {
				t.Fatal("other values than the reference's")
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 30 {
				box := randomBox(rng, c.Shape)
				if got := readBox(t, a, box); !bytes.Equal(got, pick(t, d, c.Shape, whole, box)) {
					t.Fatalf("box %v: other values", box)
				}
			}
			if n, _ := ndarray.Count(c.Shape); n > 0 {
				one := ndarray.Box{Start: make([]int64, len(c.Shape)), Count: slices.Repeat([]int64{1}, len(c.Shape))}
				for range 20 {
					for axis := range one.Start {
						one.Start[axis] = rng.Int64N(c.Shape[axis])
					}
					if got := readBox(t, a, one); !bytes.Equal(got, pick(t, d, c.Shape, whole, one)) {
						t.Fatalf("element %v: another value", one.Start)
					}
				}
			}
		})
	}
}

// TestRewrite writes every fixture again through Create: the same documents, byte
// for byte, and the same values.
func TestRewrite(t *testing.T) {
	for _, c := range fixtures(t, "valid") {
		t.Run(c.Name, func(t *testing.T) {
			old := fixturePath("valid", c.Name)
			f, a := openArray(t, ndfile.OS, old, ndfile.OpenOptions{})
			defer f.Close(ctx)
			path := filepath.Join(t.TempDir(), "x.zarr")
			g, err := Format0.Create(ctx, ndfile.OS, path, ndfile.CreateOptions{Attrs: f.Attrs()})
			if err != nil {
				t.Fatal(err)
			}
			spec := a.Spec()
			spec.Attrs = nil
			b, err := g.Add(ctx, "", spec)
			if err != nil {
				t.Fatal(err)
			}
			whole := readBox(t, a, ndarray.Full(c.Shape))
			if err := b.WriteBox(ctx, ndarray.Full(c.Shape), ndarray.Buffer{DType: spec.DType, Shape: c.Shape, Data: whole}); err != nil {
				t.Fatal(err)
			}
			if err := g.Close(ctx); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{meta0, attrs0} {
				want := readFile(t, filepath.Join(old, name))
				switch {
				case c.Name == "json_py2": // which has blanks at the ends of lines
					want = strings.ReplaceAll(want, ", \n", ",\n")
				case c.Name == "loose_meta" && name == meta0: // edited by hand into one line
					want = string(version0.append(nil, mustJSON(t, want).Object()))
				case c.Name == "attrs_emptied" && name == attrs0: // we write none
					want = ""
				}
				if got := readFile(t, filepath.Join(path, name)); got != want {
					t.Errorf("%s is\n%s\nexpected\n%s", name, got, want)
				}
			}
			f, a = openArray(t, ndfile.OS, path, ndfile.OpenOptions{})
			defer f.Close(ctx)
			if got := readBox(t, a, ndarray.Full(c.Shape)); !bytes.Equal(got, whole) {
				t.Error("other values after writing")
			}
		})
	}
}

// TestMalformed: each abuse gives an error where its manifest says, which names
// the file, and what is whole stays readable.
func TestMalformed(t *testing.T) {
	elements := func(lo, hi int64) ndarray.Box { return ndarray.Box{Start: []int64{lo}, Count: []int64{hi - lo}} }
	read := func(a ndfile.Array, box ndarray.Box) error {
		dst, err := ndarray.NewBuffer(a.Spec().DType, box.Count)
		if err != nil {
			return err
		}
		return a.ReadBox(ctx, box, dst)
	}
	onOpen := map[string]struct {
		kind *ndfile.ErrorKind
		says string
	}{
		"chunks_rank":    {ndfile.ErrCorrupt, "chunks: expected as many extents as shape has, 1, found [8, 2]"},
		"chunks_zero":    {ndfile.ErrCorrupt, "chunks: expected extents of 1 or more, found [0]"},
		"dtype_garbage":  {ndfile.ErrDType, `found "<q9"`},
		"meta_cut":       {ndfile.ErrCorrupt, "found the end of the text"},
		"meta_no_cname":  {ndfile.ErrCorrupt, `"cname"`},
		"pickle_meta":    {ndfile.ErrNotSupported, "zarr <= 0.3"},
		"shape_negative": {ndfile.ErrCorrupt, "shape: expected extents of 0 or more, found [-3]"},
	}
	onRead := map[string]struct {
		good, bad ndarray.Box
		file      string
	}{
		"chunk_truncated":     {elements(0, 8), elements(8, 9), data0 + "/1.blosc"},
		"chunk_nbytes":        {elements(16, 20), elements(8, 16), data0 + "/1.blosc"},
		"chunk_codec_unknown": {elements(0, 1000), elements(1000, 1001), data0 + "/1.blosc"},
		"fill_list":           {elements(0, 8), elements(8, 9), meta0},
	}
	for _, c := range fixtures(t, "malformed") {
		t.Run(c.Name, func(t *testing.T) {
			path := fixturePath("malformed", c.Name)
			if want, ok := onOpen[c.Name]; ok {
				_, err := Format0.Open(ctx, ndfile.OS, path, ndfile.OpenOptions{})
				if err == nil || ndfile.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.says) {
					t.Fatalf("%v, expected %s: %s", err, want.kind.C, want.says)
				}
				if !strings.Contains(err.Error(), path+"/"+meta0) || ndfile.Offset(err) < 0 {
					t.Errorf("the file or the place is missing: %v", err)
				}
				return
			}
			f, a := openArray(t, ndfile.OS, path, ndfile.OpenOptions{})
			defer f.Close(ctx)
			if want, ok := onRead[c.Name]; ok {
				if err := read(a, want.good); err != nil {
					t.Errorf("the good chunk: %v", err)
				}
				err := read(a, want.bad)
				if k := ndfile.KindOf(err); err == nil || k != ndfile.ErrCorrupt && k != ndfile.ErrNotSupported || !strings.Contains(err.Error(), path+"/"+want.file) {
					t.Errorf("the bad chunk: %v", err)
				}
				if err := read(a, ndarray.Full(a.Spec().Shape)); err == nil {
					t.Error("all of it can be read")
				}
				return
			}
			switch c.Name {
			case "huge_lazy":
				dst := readBox(t, a, ndarray.Box{Start: []int64{5, 0}, Count: []int64{3, 2}})
				if !bytes.Equal(dst, bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0xf4, 0x3f}, 6)) {
					t.Errorf("%x, expected six times 1.25", dst)
				}
				if err := read(a, ndarray.Full(a.Spec().Shape)); err == nil {
					t.Error("all of it can be read")
				}
			case "names_outside":
				want := make([]byte, 80)
				for i := range 20 {
					want[4*i] = byte(i)
				}
				if got := readBox(t, a, elements(0, 20)); !bytes.Equal(got, want) {
					t.Errorf("%x, expected 0 to 19", got)
				}
				for i := range int64(3) {
					if raw, _, err := a.(ndfile.Chunked).ReadChunk(ctx, []int64{i}, nil); raw == nil {
						t.Errorf("chunk %d is missing: %v", i, err)
					}
				}
			default:
				t.Errorf("no test for %q", c.Expect)
			}
		})
	}
}
