package pyliteral

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is one value.
type Value struct {
	Kind  Kind
	Text  string   // of a Str
	N     int64    // of an Int; of a Bool 0 or 1
	Items []Value  // of a Tuple or List; of a Dict the values
	Keys  []string // of a Dict, as they stand: a key can come twice
}

// Kind is the type of a value.
type Kind uint8

// The kinds.
const (
	Str Kind = iota + 1
	Int
	Bool
	Tuple
	List
	Dict
)

// Limits of Parse.
const (
	MaxLen   = 1 << 20 // bytes of a text
	MaxDepth = 64      // values inside values
)

// Parse reads a str, an int of 64 bits, a bool, and tuples, lists and dicts
// (with keys of type str) of them, with white space around. ok is false for
// anything else, for texts that are longer or nest deeper than the limits, and
// for characters that UTF-8 cannot hold.
func Parse(text string) (v Value, ok bool) {
	if len(text) > MaxLen {
		return v, false
	}
	p := parser{text}
	v, ok = p.value(1)
	p.space()
	return v, ok && p.rest == ""
}

// Get is the value of a key of a dict, the first where it comes twice.
func (v *Value) Get(key string) (Value, bool) {
	for i, k := range v.Keys {
		if k == key {
			return v.Items[i], true
		}
	}
	return Value{}, false
}

// parser holds what is still to be read.
type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take consumes w, after white space, if it is next.
func (p *parser) take(w string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, w)
	p.rest = rest
	return ok
}

func (p *parser) value(depth int) (v Value, ok bool) {
	if depth > MaxDepth {
		return v, false
	}
	switch {
	case p.take("("):
		comma := true
		v.Items, comma, ok = p.items(")", depth)
		if len(v.Items) == 1 && !comma {
			return v.Items[0], ok // just a value in parentheses
		}
		v.Kind = Tuple
		return v, ok
	case p.take("["):
		v.Kind = List
		v.Items, _, ok = p.items("]", depth)
		return v, ok
	case p.take("{"):
		return p.dict(depth)
	case p.take("True"):
		return Value{Kind: Bool, N: 1}, true
	case p.take("False"):
		return Value{Kind: Bool}, true
	case p.rest == "":
		return v, false
	case p.rest[0] == '-' || '0' <= p.rest[0] && p.rest[0] <= '9':
		return p.integer()
	}
	v.Kind = Str
	v.Text, ok = p.str()
	return v, ok
}

// items reads values up to end; comma tells that one stood before end.
func (p *parser) items(end string, depth int) (items []Value, comma, ok bool) {
	for !p.take(end) {
		if len(items) > 0 && !comma {
			return nil, false, false
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false, false
		}
		items = append(items, v)
		comma = p.take(",")
	}
	return items, comma, true
}

func (p *parser) dict(depth int) (v Value, ok bool) {
	v.Kind = Dict
	for comma := true; !p.take("}"); comma = p.take(",") {
		if p.space(); !comma {
			return v, false
		}
		key, ok := p.str()
		if !ok || !p.take(":") {
			return v, false
		}
		item, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		v.Keys, v.Items = append(v.Keys, key), append(v.Items, item)
	}
	return v, true
}

// integer reads an int of 64 bits; Python 2 may have put an L behind it.
func (p *parser) integer() (v Value, ok bool) {
	i := 1
	for i < len(p.rest) && '0' <= p.rest[i] && p.rest[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(p.rest[:i], 10, 64)
	p.rest = strings.TrimPrefix(p.rest[i:], "L")
	return Value{Kind: Int, N: n}, err == nil && n != math.MinInt64
}

// str reads a str with the escapes that repr makes; Python 2 may have put a u
// before it.
func (p *parser) str() (string, bool) {
	p.rest = strings.TrimPrefix(p.rest, "u")
	if p.rest == "" || p.rest[0] != '\'' && p.rest[0] != '"' {
		return "", false
	}
	quote := p.rest[0]
	p.rest = p.rest[1:]
	var out []byte
	for p.rest != "" && p.rest[0] != quote {
		r, n := utf8.DecodeRuneInString(p.rest)
		if r == utf8.RuneError && n == 1 || r < ' ' {
			return "", false
		}
		p.rest = p.rest[n:]
		if r == '\\' {
			var ok bool
			if r, ok = p.escape(); !ok {
				return "", false
			}
		}
		out = utf8.AppendRune(out, r)
	}
	if p.rest == "" {
		return "", false
	}
	p.rest = p.rest[1:]
	return string(out), true
}

// escape reads what follows a backslash.
func (p *parser) escape() (rune, bool) {
	if p.rest == "" {
		return 0, false
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	digits := 0
	switch c {
	case '\\', '\'', '"':
		return rune(c), true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(p.rest) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(p.rest[:digits], 16, 32)
	p.rest = p.rest[digits:]
	r := rune(n)
	return r, err == nil && n <= utf8.MaxRune && utf8.ValidRune(r)
}
