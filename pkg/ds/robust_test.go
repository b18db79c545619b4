package ds

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// memFile puts bytes into a file system in memory.
func memFile(t testing.TB, data []byte) ndfile.FS {
	t.Helper()
	fsys := ndfile.NewMem()
	if err := fsys.WriteFile("x.ds", [][]byte{data}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}); err != nil {
		t.Fatal(err)
	}
	return fsys
}

// both reads bytes by the File API and in one shot, all at once and each variable
// alone, and checks that they agree: each fails or gives the same.
func both(t testing.TB, data []byte) map[string]content {
	t.Helper()
	fsys := memFile(t, data)
	all, err := readFile(fsys, "x.ds")
	loaded, lerr := loadFile(fsys, "x.ds", nil)
	failed := err
	for _, c := range all {
		if c.err != nil && !c.noData {
			failed = c.err
		}
	}
	if ndfile.KindOf(orNil(failed)) == ndfile.ErrLimit || ndfile.KindOf(orNil(lerr)) == ndfile.ErrLimit {
		return all // too large to be compared
	}
	if (failed == nil) != (lerr == nil) {
		t.Errorf("open: %v, load: %v", failed, lerr)
	}
	for _, e := range []error{err, failed, lerr} {
		if e != nil && ndfile.KindOf(e) == ndfile.ErrInternal {
			t.Errorf("internal error: %v", e)
		}
	}
	for name, c := range all {
		one, err := loadFile(fsys, "x.ds", &name)
		if (err == nil) != (c.err == nil || c.noData) {
			t.Errorf("%q: open: %v, load: %v", name, c.err, err)
		} else if err == nil {
			same(t, name, one[name], c)
		}
		if lerr == nil {
			same(t, name, loaded[name], c)
		}
	}
	return all
}

// equal compares without reporting.
func (c content) equal(d content) bool {
	return c.noData == d.noData && c.dtype.Equal(d.dtype) && slices.Equal(c.shape, d.shape) && bytes.Equal(c.mask, d.mask) &&
		bytes.Equal(c.data, d.data) && slices.Equal(c.strings, d.strings)
}

// good are all files that can be read, with their bytes.
func good(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, folder := range []string{"valid", "quirks", "repaired", "legacy"} {
		paths, _ := filepath.Glob(filepath.Join("testdata", folder, "*.ds"))
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			files[p] = data
		}
	}
	return files
}

// TestTruncated cuts every file at every byte. What can still be read has the
// values that it had.
func TestTruncated(t *testing.T) {
	for path, data := range good(t) {
		whole, err := readFile(ndfile.OS, path)
		if err != nil {
			t.Fatal(path, err)
		}
		step := thin
		if len(data) > 4000 {
			step = 61
		}
		for n := 0; n < len(data); n += step {
			for name, c := range both(t, data[:n]) {
				if c.err == nil && !c.equal(whole[name]) {
					t.Fatalf("%s cut to %d of %d bytes: %q has other values", path, n, len(data), name)
				}
			}
		}
	}
}

// TestDamagedHeaders changes every bit and byte of headers: nothing may panic, and
// the two ways of reading must agree.
func TestDamagedHeaders(t *testing.T) {
	for path, data := range good(t) {
		end := bytes.IndexByte(data[min(len(data), 8):], '\n') + 8
		if end > 450 {
			continue
		}
		for i := 0; i < end; i += thin {
			for bit := range 8 {
				bad := bytes.Clone(data)
				bad[i] ^= 1 << bit
				both(t, bad)
			}
			for _, c := range []byte{'"', '9'} {
				bad := bytes.Clone(data)
				bad[i] = c
				both(t, bad)
			}
			if t.Failed() {
				t.Fatalf("%s, byte %d", path, i)
			}
		}
	}
}

// TestRepaired reads files in which ds-format has put wrong offsets.
func TestRepaired(t *testing.T) {
	for _, fx := range fixtures(t, "repaired") {
		t.Run(filepath.Base(fx.path), func(t *testing.T) { checkFixture(t, fx) })
	}
}

// TestNoRepair changes such files so that the places of the variables behind the
// wrong length cannot be known: they are errors, those before are read.
func TestNoRepair(t *testing.T) {
	for _, folder := range []string{"repaired", "quirks"} {
		for _, fx := range fixtures(t, folder) {
			if !strings.Contains(fx.path, "shifted") && folder == "quirks" {
				continue
			}
			data, err := os.ReadFile(fx.path)
			if err != nil {
				t.Fatal(err)
			}
			good, err := readFile(ndfile.OS, fx.path)
			if err != nil {
				t.Fatal(err)
			}
			for what, bad := range map[string][]byte{
				"a byte more":   append(bytes.Clone(data), 0),
				"a byte less":   data[:len(data)-1],
				"other lengths": bytes.Replace(data, []byte(`".len": `), []byte(`".len": 1`), 1),
			} {
				refused := 0
				for name, c := range both(t, bad) {
					if c.noData {
						continue
					}
					if c.err != nil {
						refused++
					} else if !c.equal(good[name]) {
						t.Errorf("%s with %s: %q has other values", fx.path, what, name)
					}
				}
				if refused == 0 && what != "other lengths" {
					t.Errorf("%s with %s: everything is read", fx.path, what)
				}
			}
		}
	}
}

// TestLayouts reads headers whose lengths or offsets are odd in several ways.
func TestLayouts(t *testing.T) {
	one, two := nativeBytes(1, 8), nativeBytes(2, 8)
	variable := func(offset, length string) string {
		return `{".size": [1], ".type": "int64", ".endian": "l", ".offset": ` + offset + `, ".len": ` + length + `}`
	}
	body := string(one) + string(two)
	if ndarray.NativeOrder == ndarray.Big {
		t.Skip("made for little endian")
	}
	for _, c := range []struct {
		what, x, y, body string
		ok               string // the variables that can be read
	}{
		{"exact", variable("0", "8"), variable("8", "8"), body, "xy"},
		{"no lengths", variable("0", "null"), variable("8", `"?"`), body, "xy"},
		{"zero lengths", variable("0", "0"), variable("8", "0"), body, "xy"},
		{"last too long", variable("0", "8"), variable("8", "80"), body, "xy"},
		{"length past 63 bits", variable("0", "8"), variable("8", "18446744073709551616"), body, "xy"},
		{"gap counted as data", variable("0", "16"), variable("16", "8"), string(one) + "12345678" + string(two), "xy"},
		{"wrong length, offset not from it", variable("0", "999"), variable("8", "8"), body, "xy"},
		{"wrong length, offset from it", variable("0", "12"), variable("12", "8"), body + "xxx", "x"},
		{"wrong length, offset from it, inside", variable("0", "12"), variable("12", "9"), body + "xxxx", "x"},
		{"cut", variable("0", "8"), variable("8", "8"), body[:15], "x"},
		{"reversed", variable("8", "8"), variable("0", "8"), string(two) + string(one), "xy"},
		{"reversed, first too long", variable("8", "9"), variable("0", "8"), string(two) + string(one), "xy"},
	} {
		all := both(t, []byte(versionLine+`{"x": `+c.x+`, "y": `+c.y+"}\n"+c.body))
		for name, want := range map[string][]byte{"x": one, "y": two} {
			got, ok := all[name]
			switch readable := strings.Contains(c.ok, name); {
			case !ok:
				t.Errorf("%s: no %s", c.what, name)
			case readable && (got.err != nil || !bytes.Equal(got.data, want)):
				t.Errorf("%s: %s is %x, %v", c.what, name, got.data, got.err)
			case !readable && ndfile.KindOf(orNil(got.err)) != ndfile.ErrCorrupt:
				t.Errorf("%s: %s should be refused: %x, %v", c.what, name, got.data, got.err)
			}
		}
	}
}

// TestRepr compares with len(repr(x)) of Python 3.11.
func TestRepr(t *testing.T) {
	for s, want := range map[string]int64{
		"": 3, "abc": 6, "'": 4, `"`: 4, `'"`: 6, `''""`: 9, `\`: 5, "\t\n\r": 9, "\x00": 7, "\x1f \x7e\x7f": 13, "\x80\xff": 11, "it's": 7,
	} {
		var r repr
		r.add([]byte(s))
		if got := r.length(); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

// TestLegacy reads files of ds-format 2.0.1.
func TestLegacy(t *testing.T) {
	read := func(name string) map[string]content {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", "legacy", name+".ds"))
		if err != nil {
			t.Fatal(err)
		}
		return both(t, data)
	}
	number := func(d string, shape []int64, values ...uint64) content {
		c := content{dtype: ndarray.MustParse(d).Native(), shape: shape}
		for _, v := range values {
			c.data = append(c.data, nativeBytes(v, c.dtype.Size)...)
		}
		return c
	}
	minus := func(n int64) uint64 { return uint64(-n) }
	masked := number("<i2", []int64{10}, 0, 0, 2, 3, 4, 0, 6, 7, 8, 0)
	masked.masked, masked.mask = true, []byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 1}
	n := number("<i4", []int64{3}, 0, 1, 2)
	for name, want := range map[string]map[string]content{
		"plain": {
			"b":      number("|b1", []int64{11}, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0),
			"f4":     number("<f4", []int64{2}, 0x3f000000, 0xc0000000),
			"i2":     number("<i2", []int64{2, 2}, 1, 2, minus(3), 4),
			"scalar": number("<f8", []int64{}, 0x4004000000000000),
			"u1":     number("|u1", []int64{1}, 255),
		},
		"bytes":      {"a": {dtype: ndarray.MustParse("bytes"), shape: []int64{3}, strings: []string{"ab", "", "c\xff"}}, "n": n},
		"unicode":    {"a": {dtype: ndarray.MustParse("str"), shape: []int64{3}, strings: []string{"žluť", "", "😀x"}}, "n": n},
		"one_masked": {"m": masked},
	} {
		got := read(name)
		if len(got) != len(want) {
			t.Errorf("%s: %d variables", name, len(got))
		}
		for v, c := range want {
			same(t, name+" "+v, got[v], c)
		}
	}
	for name, c := range read("two_masked") {
		if ndfile.KindOf(orNil(c.err)) != ndfile.ErrNotSupported || !strings.Contains(c.err.Error(), "written by ds-format 2.0, masks unreliable") {
			t.Errorf("two masks, %s: %v", name, c.err)
		}
	}
}

// TestHeaders is about what a header may hold.
func TestHeaders(t *testing.T) {
	open := func(text string) (ndfile.File, error) {
		return Format.Open(ctx, memFile(t, []byte(text)), "x.ds", ndfile.OpenOptions{})
	}
	for text, kind := range map[string]*ndfile.ErrorKind{
		`{}`:                         nil, // of version 2.0, without variables
		`{"a": 1}`:                   ndfile.ErrFormat,
		`{"type": "Feature"`:         ndfile.ErrFormat,
		`{"x": {"a": 1}}`:            ndfile.ErrFormat,
		"ds":                         ndfile.ErrCorrupt,
		"ds-":                        ndfile.ErrCorrupt,
		"ds-x":                       ndfile.ErrFormat,
		"ds-1.1\n{}\n":               ndfile.ErrNotSupported,
		"ds-10\n{}\n":                ndfile.ErrNotSupported,
		"ds-1.0\n{}":                 nil,
		"ds-1.0\n{} \t":              nil,
		"ds-1.0\n{}{}\n":             ndfile.ErrCorrupt,
		"ds-1.0\n{\n}\n":             ndfile.ErrCorrupt,
		"ds-1.0\n{\"\\\\.a\": {}}\n": nil,
		`ds-1.0` + "\n" + `{"\\x": {}, "\\\\x": {}}`:                                    ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"\u0078": {}, "x": {}}`:                                     ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"b": {}, "a": {}, "b": {}}`:                                 ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{".": {}, ".": {}}`:                                          ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{".": []}`:                                                   ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{".future": [1, {}], ".": {}}`:                               nil,
		`ds-1.0` + "\n" + `{"x": {"\\a": 1, "\\\\a": 2}}`:                               ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {"\\.a": 1, ".a": 2}}`:                                 nil,
		`ds-1.0` + "\n" + `{"x": {".missing": "false"}}`:                                ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {".missing": 0}}`:                                      ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {".endian": null}}`:                                    ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {".offset": 1.0}}`:                                     ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {".size": [1.5]}}`:                                     ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {".size": "3"}}`:                                       ndfile.ErrCorrupt,
		`ds-1.0` + "\n" + `{"x": {".size": [` + strings.Repeat("1, ", 64) + `1]}}`:      ndfile.ErrLimit,
		`ds-1.0` + "\n" + `{"x": {"deep": ` + strings.Repeat("[", 1000) + `]}}`:         ndfile.ErrLimit,
		`ds-1.0` + "\n" + `{"x": {".size": [0, 4611686018427387904, 4], ".type": "q"}}`: nil,
	} {
		f, err := open(text)
		if err == nil {
			f.Close(ctx)
		}
		if kind == nil && err != nil || kind != nil && (err == nil || ndfile.KindOf(err) != kind) {
			t.Errorf("%.60q: %v, want %v", text, err, kind)
		}
	}
	// Of a key that comes twice the last value counts, as in Python.
	all := both(t, append([]byte(`ds-1.0`+"\n"+`{"x": {".size": [5, 5], ".type": "q", ".offset": 77, ".type": "uint8", ".size": 2, ".offset": 1, ".missing": true, ".missing": false}}`+"\n"), 1, 2, 3))
	same(t, "twice", all["x"], content{dtype: ndarray.MustParse("|u1"), shape: []int64{2}, data: []byte{2, 3}})
	// An unknown type is an error of its variable only.
	all = both(t, append([]byte(`ds-1.0`+"\n"+`{"x": {".size": [2], ".type": "complex64"}, "y": {".type": "int8"}}`+"\n"), 7, 8))
	same(t, "beside an unknown type", all["y"], content{dtype: ndarray.MustParse("|i1"), shape: []int64{}, data: []byte{7}})
	if k := ndfile.KindOf(orNil(all["x"].err)); k != ndfile.ErrNotSupported {
		t.Errorf("unknown type: %v", all["x"].err)
	}
}

// TestLongHeader reads headers longer than the first pread, and refuses those above
// the limit without reading them.
func TestLongHeader(t *testing.T) {
	for _, n := range []int{smallFile - 30, smallFile, 5 * smallFile, 3 << 20} {
		attrs := ndfile.NewAttrs()
		attrs.Set("a", pyjson.String(strings.Repeat("x", n)))
		c := content{dtype: ndarray.MustParse("|u1"), shape: []int64{3}, data: []byte{1, 2, 3}}
		fsys := ndfile.NewMem()
		if err := save(fsys, "x.ds", []ndfile.Item{{Name: "v", Data: bufferOf(c)}}, attrs); err != nil {
			t.Fatal(err)
		}
		for name, got := range both(t, readAll(t, fsys, "x.ds")) {
			same(t, name, got, c)
		}
		f, err := Format.Open(ctx, fsys, "x.ds", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !pyjson.ObjectValue(f.Attrs()).Equal(pyjson.ObjectValue(attrs)) {
			t.Error("attributes differ")
		}
		f.Close(ctx)
		f, err = Format.Open(ctx, fsys, "x.ds", ndfile.OpenOptions{Limits: ndfile.Limits{MaxHeader: math.MaxInt64}})
		if err != nil {
			t.Fatal(err)
		}
		f.Close(ctx)
		lim := ndfile.Limits{MaxHeader: int64(n)}
		if _, err := Format.Open(ctx, fsys, "x.ds", ndfile.OpenOptions{Limits: lim}); ndfile.KindOf(orNil(err)) != ndfile.ErrLimit {
			t.Errorf("header of %d bytes with a limit of that: %v", n, err)
		}
		sink := &ndfile.Sink{Limits: lim}
		if err := Format.(ndfile.OneShot).Load(ctx, fsys, "x.ds", sink); ndfile.KindOf(orNil(err)) != ndfile.ErrLimit {
			t.Errorf("load: header of %d bytes with a limit of that: %v", n, err)
		}
	}
}

// TestDetect looks at content only.
func TestDetect(t *testing.T) {
	for text, want := range map[string]ndfile.Match{
		"": ndfile.NoMatch, "x": ndfile.NoMatch, "ds": ndfile.NoMatch, "ds-": ndfile.NoMatch, "ds-x": ndfile.NoMatch,
		"ds-1.0\n{}\n": ndfile.Certain, "ds-2.0\n": ndfile.Certain, "ds-1": ndfile.Certain,
		`{"x": {}}`: ndfile.Possible, "{\n": ndfile.NoMatch, "{}": ndfile.NoMatch,
	} {
		m, err := Format.Detect(ctx, memFile(t, []byte(text)), "x.ds")
		if m != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", text, m, err, want)
		}
	}
	if m, err := Format.Detect(ctx, ndfile.OS, t.TempDir()); m != ndfile.NoMatch || err != nil {
		t.Errorf("a folder: %v, %v", m, err)
	}
	if _, err := Format.Detect(ctx, ndfile.OS, filepath.Join(t.TempDir(), "no")); ndfile.KindOf(orNil(err)) != ndfile.ErrNotFound {
		t.Errorf("no file: %v", err)
	}
}

// TestMap maps what lies in the file as it is in memory.
func TestMap(t *testing.T) {
	f, err := Format.Open(ctx, ndfile.OS, "testdata/valid/masked_numeric.ds", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*ndfile.ErrorKind{}
	for _, name := range f.Names() {
		a, _ := f.Array(name)
		data, unmap, err := a.(ndfile.Mapper).Map(ctx)
		if err != nil {
			kinds[name] = ndfile.KindOf(err)
			continue
		}
		if c := readArray(a); !bytes.Equal(data, c.data) {
			t.Errorf("%s: %x, want %x", name, data, c.data)
		}
		if err := unmap(); err != nil {
			t.Error(err)
		}
	}
	f.Close(ctx)
	want := map[string]*ndfile.ErrorKind{}
	for _, name := range []string{"all_missing", "be_i8", "f8_2d", "i4", "u1_last"} {
		want[name] = ndfile.ErrNotSupported
	}
	if !maps.Equal(kinds, want) {
		t.Errorf("refused: %v", kinds)
	}
}
