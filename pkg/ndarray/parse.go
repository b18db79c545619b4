package ndarray

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of [Parse].
const (
	maxNameBytes = 1 << 20 // length of a name
	maxDepth     = 64      // records inside records
)

// Parse reads the name of an element type:
//
//   - NumPy typestrings: an optional byte order, a letter, a size. "|b1", "<i4",
//     ">f8", "S10", "<U5" (characters), "<M8[ns]", "m8[25s]", "M8", "|V12". "=",
//     "|" or no byte order mean the machine's. "<f16" and "<c32" are NumPy's long
//     double; "<c4" (two half floats), "<i16" and "<u16" are ours.
//   - NumPy words: "bool", "int8" to "int64", "uint8" to "uint64", "float16" to
//     "float64", "complex32" to "complex128", "datetime64[ns]", "timedelta64[ns]".
//   - "bfloat16" (little endian everywhere), "<bfloat16", ">bfloat16".
//   - "bytes" and "str", the types of variable length.
//   - Records, as the JSON list of NumPy's dtype.descr: lists of a name, a type
//     (a name or again a list) and optionally the shape of a sub-array, an
//     integer or a list: [["a","<f8"],["b","|V4",[2,3]]]. See [NewRecord].
//
// A name is at most 1 MiB long and nests records at most 64 deep; elements have at
// most [MaxItemSize] bytes. Python objects ("|O") are refused. Anything else than
// a record is read without allocating; Unit may share memory with name.
func Parse(name string) (DType, error) {
	if len(name) > maxNameBytes {
		return DType{}, fmt.Errorf("%w: name of %d bytes, expected at most %d", ErrDType, len(name), maxNameBytes)
	}
	if t := strings.TrimLeft(name, jsonSpace); t == "" || t[0] != '[' {
		return parseSimple(name)
	}
	p := recordParser{text: name}
	d, err := p.record(1)
	if err == nil {
		p.skip()
		if p.pos != len(name) {
			err = p.fail("end of text")
		}
	}
	if err != nil {
		return DType{}, err
	}
	return d, nil
}

// MustParse is [Parse] for names known to be good; it panics on others.
func MustParse(name string) DType {
	d, err := Parse(name)
	if err != nil {
		panic(err)
	}
	return d
}

// parseSimple reads any name but a record's.
func parseSimple(name string) (DType, error) {
	switch name {
	case "bytes":
		return DType{Kind: VarBytes}, nil
	case "str":
		return DType{Kind: VarString}, nil
	case "bool":
		return DType{Kind: Bool, Size: 1}, nil
	case "bfloat16", "<bfloat16":
		return DType{Kind: BFloat, Order: Little, Size: 2}, nil
	case ">bfloat16":
		return DType{Kind: BFloat, Order: Big, Size: 2}, nil
	}
	code, order := name, NativeOrder
	switch {
	case name == "":
	case name[0] == '<':
		code, order = name[1:], Little
	case name[0] == '>':
		code, order = name[1:], Big
	case name[0] == '=' || name[0] == '|':
		code = name[1:]
	}
	// A letter or a word, the size, and a unit.
	i := 0
	for i < len(code) && (code[i] >= 'a' && code[i] <= 'z' || code[i] >= 'A' && code[i] <= 'Z') {
		i++
	}
	letter := code[:i]
	size, tail, ok := cutInt(code[i:])
	if ok && size < 0 {
		return DType{}, tooLarge(name)
	}
	if len(letter) > 1 && code == name && size%8 == 0 { // a word gives its size in bits
		size /= 8
		switch {
		case letter == "datetime":
			letter = "M"
		case letter == "timedelta":
			letter = "m"
		case (letter == "int" || letter == "uint" || letter == "float") && size <= 8, letter == "complex" && size <= 16:
			letter = letter[:1]
		}
	}
	d := DType{Order: order, Size: size}
	if len(letter) == 1 {
		d.Kind = Kind(strings.IndexByte(kindLetters, letter[0]) + 1)
	}
	switch {
	case letter == "O":
		return DType{}, fmt.Errorf("%w: %q: Python objects are not supported", ErrDType, shorten(name))
	case d.Kind == Unicode && size > MaxItemSize/4:
		return DType{}, tooLarge(name)
	case d.Kind == Unicode:
		d.Size *= 4
	case d.Kind == Datetime || d.Kind == Timedelta:
		d.Unit, tail = cutUnit(tail)
	}
	if !ok || tail != "" || !d.valid() {
		return DType{}, fmt.Errorf("%w: expected a type name such as \"<f8\", found %q", ErrDType, shorten(name))
	}
	d.Order = d.order()
	return d, nil
}

func tooLarge(name string) error {
	return fmt.Errorf("%w: dtype %q: expected at most %d bytes an element", ErrOverflow, shorten(name), MaxItemSize)
}

// shorten keeps hostile names from flooding error messages.
func shorten(name string) string {
	const most = 80
	if len(name) > most {
		return name[:most] + "..."
	}
	return name
}

// cutInt cuts a decimal number from the front of s. It gives -1 for numbers above
// MaxItemSize and found = false where there are no digits.
func cutInt(s string) (n int, rest string, found bool) {
	i, v := 0, int64(0)
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if v = v*10 + int64(s[i]-'0'); v > MaxItemSize {
			v = MaxItemSize + 1
		}
	}
	if v > MaxItemSize {
		v = -1
	}
	return int(v), s[i:], i > 0
}

// cutUnit cuts "[25s]" from the front of s and gives the canonical unit: "25s";
// "" for the generic unit, written as nothing or "[generic]". What is not a unit
// stays in rest. NumPy reads divisors ("[s/10]") too but never writes them.
func cutUnit(s string) (unit, rest string) {
	if s == "[generic]" || s == "" || s[0] != '[' || s[len(s)-1] != ']' {
		return "", strings.TrimPrefix(s, "[generic]")
	}
	text := s[1 : len(s)-1]
	n, base, counted := cutInt(text)
	switch base {
	case "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as":
	default:
		return "", s
	}
	switch {
	case counted && n <= 0:
		return "", s
	case n <= 1:
		return base, ""
	}
	return strings.TrimLeft(text, "0"), ""
}

const jsonSpace = " \t\r\n"

// recordParser reads the JSON list of a record. JSON as a whole is not needed
// here; strings, lists and integers are.
type recordParser struct {
	text string
	pos  int
}

func (p *recordParser) skip() {
	for p.pos < len(p.text) && strings.IndexByte(jsonSpace, p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// next skips blanks and gives the next byte, 0 at the end.
func (p *recordParser) next() byte {
	p.skip()
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// take consumes c if it is next.
func (p *recordParser) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.pos++
	return true
}

func (p *recordParser) fail(expected string) error {
	found := "end of text"
	if p.pos < len(p.text) {
		found = fmt.Sprintf("%.20q", p.text[p.pos:])
	}
	return fmt.Errorf("%w: record, byte %d: expected %s, found %s", ErrDType, p.pos, expected, found)
}

// record reads a list of fields; depth counts the records it is in, itself included.
func (p *recordParser) record(depth int) (DType, error) {
	if depth > maxDepth {
		return DType{}, fmt.Errorf("%w: record, byte %d: expected at most %d nested records", ErrDType, p.pos, maxDepth)
	}
	if !p.take('[') {
		return DType{}, p.fail("a list of fields")
	}
	var fields []Field
	for {
		f, err := p.field(depth)
		if err != nil {
			return DType{}, err
		}
		fields = append(fields, f)
		if p.take(']') {
			return NewRecord(fields)
		}
		if !p.take(',') {
			return DType{}, p.fail(`"," or "]"`)
		}
	}
}

// field reads [name, type] or [name, type, shape].
func (p *recordParser) field(depth int) (f Field, err error) {
	if !p.take('[') {
		return f, p.fail("a field as a list")
	}
	if f.Name, err = p.string(); err != nil {
		return f, err
	}
	if !p.take(',') {
		return f, p.fail(`","`)
	}
	if p.next() == '[' {
		f.DType, err = p.record(depth + 1)
	} else {
		var name string
		if name, err = p.string(); err == nil {
			f.DType, err = parseSimple(name)
		}
	}
	if err != nil {
		return f, fmt.Errorf("field %q: %w", shorten(f.Name), err)
	}
	if p.take(',') {
		if f.Shape, err = p.shape(); err != nil {
			return f, err
		}
	}
	if !p.take(']') {
		return f, p.fail(`"]"`)
	}
	return f, nil
}

// shape reads an integer or a list of integers; the empty list is no sub-array.
func (p *recordParser) shape() (shape []int64, err error) {
	if !p.take('[') {
		n, err := p.extent()
		return []int64{n}, err
	}
	if p.take(']') {
		return nil, nil
	}
	for {
		n, err := p.extent()
		if err != nil {
			return nil, err
		}
		if shape = append(shape, n); len(shape) > MaxNDim {
			return nil, fmt.Errorf("%w: record, byte %d: expected at most %d axes", ErrShape, p.pos, MaxNDim)
		}
		if p.take(']') {
			return shape, nil
		}
		if !p.take(',') {
			return nil, p.fail(`"," or "]"`)
		}
	}
}

func (p *recordParser) extent() (int64, error) {
	p.skip()
	n, rest, found := cutInt(p.text[p.pos:])
	if !found || n < 0 {
		return 0, p.fail(fmt.Sprintf("an extent from 0 to %d", MaxItemSize))
	}
	p.pos = len(p.text) - len(rest)
	return int64(n), nil
}

// string reads a JSON string. A lone surrogate has no UTF-8 form and is refused.
func (p *recordParser) string() (string, error) {
	if !p.take('"') {
		return "", p.fail("a string")
	}
	var out []byte
	for {
		i := strings.IndexAny(p.text[p.pos:], "\"\\")
		if i < 0 {
			p.pos = len(p.text)
			return "", p.fail(`"\""`)
		}
		plain := p.text[p.pos : p.pos+i]
		if !utf8.ValidString(plain) || strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' }) {
			return "", p.fail("UTF-8 text without control characters")
		}
		p.pos += i + 1
		if p.text[p.pos-1] == '"' {
			if out == nil {
				return plain, nil
			}
			return string(append(out, plain...)), nil
		}
		r, ok := p.escape()
		if !ok {
			return "", p.fail("a JSON escape of a character")
		}
		out = utf8.AppendRune(append(out, plain...), r)
	}
}

// escape reads what follows a backslash.
func (p *recordParser) escape() (rune, bool) {
	if p.pos == len(p.text) {
		return 0, false
	}
	c := p.text[p.pos]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		p.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), true
	}
	r, ok := p.utf16Unit()
	if ok && utf16.IsSurrogate(r) {
		if p.pos == len(p.text) || p.text[p.pos] != '\\' {
			return 0, false
		}
		p.pos++
		low, lowOK := p.utf16Unit()
		r = utf16.DecodeRune(r, low)
		ok = lowOK && r != utf8.RuneError
	}
	return r, ok
}

// utf16Unit reads u and four hexadecimal digits.
func (p *recordParser) utf16Unit() (rune, bool) {
	if len(p.text)-p.pos < 5 || p.text[p.pos] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(p.text[p.pos+1:p.pos+5], 16, 16)
	p.pos += 5
	return rune(v), err == nil
}
