package zarr

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// plant makes a folder of documents in memory.
func plant(t testing.TB, files map[string]string) *ndfile.Mem {
	t.Helper()
	mem := ndfile.NewMem()
	mem.Mkdir("/x.zarr")
	mem.Mkdir("/x.zarr/" + data0)
	for name, text := range files {
		if err := mem.WriteFile("/x.zarr/"+name, [][]byte{[]byte(text)}, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return mem
}

// document0 is a __zmeta__ with a dtype and a fill value.
func document0(dtype, fill string) string {
	return `{"chunks": [2], "clevel": 1, "cname": "lz4", "dtype": ` + dtype + `, "fill_value": ` + fill + `, "shape": [5], "shuffle": 1}`
}

// TestOpenCost: opening reads two documents, however many chunks there are.
func TestOpenCost(t *testing.T) {
	cost := func(chunks int) int64 {
		mem := plant(t, map[string]string{meta0: document0(`"<i4"`, "0"), attrs0: "{}"})
		for i := range chunks {
			mem.WriteFile("/x.zarr/__zdata__/"+string(keys0.append(nil, []int64{int64(i)})), nil, ndfile.WriteOptions{})
		}
		fault := vfs.NewFault(mem)
		f, _ := openArray(t, fault, "/x.zarr", ndfile.OpenOptions{})
		f.Close(ctx)
		return fault.Count()
	}
	few, many := cost(0), cost(3000)
	if few != many || few > 5 {
		t.Errorf("%d calls of the file system without chunks, %d with 3000; expected no more than 5", few, many)
	}
}

// TestHuge: a shape of 2^50 elements takes no memory, and boxes of it little.
func TestHuge(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, a := openArray(t, ndfile.OS, fixturePath("malformed", "huge_lazy"), ndfile.OpenOptions{})
	for i := range int64(50) {
		readBox(t, a, ndarray.Box{Start: []int64{i << 34, 7 * i}, Count: []int64{100, 20}, Step: []int64{1 << 20, 2}})
	}
	f.Close(ctx)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes allocated", used)
	}
}

// TestDefaults: what Add chooses, and the bytes of a document that has it.
func TestDefaults(t *testing.T) {
	mem := ndfile.NewMem()
	f, err := Format0.Create(ctx, mem, "/x.zarr", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse(">f8"), Shape: []int64{10, 20}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	const want = `{
    "chunks": [
        10,
        20
    ],
    "clevel": 5,
    "cname": "blosclz",
    "dtype": ">f8",
    "fill_value": 0,
    "shape": [
        10,
        20
    ],
    "shuffle": 1
}`
	buf := make([]byte, 1000)
	if n, _, err := mem.ReadSmall(ctx, "/x.zarr/__zmeta__", buf); err != nil || string(buf[:n]) != want {
		t.Errorf("%s, %v", buf[:n], err)
	}
	list, _ := mem.ReadDir("/x.zarr")
	if len(list) != 2 || list[0].Name != data0 || list[1].Name != meta0 {
		t.Errorf("the folder holds %v", list)
	}
	for _, c := range []struct {
		shape []int64
		rows  int64
		size  int
	}{
		{[]int64{10}, 0, 8}, {[]int64{1 << 40}, 0, 8}, {[]int64{0}, 0, 4}, {[]int64{0, 7}, 0, 8}, {[]int64{5, 0}, 0, 1}, {[]int64{3, 1 << 30, 5}, 0, 2},
		{[]int64{10}, 1 << 30, 8}, {[]int64{math.MaxInt64}, 0, 1}, {[]int64{1 << 40, 1 << 40, 0}, 0, 16}, {[]int64{100, 100}, 0, 1 << 22}, {nil, 0, 8}, {[]int64{1}, 0, math.MaxInt32},
	} {
		chunks := defaultChunks(c.shape, c.rows, c.size)
		n, err := ndarray.NBytes(chunks, c.size)
		if err != nil || len(chunks) != len(c.shape) || n > max(targetChunk, int64(c.size)) || slices.Contains(chunks, 0) {
			t.Errorf("shape %v, %d bytes an element: chunks %v", c.shape, c.size, chunks)
		}
		whole, err := ndarray.NBytes(c.shape, c.size)
		if (err != nil || whole > targetChunk || c.rows > 1<<20) && n*4 < targetChunk {
			t.Errorf("shape %v, %d bytes an element: chunks %v of only %d bytes", c.shape, c.size, chunks, n)
		}
	}
}

// TestLenient: fill values that make no sense do not hinder reading what is
// there, but writing.
func TestLenient(t *testing.T) {
	mem := plant(t, map[string]string{meta0: document0(`"<i4"`, "5")})
	f, a := update(t, mem, "/x.zarr")
	four := ndarray.Buffer{DType: ndarray.MustParse("<i4"), Shape: []int64{2}, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0}}
	first := ndarray.Box{Start: []int64{0}, Count: []int64{2}}
	if err := a.WriteBox(ctx, first, four); err != nil {
		t.Fatal(err)
	}
	f.Close(ctx)
	mem.WriteFile("/x.zarr/__zmeta__", [][]byte{[]byte(document0(`"<i4"`, `"x"`))}, ndfile.WriteOptions{})
	f, a = update(t, mem, "/x.zarr")
	defer f.Close(ctx)
	if got := readBox(t, a, first); !bytes.Equal(got, four.Data) {
		t.Errorf("the chunk that is there: %x", got)
	}
	says := fmt.Sprintf(`/x.zarr/__zmeta__: at byte %d: fill_value: expected a value of dtype <i4, found "x"`, strings.Index(document0(`"<i4"`, `"x"`), `"x"`))
	for name, err := range map[string]error{
		"reading a missing chunk": a.ReadBox(ctx, ndarray.Box{Start: []int64{1}, Count: []int64{2}}, four),
		"writing":                 a.WriteBox(ctx, first, four),
		"resizing":                a.(ndfile.Resizer).Resize(ctx, []int64{9}),
	} {
		if ndfile.KindOf(err) != ndfile.ErrCorrupt || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedAttrs: an array whose attributes were cut off by release 0.4 does
// not seem to have none.
func TestDamagedAttrs(t *testing.T) {
	for _, text := range []string{"", "{\n    \"a\": ", "[]", "1"} {
		mem := plant(t, map[string]string{meta0: document0(`"<i4"`, "5"), attrs0: text})
		_, err := Format0.Open(ctx, mem, "/x.zarr", ndfile.OpenOptions{})
		if ndfile.KindOf(err) != ndfile.ErrCorrupt || !strings.Contains(err.Error(), "/x.zarr/__zattr__") || !strings.Contains(err.Error(), "without this file the array opens") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestAttrsTwice: the attributes of a file and of its array are the same.
func TestAttrsTwice(t *testing.T) {
	mem := ndfile.NewMem()
	attrs := func(key, v string) *ndfile.Attrs {
		o := ndfile.NewAttrs()
		o.Set(key, pyjson.String(v))
		return o
	}
	f, err := Format0.Create(ctx, mem, "/x.zarr", ndfile.CreateOptions{Attrs: attrs("a", "1")})
	if err != nil {
		t.Fatal(err)
	}
	spec := ndfile.Spec{DType: ndarray.MustParse("<i8"), Shape: []int64{3}, Attrs: attrs("a", "2")}
	if _, err := f.Add(ctx, "", spec); ndfile.KindOf(err) != ndfile.ErrArgument || len(f.Names()) != 0 {
		t.Errorf("two values of one attribute: %v", err)
	}
	spec.Attrs = attrs("b", "2")
	spec.Attrs.Set("a", pyjson.String("1"))
	held := f.Attrs()
	a, err := f.Add(ctx, "", spec)
	if err != nil {
		t.Fatal(err)
	}
	if held != f.Attrs() || a.Attrs() != held || held.Len() != 2 {
		t.Errorf("attributes %v, of the array %v", held.Keys(), a.Attrs().Keys())
	}
	if err := f.Abort(); err != nil {
		t.Error(err)
	}
	if list, _ := mem.ReadDir("/"); len(list) != 0 {
		t.Errorf("Abort left %v", list)
	}
}

// TestExtra: what a document has beside the Spec, or spells otherwise, goes along
// to a copy and stays when the array is resized.
func TestExtra(t *testing.T) {
	const text = `{"x": [1.0, {"b": null}], "chunks": [2], "clevel": 1, "cname": "lz4", "dtype": "i4", "fill_value": 4.0, "shape": [5], "shuffle": 1}`
	mem := plant(t, map[string]string{meta0: text})
	f, a := update(t, mem, "/x.zarr")
	defer f.Close(ctx)
	spec := a.Spec()
	if got := string(ndfile.AppendJSON(nil, spec.Extra)); got != `{"x": [1.0, {"b": null}], "dtype": "i4", "fill_value": 4.0}` {
		t.Errorf("Extra: %s", got)
	}
	if !bytes.Equal(spec.Fill, []byte{4, 0, 0, 0}) {
		t.Errorf("Fill: %x", spec.Fill)
	}
	doc := func(path string) string {
		buf := make([]byte, 1000)
		n, _, err := mem.ReadSmall(ctx, path+"/"+meta0, buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(pyjson.Append(nil, mustJSON(t, string(buf[:n]))))
	}
	add := func(spec ndfile.Spec) (string, error) {
		g, err := Format0.Create(ctx, mem, "/y.zarr", ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Abort()
		if _, err := g.Add(ctx, "", spec); err != nil {
			return "", err
		}
		if err := g.Close(ctx); err != nil {
			t.Fatal(err)
		}
		return doc("/y.zarr"), nil
	}
	const sorted = `{"chunks": [2], "clevel": 1, "cname": "lz4", "dtype": "i4", "fill_value": 4.0, "shape": [5], "shuffle": 1, "x": [1.0, {"b": null}]}`
	if got, err := add(spec); err != nil || got != sorted {
		t.Errorf("copied: %s, %v", got, err)
	}
	if err := a.(ndfile.Resizer).Resize(ctx, []int64{7}); err != nil {
		t.Fatal(err)
	}
	if got := doc("/x.zarr"); got != strings.Replace(sorted, "[5]", "[7]", 1) {
		t.Errorf("resized: %s", got)
	}
	// A spelling that means something else than the Spec does not count.
	other := spec
	other.Fill, other.DType = []byte{5, 0}, ndarray.MustParse("<i2")
	if got, err := add(other); err != nil || !strings.Contains(got, `"dtype": "<i2", "fill_value": 5,`) {
		t.Errorf("another dtype and fill value: %s, %v", got, err)
	}
	other = spec
	other.Extra = ndfile.NewAttrs()
	other.Extra.Set("shape", pyjson.Int(1))
	if _, err := add(other); ndfile.KindOf(err) != ndfile.ErrArgument {
		t.Errorf("an extra shape: %v", err)
	}
	// null stays null.
	g, b := openArray(t, plant(t, map[string]string{meta0: document0(`"<i4"`, "null")}), "/x.zarr", ndfile.OpenOptions{})
	defer g.Close(ctx)
	if b.Spec().Fill != nil {
		t.Errorf("null: %x", b.Spec().Fill)
	}
	if got, err := add(b.Spec()); err != nil || !strings.Contains(got, `"fill_value": null`) {
		t.Errorf("null copied: %s, %v", got, err)
	}
}

// TestWriteChunk: chunks are copied as they are, unless release 0.4 would misread
// them.
func TestWriteChunk(t *testing.T) {
	const n = 40000
	text := strings.Replace(strings.Replace(document0(`"<i4"`, "0"), "[2]", "[10000]", 1), "[5]", "[20000]", 1)
	mem := plant(t, map[string]string{meta0: text})
	f, a := update(t, mem, "/x.zarr")
	defer f.Close(ctx)
	c := a.(ndfile.Chunked)
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i / 100)
	}
	encode := func(p blosc.Params, size int) []byte {
		p.TypeSize, p.Shuffle = 4, blosc.ByteShuffle
		raw := make([]byte, blosc.EncodeBound(size))
		m, err := blosc.Encode(raw, data[:size], p)
		if err != nil {
			t.Fatal(err)
		}
		return raw[:m]
	}
	good := encode(blosc.Params{Codec: blosc.Zlib, Level: 5, Compat18: true}, n)
	if err := c.WriteChunk(ctx, []int64{1}, good); err != nil {
		t.Fatal(err)
	}
	if got := readBox(t, a, ndarray.Box{Start: []int64{10000}, Count: []int64{10000}}); !bytes.Equal(got, data) {
		t.Error("other values than in the chunk")
	}
	raw, size, err := c.ReadChunk(ctx, []int64{1}, nil)
	if err != nil || size != n || !bytes.Equal(raw, good) || c.ChunkEncoding() != "blosc1" {
		t.Errorf("ReadChunk: %d bytes of %d, %v", len(raw), size, err)
	}
	if raw, _, err := c.ReadChunk(ctx, []int64{0}, nil); raw != nil || err != nil {
		t.Errorf("a missing chunk: %d bytes, %v", len(raw), err)
	}
	unsplit := bytes.Clone(good)
	unsplit[2] |= 0x10
	for name, bad := range map[string]struct {
		raw  []byte
		kind *ndfile.ErrorKind
	}{
		"zstd":          {encode(blosc.Params{Codec: blosc.Zstd, Level: 5}, n), ndfile.ErrNotSupported},
		"not split":     {unsplit, ndfile.ErrNotSupported},
		"another size":  {encode(blosc.Params{Codec: blosc.LZ4, Level: 5}, n/2), ndfile.ErrNotSupported},
		"no chunk":      {[]byte("no chunk of Blosc at all"), ndfile.ErrCorrupt},
		"trailing":      {append(bytes.Clone(good), 0), ndfile.ErrCorrupt},
		"nothing":       {nil, ndfile.ErrCorrupt},
		"out of bounds": {good, ndfile.ErrBounds},
	} {
		index := []int64{0}
		if name == "out of bounds" {
			index[0] = 2
		}
		if err := c.WriteChunk(ctx, index, bad.raw); ndfile.KindOf(err) != bad.kind {
			if !(name == "no chunk" && ndfile.KindOf(err) == ndfile.ErrNotSupported) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if list, _ := mem.ReadDir("/x.zarr/__zdata__"); len(list) != 1 {
		t.Errorf("chunks: %v", list)
	}
	// Its padding may be anything; it does not come into view.
	r := a.(ndfile.Resizer)
	if err := r.Resize(ctx, []int64{15000}); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteChunk(ctx, []int64{1}, good); err != nil {
		t.Fatal(err)
	}
	if err := r.Resize(ctx, []int64{20000}); err != nil {
		t.Fatal(err)
	}
	if got := readBox(t, a, ndarray.Box{Start: []int64{10000}, Count: []int64{10000}}); !bytes.Equal(got[:n/2], data[:n/2]) || !isZero(got[n/2:]) {
		t.Error("the padding of a chunk came into view")
	}
}

// TestChunkHeaders: every chunk that is written is one for release 0.4.
func TestChunkHeaders(t *testing.T) {
	for _, codec := range []string{"blosclz", "lz4", "lz4hc", "snappy", "zlib"} {
		for _, dtype := range []string{"|u1", "<i4", "<c16", "|V17", "|S300"} {
			mem := ndfile.NewMem()
			f, err := Format0.Create(ctx, mem, "/x.zarr", ndfile.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d := ndarray.MustParse(dtype)
			a, err := f.Add(ctx, "", ndfile.Spec{DType: d, Shape: []int64{3000}, Codecs: ndfile.Compression{Codec: codec, Level: 5, Shuffle: 1}.Codecs()})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.WriteBox(ctx, ndarray.Full([]int64{3000}), ndarray.Buffer{DType: d, Shape: []int64{3000}, Data: make([]byte, 3000*d.Size)}); err != nil {
				t.Fatal(err)
			}
			raw, _, err := a.(ndfile.Chunked).ReadChunk(ctx, []int64{0}, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Abort()
			info, err := blosc.Info(raw)
			size := d.Size
			if size > 255 {
				size = 1
			}
			if err != nil || info.Flags&0x10 != 0 || info.TypeSize != size || raw[0] != 2 || raw[1] != 1 {
				t.Errorf("%s, %s: %x, %v", codec, dtype, raw[:16], err)
			}
		}
	}
}

// TestCreateOver: creating replaces arrays and nothing else.
func TestCreateOver(t *testing.T) {
	attempt := func(mem *ndfile.Mem) error {
		f, err := Format0.Create(ctx, mem, "/x.zarr", ndfile.CreateOptions{})
		if err != nil {
			return err
		}
		if _, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse("<i8"), Shape: []int64{3}}); err != nil {
			t.Fatal(err)
		}
		return f.Close(ctx)
	}
	leftovers := map[string]string{meta0: document0(`"<i4"`, "0"), attrs0: "{}", "__zattr__.lock": "", "__zmeta__.lock": "", data0 + "/0.blosc": "", data0 + "/10.2.blosc": "",
		data0 + "/0.blosc.lock": "", data0 + "/1.blosc.ab_c1.partial": "", data0 + "/2.blosc.ndf-tmp-a-b-c": ""}
	mem := plant(t, leftovers)
	if err := attempt(mem); err != nil {
		t.Errorf("an array with everything that writers leave: %v", err)
	}
	if list, _ := mem.ReadDir("/x.zarr/__zdata__"); len(list) != 0 {
		t.Errorf("old chunks: %v", list)
	}
	for _, name := range []string{"notes", data0 + "/x.blosc", data0 + "/00.blosc", data0 + "/-1.blosc", data0 + "/0.blosc.bak", data0 + "/partial", ".zarray", "0.blosc"} {
		mem := plant(t, map[string]string{meta0: document0(`"<i4"`, "0"), name: "precious"})
		err := attempt(mem)
		if ndfile.KindOf(err) != ndfile.ErrExists || !strings.Contains(err.Error(), name) {
			t.Errorf("%s in the folder: %v", name, err)
		}
		if info, err := mem.Stat("/x.zarr/" + name); err != nil || info.Size != 8 {
			t.Errorf("%s: %v", name, err)
		}
	}
	mem = plant(t, nil)
	if err := attempt(mem); ndfile.KindOf(err) != ndfile.ErrExists {
		t.Errorf("a folder that is no array: %v", err)
	}
}

// TestLimits: documents have a largest size and depth.
func TestLimits(t *testing.T) {
	long := strings.Replace(document0(`"<i4"`, "0"), "{", `{"pad": "`+strings.Repeat("x", 10000)+`", `, 1)
	deep := strings.Replace(document0(`"<i4"`, "0"), "{", `{"pad": `+strings.Repeat("[", 30)+strings.Repeat("]", 30)+`, `, 1)
	for _, c := range []struct {
		text string
		lim  ndfile.Limits
		kind *ndfile.ErrorKind
	}{
		{long, ndfile.Limits{}, nil}, {deep, ndfile.Limits{}, nil},
		{long, ndfile.Limits{MaxHeader: 9999}, ndfile.ErrLimit}, {deep, ndfile.Limits{MaxDepth: 20}, ndfile.ErrLimit},
		{strings.Replace(document0(`"<i4"`, "0"), "[2]", "[1000000000]", 1), ndfile.Limits{}, ndfile.ErrLimit},
		{strings.Replace(document0(`"<i4"`, "0"), "[5]", "[9223372036854775807]", 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{strings.Replace(document0(`"<i4"`, "0"), "[5]", "[9223372036854775808]", 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{strings.Replace(document0(`"<i4"`, "0"), "[5]", "[]", 1), ndfile.Limits{}, ndfile.ErrNotSupported},
		{strings.Replace(document0(`"<i4"`, "0"), "[5]", "[5.0]", 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{strings.Replace(document0(`"<i4"`, "0"), "1,", "10,", 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{strings.Replace(document0(`"<i4"`, "0"), "lz4", "lzma", 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{strings.Replace(document0(`"<i4"`, "0"), `"shuffle": 1`, `"shuffle": 3`, 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{strings.Replace(document0(`"<i4"`, "0"), `"lz4"`, `5`, 1), ndfile.Limits{}, ndfile.ErrCorrupt},
		{"\xef\xbb\xbf" + document0(`"<i4"`, "0"), ndfile.Limits{}, ndfile.ErrCorrupt},
		{document0(`"<i4"`, "0") + "x", ndfile.Limits{}, ndfile.ErrCorrupt},
		{"\x80\x02}q\x00.", ndfile.Limits{}, ndfile.ErrNotSupported},
	} {
		f, err := Format0.Open(ctx, plant(t, map[string]string{meta0: c.text}), "/x.zarr", ndfile.OpenOptions{Limits: c.lim})
		if err == nil {
			f.Close(ctx)
		}
		if c.kind == nil && err != nil || c.kind != nil && (err == nil || ndfile.KindOf(err) != c.kind || !strings.Contains(err.Error(), "/x.zarr/__zmeta__")) {
			t.Errorf("%.200s: %v", c.text, err)
		}
	}
}

// TestForeignChunks reads chunks as other programs write them: of other codecs and
// element sizes than the document says, and with bytes behind them.
func TestForeignChunks(t *testing.T) {
	data := make([]byte, 40000)
	for i := range data {
		data[i] = byte(i / 100)
	}
	text := strings.Replace(strings.Replace(document0(`"<i4"`, "0"), "[2]", "[10000]", 1), "[5]", "[10000]", 1)
	for name, p := range map[string]blosc.Params{
		"zstd":               {Codec: blosc.Zstd, Level: 3, Shuffle: blosc.BitShuffle, TypeSize: 4},
		"another typesize":   {Codec: blosc.LZ4, Level: 3, Shuffle: blosc.ByteShuffle, TypeSize: 8},
		"C-Blosc's new flag": {Codec: blosc.Zlib, Level: 3, TypeSize: 20},
		"copied":             {},
	} {
		raw := make([]byte, blosc.EncodeBound(len(data)))
		n, err := blosc.Encode(raw, data, p)
		if err != nil {
			t.Fatal(err)
		}
		mem := plant(t, map[string]string{meta0: text, data0 + "/0.blosc": string(raw[:n]) + "trailing"})
		f, a := openArray(t, mem, "/x.zarr", ndfile.OpenOptions{})
		if got := readBox(t, a, ndarray.Full([]int64{10000})); !bytes.Equal(got, data) {
			t.Errorf("%s: other values", name)
		}
		if got := readBox(t, a, ndarray.Box{Start: []int64{777}, Count: []int64{1}}); !bytes.Equal(got, data[4*777:][:4]) {
			t.Errorf("%s: another value", name)
		}
		f.Close(ctx)
	}
}
