package bcolz

import (
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func storageOf(text string) (storage, error) {
	doc, err := metafile.Parse([]byte(text), ndfile.Limits{})
	if err != nil {
		return storage{}, err
	}
	return parseStorage(doc)
}

const plainStorage = `{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0}, "chunklen": 10, "expectedlen": 25, "dflt": 0}`

func TestStorage(t *testing.T) {
	s, err := storageOf(plainStorage)
	ok(t, err)
	if string(s.text()) != plainStorage+"\n" || s.extra != nil {
		t.Errorf("written again: %s", s.text())
	}
	// What old and foreign writers leave out, and what they add.
	for text, want := range map[string]string{
		`{"dtype": "int32", "chunklen": 10}`:                                                    `{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1, "cname": "blosclz", "quantize": 0}, "chunklen": 10, "expectedlen": 0, "dflt": null}`,
		`{"dflt": 1, "chunklen": 3, "cparams": {"shuffle": true, "clevel": 2}, "dtype": "<i4"}`: `{"dtype": "int32", "cparams": {"clevel": 2, "shuffle": 1, "cname": "blosclz", "quantize": 0}, "chunklen": 3, "expectedlen": 0, "dflt": 1}`,
		strings.Replace(plainStorage, `"shuffle": 1`, `"shuffle": false`, 1):                    strings.Replace(plainStorage, `"shuffle": 1`, `"shuffle": 0`, 1),
		strings.Replace(plainStorage, `"quantize": 0`, `"quantize": null`, 1):                   plainStorage,
		strings.Replace(plainStorage, `"quantize": 0`, `"quantize": 2`, 1):                      strings.Replace(plainStorage, `"quantize": 0`, `"quantize": 2`, 1),
		strings.Replace(plainStorage, `"quantize": 0`, `"quantize": 0, "x": [1]`, 1):            strings.Replace(plainStorage, `"quantize": 0`, `"quantize": 0, "x": [1]`, 1),
		strings.Replace(plainStorage, `"dflt": 0`, `"dflt": 0, "note": "é"`, 1):                 strings.Replace(plainStorage, `"dflt": 0`, `"dflt": 0, "note": "\u00e9"`, 1),
		strings.Replace(plainStorage, `"chunklen": 10`, `"chunklen": 9, "chunklen": 10`, 1):     plainStorage,
		strings.Replace(plainStorage, `"expectedlen": 25`, `"expectedlen": -3`, 1):              strings.Replace(plainStorage, `"expectedlen": 25`, `"expectedlen": 0`, 1),
	} {
		s, err := storageOf(text)
		if err != nil || string(s.text()) != want+"\n" {
			t.Errorf("%s\nwritten again: %s%v", text, s.text(), err)
		}
	}
	for _, text := range []string{
		"", "[]", "{", `{"chunklen": 10}`, `{"dtype": "int32"}`, `{"dtype": 4, "chunklen": 10}`, `{"dtype": "int32", "chunklen": "10"}`, `{"dtype": "int32", "chunklen": 10.0}`,
		`{"dtype": "int32", "chunklen": 0}`, `{"dtype": "int32", "chunklen": 9223372036854775808}`, `{"dtype": "int32", "chunklen": 10, "cparams": 5}`,
		`{"dtype": "int32", "chunklen": 10, "cparams": {"clevel": "5"}}`, `{"dtype": "int32", "chunklen": 10, "cparams": {"shuffle": 1.5}}`,
		`{"dtype": "int32", "chunklen": 10, "cparams": {"cname": null}}`, `{"dtype": "int32", "chunklen": 10, "cparams": {"clevel": 5000000000}}`,
	} {
		_, err := storageOf(text)
		is(t, err, ndfile.ErrCorrupt, "")
		if off := ndfile.Offset(err); off < 0 || off > int64(len(text)) {
			t.Errorf("%s: %v at byte %d", text, err, off)
		}
	}
	// A default that is no element does not keep anybody from reading.
	s, err = storageOf(strings.Replace(plainStorage, `"dflt": 0`, `"dflt": "x"`, 1))
	if err != nil || !s.badFill || s.fill != nil {
		t.Errorf("%+v, %v", s, err)
	}
	// What it says about compression matters to writers only.
	for _, bad := range []string{`"cname": "zip"`, `"clevel": 10, "cname": "lz4"`, `"clevel": -1`, `"shuffle": 3`} {
		s, err := storageOf(`{"dtype": "int32", "chunklen": 10, "cparams": {` + bad + `}}`)
		ok(t, err)
		_, err = s.params()
		is(t, err, ndfile.ErrNotSupported, "")
	}
}

func TestNewStorage(t *testing.T) {
	i4 := ndarray.MustParse("<i4")
	extra := func(text string) *ndfile.Attrs {
		o, err := pyjson.ParseObject([]byte(text), pyjson.Limits{})
		ok(t, err)
		return o
	}
	s, err := newStorage(&ndfile.Spec{DType: i4, Shape: []int64{25}, Chunks: []int64{10}, Extra: extra(`{"note": 1, "cparams": {"quantize": 2}}`)})
	ok(t, err)
	want := strings.Replace(strings.Replace(plainStorage, `"quantize": 0`, `"quantize": 2`, 1), `"dflt": 0`, `"dflt": 0, "note": 1`, 1)
	if string(s.text()) != want+"\n" {
		t.Errorf("%s", s.text())
	}
	for _, c := range []struct {
		spec ndfile.Spec
		kind *ndfile.ErrorKind
	}{
		{ndfile.Spec{DType: i4}, ndfile.ErrShape},
		{ndfile.Spec{DType: i4, Shape: []int64{-1}}, ndfile.ErrShape},
		{ndfile.Spec{DType: i4, Shape: []int64{3, 0}}, ndfile.ErrShape},
		{ndfile.Spec{DType: i4, Shape: []int64{1 << 62, 2}}, ndfile.ErrShape},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Chunks: []int64{0}}, ndfile.ErrShape},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Chunks: []int64{2, 2}}, ndfile.ErrShape},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, ExpectedRows: -1}, ndfile.ErrArgument},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Codecs: ndfile.Compression{Codec: "snappy", Level: 5}.Codecs()}, ndfile.ErrNotSupported},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Codecs: ndfile.Compression{Codec: "zip"}.Codecs()}, ndfile.ErrNotSupported},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Codecs: ndfile.Compression{Codec: "lz4", Level: 10}.Codecs()}, ndfile.ErrArgument},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Fill: []byte{1}}, ndfile.ErrArgument},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Extra: extra(`{"chunklen": 4}`)}, ndfile.ErrArgument},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Extra: extra(`{"cparams": {"clevel": 4}}`)}, ndfile.ErrArgument},
		{ndfile.Spec{DType: i4, Shape: []int64{3}, Extra: extra(`{"cparams": 4}`)}, ndfile.ErrArgument},
	} {
		_, err := newStorage(&c.spec)
		if ndfile.KindOf(err) != c.kind {
			t.Errorf("%+v: %v, expected %s", c.spec, err, c.kind.C)
		}
	}
	// Of chunks only the first extent is asked for.
	s, err = newStorage(&ndfile.Spec{DType: i4, Shape: []int64{25, 6}, Chunks: []int64{10, 2}})
	if err != nil || s.chunklen != 10 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSizes(t *testing.T) {
	for text, good := range map[string]bool{
		`{"shape": [25], "nbytes": 200, "cbytes": 272}`: true, `{"shape": [0, 3]}`: true, `{"shape": [3], "nbytes": "x", "cbytes": -80}`: true, `{"shape": [3], "cbytes": 1e400}`: true,
		`{}`: false, `{"shape": 3}`: false, `{"shape": []}`: false, `{"shape": [3.0]}`: false, `{"shape": [-1]}`: false, `{"shape": [9223372036854775808]}`: false, `{"shape": [true]}`: false,
		`{"shape": [` + strings.Repeat("1,", 64) + `1]}`: false,
	} {
		doc, err := metafile.Parse([]byte(text), ndfile.Limits{})
		ok(t, err)
		if _, err := parseSizes(doc); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		} else if err != nil {
			is(t, err, ndfile.ErrCorrupt, "")
		}
	}
}

func TestNames(t *testing.T) {
	temp := ndfile.OS.TempName("x")
	for name, want := range map[string]string{ // r: can be read, w: and written
		"a": "w", "_x": "w", "été": "w", "a b": "w", "meta": "w", "data": "w", ".hidden": "w", "...": "w", "-": "w", "tab\t": "w", "a:b": "w", "__attrs": "w", "CON": "w",
		"": "", ".": "", "..": "", "a/b": "", "/": "", "/etc": "", `a\b`: "", "a\x00b": "", "__attrs__": "", "__rootdirs__": "", "\xff": "", "\xed\xb3\xbf": "",
		temp: "r", strings.Repeat("x", 256): "r", strings.Repeat("x", 255): "w",
	} {
		got := ""
		if badName(name) == "" {
			got = "r"
		}
		if badNewName(name) == "" {
			got = "w"
		}
		if got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
}

// TestOurs: what may be removed with a root that is replaced.
func TestOurs(t *testing.T) {
	for path, want := range map[string]bool{
		"__attrs__": true, "__rootdirs__": true, "meta/": true, "data/": true, "meta/sizes": true, "meta/storage": true, "data/__0.blp": true, "data/__123.blp": true,
		"col/": true, "col/__attrs__": true, "col/meta/": true, "col/meta/sizes": true, "col/data/__7.blp": true, "meta/meta/": true, "meta/meta/storage": true, "data/data/__0.blp": true,
		"README": false, "meta/notes": false, "data/README": false, "data/__x.blp": false, "data/__01.blp": false, "data/__-1.blp": false, "data/__0.blp~": false, "data/sub/": false,
		"col/README": false, "col/sub/": false, "col/meta/sub/": false, "col/data/sub/": false, "a/b/c/d": false, "__attrs__/": false, "data/__0.blp/": false, "col/__rootdirs__": false,
		"data/__99999999999999999999.blp": false,
	} {
		mode := vfs.Regular
		if strings.HasSuffix(path, "/") {
			mode = vfs.Dir
		}
		if got := ours(strings.TrimSuffix(path, "/"), mode); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
