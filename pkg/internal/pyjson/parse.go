package pyjson

import (
	"bytes"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// defaultBytes is the default of Limits.MaxBytes: 64 MiB.
const defaultBytes = 64 << 20

// Limits bounds what a text may ask for. The zero Limits holds the defaults.
type Limits struct {
	MaxBytes   int64 // length of the text in bytes; 0: 64 MiB
	MaxDepth   int   // arrays and objects inside each other; 0: 200, at most 10,000
	MaxValues  int64 // values in all, counting arrays and objects too; 0: as many as the text holds
	UniqueKeys bool  // refuse a key that comes twice; otherwise its last value takes its first place, as in a dict
}

// Parse reads a whole text: one value, with white space around it allowed. The
// result shares no memory with data; its strings and numbers share one copy of
// it. Errors are *SyntaxError, *LimitError, and syscall.ENOMEM for long texts.
func Parse(data []byte, lim Limits) (Value, error) {
	s := Scanner{Data: data, MaxDepth: lim.MaxDepth}
	if err := lim.checkBytes(0, len(data)); err != nil {
		return Value{}, err
	}
	if err := look(data); err != nil {
		return Value{}, err
	}
	b := builder{s: &s, lim: lim, text: string(data)}
	v, err := b.value()
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// ParseObject is [Parse] for a text that must hold an object.
func ParseObject(data []byte, lim Limits) (*Object, error) {
	if s := (Scanner{Data: data}); !s.at('{') {
		return nil, s.expected("an object")
	}
	v, err := Parse(data, lim)
	return v.Object(), err
}

// Value consumes any value and builds it; the result shares no memory with Data.
// lim counts from this value on, and the Scanner's own MaxDepth holds as well.
func (s *Scanner) Value(lim Limits) (Value, error) {
	defer func(d int) { s.MaxDepth = d }(s.MaxDepth)
	s.MaxDepth = min(depthLimit(s.MaxDepth), s.depth+depthLimit(lim.MaxDepth))
	start := *s
	raw, err := s.Skip() // first its extent, so that only this part is copied
	if err != nil {
		return Value{}, err
	}
	base := s.Pos - len(raw)
	if err := lim.checkBytes(base, len(raw)); err != nil {
		return Value{}, err
	}
	if err := look(raw); err != nil {
		return Value{}, err
	}
	b := builder{s: &start, lim: lim, text: string(raw), base: base}
	return b.value()
}

func (lim Limits) checkBytes(offset, n int) error {
	limit := lim.MaxBytes
	if limit <= 0 {
		limit = defaultBytes
	}
	if int64(n) > limit {
		return &LimitError{int64(offset) + limit, limit, "text with too many bytes"}
	}
	return nil
}

// look fails when there is no memory for the values of a long text: in lists that grow
// a value takes some 100 bytes, and may take two of the text.
func look(text []byte) error {
	const long, perValue = 1 << 20, 100
	if len(text) <= long {
		return nil
	}
	n := 1
	for _, before := range [...]string{",", "[", "{"} {
		n += bytes.Count(text, []byte(before))
	}
	return mem.Look(len(text) + perValue*n)
}

// builder makes values of what its Scanner passes.
type builder struct {
	s      *Scanner
	lim    Limits
	text   string // copy of s.Data from base on, which the values are cut from
	base   int
	values int64
	buf    []byte // for strings with escapes
}

// value recurses as deep as Scanner.enter allows.
func (b *builder) value() (Value, error) {
	c, err := b.s.Peek()
	if err != nil {
		return Value{}, b.s.expected("a value")
	}
	b.values++
	if b.lim.MaxValues > 0 && b.values > b.lim.MaxValues {
		return Value{}, &LimitError{int64(b.s.Pos), b.lim.MaxValues, "too many values"}
	}
	switch c {
	case '{':
		return b.object()
	case '[':
		return b.list()
	case '"':
		s, _, err := b.str()
		return String(s), err
	case 't', 'f':
		v, err := b.s.Bool()
		return Bool(v), err
	case 'n':
		return Null(), b.s.Null()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'N', 'I':
		raw, _, err := b.s.number()
		if err != nil {
			return Value{}, err
		}
		return Value{kind: KindNumber, text: b.cut(b.s.Pos-len(raw), b.s.Pos)}, nil
	}
	return Value{}, b.s.expected("a value")
}

func (b *builder) list() (Value, error) {
	if err := b.s.EnterArray(); err != nil {
		return Value{}, err
	}
	node := new(Object)
	for first := true; ; first = false {
		more, err := b.s.NextItem(first)
		if err != nil {
			return Value{}, err
		}
		if !more {
			return Value{kind: KindList, node: node}, nil
		}
		v, err := b.value()
		if err != nil {
			return Value{}, err
		}
		node.vals = append(node.vals, v)
	}
}

func (b *builder) object() (Value, error) {
	if err := b.s.EnterObject(); err != nil {
		return Value{}, err
	}
	o := NewObject()
	for first := true; ; first = false {
		more, err := b.s.next(first, '}', "',' or '}'")
		if err != nil {
			return Value{}, err
		}
		if !more {
			return ObjectValue(o), nil
		}
		key, start, err := b.str()
		if err != nil {
			return Value{}, err
		}
		if b.lim.UniqueKeys && o.find(key) >= 0 {
			return Value{}, &SyntaxError{int64(start), "expected a new key, found a duplicate"}
		}
		if err := b.s.colon(); err != nil {
			return Value{}, err
		}
		v, err := b.value()
		if err != nil {
			return Value{}, err
		}
		o.Set(key, v)
	}
}

// str reads a string literal, whose first quote is at start.
func (b *builder) str() (s string, start int, err error) {
	raw, plain, err := b.s.RawString()
	if err != nil {
		return "", 0, err
	}
	start = b.s.Pos - len(raw) - 2
	if plain {
		return b.cut(start+1, b.s.Pos-1), start, nil
	}
	b.buf = appendUnquoted(b.buf[:0], raw)
	return string(b.buf), start, nil
}

// cut returns Data[start:end] from the copy.
func (b *builder) cut(start, end int) string { return b.text[start-b.base : end-b.base] }
