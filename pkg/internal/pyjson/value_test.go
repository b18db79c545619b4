package pyjson

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestConstructors(t *testing.T) {
	o := NewObject()
	o.Set("n", Null())
	o.Set("b", Bool(true))
	o.Set("i", Int(math.MinInt64))
	o.Set("u", Uint(math.MaxUint64))
	o.Set("f", Float(1e16))
	o.Set("s", String("\x7f\u00e9"))
	o.Set("l", List(Bool(false), List(), ObjectValue(nil), Value{}))
	v := ObjectValue(o)
	const want = `{"n": null, "b": true, "i": -9223372036854775808, "u": 18446744073709551615, "f": 1e+16, ` +
		`"s": "\u007f\u00e9", "l": [false, [], {}, null]}`
	if got := string(Append([]byte("x"), v)); got != "x"+want {
		t.Errorf("got %s", got)
	}
	if got := string(AppendObject(nil, o)); got != want {
		t.Errorf("got %s", got)
	}
	if !mustParse(t, want).Equal(v) {
		t.Error("not equal after parsing")
	}
	var kinds []string
	for i := range o.Len() {
		_, m := o.At(i)
		kinds = append(kinds, m.Kind().String())
	}
	if got := strings.Join(kinds, " "); got != "null bool number number number string list" {
		t.Error(got)
	}
	for _, text := range []string{"", " 1", "1 ", "01", "1.", "x", "-", "1,", "true", `"1"`} {
		var syntax *SyntaxError
		if n, err := Number(text); !errors.As(err, &syntax) || n.Kind() != KindNull {
			t.Errorf("Number(%q): %v", text, err)
		}
	}
}

// Accessors of the wrong kind say so and give the zero value.
func TestWrongKind(t *testing.T) {
	values := []Value{Null(), Bool(true), Int(1), String("1"), List(Int(1)), ObjectValue(nil)}
	for i, v := range values {
		_, isBool := v.Bool()
		_, isInt := v.Int64()
		_, isUint := v.Uint64()
		_, isFloat := v.Float64()
		_, isStr := v.Str()
		got := []bool{v.Kind() == KindNull, isBool, isInt && isUint && isFloat && v.IsInt() && v.Text() == "1",
			isStr, v.Items() != nil, v.Object() != nil}
		for k := range got {
			if got[k] != (i == k) {
				t.Errorf("%s answers as %s: %v", v.Kind(), Kind(k), got[k])
			}
		}
	}
}

func TestEqual(t *testing.T) {
	// Within a group equal, across groups not.
	groups := [][]string{
		{"null"}, {"true"}, {"false"}, {"1"}, {"0", "-0"}, {"0.0", "0e5", "1e-400"}, {"-0.0"}, {"1.10", "1.1", "11e-1"},
		{"1.0"}, {"NaN"}, {"Infinity", "1e400"}, {"-Infinity"}, {`"1"`}, {`"\u00e9"`, `"é"`}, {`"\ud800"`},
		{"[]"}, {"[1]"}, {"[1.0]"}, {"[1, 1]"}, {"{}"}, {`{"a": 1}`, `{"a": 2, "a": 1}`}, {`{"a": 1.0}`}, {`{"b": 1}`},
		{`{"a": 1, "b": 1}`}, {`{"b": 1, "a": 1}`},
	}
	for i, g := range groups {
		for k, h := range groups {
			for _, a := range g {
				for _, b := range h {
					if mustParse(t, a).Equal(mustParse(t, b)) != (i == k) {
						t.Errorf("%s and %s: equal is %v", a, b, i != k)
					}
				}
			}
		}
	}
}

// Bytes that are no UTF-8 are written as Python's surrogateescape has them.
func TestAppendStringInvalid(t *testing.T) {
	for s, want := range map[string]string{
		"\xff":                     `"\udcff"`,
		"a\x80b\xc3":               `"a\udc80b\udcc3"`,
		"\xed\xa0\xbd":             `"\ud83d"`, // WTF-8
		"\xed\xa0":                 `"\udced\udca0"`,
		"\xed\xa0\xbd\xed\xb8":     `"\ud83d\udced\udcb8"`,
		"\xed\xa0\xbd\xed\xb8\x80": `"\ud83d\ude00"`, // a pair in halves
		"\xf0\x9f\x98":             `"\udcf0\udc9f\udc98"`,
	} {
		got := string(AppendString(nil, s))
		if got != want {
			t.Errorf("AppendString(%q) = %s, want %s", s, got, want)
		}
		mustParse(t, got)
	}
}

func TestUnquoteRefuses(t *testing.T) {
	for raw, offset := range map[string]int64{
		`a"b`: 1, `a"`: 1, `"`: 0, `\`: 1, `ab\x`: 3, `\u12`: 4, "\xff": 0, "ab\n": 2, "\xed\xa0\x80": 0,
	} {
		var syntax *SyntaxError
		if _, err := Unquote([]byte(raw)); !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("Unquote(%q): %v, want offset %d", raw, err, offset)
		}
	}
}

// An Object behaves as a list of pairs, below and above the size where it
// builds an index.
func TestObjectModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		o := NewObject()
		var keys []string
		vals := map[string]int64{}
		for step := range int64(200) {
			k := fmt.Sprint(rng.IntN(2 + round))
			_, had := vals[k]
			if rng.IntN(3) > 0 {
				o.Set(k, Int(step))
				vals[k] = step
				if !had {
					keys = append(keys, k)
				}
			} else {
				if o.Delete(k) != had {
					t.Fatalf("Delete(%s) should be %v", k, had)
				}
				delete(vals, k)
				keys = slices.DeleteFunc(keys, func(x string) bool { return x == k })
			}
			if o.Len() != len(keys) || !slices.Equal(o.Keys(), keys) {
				t.Fatalf("keys %v, want %v", o.Keys(), keys)
			}
			for i, k := range keys {
				v, ok := o.Get(k)
				n, _ := v.Int64()
				at, w := o.At(i)
				if !ok || n != vals[k] || at != k || !w.Equal(v) {
					t.Fatalf("member %s is %v, want %d", k, n, vals[k])
				}
			}
			if _, ok := o.Get("none"); ok {
				t.Fatal("found a key that is not there")
			}
		}
	}
}

func TestNilObject(t *testing.T) {
	var o *Object
	if _, ok := o.Get("a"); ok || o.Len() != 0 || o.Keys() != nil || o.Clone() != nil || o.Delete("a") {
		t.Error("a nil object is not empty")
	}
	if got := string(AppendObject(nil, o)); got != "{}" {
		t.Error(got)
	}
}

func TestClone(t *testing.T) {
	text := `{"a": {"b": [1, {"c": 2}]}, ` + manyMembers(40) + `}`
	o := mustParse(t, text).Object()
	before := string(AppendObject(nil, o))
	c := o.Clone()
	a, _ := c.Get("a")
	b, _ := a.Object().Get("b")
	b.Items()[1].Object().Set("c", Null())
	a.Object().Set("new", Int(1))
	c.Delete("k3")
	c.Set("k99", Int(1))
	if got := string(AppendObject(nil, o)); got != before {
		t.Errorf("changing the clone changed the original to %s", got)
	}
	if _, ok := o.Get("k99"); ok {
		t.Error("the clone shares the index")
	}
	list := []Value{Int(1)}
	v := List(list...)
	list[0] = Int(2)
	if !v.Items()[0].Equal(Int(1)) {
		t.Error("List keeps the caller's slice")
	}
}

func manyMembers(n int) string {
	var m []string
	for i := range n {
		m = append(m, fmt.Sprintf(`"k%d": %d`, i, i))
	}
	return strings.Join(m, ", ")
}
