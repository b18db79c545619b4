package pyjson

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// golden returns the rows of a file that testdata/gen.py wrote with CPython.
func golden(t testing.TB, name string, columns, atLeast int) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != columns {
			t.Fatalf("%s:%d: %d columns, want %d", name, len(rows)+1, len(row), columns)
		}
		rows = append(rows, row)
	}
	if len(rows) < atLeast {
		t.Fatalf("%s: %d rows, want %d or more", name, len(rows), atLeast)
	}
	return rows
}

func unquoteGo(t testing.TB, s string) string {
	t.Helper()
	u, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return u
}

func mustParse(t testing.TB, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text), Limits{})
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return v
}

// skips tells whether a Scanner passes text as one whole value.
func skips(text []byte) error {
	s := Scanner{Data: text}
	if _, err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}

func TestAccept(t *testing.T) {
	for _, row := range golden(t, "accept.golden", 2, 400) {
		text := unquoteGo(t, row[0])
		v := mustParse(t, text)
		if got := string(Append(nil, v)); got != row[1] {
			t.Errorf("%q\n got %s\nwant %s", text, got, row[1])
		}
		if !mustParse(t, row[1]).Equal(v) {
			t.Errorf("%q: not equal to what it is written as", text)
		}
		if err := skips([]byte(text)); err != nil {
			t.Errorf("Skip(%q): %v", text, err)
		}
	}
}

func TestIndent(t *testing.T) {
	for _, row := range golden(t, "indent.golden", 3, 250) {
		text := unquoteGo(t, row[0])
		v := mustParse(t, text)
		if got, want := string(AppendIndent(nil, v, 4, true)), unquoteGo(t, row[1]); got != want {
			t.Errorf("%q, sorted\n got %s\nwant %s", text, got, want)
		}
		if got, want := string(AppendIndent([]byte("x"), v, 2, false)), "x"+unquoteGo(t, row[2]); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestRefuse(t *testing.T) {
	for _, row := range golden(t, "refuse.golden", 1, 1000) {
		text := unquoteGo(t, row[0])
		v, err := Parse([]byte(text), Limits{})
		if err == nil {
			t.Errorf("Parse(%q) = %s", text, Append(nil, v))
			continue
		}
		if v.Kind() != KindNull {
			t.Errorf("Parse(%q): value beside the error", text)
		}
		if serr := skips([]byte(text)); fmt.Sprint(serr) != err.Error() {
			t.Errorf("%q: Parse says %v, Skip %v", text, err, serr)
		}
		var syntax *SyntaxError
		var limit *LimitError
		switch {
		case errors.As(err, &syntax):
			if syntax.Offset < 0 || syntax.Offset > int64(len(text)) {
				t.Errorf("Parse(%q): offset %d", text, syntax.Offset)
			}
		case !errors.As(err, &limit) || len(text) < maxDigits:
			t.Errorf("Parse(%q): %T", text, err)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, row := range golden(t, "strings.golden", 3, 800) {
		text, want := unquoteGo(t, row[0]), unquoteGo(t, row[1])
		if got, ok := mustParse(t, text).Str(); !ok || got != want {
			t.Errorf("Parse(%q) = %q, want %q", text, got, want)
		}
		if got, err := Unquote([]byte(text[1 : len(text)-1])); err != nil || got != want {
			t.Errorf("Unquote(%q) = %q, %v, want %q", text, got, err, want)
		}
		if got := string(AppendString(nil, want)); got != row[2] {
			t.Errorf("AppendString(%q) = %s, want %s", want, got, row[2])
		}
		o, err := ParseObject([]byte("{"+text+":0}"), Limits{})
		if err != nil || o.Keys()[0] != want {
			t.Errorf("key %q = %q, %v", text, o.Keys(), err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, row := range golden(t, "numbers.golden", 4, 300) {
		text := unquoteGo(t, row[0])
		v := mustParse(t, text)
		if n, err := Number(text); err != nil || n.Text() != text || v.Text() != text {
			t.Errorf("Number(%q) = %q, %v, parsed %q", text, n.Text(), err, v.Text())
		}
		isInt := row[1] == "int"
		if v.IsInt() != isInt {
			t.Errorf("%s: IsInt %v", text, v.IsInt())
		}
		if got := string(Append(nil, v)); got != row[3] {
			t.Errorf("%s: written %s, want %s", text, got, row[3])
		}
		bits := "overflow"
		if f, ok := v.Float64(); ok {
			bits = hexBits(f)
		}
		if bits != row[2] {
			t.Errorf("%s: Float64 %s, want %s", text, bits, row[2])
		}
		wantI, err := strconv.ParseInt(text, 10, 64)
		i, ok := v.Int64()
		if ok != (err == nil) || ok && i != wantI {
			t.Errorf("%s: Int64 %d, %v", text, i, ok)
		}
		wantU, err := strconv.ParseUint(row[3], 10, 64)
		u, ok := v.Uint64()
		if ok != (err == nil) || ok && u != wantU {
			t.Errorf("%s: Uint64 %d, %v", text, u, ok)
		}
		s := Scanner{Data: []byte(text)}
		si, sok, err := s.Int64()
		wi, wok := v.Int64()
		if err != nil || s.End() != nil || sok != wok || wok && si != wi {
			t.Errorf("%s: Scanner.Int64 %d, %v, %v", text, si, sok, err)
		}
	}
}

func TestFloats(t *testing.T) {
	for _, row := range golden(t, "floats.golden", 2, 500) {
		bits, err := strconv.ParseUint(row[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := math.Float64frombits(bits)
		if got := string(AppendFloat(nil, f)); got != row[1] {
			t.Errorf("AppendFloat(%s) = %s, want %s", row[0], got, row[1])
		}
		back, ok := Float(f).Float64()
		if !ok || hexBits(back) != row[0] {
			t.Errorf("Float(%s).Float64() = %s, %v", row[1], hexBits(back), ok)
		}
		if got := string(Append(nil, Float(f))); got != row[1] || Float(f).IsInt() {
			t.Errorf("Append(Float(%s)) = %s", row[1], got)
		}
	}
}

// hexBits spells the bits of f, and every NaN as Python's.
func hexBits(f float64) string {
	if math.IsNaN(f) {
		return "7ff8000000000000"
	}
	return fmt.Sprintf("%016x", math.Float64bits(f))
}
