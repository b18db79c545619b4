package zarr

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func mustJSON(t testing.TB, text string) pyjson.Value {
	t.Helper()
	v, err := pyjson.Parse([]byte(text), pyjson.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func mustDType(t testing.TB, text string) ndarray.DType {
	t.Helper()
	d, err := parseDType(mustJSON(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// TestFillGolden compares fill values with what NumPy makes of them, and writes
// them again.
func TestFillGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/fill.golden")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		d, v, want := mustDType(t, row[0]), mustJSON(t, row[1]), row[2]
		rows++
		elem, err := fillBytes(d, v)
		got := hex.EncodeToString(elem)
		if err != nil {
			got = "error"
			if k := ndfile.KindOf(err); k != ndfile.ErrCorrupt {
				t.Errorf("%s, %s: error of kind %s: %v", row[0], row[1], k.C, err)
			}
		}
		if got != want {
			t.Errorf("%s, %s: %s, expected %s (%v)", row[0], row[1], got, want, err)
			continue
		}
		if err != nil {
			continue
		}
		again, err := fillValue(d, elem)
		if err != nil {
			if ndfile.KindOf(err) != ndfile.ErrValue || d.Kind == ndarray.Int || d.Kind == ndarray.Float {
				t.Errorf("%s, %s: cannot be written: %v", row[0], want, err)
			}
			continue
		}
		if back, err := fillBytes(d, again); err != nil || again.Kind() != pyjson.KindNull && string(back) != string(elem) {
			t.Errorf("%s, %s: written as %s, which is %x, %v", row[0], want, pyjson.Append(nil, again), back, err)
		}
	}
	if rows < 3000 {
		t.Errorf("%d rows, expected 3000 or more", rows)
	}
}

// TestFillBeyondNumPy: what the reference implementation writes but cannot read,
// and what is refused for other reasons.
func TestFillBeyondNumPy(t *testing.T) {
	for _, c := range []struct {
		dtype, fill, want string
		kind              *ndfile.ErrorKind
	}{
		{`[["a", "<i2"], ["b", "|S2"]]`, `[1, "x"]`, "01007800", nil},
		{`[["a", [["b", "|u1"], ["c", "|u1"]]], ["d", "|u1"]]`, `[[1, 2], 3]`, "010203", nil},
		{`[["a", [["b", "|u1"], ["c", "|u1"]]], ["d", "|u1"]]`, `[4, 3]`, "040403", nil},
		{`[["a", "<i2", [2]], ["b", "|u1"]]`, `7`, "0700070007", nil},
		{`[["a", "<i2"], ["b", "|S2"]]`, `[1]`, "", ndfile.ErrCorrupt},
		{`[["a", "<i2"], ["b", "|S2"]]`, `{}`, "", ndfile.ErrCorrupt},
		{`"<f16"`, `0`, strings.Repeat("00", 16), nil},
		{`"<f16"`, `1`, "", ndfile.ErrNotSupported},
		{`"<c32"`, `0.5`, "", ndfile.ErrNotSupported},
		{`"<i4"`, `1e300`, "", ndfile.ErrCorrupt},
		{`"|i1"`, `NaN`, "", ndfile.ErrCorrupt},
		{`"<M8[ns]"`, `"today"`, "", ndfile.ErrCorrupt},
		{`"<M8[as]"`, `"2016"`, "", ndfile.ErrCorrupt},
		{`"<U2"`, `"\udcff"`, "", ndfile.ErrCorrupt},
		{`"|V2000000000"`, `0`, "", ndfile.ErrLimit},
	} {
		elem, err := fillBytes(mustDType(t, c.dtype), mustJSON(t, c.fill))
		if c.kind == nil && (err != nil || hex.EncodeToString(elem) != c.want) {
			t.Errorf("%s, %s: %x, %v, expected %s", c.dtype, c.fill, elem, err, c.want)
		}
		if c.kind != nil && (err == nil || ndfile.KindOf(err) != c.kind) {
			t.Errorf("%s, %s: %x, %v, expected %s", c.dtype, c.fill, elem, err, c.kind.C)
		}
	}
	if elem, err := fillBytes(mustDType(t, `"<i4"`), pyjson.Null()); elem != nil || err != nil {
		t.Errorf("null: %x, %v", elem, err)
	}
}

// TestFillValue: the spellings that are written, those of the reference, and
// what has none.
func TestFillValue(t *testing.T) {
	for _, c := range []struct{ dtype, elem, want string }{
		{`"|b1"`, "00", "false"}, {`"|b1"`, "01", "true"}, {`"|b1"`, "02", ""},
		{`"<i4"`, "00000000", "0"}, {`">i4"`, "fffffffb", "-5"}, {`"<u8"`, "ffffffffffffffff", "18446744073709551615"},
		{`"<f4"`, "00000000", "0"}, {`"<f4"`, "00000080", "-0.0"}, {`">f4"`, "3f000000", "0.5"}, {`"<f2"`, "003e", "1.5"},
		{`"<f8"`, "000000000000f07f", "Infinity"}, {`"<f8"`, "010000000000f87f", "NaN"}, {`"<f8"`, "000000000000f0ff", "-Infinity"},
		{`"<f4"`, "cdcccc3d", "0.10000000149011612"},
		{`"<c16"`, "00000000000004400000000000000000", "2.5"}, {`"<c8"`, "0000803f00000040", `"(1+2j)"`}, {`"<c8"`, "0000803f00000080", `"(1-0j)"`},
		{`">c8"`, "7f800000c0200000", `"(inf-2.5j)"`},
		{`"<f16"`, strings.Repeat("00", 16), "0"}, {`"<f16"`, "01" + strings.Repeat("00", 15), ""},
		{`"|S3"`, "000000", `""`}, {`"|S3"`, "616200", `"ab"`}, {`"|S3"`, "61ff00", ""}, {`"|S3"`, "610062", `"a\u0000b"`},
		{`"<U2"`, "e900000000000000", `"\u00e9"`}, {`">U1"`, "0001f600", `"\ud83d\ude00"`}, {`"<U1"`, "00d80000", ""}, {`"<U1"`, "ffffffff", ""},
		{`"<M8[ns]"`, "0000000000000080", "-9223372036854775808"}, {`">m8[s]"`, "0000000000000005", "5"},
		{`"|V2"`, "0000", "0"}, {`"|V2"`, "0102", "513"}, {`"|V9"`, "ffffffffffffffff00", "18446744073709551615"}, {`"|V9"`, "000000000000000001", ""},
		{`[["a", "|u1"], ["b", "<f4"]]`, "0000000000", "0"}, {`[["a", "|u1"], ["b", "<f4"]]`, "0100000000", ""},
		{`[["a", "|u1"], ["b", "|S1"]]`, "0000", "null"}, {`[["a", "|u1"], ["b", "|S1"]]`, "0100", ""},
	} {
		elem, _ := hex.DecodeString(c.elem)
		v, err := fillValue(mustDType(t, c.dtype), elem)
		switch {
		case c.want == "" && ndfile.KindOf(err) != ndfile.ErrValue:
			t.Errorf("%s, %s: %s, %v, expected ErrValue", c.dtype, c.elem, pyjson.Append(nil, v), err)
		case c.want != "" && (err != nil || string(pyjson.Append(nil, v)) != c.want):
			t.Errorf("%s, %s: %s, %v, expected %s", c.dtype, c.elem, pyjson.Append(nil, v), err, c.want)
		}
	}
	if _, err := fillValue(mustDType(t, `"<i4"`), []byte{1}); ndfile.KindOf(err) != ndfile.ErrArgument {
		t.Errorf("a fill value of 1 byte for <i4: %v", err)
	}
	if v, err := fillValue(mustDType(t, `"<i4"`), nil); err != nil || v.Kind() != pyjson.KindNull {
		t.Errorf("no fill value: %v, %v", v, err)
	}
}
