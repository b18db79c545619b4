package pyliteral

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func str(s string) Value         { return Value{Kind: Str, Text: s} }
func integer(n int64) Value      { return Value{Kind: Int, N: n} }
func tuple(items ...Value) Value { return Value{Kind: Tuple, Items: items} }
func list(items ...Value) Value  { return Value{Kind: List, Items: items} }
func header(a, b, c Value) Value {
	return Value{Kind: Dict, Keys: []string{"descr", "fortran_order", "shape"}, Items: []Value{a, b, c}}
}

// TestParse: texts that CPython's ast.literal_eval reads as these values, or
// that Python 2 wrote.
func TestParse(t *testing.T) {
	for text, want := range map[string]Value{
		`'a'`: str("a"), ` "it's" `: str("it's"), `u'a'`: str("a"), `'\\\'\"\n\r\t\xe9\u2603\U0001f600'`: str("\\'\"\n\r\té☃😀"), `''`: str(""),
		"-12": integer(-12), "12L": integer(12), "9223372036854775807": integer(1<<63 - 1), "True": {Kind: Bool, N: 1}, "False": {Kind: Bool},
		"()": tuple(), "(3,)": tuple(integer(3)), "(3)": integer(3), "( 2 , 3 )": tuple(integer(2), integer(3)), "(2, 3,)": tuple(integer(2), integer(3)),
		"[]": list(), "[1]": list(integer(1)), "[('a', '<i4'), ('b', '|S3', (2,))]": list(tuple(str("a"), str("<i4")), tuple(str("b"), str("|S3"), tuple(integer(2)))),
		"{}": {Kind: Dict}, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }   \n": header(str("<f8"), Value{Kind: Bool}, tuple(integer(3))),
	} {
		if v, ok := Parse(text); !ok || !reflect.DeepEqual(v, want) {
			t.Errorf("%s: %+v, %t", text, v, ok)
		}
	}
	for _, text := range []string{"", " ", "'", "'a", `'a"`, `'\q'`, `'\x4'`, `'\ud800'`, `'\U00110000'`, "'\xff'", "'\n'", "u", "b'a'", "(", "(1", "(1 2)", "(,)", "[1,,2]",
		"{'a'}", "{'a':}", "{'a':1", "{1:2}", "{'a':1 'b':2}", "None", "Truex", "1.5", "1e3", "-", "--1", "9223372036854775808", "-9223372036854775808",
		"__import__('os')", "1+1", "'a' 'b'", "1 2", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "'" + strings.Repeat("a", MaxLen) + "'"} {
		if v, ok := Parse(text); ok {
			t.Errorf("%.40s: %+v", text, v)
		}
	}
	v, _ := Parse("{'a': 1, 'b': 2, 'a': 3}")
	if a, ok := v.Get("a"); !ok || a.N != 1 {
		t.Errorf("a: %+v, %t", a, ok)
	}
	if _, ok := v.Get("c"); ok {
		t.Error("c was found")
	}
}

// TestAppend: what CPython 3.11 prints.
func TestAppend(t *testing.T) {
	for s, want := range map[string]string{
		"": `''`, "a": `'a'`, "it's": `"it's"`, `"`: `'"'`, `'"`: `'\'"'`, `a\b`: `'a\\b'`, "\n\r\t\x00\x7f": `'\n\r\t\x00\x7f'`,
		"é\u00ad\u00a0": `'é\xad\xa0'`, "☃\u2028": `'☃\u2028'`, "😀\U000e0001": `'😀\U000e0001'`,
	} {
		if got := string(AppendStr(nil, s)); got != want {
			t.Errorf("%q: %s, expected %s", s, got, want)
		}
	}
	for want, shape := range map[string][]int64{"()": nil, "(3,)": {3}, "(2, 3)": {2, 3}} {
		if got := string(AppendInts(nil, shape)); got != want {
			t.Errorf("%v: %s", shape, got)
		}
	}
}

// FuzzParse: no panic; what Parse reads of a str, AppendStr writes so that Parse
// reads it again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"{'descr': [('a', '<i4', (2,)), (('t', 'n'), '|S3')], 'fortran_order': True, 'shape': (3L, 4), }", `['\xe9', "it's", u'☃']`, "((((1))))"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := Parse(text)
		if ok && len(text) > MaxLen {
			t.Fatal("too long")
		}
		if ok && v.Kind == Str {
			again, ok := Parse(string(AppendStr(nil, v.Text)))
			if !ok || again.Text != v.Text || !utf8.ValidString(v.Text) {
				t.Fatalf("%q: %+v, %t", v.Text, again, ok)
			}
		}
	})
}
