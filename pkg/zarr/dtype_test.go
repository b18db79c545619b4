package zarr

import (
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestDTypeNames: the spellings that NumPy 1.19 takes on a little-endian machine,
// and what it writes for them (dtype.descr).
func TestDTypeNames(t *testing.T) {
	for _, c := range [][2]string{
		{`"<i4"`, `"<i4"`}, {`"i4"`, `"<i4"`}, {`"=i4"`, `"<i4"`}, {`"|i4"`, `"<i4"`}, {`">i4"`, `">i4"`}, {`"int32"`, `"<i4"`}, {`"i"`, `"<i4"`},
		{`">i"`, `">i4"`}, {`"<H"`, `"<u2"`}, {`"?"`, `"|b1"`}, {`"bool"`, `"|b1"`}, {`"b1"`, `"|b1"`}, {`"b"`, `"|i1"`}, {`"B"`, `"|u1"`},
		{`"float"`, `"<f8"`}, {`"float16"`, `"<f2"`}, {`"d"`, `"<f8"`}, {`"longdouble"`, `"<f16"`}, {`"g"`, `"<f16"`}, {`"complex"`, `"<c16"`},
		{`"complex64"`, `"<c8"`}, {`"F"`, `"<c8"`}, {`"int"`, `"<i8"`}, {`"uint"`, `"<u8"`}, {`"S5"`, `"|S5"`}, {`"a5"`, `"|S5"`}, {`"|a5"`, `"|S5"`},
		{`"U5"`, `"<U5"`}, {`">U5"`, `">U5"`}, {`"V6"`, `"|V6"`}, {`"M8[ns]"`, `"<M8[ns]"`}, {`"datetime64[25s]"`, `"<M8[25s]"`}, {`"datetime64"`, `"<M8"`},
		{`"timedelta64[D]"`, `"<m8[D]"`}, {`"m8"`, `"<m8"`}, {`"c"`, `"|S1"`},
		{`[["a", "<i4"], ["b", [["x", "f4"], ["y", ">f4"]]]]`, `[["a", "<i4"], ["b", [["x", "<f4"], ["y", ">f4"]]]]`},
		{`[["a", "|u1"], ["", "|V7"], ["b", "<f8"]]`, `[["a", "|u1"], ["f1", "|V7"], ["b", "<f8"]]`}, // an aligned record
		{`[["\u00e9", "int8"]]`, `[["\u00e9", "|i1"]]`},
	} {
		d, err := parseDType(mustJSON(t, c[0]))
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		v, err := dtypeValue(d)
		if got := string(pyjson.Append(nil, v)); err != nil || got != c[1] {
			t.Errorf("%s: written as %s, %v, expected %s", c[0], got, err, c[1])
		}
	}
}

func TestDTypeRefused(t *testing.T) {
	deep := strings.Repeat(`[["a", `, 65) + `"i4"` + strings.Repeat(`]]`, 65)
	for _, text := range []string{`"|O"`, `"O"`, `"object"`, `[["a", "|O"]]`, `"<q9"`, `""`, `"i3"`, `"<i16"`, `"uint128"`, `"bfloat16"`, `"<c4"`, `"bytes"`, `"str"`,
		`"S"`, `"S0"`, `"U"`, `"V0"`, `"i4,f8"`, `"3i4"`, `"(2,3)f8"`, `">int32"`, `">float"`, `"a"`, `"M8[s/10]"`, `"M8[x]"`, `"<S2147483648"`,
		`4`, `null`, `{}`, `[]`, `[[]]`, `[["a"]]`, `["a", "i4"]`, `[["a", "i4", 2, 3]]`, `[["a", "i4", "x"]]`, `[["a", "i4", -1]]`, `[["a", "i4", [1.5]]]`,
		`[["a", "i4"], ["a", "i8"]]`, `[[1, "i4"]]`, `[["a", "i4", [2147483647, 2147483647]]]`, deep} {
		if d, err := parseDType(mustJSON(t, text)); err == nil {
			t.Errorf("%.50s: read as %s", text, d)
		} else if k := ndfile.KindOf(err); k != ndfile.ErrDType && k != ndfile.ErrShape {
			t.Errorf("%.50s: kind %s: %v", text, k.C, err)
		}
	}
	if _, err := parseDType(mustJSON(t, deep[7:len(deep)-2])); err != nil {
		t.Errorf("64 nested records: %v", err)
	}
	gap := ndarray.DType{Kind: ndarray.Record, Size: 12, Fields: []ndarray.Field{{Name: "a", DType: ndarray.MustParse("<i4"), Offset: 4}}}
	tail := ndarray.DType{Kind: ndarray.Record, Size: 12, Fields: []ndarray.Field{{Name: "a", DType: ndarray.MustParse("<i4")}}}
	for _, d := range []ndarray.DType{gap, tail, ndarray.MustParse(`[["a", "<i4", [2]]]`), ndarray.MustParse("<i16"), ndarray.MustParse("bfloat16"),
		ndarray.MustParse("|S0"), ndarray.MustParse("str"), {}} {
		if v, err := dtypeValue(d); ndfile.KindOf(err) != ndfile.ErrDType {
			t.Errorf("%s: written as %s, %v", d, pyjson.Append(nil, v), err)
		}
	}
}

// TestSubArrays: release 0.4 writes documents of records with sub-arrays, and
// then cannot open them. We read them.
func TestSubArrays(t *testing.T) {
	for text, size := range map[string]int{
		`[["a", "<i2", [2, 3]], ["b", "|u1"]]`: 13,
		`[["a", "<i2", 4]]`:                    8,
		`[["a", "<i2", []]]`:                   2,
		`[["a", [["x", "|S3"]], [2]]]`:         6,
	} {
		if d := mustDType(t, text); d.Size != size {
			t.Errorf("%s: %d bytes, expected %d", text, d.Size, size)
		}
	}
}
