package pyjson

import (
	"errors"
	"strings"
	"testing"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		lim    Limits
		limit  int64 // 0: accepted
		offset int64
	}{
		{"bytes", "[1,2]", Limits{MaxBytes: 5}, 0, 0},
		{"too many bytes", "[1,2]", Limits{MaxBytes: 4}, 4, 4},
		{"default bytes", strings.Repeat(" ", 64<<20) + "1", Limits{}, 64 << 20, 64 << 20},
		{"depth", "[{\"a\":[]}]", Limits{MaxDepth: 3}, 0, 0},
		{"too deep", "[{\"a\":[]}]", Limits{MaxDepth: 2}, 2, 6},
		{"side by side is not deep", "[[],[],[[]],{},{}]", Limits{MaxDepth: 3}, 0, 0},
		{"default depth", nested(200), Limits{}, 0, 0},
		{"past default depth", nested(201), Limits{}, 200, 200},
		{"most depth", nested(10_000), Limits{MaxDepth: 1 << 30}, 0, 0},
		{"past most depth", nested(5_000_000), Limits{MaxDepth: 1 << 30}, 10_000, 10_000},
		{"deep and open", strings.Repeat(`{"a":`, 5_000_000), Limits{MaxDepth: 1 << 30}, 10_000, 50_000},
		{"values", `[1,{"a":2}]`, Limits{MaxValues: 4}, 0, 0},
		{"too many values", `[1,{"a":2}]`, Limits{MaxValues: 3}, 3, 8},
		{"int digits", "-" + strings.Repeat("7", 4300), Limits{}, 0, 0},
		{"too many int digits", " -" + strings.Repeat("7", 4301), Limits{}, 4300, 1},
		{"float digits", "1." + strings.Repeat("7", 4299) + "e-5", Limits{}, 0, 0},
		{"too many float digits", "1." + strings.Repeat("7", 4300), Limits{}, 4300, 0},
	} {
		_, err := Parse([]byte(c.text), c.lim)
		var limit *LimitError
		switch {
		case c.limit == 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.limit != 0 && (!errors.As(err, &limit) || limit.Limit != c.limit || limit.Offset != c.offset):
			t.Errorf("%s: %v, want limit %d at %d", c.name, err, c.limit, c.offset)
		}
	}
}

func TestDuplicates(t *testing.T) {
	text := []byte(`{"a": 1, "b": {"a": 2}, "\u0061": 3}`)
	v, err := Parse(text, Limits{})
	if got := string(Append(nil, v)); err != nil || got != `{"a": 3, "b": {"a": 2}}` {
		t.Errorf("got %s, %v", got, err)
	}
	var syntax *SyntaxError
	if _, err := Parse(text, Limits{UniqueKeys: true}); !errors.As(err, &syntax) || syntax.Offset != 24 {
		t.Errorf("unique keys: %v", err)
	}
	if _, err := Parse([]byte(`{"a": {"a": 1}, "b": [{"a": 1}]}`), Limits{UniqueKeys: true}); err != nil {
		t.Error(err)
	}
}

// Messages name the offset, what was expected and what was found.
func TestMessages(t *testing.T) {
	for text, want := range map[string]string{
		``:               "json: byte 0: expected a value, found the end of the text",
		`[1, x]`:         "json: byte 4: expected a value, found 'x'",
		`[1 2]`:          "json: byte 3: expected ',' or ']', found '2'",
		`{"a" 1}`:        "json: byte 5: expected ':', found '1'",
		`{"a": 1,}`:      "json: byte 8: expected a string, found '}'",
		`"abc`:           "json: byte 4: expected the closing quote of a string, found the end of the text",
		"\"a\tb\"":       "json: byte 2: expected an escape for a control character, found byte 0x09",
		"\"a\xffb\"":     "json: byte 2: expected UTF-8, found byte 0xff",
		`"\ud8z0"`:       `json: byte 5: expected four hex digits after \u, found 'z'`,
		`1.x`:            "json: byte 2: expected a digit, found 'x'",
		`nil`:            "json: byte 1: expected null, found 'i'",
		`{} x`:           "json: byte 3: expected the end of the text, found 'x'",
		"\xef\xbb\xbf{}": "json: byte 0: expected a value, found byte 0xef",
		nested(201):      "json: byte 200: arrays and objects nested too deep (limit 200)",
	} {
		if _, err := Parse([]byte(text), Limits{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestParseObject(t *testing.T) {
	o, err := ParseObject([]byte(" {\"a\": 1}\n"), Limits{})
	if err != nil || string(AppendObject(nil, o)) != `{"a": 1}` {
		t.Errorf("%v, %v", o, err)
	}
	for text, offset := range map[string]int64{"": 0, " [1]": 1, "null": 0, "{": 1, "{}}": 2} {
		var syntax *SyntaxError
		o, err := ParseObject([]byte(text), Limits{})
		if o != nil || !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%q: %v, %v", text, o, err)
		}
	}
}

func TestNoAlias(t *testing.T) {
	const text = `{"key": ["string", "esc\n", 12345]}`
	data := []byte(text)
	v, err := Parse(data, Limits{})
	s := Scanner{Data: data}
	w, err2 := s.Value(Limits{})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for i := range data {
		data[i] = 'x'
	}
	for _, v := range []Value{v, w} {
		if got := string(Append(nil, v)); got != text {
			t.Errorf("changed with its source to %s", got)
		}
	}
}

// Strings and numbers are cut from one copy, so a list of n of them costs only
// the growth of its slice.
func TestParseAllocs(t *testing.T) {
	text := []byte("[" + strings.Repeat(`"abc", 12.5, `, 1000) + "0]")
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := Parse(text, Limits{}); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 40 {
		t.Errorf("%v allocations for 2001 values", allocs)
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(`{` + manyMembers(20) + `, "x": {"dims": ["time", "lat"], "type": "float64", "size": [10, 20.5], "t\u00e9": null}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSkip(b *testing.B) {
	text := []byte(`{` + manyMembers(20) + `, "x": {"dims": ["time", "lat"], "type": "float64", "size": [10, 20.5], "t\u00e9": null}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := skips(text); err != nil {
			b.Fatal(err)
		}
	}
}
