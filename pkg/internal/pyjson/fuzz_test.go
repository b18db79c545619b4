package pyjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse compares Parse with Scanner.Skip, with its own output read back, and
// with encoding/json.
func FuzzParse(f *testing.F) {
	for i, row := range golden(f, "accept.golden", 2, 1) {
		if i%10 == 0 {
			f.Add([]byte(unquoteGo(f, row[0])))
		}
	}
	for i, row := range golden(f, "refuse.golden", 1, 1) {
		if i < 150 {
			f.Add([]byte(unquoteGo(f, row[0])))
		}
	}
	f.Add([]byte(header))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, Limits{})
		skipErr := skips(data)
		if (err == nil) != (skipErr == nil) || err != nil && err.Error() != skipErr.Error() {
			t.Fatalf("Parse says %v, Skip %v", err, skipErr)
		}
		if err != nil {
			var limit *LimitError
			if json.Valid(data) && utf8.Valid(data) && !errors.As(err, &limit) {
				t.Fatalf("refuses good JSON: %v", err)
			}
			return
		}
		text := Append(nil, v)
		back, err := Parse(text, Limits{})
		if err != nil || !back.Equal(v) || !bytes.Equal(Append(nil, back), text) {
			t.Fatalf("%s reads back as %s, %v", text, Append(nil, back), err)
		}
		s := Scanner{Data: data}
		if w, err := s.Value(Limits{}); err != nil || !w.Equal(v) || s.End() != nil {
			t.Fatalf("Scanner.Value gives %s, %v", Append(nil, w), err)
		}
		if !json.Valid(data) {
			if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
				t.Fatal("accepts what encoding/json refuses")
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var other any
		if err := d.Decode(&other); err != nil {
			t.Fatal(err)
		}
		sameAsStd(t, v, other)
	})
}

// sameAsStd compares v with what encoding/json made of the same text.
func sameAsStd(t *testing.T, v Value, other any) {
	t.Helper()
	ok := false
	switch other := other.(type) {
	case nil:
		ok = v.Kind() == KindNull
	case bool:
		b, isBool := v.Bool()
		ok = isBool && b == other
	case json.Number:
		ok = v.Text() == other.String()
	case string:
		s, isStr := v.Str()
		ok = isStr && replaceSurrogates(s) == other
	case []any:
		ok = v.Kind() == KindList && len(v.Items()) == len(other)
		for i := 0; ok && i < len(other); i++ {
			sameAsStd(t, v.Items()[i], other[i])
		}
	case map[string]any:
		o := v.Object()
		keys := map[string]bool{}
		for _, k := range o.Keys() {
			keys[replaceSurrogates(k)] = true
		}
		ok = o != nil && maps.EqualFunc(keys, other, func(bool, any) bool { return true })
		for i := 0; ok && len(keys) == o.Len() && i < o.Len(); i++ { // unless two lone surrogates became one key
			k, m := o.At(i)
			sameAsStd(t, m, other[replaceSurrogates(k)])
		}
	}
	if !ok {
		t.Fatalf("%s differs from %v", Append(nil, v), other)
	}
}

// replaceSurrogates does to lone surrogates what encoding/json does.
func replaceSurrogates(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := 1
		if s[0] >= utf8.RuneSelf {
			var r rune
			r, n = decodeWTF8(s)
			b.WriteRune(r) // a surrogate as U+FFFD
		} else {
			b.WriteByte(s[0])
		}
		s = s[n:]
	}
	return b.String()
}

// FuzzString: any Go string can be written, reads back the same when it is
// UTF-8, and whatever Unquote accepts is the inside of a string literal.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a\x00\x7f\u00e9\u2028\U0001f600", "\xed\xa0\xbd\xed\xb8\x80", "\xff\xc3", `\ud83d\ude00\udcff`,
		`\"\\\/\b\f\n\r\t`, `\u12`, `"`, `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := AppendString(nil, s)
		if i := slices.IndexFunc(text, func(c byte) bool { return c < ' ' || c > '~' }); i >= 0 {
			t.Fatalf("%q is not ASCII", text)
		}
		got, ok := mustParse(t, string(text)).Str()
		if !ok || utf8.ValidString(s) && got != s || !bytes.Equal(AppendString(nil, got), text) {
			t.Fatalf("%q written %s, read back %q", s, text, got)
		}
		u, err := Unquote([]byte(s))
		v, perr := Parse([]byte(`"`+s+`"`), Limits{})
		if w, _ := v.Str(); (err == nil) != (perr == nil) || w != u {
			t.Fatalf("Unquote gives %q, %v; Parse %q, %v", u, err, w, perr)
		}
	})
}

// FuzzFloat: a float is written with a point, an exponent or a word, and reads
// back as the same bits.
func FuzzFloat(f *testing.F) {
	for _, x := range []float64{0, 1, 1e16, 1e-5, 5e-324, 1.7976931348623157e308} {
		f.Add(x)
		f.Add(-x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		v := Float(x)
		back, ok := mustParse(t, v.Text()).Float64()
		if !ok || hexBits(back) != hexBits(x) || v.IsInt() || !strings.ContainsAny(v.Text(), ".eNI") {
			t.Fatalf("%v is written %s", x, v.Text())
		}
	})
}
