package ndfile

import (
	"slices"
	"testing"
)

func TestJSON(t *testing.T) {
	const text = `{"z": 1, "a": [NaN, -Infinity, 12345678901234567890123, 1.0], "u": "\u2603"}`
	a, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(AppendJSON([]byte("x"), a)); got != "x"+text {
		t.Errorf("%s, expected %s", got, text)
	}
	if got := string(AppendJSON(nil, nil)) + string(AppendJSON(nil, NewAttrs())); got != "{}{}" {
		t.Errorf("no attributes: %s", got)
	}
	for _, bad := range []string{`{"a": 1, "a": 1}`, `[]`, ``, `{} x`} {
		if _, err := ParseJSON([]byte(bad)); KindOf(err) != ErrCorrupt {
			t.Errorf("%s: %v", bad, err)
		}
	}
	v, _ := a.Get("u")
	if got := string(AppendJSONValue([]byte("x"), v)); got != `x"\u2603"` || !v.Equal(StringValue("☃")) {
		t.Errorf("%s", got)
	}
	if got := string(AppendJSONString([]byte("x"), "\"é\n")); got != `x"\"\u00e9\n"` {
		t.Errorf("%s", got)
	}
}

func TestDimsJSON(t *testing.T) {
	for _, test := range []struct {
		dims []string
		text string
	}{
		{nil, "null"},
		{[]string{}, "[]"},
		{[]string{"time"}, `["time"]`},
		{[]string{"x", "", `a"b`, "é"}, `["x", "", "a\"b", "\u00e9"]`},
	} {
		if got := string(AppendDimsJSON([]byte("x"), test.dims)); got != "x"+test.text {
			t.Errorf("%q: %s, expected %s", test.dims, got, test.text)
		}
		got, err := ParseDims([]byte(test.text))
		if err != nil || !slices.Equal(got, test.dims) || (got == nil) != (test.dims == nil) {
			t.Errorf("%s: %q, %v; expected %q", test.text, got, err, test.dims)
		}
	}
	for text, want := range map[string]*ErrorKind{`["x", 1]`: ErrArgument, `[null]`: ErrArgument, `"x"`: ErrArgument, `{}`: ErrArgument, `["x"`: ErrCorrupt, ``: ErrCorrupt} {
		if dims, err := ParseDims([]byte(text)); KindOf(err) != want {
			t.Errorf("%s: %q, %v; expected %s", text, dims, err, want.C)
		}
	}
}
