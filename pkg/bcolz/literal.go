package bcolz

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal is a value written as Python's repr writes it.
type literal struct {
	kind  literalKind
	text  string    // of a str
	n     int64     // of an int; of a bool 0 or 1
	items []literal // of a tuple or list; of a dict the values
	keys  []string  // of a dict
}

type literalKind uint8

const (
	literalStr literalKind = iota + 1
	literalInt
	literalBool
	literalTuple
	literalList
	literalDict
)

// Limits of parseLiteral.
const (
	maxLiteral      = 1 << 20 // bytes
	maxLiteralDepth = 64
)

// parseLiteral reads a str, an int, a bool, and tuples, lists and dicts (with
// keys of type str) of them. Nothing is ever evaluated.
func parseLiteral(text string) (v literal, ok bool) {
	if len(text) > maxLiteral {
		return v, false
	}
	p := literalParser{text}
	v, ok = p.value(1)
	p.space()
	return v, ok && p.rest == ""
}

// get is the value of a key of a dict.
func (v *literal) get(key string) (literal, bool) {
	for i, k := range v.keys {
		if k == key {
			return v.items[i], true
		}
	}
	return literal{}, false
}

// literalParser holds what is still to be read.
type literalParser struct{ rest string }

func (p *literalParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take consumes w, after white space, if it is next.
func (p *literalParser) take(w string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, w)
	p.rest = rest
	return ok
}

func (p *literalParser) value(depth int) (v literal, ok bool) {
	if depth > maxLiteralDepth {
		return v, false
	}
	switch {
	case p.take("("):
		comma := true
		v.items, comma, ok = p.items(")", depth)
		if len(v.items) == 1 && !comma {
			return v.items[0], ok // just a value in parentheses
		}
		v.kind = literalTuple
		return v, ok
	case p.take("["):
		v.kind = literalList
		v.items, _, ok = p.items("]", depth)
		return v, ok
	case p.take("{"):
		return p.dict(depth)
	case p.take("True"):
		return literal{kind: literalBool, n: 1}, true
	case p.take("False"):
		return literal{kind: literalBool}, true
	case p.rest == "":
		return v, false
	case p.rest[0] == '-' || '0' <= p.rest[0] && p.rest[0] <= '9':
		return p.integer()
	}
	v.kind = literalStr
	v.text, ok = p.str()
	return v, ok
}

// items reads values up to end; comma tells that one stood before end.
func (p *literalParser) items(end string, depth int) (items []literal, comma, ok bool) {
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

func (p *literalParser) dict(depth int) (v literal, ok bool) {
	v.kind = literalDict
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
		v.keys, v.items = append(v.keys, key), append(v.items, item)
	}
	return v, true
}

// integer reads an int of 64 bits; Python 2 may have put an L behind it.
func (p *literalParser) integer() (v literal, ok bool) {
	i := 1
	for i < len(p.rest) && '0' <= p.rest[i] && p.rest[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(p.rest[:i], 10, 64)
	p.rest = strings.TrimPrefix(p.rest[i:], "L")
	return literal{kind: literalInt, n: n}, err == nil && n != math.MinInt64
}

// str reads a str with the escapes that repr makes; Python 2 may have put a u
// before it. Characters that UTF-8 cannot hold are refused.
func (p *literalParser) str() (string, bool) {
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
func (p *literalParser) escape() (rune, bool) {
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
