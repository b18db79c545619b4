package ndarray

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The left side is what NumPy 2 accepts or the project's own names, the right side
// what numpy.dtype(...).str gives on a little-endian machine, or our canonical name.
var goldenNames = []struct {
	name, canonical string
	kind            Kind
	size            int
}{
	{"|b1", "|b1", Bool, 1}, {"<b1", "|b1", Bool, 1}, {"b1", "|b1", Bool, 1}, {"bool", "|b1", Bool, 1},
	{"|i1", "|i1", Int, 1}, {">i1", "|i1", Int, 1}, {"int8", "|i1", Int, 1}, {"|u1", "|u1", Uint, 1}, {"uint8", "|u1", Uint, 1},
	{"<i2", "<i2", Int, 2}, {">i2", ">i2", Int, 2}, {"<i4", "<i4", Int, 4}, {">u8", ">u8", Uint, 8}, {"<i16", "<i16", Int, 16}, {">u16", ">u16", Uint, 16},
	{"<f2", "<f2", Float, 2}, {">f4", ">f4", Float, 4}, {"<f8", "<f8", Float, 8}, {"<f16", "<f16", Float, 16},
	{"<c4", "<c4", Complex, 4}, {">c8", ">c8", Complex, 8}, {"<c16", "<c16", Complex, 16}, {"<c32", "<c32", Complex, 32},
	{"S10", "|S10", Bytes, 10}, {"|S10", "|S10", Bytes, 10}, {">S3", "|S3", Bytes, 3}, {"S0", "|S0", Bytes, 0},
	{"<U5", "<U5", Unicode, 20}, {">U1", ">U1", Unicode, 4}, {"<U0", "<U0", Unicode, 0}, {"|V12", "|V12", Raw, 12}, {"<V1", "|V1", Raw, 1},
	{"<M8[ns]", "<M8[ns]", Datetime, 8}, {">m8[25s]", ">m8[25s]", Timedelta, 8}, {"<M8", "<M8", Datetime, 8}, {"<M8[generic]", "<M8", Datetime, 8},
	{"<m8[1D]", "<m8[D]", Timedelta, 8}, {"<M8[007as]", "<M8[7as]", Datetime, 8}, {"<M8[Y]", "<M8[Y]", Datetime, 8},
	{"bfloat16", "bfloat16", BFloat, 2}, {"<bfloat16", "bfloat16", BFloat, 2}, {">bfloat16", ">bfloat16", BFloat, 2},
	{"bytes", "bytes", VarBytes, 0}, {"str", "str", VarString, 0},
	{"|S2147483647", "|S2147483647", Bytes, MaxItemSize}, {"<U536870911", "<U536870911", Unicode, 2147483644},
	{`[["a","<f8"],["b","|V4",[2,3]],["n",[["x","<i2"]]]]`, `[["a", "<f8"], ["b", "|V4", [2, 3]], ["n", [["x", "<i2"]]]]`, Record, 34},
	{` [ [ "a" , ">u2" , 3 ] ] `, `[["a", ">u2", [3]]]`, Record, 6},
	{`[["a","<i4",[]],["b","|i1",0]]`, `[["a", "<i4"], ["b", "|i1", [0]]]`, Record, 4},
	{`[["","<i4"],["","|V7"]]`, `[["f0", "<i4"], ["f1", "|V7"]]`, Record, 11},
	{`[["a\"\\é😀\n\u0001\/","<f8"],["\ud83d\ude00\u007f","bfloat16"]]`,
		`[["a\"\\\u00e9\ud83d\ude00\n\u0001/", "<f8"], ["\ud83d\ude00\u007f", "bfloat16"]]`, Record, 10},
}

func TestParseGolden(t *testing.T) {
	for _, g := range goldenNames {
		d, err := Parse(g.name)
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		if s := d.String(); s != g.canonical || d.Kind != g.kind || d.Size != g.size {
			t.Errorf("%s: got %s, kind %d, %d bytes; want %s, %d, %d", g.name, s, d.Kind, d.Size, g.canonical, g.kind, g.size)
		}
		if e := MustParse(g.canonical); !e.Equal(d) || e.String() != g.canonical {
			t.Errorf("%s: %s reads back as %s", g.name, g.canonical, e)
		}
	}
}

// Names without a byte order mean the machine's, except for bfloat16.
func TestParseNative(t *testing.T) {
	order := "<"
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		order = ">"
	}
	for name, rest := range map[string]string{
		"f8": "f8", "=f8": "f8", "|i4": "i4", "int16": "i2", "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8",
		"complex32": "c4", "complex64": "c8", "complex128": "c16", "U2": "U2", "m8[s]": "m8[s]", "datetime64[ns]": "M8[ns]", "timedelta64": "m8",
	} {
		d, err := Parse(name)
		if err != nil || d.String() != order+rest || d.Swapped() {
			t.Errorf("%s: got %s, %v; want %s%s", name, d, err, order, rest)
		}
	}
}

func TestParseErrors(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`[["a",`, n) + `"<i2"` + strings.Repeat("]]", n)
	}
	if _, err := Parse(nested(64)); err != nil {
		t.Errorf("64 nested records: %v", err)
	}
	for _, name := range []string{
		"", " ", "<", "f", "<f", "f3", "<f32", "f8 ", " f8", "<<f8", "i0", "i-4", "i+4", "<i3", "b2", "b", "S", "U", "V", "S-1", "S1x", "|O", "O8", "|O8",
		"<c2", "<c64", "<-2", "<B2", "int", "int0", "int12", "int128", "float8", "float128", "complex256", "<int32", "bool8", "float64[ns]", "Int32",
		"M4", "M8[]", "M8[", "M8]", "M8[x]", "M8[ns", "M8[0s]", "M8[-1s]", "M8[s/10]", "M8[ ns]", "M8[ns]]", "M8[1generic]", "M8[9999999999s]", "f8[ns]",
		"|bfloat16x", "bfloat", "<bytes", "|str", "\x00", "é",
		"[", "[]", "[[]]", "[[", `["a","<f8"]`, `[["a"]]`, `[["a",]]`, `[["a","<f8"],]`, `[["a","<f8"]`, `[["a","<f8"]]x`, `[["a","<f8",]]`, `[["a",8]]`, `[[1,"<f8"]]`,
		`[["a","<f8",-1]]`, `[["a","<f8",1.5]]`, `[["a","<f8",[1]`, `[["a","<f8",[1,]]]`, `[["a","<f8",null]]`, `[["a","<f8",[[1]]]]`, `[["a","<f8",1,2]]`,
		`[["a","<f8"],["a","<f4"]]`, `[["f1","<f8"],["","<f4"]]`, `[["a","bytes"]]`, `[["a","str"]]`, `[["a","|O"]]`, `[["a","[[\"b\",\"<f8\"]]"]]`, `[["a",[]]]`,
		`[["\ud83d","<f8"]]`, `[["\ud83dx","<f8"]]`, `[["\ud83d\u0041","<f8"]]`, `[["\ude00","<f8"]]`, `[["\x","<f8"]]`, `[["\u00g0","<f8"]]`, `[["\u+123","<f8"]]`, `[["\`, `[["\u12`,
		"[[\"a\n\",\"<f8\"]]", "[[\"\xff\",\"<f8\"]]", `[["a`, `{"a":1}`, nested(65), strings.Repeat("[", 1<<20), nested(1 << 16), strings.Repeat("f", 1<<20+1),
	} {
		if d, err := Parse(name); !errors.Is(err, ErrDType) || d.Kind != Invalid {
			t.Errorf("%.60q: got %s, %v", name, d, err)
		} else if len(err.Error()) > 8000 {
			t.Errorf("%.60q: message of %d bytes", name, len(err.Error()))
		}
	}
	for _, name := range []string{
		"S2147483648", "V99999999999999999999999", "U536870912", "<i99999999999", `[["a","|V2147483647"],["b","|i1"]]`, `[["a","|V65536",[65536]]]`,
		`[["a","<f8",[2147483647,2147483647,2147483647]]]`, `[["a","|V0",[2147483647,2147483647,2147483647]]]`,
	} {
		if d, err := Parse(name); !errors.Is(err, ErrOverflow) || d.Kind != Invalid {
			t.Errorf("%s: got %s, %v", name, d, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse did not panic")
		}
	}()
	MustParse("f3")
}

func TestOrder(t *testing.T) {
	if little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1; little != (NativeOrder == Little) {
		t.Fatal("NativeOrder is not the machine's")
	}
	other := map[Order]Order{Little: Big, Big: Little}
	for _, g := range goldenNames {
		d := MustParse(g.name)
		little, big := d.WithOrder(Little), d.WithOrder(Big)
		if strings.Contains(little.String(), ">") || strings.Contains(big.String(), "<") || strings.Contains(big.String(), `"bfloat16`) {
			t.Errorf("%s: with order: %s, %s", g.name, little, big)
		}
		ordered := little.String() != big.String()
		if d.Native().Swapped() || d.WithOrder(other[NativeOrder]).Swapped() != ordered || !d.WithOrder(NoOrder).Equal(d) {
			t.Errorf("%s: Swapped, Native and WithOrder disagree", g.name)
		}
		if little.Equal(big) == ordered || !CanConvert(little, big) {
			t.Errorf("%s: Equal or CanConvert ignores the order", g.name)
		}
		if d.String() != g.canonical {
			t.Errorf("%s: WithOrder changed its receiver to %s", g.name, d)
		}
	}
	// In a literal, no order is the machine's, and none where there can be none.
	if !(DType{Kind: Int, Size: 4}).Equal(MustParse("i4")) || !(DType{Kind: Int, Size: 1, Order: Big}).Equal(MustParse("i1")) {
		t.Error("literals differ from parsed types")
	}
	if a, b := MustParse(`[["a","<i4"]]`), MustParse(`[["b","<i4"]]`); a.Equal(b) || CanConvert(a, b) {
		t.Error("records with other names are equal")
	}
	if MustParse("M8[s]").Equal(MustParse("M8[ns]")) || CanConvert(MustParse("M8[s]"), MustParse("M8[ns]")) {
		t.Error("units are ignored")
	}
	if got := fmt.Sprint(DType{}, DType{Kind: 99}, DType{Kind: BFloat, Size: 2}.WithOrder(Big)); got != "invalid invalid >bfloat16" {
		t.Error(got)
	}
	if !MustParse("str").IsVar() || !MustParse("bytes").IsVar() || MustParse("S1").IsVar() ||
		!MustParse("bfloat16").IsNumeric() || !MustParse("c8").IsNumeric() || MustParse("bool").IsNumeric() || MustParse("M8").IsNumeric() {
		t.Error("IsVar or IsNumeric")
	}
}

// Types written by hand may be wrong; nothing that takes bytes may trust them.
func TestInvalidTypes(t *testing.T) {
	i4 := MustParse("<i4")
	for _, d := range []DType{
		{}, {Kind: Int, Size: 3}, {Kind: Int, Size: -4}, {Kind: Float, Size: 1}, {Kind: Complex, Size: 5}, {Kind: Unicode, Size: 6}, {Kind: Raw, Size: -1}, {Kind: Bool},
		{Kind: BFloat, Size: 4}, {Kind: Datetime, Size: 4}, {Kind: VarBytes, Size: 1}, {Kind: 99, Size: 4}, {Kind: Record},
		{Kind: Record, Size: 4, Fields: []Field{{Name: "a", DType: i4, Offset: 1}}}, {Kind: Record, Size: 4, Fields: []Field{{Name: "a", DType: i4, Offset: -1}}},
		{Kind: Record, Size: 4, Fields: []Field{{Name: "a", DType: i4, Shape: []int64{2}}}}, {Kind: Record, Size: 4, Fields: []Field{{Name: "a", DType: i4, Shape: []int64{-1}}}},
	} {
		data := make([]byte, 64)
		if err := d.Check(); !errors.Is(err, ErrDType) {
			t.Errorf("%v: Check: %v", d, err)
		}
		if err := CopyRun(data, 8, d, data, 8, d, 2); !errors.Is(err, ErrDType) {
			t.Errorf("%v: CopyRun: %v", d, err)
		}
		if _, err := NewBuffer(d, []int64{2}); !errors.Is(err, ErrDType) {
			t.Errorf("%v: NewBuffer: %v", d, err)
		}
		if err := (Buffer{DType: d, Data: data}).Check(); !errors.Is(err, ErrDType) {
			t.Errorf("%v: Buffer.Check: %v", d, err)
		}
		if _, err := NewRecord([]Field{{Name: "x", DType: d}}); !errors.Is(err, ErrDType) {
			t.Errorf("%v: NewRecord: %v", d, err)
		}
		SwapBytes(data[:61], d)
	}
}

func TestNewRecord(t *testing.T) {
	fields := []Field{{Name: "a", DType: MustParse("|u1"), Offset: 77}, {Name: "b", DType: MustParse(">f8"), Shape: []int64{2, 2}}, {Name: "c", DType: MustParse("S3")}}
	d, err := NewRecord(fields)
	if err != nil || d.Size != 36 || d.Fields[0].Offset != 0 || d.Fields[1].Offset != 1 || d.Fields[2].Offset != 33 || fields[0].Offset != 77 {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestAllocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage counters")
	}
	none := func(what string, fn func()) {
		t.Helper()
		if n := testing.AllocsPerRun(50, fn); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	var names []string
	for _, g := range goldenNames {
		if g.kind != Record {
			names = append(names, g.name)
		}
	}
	buf := make([]byte, 0, 64)
	var d DType
	for _, name := range names {
		none("Parse "+name, func() { d, _ = Parse(name) })
		none("AppendName "+name, func() { buf = d.AppendName(buf[:0]) })
	}
	shape := []int64{6, 5, 4}
	src, _ := NewBuffer(MustParse("<f4"), shape)
	for _, name := range []string{"<f4", ">f4", ">f8", "<c16"} {
		dst, _ := NewBuffer(MustParse(name), shape)
		none("Copy to "+name, func() { _ = Copy(dst, src) })
		turned := dst
		turned.Strides = slices.Clone(shape)
		size := int64(dst.DType.Size)
		turned.Strides[0], turned.Strides[1], turned.Strides[2] = size, 24*size, 6*size
		if err := Copy(turned, src); err != nil {
			t.Fatal(err)
		}
		none("Copy transposed to "+name, func() { _ = Copy(turned, src) })
		none("CopyRun to "+name, func() { _ = CopyRun(dst.Data, size, dst.DType, src.Data, 4, src.DType, 120) })
		none("SwapBytes "+name, func() { SwapBytes(dst.Data, dst.DType) })
	}
	record, _ := NewBuffer(MustParse(`[["a","<f4"],["b","<u2",[3]]]`), shape)
	swapped, _ := NewBuffer(record.DType.WithOrder(Big), shape)
	none("Copy records", func() { _ = Copy(swapped, record) })
	box := Box{[]int64{1, 1, 1}, []int64{2, 2, 2}, []int64{2, 1, 1}}
	sum := int64(0)
	none("Runs", func() { _ = box.Runs(shape, func(first, n, step, k int64) error { sum += n; return nil }) })
}

func FuzzParse(f *testing.F) {
	for _, g := range goldenNames {
		f.Add(g.name)
	}
	f.Add("datetime64[ns]")
	f.Add(`[["a",[["b",[["c","<c8",[2,0]]],2]]]]`)
	f.Fuzz(func(t *testing.T, name string) {
		d, err := Parse(name)
		if err != nil {
			if !errors.Is(err, ErrDType) && !errors.Is(err, ErrOverflow) && !errors.Is(err, ErrShape) {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		text := d.String()
		e, err := Parse(text)
		if err != nil || !e.Equal(d) || e.String() != text || d.Check() != nil {
			t.Fatalf("%q is %s, reads back as %s, %v", name, text, e, err)
		}
		if big := d.WithOrder(Big); !CanConvert(d, big) || d.Native().Swapped() || !big.WithOrder(Little).Equal(d.WithOrder(Little)) {
			t.Fatalf("%q: orders disagree", name)
		}
		if d.Size > 1<<16 {
			return
		}
		data := make([]byte, 2*d.Size+1)
		for i := range data {
			data[i] = byte(i*7 + i>>8)
		}
		swapped := slices.Clone(data)
		SwapBytes(swapped, d)
		SwapBytes(swapped, d)
		if !slices.Equal(data, swapped) {
			t.Fatalf("%q: swapping twice changes data", name)
		}
	})
}

func TestInNumPy(t *testing.T) {
	for name, want := range map[string]bool{"|b1": true, "<i8": true, "<u16": false, "<i16": false, "<f2": true, "<f16": true, "bfloat16": false, "<c4": false, "<c8": true,
		"<c32": true, "|S3": true, "<U2": true, "|V5": true, "<M8[ns]": true, "bytes": false, "str": false,
		`[["a", "<i4"], ["b", [["c", "<f8"]]]]`: true, `[["a", "<i4"], ["b", [["c", "<i16"]]]]`: false} {
		if d := MustParse(name); d.InNumPy() != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	if (DType{}).InNumPy() {
		t.Error("the zero DType")
	}
}
