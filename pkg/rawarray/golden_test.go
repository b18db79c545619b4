package rawarray

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// fixture is valid/NAME.json.
type fixture struct {
	File   string
	MD5    string `json:"file_md5"`
	Header struct {
		Flags, Eltype, Elbyte, Size, NDims uint64
		Dims                               []int64
	}
	ByteOrder string `json:"byte_order"`
	Encoding  *string
	Trailing  int    `json:"trailing_bytes"`
	Data      string `json:"decoded_data_sha256"`
	Values    []any  `json:"values_file_order"`

	raw []byte
}

func fixtures(t testing.TB) []*fixture {
	t.Helper()
	paths, err := filepath.Glob("testdata/valid/*.json")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	var all []*fixture
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(f); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if f.raw, err = os.ReadFile("testdata/valid/" + f.File); err != nil {
			t.Fatal(err)
		}
		if sum := md5.Sum(f.raw); hex.EncodeToString(sum[:]) != f.MD5 {
			t.Fatalf("%s: md5 %x, expected %s", f.File, sum, f.MD5)
		}
		all = append(all, f)
	}
	return all
}

// dtype is what the file's element type is to us.
func (f *fixture) dtype(t testing.TB) ndarray.DType {
	t.Helper()
	name := map[uint64]string{0: "|V", 1: "<i", 2: "<u", 3: "<f", 4: "<c"}[f.Header.Eltype] + strconv.FormatUint(f.Header.Elbyte, 10)
	if f.Header.Eltype == 5 {
		name = map[uint64]string{1: "|b1", 2: "bfloat16", 8: "|b1"}[f.Header.Elbyte]
	}
	d := ndarray.MustParse(name)
	if f.ByteOrder == "big" {
		return d.WithOrder(ndarray.Big)
	}
	return d
}

// open puts bytes into a file system and opens them.
func open(raw []byte) (ndfile.File, error) {
	mem := ndfile.NewMem()
	if err := mem.WriteFile("/x.ra", [][]byte{raw}, ndfile.WriteOptions{}); err != nil {
		return nil, err
	}
	return Format.Open(ctx, mem, "/x.ra", ndfile.OpenOptions{})
}

// load is Load of bytes.
func load(raw []byte, sink *ndfile.Sink) error {
	mem := ndfile.NewMem()
	if err := mem.WriteFile("/x.ra", [][]byte{raw}, ndfile.WriteOptions{}); err != nil {
		return err
	}
	return Format.(ndfile.OneShot).Load(ctx, mem, "/x.ra", sink)
}

// readAll reads an array as elements of type d, row-major.
func readAll(t testing.TB, a ndfile.Array, d ndarray.DType) []byte {
	t.Helper()
	dst, err := ndarray.NewBuffer(d, a.Spec().Shape)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.ReadBox(ctx, ndarray.Full(a.Spec().Shape), dst); err != nil {
		t.Fatalf("read as %s: %v", d, err)
	}
	return dst.Data
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(strings.TrimSuffix(f.File, ".ra"), func(t *testing.T) {
			file, err := open(f.raw)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Abort()
			a, err := file.Array("")
			if err != nil {
				t.Fatal(err)
			}
			spec := a.Spec()
			shape := slices.Clone(f.Header.Dims)
			slices.Reverse(shape)
			if !spec.DType.Equal(f.dtype(t)) || !slices.Equal(spec.Shape, shape) {
				t.Fatalf("%s %v, expected %s %v", spec.DType, spec.Shape, f.dtype(t), shape)
			}
			stored := readAll(t, a, spec.DType)
			if sum := sha256.Sum256(stored); hex.EncodeToString(sum[:]) != f.Data {
				t.Errorf("data has sha256 %x, expected %s", sum, f.Data)
			}
			checkValues(t, a, f.Values)
			trailing, err := file.(ndfile.Trailer).Trailing(ctx)
			if err != nil || len(trailing) != f.Trailing || !bytes.HasSuffix(f.raw, trailing) {
				t.Errorf("trailing bytes %q, %v, expected %d", trailing, err, f.Trailing)
			}
			// Load gives the same in native order.
			sink := &ndfile.Sink{Buf: make([]byte, 1<<12), Infos: make([]ndfile.LoadInfo, 1)}
			if err := load(f.raw, sink); err != nil {
				t.Fatal(err)
			}
			li := sink.Infos[0]
			if got := sink.Buf[li.DataOffset:][:li.DataLen]; !bytes.Equal(got, readAll(t, a, spec.DType.Native())) {
				t.Errorf("Load gives other data: %x", got)
			}
		})
	}
}

// checkValues compares an array with the values of a fixture.
func checkValues(t *testing.T, a ndfile.Array, want []any) {
	t.Helper()
	d := a.Spec().DType.Native()
	switch d.Kind {
	case ndarray.Float, ndarray.BFloat:
		d = ndarray.MustParse("=f8")
	case ndarray.Complex:
		d = ndarray.MustParse("=c16")
	}
	data := readAll(t, a, d)
	if len(data) != len(want)*d.Size {
		t.Fatalf("%d bytes for %d values of %d", len(data), len(want), d.Size)
	}
	for i, w := range want {
		e := data[i*d.Size : (i+1)*d.Size]
		var ok bool
		switch d.Kind {
		case ndarray.Bool:
			ok = w == (e[0] == 1)
		case ndarray.Raw:
			ok = w == hex.EncodeToString(e)
		case ndarray.Int, ndarray.Uint:
			ok = text(w) == integer(e, d.Kind == ndarray.Int).String()
		case ndarray.Float:
			ok = sameFloat(e, w)
		case ndarray.Complex:
			parts := w.([]any)
			ok = sameFloat(e[:8], parts[0]) && sameFloat(e[8:], parts[1])
		}
		if !ok {
			t.Errorf("element %d is %x, expected %v", i, e, w)
		}
	}
}

func text(v any) string {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	return v.(string)
}

// integer is the value of a native integer of any size.
func integer(e []byte, signed bool) *big.Int {
	e = slices.Clone(e)
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		slices.Reverse(e)
	}
	n := new(big.Int).SetBytes(e)
	if signed && e[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(e))))
	}
	return n
}

func sameFloat(e []byte, want any) bool {
	got := math.Float64frombits(integer(e, false).Uint64())
	w, err := strconv.ParseFloat(text(want), 64)
	return err == nil && (math.IsNaN(got) && math.IsNaN(w) || math.Float64bits(got) == math.Float64bits(w))
}

// TestRewrite writes every fixture again: from a description of its own array the
// same bytes come, from Save and from Create.
func TestRewrite(t *testing.T) {
	for _, f := range fixtures(t) {
		src, err := open(f.raw)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := src.Array("")
		trailing, err := src.(ndfile.Trailer).Trailing(ctx)
		if err != nil {
			t.Fatal(err)
		}
		spec := a.Spec()
		data := ndarray.Buffer{DType: spec.DType, Shape: spec.Shape, Data: readAll(t, a, spec.DType)}
		opt := ndfile.CreateOptions{Trailing: trailing}
		item := ndfile.Item{Data: data, Extra: spec.Extra}
		if f.Encoding != nil && *f.Encoding == "lz4-block" { // there are many; agree looks at the elements
			if got, same := saved(t, item, opt), created(t, spec, data, opt); !bytes.Equal(got, same) || len(got) > len(f.raw)+8 {
				t.Errorf("%s: Save gives\n%x, Create\n%x, the C library\n%x", f.File, got, same, f.raw)
			}
			continue
		}
		if got := saved(t, item, opt); !bytes.Equal(got, f.raw) {
			t.Errorf("%s: Save gives\n%x, expected\n%x", f.File, got, f.raw)
		}
		if got := created(t, spec, data, opt); !bytes.Equal(got, f.raw) {
			t.Errorf("%s: Create gives\n%x, expected\n%x", f.File, got, f.raw)
		}
		if f.File == "test.ra" {
			if sum := md5.Sum(saved(t, item, opt)); hex.EncodeToString(sum[:]) != "1dd9f98a0d57ec3c4d8ad50343bd20cd" {
				t.Errorf("test.ra: md5 %x", sum)
			}
		}
	}
}

// saved gives the file that Save writes.
func saved(t testing.TB, it ndfile.Item, opt ndfile.CreateOptions) []byte {
	t.Helper()
	mem := ndfile.NewMem()
	if err := Format.(ndfile.OneShot).Save(ctx, mem, "/x.ra", []ndfile.Item{it}, opt); err != nil {
		t.Fatal(err)
	}
	return content(t, mem)
}

// created gives the file that Create, Add and WriteBox write.
func created(t testing.TB, spec ndfile.Spec, data ndarray.Buffer, opt ndfile.CreateOptions) []byte {
	t.Helper()
	mem := ndfile.NewMem()
	f, err := Format.Create(ctx, mem, "/x.ra", opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, err := f.Add(ctx, "", spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteBox(ctx, ndarray.Full(spec.Shape), data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return content(t, mem)
}

func content(t testing.TB, mem *ndfile.Mem) []byte {
	t.Helper()
	info, err := mem.Stat("/x.ra")
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, info.Size+1)
	n, _, err := mem.ReadSmall(ctx, "/x.ra", buf)
	if err != nil || int64(n) != info.Size {
		t.Fatal(n, err)
	}
	return buf[:n]
}

func TestMalformed(t *testing.T) {
	text, err := os.ReadFile("testdata/malformed/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ File, Why string }
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 20 {
		t.Fatal(len(list), err)
	}
	// The kind of the error and its place.
	want := map[string]struct {
		kind   *ndfile.ErrorKind
		offset int64
	}{
		"empty_file":                {ndfile.ErrFormat, 0},
		"bad_magic":                 {ndfile.ErrFormat, 0},
		"magic_byteswapped":         {ndfile.ErrFormat, 0},
		"truncated_header_40":       {ndfile.ErrCorrupt, 40},
		"truncated_dims":            {ndfile.ErrCorrupt, atNDims},
		"truncated_data":            {ndfile.ErrCorrupt, 83},
		"size_too_small":            {ndfile.ErrCorrupt, atSize},
		"size_too_large":            {ndfile.ErrCorrupt, atSize},
		"ndims_2p60":                {ndfile.ErrCorrupt, atNDims},
		"ndims_2p61_wraps_zero":     {ndfile.ErrCorrupt, atNDims},
		"dims_product_wraps_zero":   {ndfile.ErrCorrupt, atDims + 8},
		"dims_times_elbyte_wraps":   {ndfile.ErrCorrupt, atDims},
		"elbyte_zero":               {ndfile.ErrCorrupt, atElbyte},
		"eltype_9":                  {ndfile.ErrNotSupported, atEltype},
		"flags_8":                   {ndfile.ErrNotSupported, atFlags},
		"flags_2p63":                {ndfile.ErrNotSupported, atFlags},
		"float_elbyte_3":            {ndfile.ErrCorrupt, atElbyte},
		"complex_elbyte_6":          {ndfile.ErrCorrupt, atElbyte},
		"rust_reshape_ndims1_dims2": {ndfile.ErrCorrupt, atSize},
		"lz4_flag_truncated_block":  {ndfile.ErrCorrupt, 126},
	}
	for _, m := range list {
		raw, err := os.ReadFile("testdata/malformed/" + m.File)
		if err != nil {
			t.Fatal(err)
		}
		w := want[strings.TrimSuffix(m.File, ".ra")]
		_, openErr := open(raw)
		loadErr := load(raw, &ndfile.Sink{})
		for _, err := range []error{openErr, loadErr} {
			if ndfile.KindOf(err) != w.kind || ndfile.Offset(err) != w.offset || err == nil ||
				!strings.Contains(err.Error(), "expected ") || !strings.Contains(err.Error(), "found ") {
				t.Errorf("%s (%s): %v", m.File, m.Why, err)
			}
		}
		t.Log(m.File, openErr)
	}
}
