package ds

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// fixture is the description beside a file; see testdata/README.md.
type fixture struct {
	MadeBy string `json:"made_by"`
	Accept []string
	Limits struct {
		MaxAllocMiB uint64 `json:"max_alloc_mib"`
	}
	Attrs     []json.RawMessage
	Variables []fixtureVar
	path      string
}

type fixtureVar struct {
	Name, Encoding string
	Type           *string
	Dims           []string
	Shape          *[]int64
	Endian         *string
	DataAt         int64 `json:"data_at"`
	Offset         *int64
	Attrs          []json.RawMessage
	Mask           []byteFlag
	Values         []any
	Time           bool
}

type byteFlag int

// fixtures reads the descriptions in one folder of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.ds.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures in %s: %v", folder, err)
	}
	var all []fixture
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{path: strings.TrimSuffix(p, ".json")}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		all = append(all, f)
	}
	return all
}

// content is one variable in memory: elements in native order or strings, zero or
// empty where missing.
type content struct {
	dtype   ndarray.DType // native
	shape   []int64
	noData  bool
	masked  bool
	mask    []byte // nil unless masked
	data    []byte
	strings []string
	err     error
}

func (c *content) count() int64 {
	n, err := ndarray.Count(c.shape)
	if err != nil {
		panic(err)
	}
	return n
}

// expected gives what the description promises.
func (v *fixtureVar) expected(t testing.TB) content {
	t.Helper()
	if v.Shape == nil {
		return content{noData: true}
	}
	c := content{shape: *v.Shape, masked: v.Mask != nil}
	code := codeOf([]byte(*v.Type))
	c.dtype = (&variable{code: code, big: ndarray.NativeOrder == ndarray.Big}).dtype()
	for _, m := range v.Mask {
		c.mask = append(c.mask, byte(m))
	}
	if c.masked && c.mask == nil {
		c.mask = []byte{}
	}
	for _, x := range v.Values {
		var bits uint64
		switch {
		case x == nil:
		case v.Encoding == "base64":
			s, err := base64.StdEncoding.DecodeString(x.(string))
			if err != nil {
				t.Fatal(err)
			}
			c.strings = append(c.strings, string(s))
			continue
		case v.Encoding == "utf8":
			c.strings = append(c.strings, x.(string))
			continue
		case v.Encoding == "bool":
			if x.(bool) {
				bits = 1
			}
		case v.Encoding == "float-bits":
			var err error
			if bits, err = strconv.ParseUint(x.(string), 0, 64); err != nil {
				t.Fatal(err)
			}
		case v.Encoding == "int":
			bits = uint64(int64(x.(float64)))
		case v.Encoding == "int-decimal-string":
			s := x.(string)
			if i, err := strconv.ParseInt(s, 10, 64); err == nil {
				bits = uint64(i)
			} else if bits, err = strconv.ParseUint(s, 10, 64); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("encoding %q", v.Encoding)
		}
		if c.dtype.IsVar() {
			c.strings = append(c.strings, "")
			continue
		}
		c.data = append(c.data, nativeBytes(bits, c.dtype.Size)...)
	}
	return c
}

func nativeBytes(bits uint64, size int) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	if ndarray.NativeOrder == ndarray.Big {
		slices.Reverse(b[:size])
	}
	return b[:size]
}

// same compares contents.
func same(t testing.TB, what string, got, want content) {
	t.Helper()
	if got.err != nil {
		t.Errorf("%s: %v", what, got.err)
		return
	}
	if got.noData != want.noData {
		t.Errorf("%s: no data %v, want %v", what, got.noData, want.noData)
		return
	}
	if got.noData {
		return
	}
	if !got.dtype.Equal(want.dtype) || !slices.Equal(got.shape, want.shape) || got.masked != want.masked {
		t.Errorf("%s: %v %v masked %v, want %v %v masked %v", what, got.dtype, got.shape, got.masked, want.dtype, want.shape, want.masked)
		return
	}
	if !bytes.Equal(got.mask, want.mask) {
		t.Errorf("%s: mask %v, want %v", what, got.mask, want.mask)
	}
	if !bytes.Equal(got.data, want.data) {
		t.Errorf("%s: data %x, want %x", what, got.data, want.data)
	}
	if !slices.Equal(got.strings, want.strings) {
		t.Errorf("%s: strings %q, want %q", what, got.strings, want.strings)
	}
}

// readArray reads a whole array through the File API.
func readArray(a ndfile.Array) content {
	spec := a.Spec()
	return readBox(a, ndarray.Full(spec.Shape))
}

// readBox reads a box of an array.
func readBox(a ndfile.Array, box ndarray.Box) (c content) {
	spec := a.Spec()
	c = content{dtype: spec.DType.Native(), shape: box.Count, noData: spec.NoData, masked: spec.Masked}
	n, err := ndarray.Count(box.Count)
	if err != nil || spec.NoData {
		c.err = err
		return c
	}
	if spec.DType.Kind == ndarray.Invalid {
		c.err = a.ReadBox(ctx, box, ndarray.Buffer{})
		return c
	}
	if n > 1<<20 {
		c.err = ndfile.NewError(ndfile.ErrLimit, "too large for a test")
		// still look for an error of the file, without memory for the elements
		if r, ok := a.(*array); ok {
			if err := r.begin(ctx, spec.DType.IsVar()); err != nil {
				c.err = err
			}
		}
		return c
	}
	if c.masked {
		c.mask = make([]byte, n)
	}
	if spec.DType.IsVar() {
		offsets := make([]int64, n+1)
		s := a.(ndfile.Strings)
		need, err := s.ReadStrings(ctx, box, offsets, nil, c.mask)
		if err != nil && ndfile.KindOf(err) != ndfile.ErrBuffer {
			c.err = err
			return c
		}
		data := make([]byte, need)
		if _, c.err = s.ReadStrings(ctx, box, offsets, data, c.mask); c.err != nil {
			return c
		}
		for i := range n {
			c.strings = append(c.strings, string(data[offsets[i]:offsets[i+1]]))
		}
		return c
	}
	b, err := ndarray.NewBuffer(c.dtype, box.Count)
	if err != nil {
		c.err = err
		return c
	}
	if c.masked {
		c.err = a.(ndfile.Masked).ReadMasked(ctx, box, b, c.mask)
	} else {
		c.err = a.ReadBox(ctx, box, b)
	}
	c.data = b.Data
	return c
}

// readFile reads every variable of a file through the File API.
func readFile(fsys ndfile.FS, path string) (map[string]content, error) {
	f, err := Format.Open(ctx, fsys, path, ndfile.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer f.Close(ctx)
	all := map[string]content{}
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			return nil, err
		}
		all[name] = readArray(a)
	}
	return all, nil
}

// loadFile reads a file, or one variable of it, through the one-shot API.
func loadFile(fsys ndfile.FS, path string, one *string) (map[string]content, error) {
	sink := &ndfile.Sink{}
	if one != nil {
		sink.One, sink.Name = true, *one
	}
	o := Format.(ndfile.OneShot)
	err := o.Load(ctx, fsys, path, sink)
	if err != nil && ndfile.KindOf(err) == ndfile.ErrBuffer {
		if sink.Need > 1<<24 {
			return nil, ndfile.NewError(ndfile.ErrLimit, "too large for a test")
		}
		sink.Buf, sink.Infos = make([]byte, sink.Need), make([]ndfile.LoadInfo, sink.N)
		for i := range sink.Buf {
			sink.Buf[i] = 0xdd
		}
		sink.N, sink.Need = 0, 0
		err = o.Load(ctx, fsys, path, sink)
	}
	if err != nil {
		return nil, err
	}
	all := map[string]content{}
	for i := range sink.N {
		li := &sink.Infos[i]
		name := string(sink.Buf[li.NameOffset : li.NameOffset+li.NameLen])
		text, _, _ := strings.Cut(string(li.DType[:]), "\x00")
		c := content{noData: li.Flags&ndfile.InfoNoData != 0, masked: li.Flags&ndfile.InfoMasked != 0}
		if !c.noData {
			c.dtype = ndarray.MustParse(text)
			c.shape = append([]int64{}, li.Shape[:li.NDim]...)
			if c.masked {
				c.mask = sink.Buf[li.MaskOffset : li.MaskOffset+li.Count]
			}
			data := sink.Buf[li.DataOffset : li.DataOffset+li.DataLen]
			if c.dtype.IsVar() {
				at := func(i int64) int64 {
					return int64(binary.NativeEndian.Uint64(sink.Buf[li.OffsetsOffset+8*i:]))
				}
				for i := range li.Count {
					c.strings = append(c.strings, string(data[at(i):at(i+1)]))
				}
			} else {
				c.data = data
			}
		}
		all[name] = c
	}
	return all, nil
}

// checkAttrs compares attributes with the tagged values of a description.
func checkAttrs(t testing.TB, what string, attrs *ndfile.Attrs, want []json.RawMessage) {
	t.Helper()
	if attrs.Len() != len(want) {
		t.Errorf("%s: %d attributes, want %d", what, attrs.Len(), len(want))
		return
	}
	for i, raw := range want {
		var pair [2]json.RawMessage
		if err := json.Unmarshal(raw, &pair); err != nil {
			t.Fatal(err)
		}
		var name string
		if err := json.Unmarshal(pair[0], &name); err != nil {
			t.Fatal(err)
		}
		key, v := attrs.At(i)
		if key != name {
			t.Errorf("%s: attribute %d is %q, want %q", what, i, key, name)
		}
		if w := tagged(t, pair[1]); !v.Equal(w) {
			t.Errorf("%s: attribute %q is %s, want %s", what, key, pyjson.Append(nil, v), pyjson.Append(nil, w))
		}
	}
}

// tagged turns ["int", "5"] and the like into values.
func tagged(t testing.TB, raw json.RawMessage) ndfile.Value {
	t.Helper()
	var parts []json.RawMessage
	var tag, text string
	if err := json.Unmarshal(raw, &parts); err != nil {
		t.Fatal(err)
	}
	json.Unmarshal(parts[0], &tag)
	if len(parts) > 1 {
		json.Unmarshal(parts[1], &text)
	}
	switch tag {
	case "null":
		return pyjson.Null()
	case "int":
		v, err := pyjson.Number(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	case "float":
		bits, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return pyjson.Float(math.Float64frombits(bits))
	case "string":
		return pyjson.String(text)
	case "string-utf16be-base64":
		b, _ := base64.StdEncoding.DecodeString(text)
		var lit []byte
		for ; len(b) >= 2; b = b[2:] {
			lit = append(lit, `\u`+strconv.FormatUint(0x10000|uint64(b[0])<<8|uint64(b[1]), 16)[1:]...)
		}
		s, err := pyjson.Unquote(lit)
		if err != nil {
			t.Fatal(err)
		}
		return pyjson.String(s)
	case "bool":
		return pyjson.Bool(string(parts[1]) == "true")
	case "list":
		var items []json.RawMessage
		json.Unmarshal(parts[1], &items)
		var list []ndfile.Value
		for _, item := range items {
			list = append(list, tagged(t, item))
		}
		return pyjson.List(list...)
	case "object":
		var items [][2]json.RawMessage
		json.Unmarshal(parts[1], &items)
		o := ndfile.NewAttrs()
		for _, item := range items {
			var key string
			json.Unmarshal(item[0], &key)
			o.Set(key, tagged(t, item[1]))
		}
		return pyjson.ObjectValue(o)
	}
	t.Fatalf("tag %q", tag)
	return pyjson.Null()
}

// TestFixtures reads every valid file, by the File API and in one shot.
func TestFixtures(t *testing.T) {
	for _, fx := range fixtures(t, "valid") {
		t.Run(filepath.Base(fx.path), func(t *testing.T) { checkFixture(t, fx) })
	}
}

func checkFixture(t *testing.T, fx fixture) {
	f, err := Format.Open(ctx, ndfile.OS, fx.path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	checkAttrs(t, "dataset", f.Attrs(), fx.Attrs)
	all, err := loadFile(ndfile.OS, fx.path, nil)
	if err != nil {
		t.Fatal("load:", err)
	}
	var names []string
	for _, v := range fx.Variables {
		names = append(names, v.Name)
		a, err := f.Array(v.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		want := v.expected(t)
		same(t, v.Name, readArray(a), want)
		same(t, "load "+v.Name, all[v.Name], want)
		if one, err := loadFile(ndfile.OS, fx.path, &v.Name); err != nil || len(one) != 1 {
			t.Errorf("load of %q alone: %d arrays, %v", v.Name, len(one), err)
		} else {
			same(t, "load of one "+v.Name, one[v.Name], want)
		}
		checkAttrs(t, v.Name, a.Attrs(), v.Attrs)
		spec := a.Spec()
		if !slices.Equal(spec.Dims, v.Dims) || (spec.Dims == nil) != (v.Dims == nil) {
			t.Errorf("%s: dims %q, want %q", v.Name, spec.Dims, v.Dims)
		}
		if v.Endian != nil && spec.DType.Size > 1 && (*v.Endian == "b") != (spec.DType.Order == ndarray.Big) {
			t.Errorf("%s: dtype %v, endian %s", v.Name, spec.DType, *v.Endian)
		}
		if time, _ := spec.Extra.Get(".time"); v.Time != time.Equal(pyjson.Bool(true)) {
			t.Errorf("%s: .time is lost", v.Name)
		}
	}
	if !slices.Equal(f.Names(), names) {
		t.Errorf("names %q, want %q", f.Names(), names)
	}
	if len(all) != len(names) {
		t.Errorf("load: %d arrays, want %d", len(all), len(names))
	}
}

// TestQuirks reads files that break the format in known ways: the outcomes that
// the description accepts, and of those the one that this package chose.
func TestQuirks(t *testing.T) {
	for _, fx := range fixtures(t, "quirks") {
		t.Run(filepath.Base(fx.path), func(t *testing.T) {
			if !slices.ContainsFunc(fx.Accept, func(s string) bool { return s == "value" || s == "recovered" }) {
				t.Fatal("no value is accepted")
			}
			checkFixture(t, fx)
		})
	}
}

// TestMalformed opens files that have to be refused, with bounded memory.
func TestMalformed(t *testing.T) {
	for _, fx := range fixtures(t, "malformed") {
		t.Run(filepath.Base(fx.path), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			all, err := readFile(ndfile.OS, fx.path)
			_, lerr := loadFile(ndfile.OS, fx.path, nil)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > fx.Limits.MaxAllocMiB<<20 {
				t.Errorf("%d MiB allocated, at most %d are allowed", n>>20, fx.Limits.MaxAllocMiB)
			}
			for name, c := range all {
				if c.err != nil {
					err = c.err
					t.Logf("%s: %v", name, err)
				}
			}
			t.Log(err)
			if filepath.Base(fx.path) == "len_negative.ds" {
				if x := all["x"]; err != nil || !bytes.Equal(x.data, append(nativeBytes(1, 4), nativeBytes(2, 4)...)) {
					t.Errorf("found %x, %v", x.data, err)
				}
				return
			}
			if err == nil || lerr == nil {
				t.Errorf("accepted: open %v, load %v", err, lerr)
			}
			if k := ndfile.KindOf(err); k == ndfile.ErrInternal || k != ndfile.KindOf(lerr) {
				t.Errorf("kinds of error differ: open %v, load %v", err, lerr)
			}
		})
	}
}
