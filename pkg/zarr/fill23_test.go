package zarr

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

type (
	readFill  = func(v pyjson.Value, d ndarray.DType) ([]byte, error)
	writeFill = func(elem []byte, d ndarray.DType) (pyjson.Value, error)
)

// TestFill23Golden reads and writes fill values as zarr-python spells them.
func TestFill23Golden(t *testing.T) {
	data, err := os.ReadFile("testdata/fill23.golden")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		d, v := mustDType(t, row[1]), mustJSON(t, row[2])
		read, write := readFill(fill2), writeFill(fill2Value)
		if row[0] == "3" {
			read, write = fill3, fill3Value
		}
		rows++
		elem, err := read(v, d)
		if got := hex.EncodeToString(elem); err != nil || got != row[3] {
			t.Errorf("%s: read as %s, %v", line, got, err)
			continue
		}
		text, err := write(elem, d)
		if row[0] == "2" && d.Kind == ndarray.Bytes { // zarr-python leaves out the NULs at its end
			if s, _ := text.Str(); base64.StdEncoding.EncodeToString(elem) != s {
				t.Errorf("%s: written as %s, %v", line, metafile.Short(text), err)
			}
			continue
		}
		if got := string(pyjson.Append(nil, text)); err != nil || got != row[2] {
			t.Errorf("%s: written as %s, %v", line, got, err)
		}
	}
	if rows < 700 {
		t.Errorf("%d rows, expected 700 or more", rows)
	}
}

// TestFill23Read reads spellings that zarr-python takes or the specifications
// have, but nobody here writes. "" is ErrCorrupt.
func TestFill23Read(t *testing.T) {
	for _, c := range []struct {
		version     int
		dtype, fill string
		want        string
	}{
		{2, "<i4", "null", "null"},
		{2, "<f4", "3", "00004040"},
		{2, "<f4", "NaN", "0000c07f"},
		{2, "<c8", "1", "0000803f00000000"},
		{2, "<c8", "[1]", ""},
		{2, "<c8", `["a", 1]`, ""},
		{2, "<i4", `"a"`, ""},
		{2, "|S3", `"YWI="`, "616200"},
		{2, "|S3", `"YWJjZA=="`, ""}, // too long
		{2, "|S3", `"YWI"`, ""},      // no padding
		{2, "|S3", `3`, ""},
		{2, "|V3", `"YWI="`, ""}, // too short
		{3, "|b1", "1", ""},
		{3, "<i4", "null", ""},
		{3, "<i4", "1.0", "01000000"},
		{3, "<i4", "1.5", ""},
		{3, "<i4", "2147483648", ""},
		{3, "<i4", "1e300", ""},
		{3, "<i4", `"1"`, ""},
		{3, "|u1", "-1", ""},
		{3, "|u1", "256", ""},
		{3, "<u8", "18446744073709551616", ""},
		{3, "<f2", `"0x7e01"`, "017e"},
		{3, ">f4", `"0x7fc00001"`, "7fc00001"},
		{3, "<f4", `"0xff800000"`, "000080ff"},
		{3, "<f8", `"0x7ff0000000000001"`, "010000000000f07f"},
		{3, "<f8", `"0x7fc00001"`, ""}, // digits of another size
		{3, "<f8", `"0x7fc0000g00000000"`, ""},
		{3, "<f8", `"nan"`, ""},
		{3, "<f8", `"1.5"`, ""},
		{3, "<f8", `[1]`, ""},
		{3, "<f8", `true`, ""},
		{3, "<c8", `["0x7fc00001", "-Infinity"]`, "0100c07f000080ff"},
		{3, "<c8", "1.0", ""},
		{3, "<M8[s]", `"NaT"`, "0000000000000080"},
		{3, "<M8[s]", `"1970"`, ""},
		{3, "<M8[s]", `1.0`, ""},
		{3, "<U2", `"abc"`, ""}, // too long
		{3, "<U2", `"\ud800"`, ""},
		{3, "|V2", `[1, 255]`, "01ff"},
		{3, "|V2", `[1]`, ""},
		{3, "|V2", `[1, 256]`, ""},
		{3, `[["a", "<i2"], ["b", [["x", "<f4"]]]]`, `{"a": 1, "b": {"x": "NaN"}}`, "01000000c07f"},
		{3, `[["a", "<i2"], ["b", "<f4"]]`, `{"a": 1}`, ""},
		{3, `[["a", "<i2"]]`, `{"a": 1, "b": 2}`, ""},
		{3, `[["a", "<i2"]]`, `0`, ""},
	} {
		d, v := mustDType(t, quoteName(c.dtype)), mustJSON(t, c.fill)
		read := readFill(fill2)
		if c.version == 3 {
			read = fill3
		}
		elem, err := read(v, d)
		got := hex.EncodeToString(elem)
		switch {
		case c.want == "null" && (elem != nil || err != nil):
			t.Errorf("version %d, %s, %s: %x, %v, want nil", c.version, c.dtype, c.fill, elem, err)
		case c.want == "" && !errors.Is(err, ndfile.ErrCorrupt):
			t.Errorf("version %d, %s, %s: %x, %v, want ErrCorrupt", c.version, c.dtype, c.fill, elem, err)
		case c.want != "" && c.want != "null" && (got != c.want || err != nil):
			t.Errorf("version %d, %s, %s: %s, %v, want %s", c.version, c.dtype, c.fill, got, err, c.want)
		}
	}
}

// quoteName makes JSON of a dtype's name.
func quoteName(name string) string {
	if strings.HasPrefix(name, "[") {
		return name
	}
	return `"` + name + `"`
}

// TestFill3Bits writes every NaN by its bits.
func TestFill3Bits(t *testing.T) {
	for _, c := range []struct{ dtype, bytes, want string }{
		{"<f2", "007e", `"NaN"`}, {"<f2", "00fe", `"0xfe00"`}, {">f2", "7c01", `"0x7c01"`},
		{"<f4", "0000c07f", `"NaN"`}, {"<f4", "0000c0ff", `"0xffc00000"`}, {">f4", "7f800001", `"0x7f800001"`},
		{"<f8", "000000000000f87f", `"NaN"`}, {"<f8", "010000000000f87f", `"0x7ff8000000000001"`},
		{"<c8", "0000c0ff0000c07f", `["0xffc00000", "NaN"]`},
	} {
		d := ndarray.MustParse(c.dtype)
		elem, err := hex.DecodeString(c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		v, err := fill3Value(elem, d)
		if got := string(pyjson.Append(nil, v)); err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.dtype, c.bytes, got, err, c.want)
			continue
		}
		if back, err := fill3(v, d); err != nil || string(back) != string(elem) {
			t.Errorf("%s %s: read back as %x, %v", c.dtype, c.want, back, err)
		}
	}
}

// TestFill23Refused: what cannot be written.
func TestFill23Refused(t *testing.T) {
	for _, c := range []struct {
		dtype string
		elem  []byte
		kind  *ndfile.ErrorKind
	}{
		{"<i4", []byte{1}, ndfile.ErrArgument},
		{"<U1", []byte{0, 0, 0x11, 0}, ndfile.ErrValue}, // beyond Unicode
		{"<U1", []byte{0, 0xd8, 0, 0}, ndfile.ErrValue}, // half a surrogate pair
		{"<f16", []byte{0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0}, ndfile.ErrValue},
	} {
		d := ndarray.MustParse(c.dtype)
		for i, write := range []writeFill{fill2Value, fill3Value} {
			if v, err := write(c.elem, d); !errors.Is(err, c.kind) {
				t.Errorf("version %d, %s, %x: %s, %v", i+2, c.dtype, c.elem, metafile.Short(v), err)
			}
		}
	}
	if _, err := fill3(pyjson.String(""), ndarray.MustParse("S100000000")); !errors.Is(err, ndfile.ErrLimit) {
		t.Errorf("a fill value of 100 MB: %v", err)
	}
}

// TestNoFill2: an array without a fill value stays one in a copy. Zero would be a
// sign of missing elements to others.
func TestNoFill2(t *testing.T) {
	mem := vfs.NewMem()
	path := "/a.zarr"
	for range 2 {
		f, err := Format2.Create(ctx, mem, path, ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{3}, Extra: ndfile.NewAttrs()}
		spec.Extra.Set("fill_value", pyjson.Null())
		if path == "/b.zarr" {
			old, err := Format2.Open(ctx, mem, "/a.zarr", ndfile.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close(ctx)
			a, err := old.Array("")
			if err != nil {
				t.Fatal(err)
			}
			spec = a.Spec()
		}
		if _, err := f.Add(ctx, "", spec); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1000)
		n, _, err := mem.ReadSmall(ctx, path+"/.zarray", buf)
		if err != nil || !strings.Contains(string(buf[:n]), `"fill_value": null`) {
			t.Errorf("%s: %s, %v", path, buf[:n], err)
		}
		path = "/b.zarr"
	}
}
