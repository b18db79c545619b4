package bcolz

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func value(t testing.TB, text string) pyjson.Value {
	t.Helper()
	v, err := pyjson.Parse([]byte(text), pyjson.Limits{})
	ok(t, err)
	return v
}

// TestDflt reads values as NumPy 2.4 converts them, and writes them again. fill is
// hexadecimal; "" is what NumPy, or we, cannot take.
func TestDflt(t *testing.T) {
	for _, c := range []struct {
		dtype, dflt, fill string
		again             string // what is written for the element, where it is other than dflt; "-" where it is refused
	}{
		{"|b1", "false", "00", ""}, {"|b1", "true", "01", ""}, {"|b1", "0", "00", "false"}, {"|b1", "1", "01", "true"}, {"|b1", "2", "", ""}, {"|b1", `"x"`, "", ""},
		{"|i1", "-128", "80", ""}, {"|i1", "128", "", ""}, {"|u1", "255", "ff", ""}, {"|u1", "256", "", ""}, {"|u1", "-1", "", ""},
		{"<i4", "0", "00000000", ""}, {"<i4", "-2", "feffffff", ""}, {">i4", "-2", "fffffffe", ""}, {"<i4", "2.0", "02000000", "2"}, {"<i4", "2.5", "", ""},
		{"<i4", "true", "01000000", "1"}, {"<i4", "2147483648", "", ""}, {"<i4", "NaN", "", ""}, {"<i4", "null", "", ""}, {"<i4", "1e300", "", ""},
		{"<i8", "-9223372036854775808", "0000000000000080", ""}, {"<i8", "9223372036854775808", "", ""},
		{"<u8", "18446744073709551615", "ffffffffffffffff", ""}, {"<u8", "18446744073709551616", "", ""}, {"<u8", "1000000000000000000000000000000", "", ""},
		{"<f8", "0.0", "0000000000000000", ""}, {"<f8", "2.5", "0000000000000440", ""}, {">f8", "2.5", "4004000000000000", ""}, {"<f8", "-0.0", "0000000000000080", ""},
		{"<f8", "NaN", "000000000000f87f", ""}, {"<f8", "-Infinity", "000000000000f0ff", ""}, {"<f8", "null", "000000000000f87f", "NaN"}, {"<f8", "3", "0000000000000840", "3.0"},
		{"<f4", "0.10000000149011612", "cdcccc3d", ""}, {"<f4", "0.1", "cdcccc3d", "0.10000000149011612"}, {"<f4", "NaN", "0000c07f", ""}, {"<f4", "1e300", "0000807f", "Infinity"},
		{"<f2", "0.0999755859375", "662e", ""}, {">f2", "0.0999755859375", "2e66", ""}, {"<f2", "0.1", "662e", "0.0999755859375"}, {"<f2", "65504.0", "ff7b", ""},
		{"<f2", "65519.9", "ff7b", "65504.0"}, {"<f2", "65520.0", "007c", "Infinity"}, {"<f2", "-1e9", "00fc", "-Infinity"}, {"<f2", "5.960464477539063e-08", "0100", ""},
		{"<f2", "6.103515625e-05", "0004", ""}, {"<f2", "6.1e-05", "ff03", "6.097555160522461e-05"}, {"<f2", "-0.0", "0080", ""}, {"<f2", "NaN", "007e", ""}, {"<f2", "2047.9", "0068", "2048.0"},
		{"<c8", "0.0", "0000000000000000", ""}, {"<c8", "1.5", "0000c03f00000000", ""}, {"<c8", `"(1+2j)"`, "0000803f00000040", ""}, {">c8", `"(1+2j)"`, "3f80000040000000", ""},
		{"<c8", `"1+2j"`, "0000803f00000040", `"(1+2j)"`}, {"<c8", `"2j"`, "0000000000000040", `"(0+2j)"`}, {"<c8", `"(-0-0j)"`, "0000008000000080", ""},
		{"<c8", `"(nan-infj)"`, "0000c07f000080ff", ""}, {"<c8", `"(+inf+nanj)"`, "0000807f0000c07f", ""}, {"<c8", `"(1e-05-2.5e+16j)"`, "acc52737bca2b1da", `"(9.999999747378752e-06-2.4999999607668736e+16j)"`},
		{"<c8", "null", "0000c07f00000000", "NaN"}, {"<c8", `"x"`, "", ""}, {"<c8", "[1, 2]", "", ""}, {"<c16", "2.0", "00000000000000400000000000000000", ""},
		{"<f16", "0.0", "00000000000000000000000000000000", "-"}, {"<f16", "1.0", "", ""},
		{"<M8[ns]", "0", "0000000000000000", ""}, {"<M8[ns]", "5", "0500000000000000", ""}, {">M8[ns]", "5", "0000000000000005", ""}, {"<M8[ns]", "null", "0000000000000080", ""},
		{"<M8[D]", `"NaT"`, "0000000000000080", "null"}, {"<M8[D]", `"2020-01-01"`, "", ""}, {"<M8", "null", "0000000000000080", ""}, {"<M8", "0", "0000000000000000", "-"},
		{"<m8", "0", "0000000000000000", ""}, {"<m8[s]", "-1", "ffffffffffffffff", ""}, {"<m8[s]", "1.5", "", ""},
		{"|S4", `""`, "00000000", ""}, {"|S4", `"zz"`, "7a7a0000", ""}, {"|S4", `"a\u0000b"`, "61006200", ""}, {"|S4", `"toolong"`, "", ""}, {"|S4", `"\u00e9"`, "", ""}, {"|S4", "0", "", ""},
		{"|V4", `"\u0000\u0000\u0000\u0000"`, "00000000", ""}, {"|V4", `"ab\u0000\u0000"`, "61620000", ""}, {"|V4", `"ab"`, "61620000", `"ab\u0000\u0000"`},
		{"<U2", `"\u00e9\u4e2d"`, "e90000002d4e0000", ""}, {">U2", `"\u00e9"`, "000000e900000000", ""}, {"<U1", `"\ud83d\ude00"`, "00f60100", ""}, {"<U1", `"\udcff"`, "ffdc0000", "-"},
		{"<U1", `"ab"`, "", ""}, {"<U2", `""`, "0000000000000000", ""},
		{`[["a", "<i4"], ["b", "<f2"]]`, "[1, 2.0]", "010000000040", "-"}, {`[["a", "<i2", [2, 2]], ["b", [["c", "|u1"]]]]`, "[[[1, 2], [3, 4]], [5]]", "010002000300040005", "-"},
		{`[["a", "<i4"], ["b", "<f2"]]`, "[1]", "", ""}, {`[["a", "<i4"], ["b", "<f2"]]`, "0", "", ""}, {`[["a", "<i2", [2]]]`, "[[1]]", "", ""}, {`[["a", "<i2", [2]]]`, "[1]", "", ""},
	} {
		d, v := ndarray.MustParse(c.dtype), value(t, c.dflt)
		fill, good := parseDflt(d, v)
		if good != (c.fill != "") || good && hex.EncodeToString(fill) != c.fill {
			t.Errorf("%s, %s: %x, %t; expected %s", c.dtype, c.dflt, fill, good, c.fill)
		}
		if !good || d.Kind == ndarray.Record {
			continue
		}
		if c.again == "" {
			c.again = c.dflt
		}
		again, err := dfltOf(d, fill)
		if c.again == "-" {
			if ndfile.KindOf(err) != ndfile.ErrValue && d.Size != 16 {
				t.Errorf("%s, %x: %v", c.dtype, fill, err)
			}
			continue
		}
		if got := string(pyjson.Append(nil, again)); err != nil || got != c.again {
			t.Errorf("%s, %x: written as %s, %v; expected %s", c.dtype, fill, got, err, c.again)
		}
	}
}

// TestDfltRefused: what the file cannot keep is refused, not bent.
func TestDfltRefused(t *testing.T) {
	for dtype, fill := range map[string]string{
		"|b1": "02", "|S2": "e900", "|V2": "00ff", "<U1": "ffffffff", "<f8": "010000000000f87f", "<f4": "0000c0ff", "<f2": "017e",
	} {
		b, err := hex.DecodeString(fill)
		ok(t, err)
		v, err := dfltOf(ndarray.MustParse(dtype), b)
		if ndfile.KindOf(err) != ndfile.ErrValue {
			t.Errorf("%s %s: written as %s, %v", dtype, fill, metafile.Short(v), err)
		}
	}
	_, err := dfltOf(ndarray.MustParse("<i4"), make([]byte, 3))
	is(t, err, ndfile.ErrArgument, "")
}

// TestDfltLarge: the size of an element is a number in a file, and not to be
// allocated.
func TestDfltLarge(t *testing.T) {
	d := ndarray.MustParse("|S2147483647")
	for text, good := range map[string]bool{`""`: true, `"\u0000"`: true, `"a"`: false, "0": false} {
		if fill, is := parseDflt(d, value(t, text)); fill != nil || is != good {
			t.Errorf("%s: %d bytes, %t", text, len(fill), is)
		}
	}
}

func FuzzDflt(f *testing.F) {
	for _, name := range []string{"|b1", "<i4", ">u8", "<f2", "<f4", ">f8", "<c8", "|S4", "|V4", "<U3", "<M8[ns]", "<M8", `[["a", "<i4", [2]], ["b", "<f2"]]`} {
		for _, text := range []string{"0", "-1.5", "true", "null", "NaN", `"ab"`, `"(1+2j)"`, "[[1, 2], 3.0]", `"\udcff"`} {
			f.Add(name, text)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		d, err := ndarray.Parse(name)
		v, err2 := pyjson.Parse([]byte(text), pyjson.Limits{})
		if err != nil || err2 != nil || d.IsVar() || d.Size == 0 || !d.InNumPy() || d.Size > 1<<16 {
			return
		}
		fill, good := parseDflt(d, v)
		if !good {
			return
		}
		if len(fill) != d.Size {
			t.Fatalf("%s, %s: %d bytes", d, text, len(fill))
		}
		if _, err := storable(d); err != nil {
			return
		}
		again, err := dfltOf(d, fill)
		if err != nil {
			return
		}
		if back, good := parseDflt(d, again); !good || !bytes.Equal(back, fill) {
			t.Fatalf("%s, %s: %x is written as %s and read as %x", d, text, fill, metafile.Short(again), back)
		}
	})
}
