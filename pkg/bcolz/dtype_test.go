package bcolz

import (
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyliteral"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// dtypes are spellings with what NumPy 2.4 makes of them on 64-bit Linux; "" where
// there is no such dtype or bcolz would divide by its size, 0.
var dtypes = []struct {
	text, name string
	shape      []int64
}{
	// what bcolz writes
	{"bool", "|b1", nil}, {"int8", "|i1", nil}, {"int16", "<i2", nil}, {"int32", "<i4", nil}, {"int64", "<i8", nil},
	{"uint8", "|u1", nil}, {"uint16", "<u2", nil}, {"uint32", "<u4", nil}, {"uint64", "<u8", nil},
	{"float16", "<f2", nil}, {"float32", "<f4", nil}, {"float64", "<f8", nil}, {"complex64", "<c8", nil}, {"complex128", "<c16", nil},
	{">i2", ">i2", nil}, {">u8", ">u8", nil}, {">f8", ">f8", nil}, {">c16", ">c16", nil}, {"|S5", "|S5", nil}, {"|S300", "|S300", nil},
	{"<U5", "<U5", nil}, {">U3", ">U3", nil}, {"|V7", "|V7", nil}, {"datetime64[ns]", "<M8[ns]", nil}, {"timedelta64[s]", "<m8[s]", nil},
	{"datetime64", "<M8", nil}, {"timedelta64", "<m8", nil}, {"datetime64[25s]", "<M8[25s]", nil}, {">M8[us]", ">M8[us]", nil}, {">M8", ">M8", nil},
	// what it opens
	{"<i4", "<i4", nil}, {"|i4", "<i4", nil}, {"=i4", "<i4", nil}, {"i4", "<i4", nil}, {"=f8", "<f8", nil}, {"|f8", "<f8", nil}, {"<M8[us]", "<M8[us]", nil},
	{"?", "|b1", nil}, {"b", "|i1", nil}, {"B", "|u1", nil}, {"h", "<i2", nil}, {"H", "<u2", nil}, {"i", "<i4", nil}, {"I", "<u4", nil}, {"l", "<i8", nil},
	{"L", "<u8", nil}, {"q", "<i8", nil}, {"Q", "<u8", nil}, {"p", "<i8", nil}, {"e", "<f2", nil}, {"f", "<f4", nil}, {"d", "<f8", nil}, {"F", "<c8", nil},
	{"D", "<c16", nil}, {"M", "<M8", nil}, {"m", "<m8", nil}, {"c", "|S1", nil}, {"a5", "|S5", nil}, {">d", ">f8", nil},
	{"int", "<i8", nil}, {"uint", "<u8", nil}, {"float", "<f8", nil}, {"complex", "<c16", nil}, {"half", "<f2", nil}, {"single", "<f4", nil},
	{"double", "<f8", nil}, {"byte", "|i1", nil}, {"ubyte", "|u1", nil}, {"short", "<i2", nil}, {"ushort", "<u2", nil}, {"intc", "<i4", nil},
	{"uintc", "<u4", nil}, {"long", "<i8", nil}, {"ulong", "<u8", nil}, {"longlong", "<i8", nil}, {"ulonglong", "<u8", nil}, {"intp", "<i8", nil},
	{"uintp", "<u8", nil}, {"bool_", "|b1", nil}, {"csingle", "<c8", nil}, {"cdouble", "<c16", nil},
	{"float128", "<f16", nil}, {"longdouble", "<f16", nil}, {"g", "<f16", nil}, {"complex256", "<c32", nil}, {"clongdouble", "<c32", nil}, {"G", "<c32", nil},
	{"<b1", "|b1", nil}, {">S5", "|S5", nil}, {"S05", "|S5", nil}, {"i04", "<i4", nil}, {"|U5", "<U5", nil}, {"m8[2D]", "<m8[2D]", nil},
	// shapes and fields
	{"(2,)i4", "<i4", []int64{2}}, {"(2,3)i4", "<i4", []int64{2, 3}}, {"2i4", "<i4", []int64{2}}, {"1i4", "<i4", []int64{1}}, {"()i4", "<i4", nil},
	{"3S5", "|S5", []int64{3}}, {"2 i4", "<i4", []int64{2}}, {"( 2 , 3 ) i4", "<i4", []int64{2, 3}}, {">2i4", ">i4", []int64{2}}, {"(2,)>i4", ">i4", []int64{2}},
	{">(2,)i4", ">i4", []int64{2}}, {"i4,f8", `[["f0", "<i4"], ["f1", "<f8"]]`, nil}, {"i4, f8", `[["f0", "<i4"], ["f1", "<f8"]]`, nil},
	{"f2,", `[["f0", "<f2"]]`, nil}, {"2i4,f8", `[["f0", "<i4", [2]], ["f1", "<f8"]]`, nil}, {">i4,<f8", `[["f0", ">i4"], ["f1", "<f8"]]`, nil},
	{"i4,(2,)>f8,S3", `[["f0", "<i4"], ["f1", ">f8", [2]], ["f2", "|S3"]]`, nil}, {"M8[ns],i4", `[["f0", "<M8[ns]"], ["f1", "<i4"]]`, nil},
	{"int32,f8", `[["f0", "<i4"], ["f1", "<f8"]]`, nil}, {"(2,2)S3,3U2", `[["f0", "|S3", [2, 2]], ["f1", "<U2", [3]]]`, nil},
	// records as NumPy prints them
	{"[('a', '<i4'), ('b', '<f8')]", `[["a", "<i4"], ["b", "<f8"]]`, nil},
	{"[('x', '<i4'), ('y', [('u', '<i2'), ('v', '<f4', (2, 3))]), (\"it's\", 'S3'), ('é\\n', '<U2'), ('m', '<M8[ns]'), ('o', '?')]",
		`[["x", "<i4"], ["y", [["u", "<i2"], ["v", "<f4", [2, 3]]]], ["it's", "|S3"], ["\u00e9\n", "<U2"], ["m", "<M8[ns]"], ["o", "|b1"]]`, nil},
	{"[(('title', 'a'), '<i4')]", `[["a", "<i4"]]`, nil}, {"[(u'a', '>i4', (2L,))]", `[["a", ">i4", [2]]]`, nil}, {"[('a', ('<i4', (3,)))]", `[["a", "<i4", [3]]]`, nil},
	{"(numpy.record, [('a', '<i4'), ('b', '<f8')])", `[["a", "<i4"], ["b", "<f8"]]`, nil},
	{"{'names': ['a', 'b'], 'formats': ['i1', '<i4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True}", `[["a", "|i1"], ["f1", "|V3"], ["b", "<i4"]]`, nil},
	{"{'names': ['f1', 'b'], 'formats': ['i1', ('<i2', (2,))], 'offsets': [0, 4], 'itemsize': 12}", `[["f1", "|i1"], ["f1_", "|V3"], ["b", "<i2", [2]], ["f3", "|V4"]]`, nil},
	{"[('a', {'names': ['x'], 'formats': ['<i4'], 'offsets': [4], 'itemsize': 8})]", `[["a", [["f0", "|V4"], ["x", "<i4"]]]]`, nil},
	// what is none
	{"", "", nil}, {"spam", "", nil}, {"S", "", nil}, {"S0", "", nil}, {"U", "", nil}, {"V", "", nil}, {"V0", "", nil}, {"str", "", nil}, {"bytes", "", nil},
	{"void", "", nil}, {"Int32", "", nil}, {"i3", "", nil}, {"c4", "", nil}, {"f1", "", nil}, {"i16", "", nil}, {"bfloat16", "", nil}, {"int128", "", nil}, {"complex32", "", nil},
	{"b4", "", nil}, {"?4", "", nil}, {"U-3", "", nil}, {"0i4", "", nil}, {"(0,)i4", "", nil}, {"(-1,)i4", "", nil}, {"(2)i4", "", nil}, {"(2,i4", "", nil}, {"2)i4", "", nil},
	{"i4,,f8", "", nil}, {",i4", "", nil}, {",", "", nil}, {"[]", "", nil}, {"{}", "", nil}, {"[('a',)]", "", nil}, {"[('a', '<i4', 2)]", "", nil}, {"[('a', 4)]", "", nil},
	{"[(4, '<i4')]", "", nil}, {"[['a', '<i4']]", "", nil}, {"(('a', '<i4'),)", "", nil}, {"[('a', '<i4')", "", nil}, {"[('a', '<i4')]]", "", nil},
	{"[('a', __import__('os').system('false'))]", "", nil}, {"[('a', '<i4'), ('a', '<i4')]", "", nil}, {"[('a', '<i4', (1000000, 1000000))]", "", nil},
	{"{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 2], 'itemsize': 8}", "", nil}, {"{'names': ['a'], 'formats': ['<i4'], 'offsets': [0], 'itemsize': 3}", "", nil},
	{"{'names': ['a'], 'formats': ['<i4'], 'offsets': [-4], 'itemsize': 8}", "", nil}, {"{'names': ['a'], 'formats': ['<i4'], 'offsets': [0, 1], 'itemsize': 8}", "", nil},
	{"|S99999999999", "", nil}, {"i99999999999999999999", "", nil}, {"99999999999i4", "", nil}, {"(2147483647, 2147483647, 2147483647)i4", "", nil},
	{strings.Repeat("[('a', ", 70) + "'<i4'" + strings.Repeat(")]", 70), "", nil}, {strings.Repeat("(", 1000), "", nil}, {"S" + strings.Repeat("1", pyliteral.MaxLen), "", nil},
}

func TestParseDType(t *testing.T) {
	for _, c := range dtypes {
		d, shape, err := parseDType(c.text)
		if c.name == "" {
			if ndfile.KindOf(err) != ndfile.ErrCorrupt || len(err.Error()) > 400 {
				t.Errorf("%.60q: %s %v, %v", c.text, d, shape, err)
			}
			continue
		}
		if err != nil || d.String() != c.name || len(shape) != len(c.shape) {
			t.Errorf("%.60q: %s %v, %v; expected %s %v", c.text, d, shape, err, c.name, c.shape)
		}
		if d.Check() != nil {
			t.Errorf("%.60q: %v", c.text, d.Check())
		}
	}
	for _, text := range []string{"object", "O", "|O", "|O8", "i4,O", "[('a', '|O')]", "[('a', [('b', 'O')])]"} {
		_, _, err := parseDType(text)
		is(t, err, ndfile.ErrNotSupported, "")
	}
}

// TestDTypeName writes dtypes and reads them again.
func TestDTypeName(t *testing.T) {
	for _, c := range dtypes {
		if c.name == "" {
			continue
		}
		d, err := storable(ndarray.MustParse(c.name))
		if d.Kind == ndarray.Record || strings.Contains("<f16 <c32", d.String()) {
			is(t, err, ndfile.ErrDType, "")
			continue
		}
		ok(t, err)
		again, shape, err := parseDType(dtypeName(d))
		if err != nil || !again.Equal(d) || shape != nil {
			t.Errorf("%s is written %q, read as %s, %v", d, dtypeName(d), again, err)
		}
	}
	// The first ones in the list are written as they stand there.
	for _, c := range dtypes[:30] {
		if got := dtypeName(ndarray.MustParse(c.name)); got != c.text && c.text != ">M8" {
			t.Errorf("%s is written %q, expected %q", c.name, got, c.text)
		}
	}
	for _, name := range []string{"bfloat16", "bytes", "str", "<c4", "<i16", "<u16", "|S0", "<U0", "|V0", `[["a", "<i4"]]`} {
		_, err := storable(ndarray.MustParse(name))
		is(t, err, ndfile.ErrDType, "")
	}
	// In a literal, no byte order is that of the machine.
	d, err := storable(ndarray.DType{Kind: ndarray.Int, Size: 4})
	if err != nil || d.Swapped() || d.Order == ndarray.NoOrder {
		t.Errorf("%+v, %v", d, err)
	}
}

func FuzzParseDType(f *testing.F) {
	for _, c := range dtypes {
		if len(c.text) < 1000 {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, shape, err := parseDType(text)
		if err != nil {
			if k := ndfile.KindOf(err); k != ndfile.ErrCorrupt && k != ndfile.ErrNotSupported {
				t.Fatalf("%q: %s, %v", text, k.C, err)
			}
			return
		}
		n, err := ndarray.NBytes(shape, d.Size)
		if d.Check() != nil || err != nil || n == 0 {
			t.Fatalf("%q: %s %v", text, d, shape)
		}
		if _, err := typeSize(d); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
