package zarr

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// zarray and zarrjson are documents as zarr-python 3.1.6 writes them, with a
// dimension name.
const (
	zarray = `{
  "shape": [
    5,
    4
  ],
  "chunks": [
    2,
    3
  ],
  "dtype": "<i4",
  "fill_value": 7,
  "order": "C",
  "filters": null,
  "dimension_separator": ".",
  "compressor": {
    "id": "blosc",
    "cname": "lz4",
    "clevel": 5,
    "shuffle": 1,
    "blocksize": 0
  },
  "zarr_format": 2
}`
	zarrjson = `{
  "shape": [
    5,
    4
  ],
  "data_type": "int32",
  "chunk_grid": {
    "name": "regular",
    "configuration": {
      "chunk_shape": [
        2,
        3
      ]
    }
  },
  "chunk_key_encoding": {
    "name": "v2",
    "configuration": {
      "separator": "."
    }
  },
  "fill_value": 7,
  "codecs": [
    {
      "name": "bytes",
      "configuration": {
        "endian": "little"
      }
    },
    {
      "name": "blosc",
      "configuration": {
        "typesize": 4,
        "cname": "lz4",
        "clevel": 5,
        "shuffle": "shuffle",
        "blocksize": 0
      }
    }
  ],
  "attributes": {},
  "dimension_names": [
    "x",
    null
  ],
  "zarr_format": 3,
  "node_type": "array",
  "storage_transformers": []
}`
)

// zarray2 is zarray as zarr-python 2 writes it.
const zarray2 = `{
    "chunks": [
        2,
        3
    ],
    "compressor": {
        "blocksize": 0,
        "clevel": 5,
        "cname": "lz4",
        "id": "blosc",
        "shuffle": 1
    },
    "dtype": "<i4",
    "fill_value": 7,
    "filters": null,
    "order": "C",
    "shape": [
        5,
        4
    ],
    "zarr_format": 2
}`

func i4Spec() *ndfile.Spec {
	return &ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{5, 4}, Chunks: []int64{2, 3},
		Codecs: ndfile.Compression{Codec: "lz4", Level: 5, Shuffle: 1}.Codecs(), Fill: []byte{7, 0, 0, 0}}
}

// TestBuild compares documents with those of zarr-python.
func TestBuild(t *testing.T) {
	m, err := build2(i4Spec())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(version2.append(nil, m.doc)); got != zarray2 {
		t.Errorf("version 2:\n%s\nwant\n%s", got, zarray2)
	}
	spec := i4Spec()
	spec.Dims = []string{"x", ""}
	if m, err = build3(spec); err != nil {
		t.Fatal(err)
	}
	if got := string(version3.append(nil, m.doc)); got != zarrjson {
		t.Errorf("version 3:\n%s\nwant\n%s", got, zarrjson)
	}
}

// TestParse reads documents and checks the Spec that comes of them.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		version *version
		text    string
	}{{&version2, zarray}, {&version2, zarray2}, {&version3, zarrjson}} {
		m, err := c.version.read([]byte(c.text), ndfile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := i4Spec()
		if !m.dtype.Equal(want.DType) || string(m.fill) != string(want.Fill) || shortForm(t, ndfile.Spec{DType: m.dtype, Codecs: m.specs}) != shortForm(t, *want) || m.codec.Name() != "blosc1" {
			t.Errorf("%s: dtype %v, fill %v, codecs %v, codec %s", c.version.format, m.dtype, m.fill, m.specs, m.codec.Name())
		}
		if got := string(m.keys.append(nil, []int64{1, 20})); got != "1.20" {
			t.Errorf("%s: chunk %s", c.version.format, got)
		}
	}
}

// TestKeys names chunks as the specifications do.
func TestKeys(t *testing.T) {
	key3 := func(name, separator string) string {
		return `"chunk_key_encoding": {"name": "` + name + `", "configuration": {"separator": "` + separator + `"}}`
	}
	const old3 = `"chunk_key_encoding": {
    "name": "v2",
    "configuration": {
      "separator": "."
    }
  }`
	scalar := func(s string) string {
		s = strings.ReplaceAll(s, "\n    5,\n    4\n  ", "")
		s = strings.ReplaceAll(s, "\n    2,\n    3\n  ", "")
		s = strings.ReplaceAll(s, "\n        2,\n        3\n      ", "")
		return strings.ReplaceAll(s, "\n    \"x\",\n    null\n  ", "")
	}
	for _, c := range []struct {
		version       *version
		text          string
		matrix, point string
	}{
		{&version2, zarray, "1.20", "0"},
		{&version2, strings.Replace(zarray, `"."`, `"/"`, 1), "1/20", "0"},
		{&version3, zarrjson, "1.20", "0"},
		{&version3, strings.Replace(zarrjson, old3, key3("v2", "/"), 1), "1/20", "0"},
		{&version3, strings.Replace(zarrjson, old3, key3("default", "."), 1), "c.1.20", "c"},
		{&version3, strings.Replace(zarrjson, old3, key3("default", "/"), 1), "c/1/20", "c"},
		{&version3, strings.Replace(zarrjson, old3, `"chunk_key_encoding": "default"`, 1), "c/1/20", "c"},
		{&version3, strings.Replace(zarrjson, old3, `"chunk_key_encoding": {"name": "v2"}`, 1), "1.20", "0"},
	} {
		for _, rank := range []struct {
			text, want string
			index      []int64
		}{{c.text, c.matrix, []int64{1, 20}}, {scalar(c.text), c.point, []int64{}}} {
			m, err := c.version.read([]byte(rank.text), ndfile.Limits{})
			if err != nil {
				t.Errorf("%s: %v", c.matrix, err)
				continue
			}
			if got := string(m.keys.append(nil, rank.index)); got != rank.want {
				t.Errorf("chunk %s, want %s", got, rank.want)
			}
			for _, bad := range []string{rank.want + "x", "x" + rank.want, rank.want + ".0", ""} {
				if m.keys.parse(make([]int64, len(rank.index)), bad) {
					t.Errorf("%q is taken for a chunk of %d axes", bad, len(rank.index))
				}
			}
			if index := make([]int64, len(rank.index)); !m.keys.parse(index, rank.want) {
				t.Errorf("%q is not taken for a chunk", rank.want)
			}
		}
	}
}

// TestRefused changes one thing in a good document. The message must name it,
// and where it stands.
func TestRefused(t *testing.T) {
	const blosc2 = `{
    "id": "blosc",
    "cname": "lz4",
    "clevel": 5,
    "shuffle": 1,
    "blocksize": 0
  }`
	unsupported, corrupt := ndfile.ErrNotSupported, ndfile.ErrCorrupt
	for _, c := range []struct {
		version  *version
		old, new string
		kind     *ndfile.ErrorKind
		says     string
	}{
		{&version2, `"zarr_format": 2`, `"zarr_format": 1`, corrupt, "zarr_format"},
		{&version2, `"zarr_format": 2`, `"other": 2`, corrupt, "zarr_format"},
		{&version2, `"order": "C"`, `"order": "A"`, corrupt, "order"},
		{&version2, `"filters": null`, `"filters": [{"id": "acme", "dtype": "<i4"}]`, unsupported, `codec "acme"`},
		{&version2, `"filters": null`, `"filters": {}`, corrupt, "filters"},
		{&version2, `"filters": null`, `"filters": [1]`, corrupt, "filter"},
		{&version2, blosc2, `{"id": "zlib", "level": 10}`, corrupt, `level`},
		{&version2, blosc2, `{"id": "zfpy", "level": 1}`, unsupported, `codec "zfpy"`},
		{&version2, blosc2, `{"level": 1}`, corrupt, "compressor"},
		{&version2, blosc2, `"blosc"`, corrupt, "compressor"},
		{&version2, `"cname": "lz4"`, `"cname": "lz9"`, unsupported, `"lz9"`},
		{&version2, `"clevel": 5`, `"clevel": 10`, corrupt, "clevel"},
		{&version2, `"shuffle": 1`, `"shuffle": 3`, corrupt, "shuffle"},
		{&version2, `"blocksize": 0`, `"blocksize": -1`, corrupt, "blocksize"},
		{&version2, `"dimension_separator": "."`, `"dimension_separator": ":"`, corrupt, "dimension_separator"},
		{&version2, `"dtype": "<i4"`, `"dtype": "|O"`, unsupported, "filters"},
		{&version2, `"dtype": "<i4"`, `"type": "<i4"`, corrupt, "dtype"},
		{&version2, `"fill_value": 7`, `"fill": 7`, corrupt, "fill_value"},
		{&version2, "    2,\n    3\n", "    2\n", corrupt, "chunks"},
		{&version2, "    2,\n    3\n", "    2,\n    0\n", corrupt, "chunks"},
		{&version2, "    5,\n    4\n", "    5,\n    -4\n", corrupt, "shape"},
		{&version3, `"zarr_format": 3`, `"zarr_format": 2`, corrupt, "zarr_format"},
		{&version3, `"node_type": "array"`, `"node_type": "list"`, corrupt, "node_type"},
		{&version3, `"int32"`, `"int31"`, unsupported, `"int31"`},
		{&version3, `"int32"`, `"string"`, corrupt, `fill_value`},
		{&version3, `"int32"`, `"r12"`, unsupported, `"r12"`},
		{&version3, `"int32"`, `{"name": "new", "configuration": {"a": 1}}`, unsupported, `"new"`},
		{&version3, `"int32"`, `{"name": "numpy.datetime64", "configuration": {"unit": "x", "scale_factor": 1}}`, corrupt, `"x"`},
		{&version3, `"int32"`, `{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}}`, corrupt, "scale_factor"},
		{&version3, `"int32"`, `{"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}}`, corrupt, "length_bytes"},
		{&version3, `"int32"`, `{"name": "raw_bytes", "configuration": {"length_bytes": 4, "x": 1}}`, unsupported, `"x"`},
		{&version3, `"int32"`, `{"name": "structured", "configuration": {"fields": [["a", "int32"], ["a", "int8"]]}}`, corrupt, "structured"},
		{&version3, `"int32"`, `{"name": "structured", "configuration": {"fields": [["a", "string"]]}}`, corrupt, `fixed size`},
		{&version3, `"int32"`, `{"name": "structured", "configuration": {"fields": [["a"]]}}`, corrupt, "fields"},
		{&version3, `"regular"`, `"hexagonal"`, unsupported, `chunk grid "hexagonal"`},
		{&version3, `"regular"`, `"rectilinear"`, unsupported, `"chunk_shape"`},
		{&version3, `"name": "v2"`, `"name": "fanout"`, unsupported, `key encoding "fanout"`},
		{&version3, `"separator": "."`, `"separator": ""`, corrupt, "separator"},
		{&version3, `"bytes"`, `"sharding_indexed"`, corrupt, `sharding_indexed: chunk_shape`},
		{&version3, `"bytes"`, `"transpose"`, corrupt, `transpose: order`},
		{&version3, `"blosc"`, `"gzip"`, unsupported, `codec gzip: the member "typesize"`},
		{&version3, `"blosc"`, `"zfp"`, unsupported, `codec "zfp"`},
		{&version3, `"blosc"`, `"crc32c"`, unsupported, `codec crc32c: the member "typesize"`},
		{&version3, `"little"`, `"middle"`, corrupt, `"middle"`},
		{&version3, `"endian": "little"`, ``, corrupt, "endian"},
		{&version3, `"typesize": 4`, `"typesize": 0`, corrupt, "typesize"},
		{&version3, `"shuffle": "shuffle"`, `"shuffle": 1`, corrupt, "shuffle"},
		{&version3, `"storage_transformers": []`, `"storage_transformers": [{"name": "cache"}]`, unsupported, `"cache"`},
		{&version3, `"storage_transformers": []`, `"extra": {"must_understand": true}`, unsupported, `"extra"`},
		{&version3, `"storage_transformers": []`, `"extra": 1`, unsupported, `"extra"`},
		{&version3, `"attributes": {}`, `"attributes": []`, corrupt, "attributes"},
		{&version3, "    \"x\",\n    null\n", `"x"`, corrupt, "dimension_names"},
		{&version3, "    \"x\",\n    null\n", `"x", 1`, corrupt, "dimension_names"},
		{&version3, `"fill_value": 7`, `"fill_value": null`, corrupt, "fill_value"},
		{&version3, `"fill_value": 7`, `"fill_value": 4294967296`, corrupt, "fill_value"},
		{&version3, "        2,\n        3\n", "        2\n", corrupt, "chunk_grid"},
	} {
		text := map[*version]string{&version2: zarray, &version3: zarrjson}[c.version]
		if strings.Count(text, c.old) != 1 {
			t.Fatalf("%q is %d times in the document", c.old, strings.Count(text, c.old))
		}
		text = strings.Replace(text, c.old, c.new, 1)
		if _, err := pyjson.Parse([]byte(text), pyjson.Limits{}); err != nil {
			t.Fatalf("%s: %v", c.new, err)
		}
		_, err := c.version.read([]byte(text), ndfile.Limits{})
		var e *ndfile.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: error %v, want %q of kind %v", c.version.format, c.new, err, c.says, c.kind)
			continue
		}
		if e.Offset < 0 {
			t.Errorf("%s %s: no offset in %v", c.version.format, c.new, err)
		}
	}
}

// TestTolerated changes what a reader has to take.
func TestTolerated(t *testing.T) {
	for _, c := range []struct {
		version  *version
		old, new string
	}{
		{&version2, `"filters": null`, `"filters": []`},
		{&version2, `"shuffle": 1`, `"shuffle": -1`},
		{&version2, ",\n    \"blocksize\": 0", ""},
		{&version2, ",\n  \"dimension_separator\": \".\"", ", \"other\": {\"a\": 1}"},
		{&version2, `"fill_value": 7`, `"fill_value": "no number"`}, // until it is needed
		{&version3, `"storage_transformers": []`, `"extra": {"name": "x", "must_understand": false}`},
		{&version3, ",\n  \"storage_transformers\": []", ""},
		{&version3, "\"attributes\": {},", ""},
		{&version3, `"typesize": 4,`, ""},
		{&version3, `"int32"`, `{"name": "int32"}`},
	} {
		text := map[*version]string{&version2: zarray, &version3: zarrjson}[c.version]
		if !strings.Contains(text, c.old) {
			t.Fatalf("%q is not in the document", c.old)
		}
		if _, err := c.version.read([]byte(strings.Replace(text, c.old, c.new, 1)), ndfile.Limits{}); err != nil {
			t.Errorf("%s %s: %v", c.version.format, c.new, err)
		}
	}
}

// TestDTypes3 spells dtypes as zarr-python 3.1 and reads them back.
func TestDTypes3(t *testing.T) {
	for _, c := range []struct{ dtype, want string }{
		{"|b1", `"bool"`},
		{"|i1", `"int8"`}, {"<i2", `"int16"`}, {">i4", `"int32"`}, {"<i8", `"int64"`},
		{"|u1", `"uint8"`}, {"<u2", `"uint16"`}, {">u4", `"uint32"`}, {"<u8", `"uint64"`},
		{"<f2", `"float16"`}, {"<f4", `"float32"`}, {">f8", `"float64"`}, {"<c8", `"complex64"`}, {">c16", `"complex128"`},
		{"bfloat16", `"bfloat16"`}, {"<c4", `"complex_float16"`}, {"str", `"string"`}, {"bytes", `"variable_length_bytes"`},
		{"<M8[ns]", `{"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}`},
		{">M8[25s]", `{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 25}}`},
		{"<m8", `{"name": "numpy.timedelta64", "configuration": {"unit": "generic", "scale_factor": 1}}`},
		{"|S5", `{"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}}`},
		{"<U3", `{"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}`},
		{"|V4", `{"name": "raw_bytes", "configuration": {"length_bytes": 4}}`},
		{`[["a", "<i4"], ["b", "|S3"], ["c", [["x", "<f4"]]]]`, `{"name": "structured", "configuration": {"fields": [["a", "int32"], ` +
			`["b", {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}], ` +
			`["c", {"name": "structured", "configuration": {"fields": [["x", "float32"]]}}]]}}`},
	} {
		d := ndarray.MustParse(c.dtype)
		v, err := dtype3Value(d)
		if err != nil {
			t.Errorf("%s: %v", c.dtype, err)
			continue
		}
		if got := string(pyjson.Append(nil, v)); got != c.want {
			t.Errorf("%s: %s, want %s", c.dtype, got, c.want)
		}
		order := ndarray.Little
		if strings.HasPrefix(c.dtype, ">") {
			order = ndarray.Big
		}
		if back, err := dtype3(v, order, 0); err != nil || !back.Equal(d) {
			t.Errorf("%s: read back as %v, %v", c.want, back, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`"r16"`, "|V2"},
		{`{"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "bool"}]}}`, `[["a", ">i4"], ["b", "|b1"]]`},
	} {
		v, err := pyjson.Parse([]byte(c.text), pyjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := dtype3(v, ndarray.Big, 0); err != nil || d.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.text, d, err, c.want)
		}
	}
	for _, name := range []string{"<f16", "<c32", "<i16", "|S0", "<U0", "|V0",
		`[["a", "<i4", [2]]]`} {
		if _, err := dtype3Value(ndarray.MustParse(name)); !errors.Is(err, ndfile.ErrDType) {
			t.Errorf("%s: error %v, want ErrDType", name, err)
		}
	}
	deep := pyjson.String("int8")
	for range 100 {
		deep = named("structured", "fields", pyjson.List(pyjson.List(pyjson.String("a"), deep)))
	}
	if _, err := dtype3(deep, ndarray.Little, 0); !errors.Is(err, ndfile.ErrLimit) {
		t.Errorf("100 nested records: %v", err)
	}
}

// FuzzMeta23 reads any text as .zarray and as zarr.json. What is accepted is
// written again as the same array, and an array built like it is like it.
func FuzzMeta23(f *testing.F) {
	f.Add([]byte(zarray))
	f.Add([]byte(zarray2))
	f.Add([]byte(zarrjson))
	for _, dtype := range []string{`"<M8[25s]"`, `"|S5"`, `"<U3"`, `"|V4"`, `">c16"`, `[["a", "<i4"], ["b", [["x", "<f4"]]]]`} {
		d := mustDType(f, dtype)
		for _, v := range []*version{&version2, &version3} {
			spec := i4Spec()
			spec.DType, spec.Fill = d, nil
			m, err := v.make(spec)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(v.append(nil, m.doc))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, v := range []*version{&version2, &version3} {
			m, err := v.read(text, fuzzLimits)
			if err != nil {
				if ndfile.KindOf(err) == ndfile.ErrInternal || ndfile.Offset(err) > int64(len(text)) {
					t.Fatal(err)
				}
				continue
			}
			if m.fill != nil && len(m.fill) != m.dtype.Size {
				t.Fatalf("a fill value of %d bytes for %s", len(m.fill), m.dtype)
			}
			again, err := v.read(v.append(nil, m.doc), ndfile.Limits{})
			if err != nil || !again.dtype.Equal(m.dtype) || string(again.fill) != string(m.fill) {
				t.Fatalf("written again: %v", err)
			}
			if m.specs == nil || m.fill == nil || m.fillErr != nil {
				continue
			}
			spec := ndfile.Spec{DType: m.dtype, Shape: m.shape, Chunks: m.chunks, Codecs: m.specs, Fill: m.fill, Dims: m.dims}
			built, err := v.make(&spec)
			if err != nil {
				if k := ndfile.KindOf(err); k != ndfile.ErrDType && k != ndfile.ErrValue {
					t.Fatalf("built: %v", err)
				}
				continue
			}
			if d := m.dtype; d.Kind != ndarray.Record && (!built.dtype.Equal(d) || string(built.fill) != string(m.fill) && !hasNaNs(d)) {
				t.Fatalf("built as %s with fill %x, not as %s with %x", built.dtype, built.fill, d, m.fill)
			}
		}
	})
}

// hasNaNs tells the dtypes of which version 2 cannot spell every value.
func hasNaNs(d ndarray.DType) bool { return d.Kind == ndarray.Float || d.Kind == ndarray.Complex }

// TestNested writes, shrinks and grows an array whose chunks are in folders.
func TestNested(t *testing.T) {
	for _, text := range []string{
		strings.Replace(zarray, `"."`, `"/"`, 1),
		strings.Replace(zarrjson, `"name": "v2"`, `"name": "default"`, 1),
		strings.Replace(strings.Replace(zarrjson, `"name": "v2"`, `"name": "default"`, 1), `"."`, `"/"`, 1),
	} {
		m, name, format := ndfile.NewMem(), meta2, Format2
		if strings.Contains(text, "node_type") {
			name, format = meta3, Format3
		}
		putFiles(t, m, "/a", files{name: text})
		change := func(do func(a ndfile.Array) error) {
			f, err := format.Open(ctx, m, "/a", ndfile.OpenOptions{Mode: ndfile.Update})
			if err != nil {
				t.Fatal(err)
			}
			a, _ := f.Array("")
			if err := errors.Join(do(a), f.Close(ctx)); err != nil {
				t.Fatal(err)
			}
		}
		all := ndarray.Buffer{DType: ndarray.MustParse("<i4"), Shape: []int64{5, 4}, Data: make([]byte, 80)}
		for i := range all.Data {
			all.Data[i] = byte(i)
		}
		change(func(a ndfile.Array) error { return a.WriteBox(ctx, ndarray.Full(all.Shape), all) })
		if _, got := readAll(t, m); string(got) != string(all.Data) {
			t.Errorf("other values than were written in\n%s", text)
		}
		change(func(a ndfile.Array) error { return a.(ndfile.Resizer).Resize(ctx, []int64{1, 3}) })
		change(func(a ndfile.Array) error { return a.(ndfile.Resizer).Resize(ctx, []int64{3, 4}) })
		want := slices.Concat(all.Data[:12], bytes.Repeat([]byte{7, 0, 0, 0}, 9))
		if _, got := readAll(t, m); string(got) != string(want) {
			t.Errorf("after growing %x, want %x", got, want)
		}
		err := format.(ndfile.Verifier).Verify(ctx, m, "/a", ndfile.VerifyOptions{}, func(p ndfile.Problem) { t.Errorf("verify: %+v", p) })
		if err != nil {
			t.Error(err)
		}
		// It can be replaced by a new one, which finds all of it its own.
		f, err := format.Create(ctx, m, "/a", ndfile.CreateOptions{})
		if err == nil {
			_, err = f.Add(ctx, "", *i4Spec())
		}
		if err == nil {
			err = f.Close(ctx)
		}
		if err != nil {
			t.Error(err)
		}
		if got := listFiles(t, m, "/a", "", files{}); len(got) > 2 {
			t.Errorf("the new array has %v", slices.Sorted(maps.Keys(got)))
		}
	}
}

// TestRecords3 stores records of any byte order in little endian.
func TestRecords3(t *testing.T) {
	spec := i4Spec()
	spec.DType = ndarray.MustParse(`[["a", ">i2"], ["b", [["x", "<f4"]]]]`)
	spec.Fill = []byte{1, 2, 3, 4, 5, 6}
	m, err := version3.make(spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.dtype.String(); got != `[["a", "<i2"], ["b", [["x", "<f4"]]]]` {
		t.Error(got)
	}
	if string(m.fill) != "\x02\x01\x03\x04\x05\x06" {
		t.Errorf("fill value %x", m.fill)
	}
	spec.Fill = spec.Fill[1:]
	if _, err := version3.make(spec); !errors.Is(err, ndfile.ErrArgument) {
		t.Errorf("a fill value of 5 bytes: %v", err)
	}
}

// shortForm is the compression of an array, which is Blosc.
func shortForm(t *testing.T, s ndfile.Spec) ndfile.Compression {
	t.Helper()
	c, ok := s.Compression()
	if !ok {
		t.Errorf("the codecs %v are not Blosc alone", s.Codecs)
	}
	return c
}
