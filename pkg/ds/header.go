package ds

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// versionLine begins every file since ds-format 3.0; no other version was ever
// released. ds-format 2.0 wrote none: see legacy.go.
const versionLine = "ds-1.0\n"

// code is the type of a variable, without its byte order.
type code uint8

const (
	unknown code = iota // a type that this package does not know
	float64Code
	float32Code
	int8Code
	int16Code
	int32Code
	int64Code
	uint8Code
	uint16Code
	uint32Code
	uint64Code
	boolCode
	strCode
	unicodeCode
)

// types are the names in the header and the types in memory.
var types = [...]struct {
	name string
	kind ndarray.Kind
	size int
}{
	unknown:     {},
	float64Code: {"float64", ndarray.Float, 8},
	float32Code: {"float32", ndarray.Float, 4},
	int8Code:    {"int8", ndarray.Int, 1},
	int16Code:   {"int16", ndarray.Int, 2},
	int32Code:   {"int32", ndarray.Int, 4},
	int64Code:   {"int64", ndarray.Int, 8},
	uint8Code:   {"uint8", ndarray.Uint, 1},
	uint16Code:  {"uint16", ndarray.Uint, 2},
	uint32Code:  {"uint32", ndarray.Uint, 4},
	uint64Code:  {"uint64", ndarray.Uint, 8},
	boolCode:    {"bool", ndarray.Bool, 1},
	strCode:     {"str", ndarray.VarBytes, 0},
	unicodeCode: {"unicode", ndarray.VarString, 0},
}

func codeOf(name []byte) code {
	for c := float64Code; int(c) < len(types); c++ {
		if types[c].name == string(name) {
			return c
		}
	}
	return unknown
}

// variable is one entry of the header. Its slices share the header's memory.
type variable struct {
	name  []byte // unescaped
	raw   []byte // its JSON object
	shape []int64
	count int64 // of elements
	// offset and length are what the header says, length -1 where it says
	// nothing; offset counts from the start of the body, and so does at, where
	// the variable really begins: see repair.go.
	offset, length, at int64
	doubt              int32 // the variable that makes at doubtful, or -1
	code               code
	big                bool // byte order, of string lengths too
	masked             bool
	noData             bool // .size null
}

// dtype is the type on disk; its order is NoOrder where bytes are single.
func (v *variable) dtype() ndarray.DType {
	d := ndarray.DType{Kind: types[v.code].kind, Size: types[v.code].size}
	if d.Size > 1 {
		d.Order = ndarray.Little
		if v.big {
			d.Order = ndarray.Big
		}
	}
	return d
}

// isString reports whether elements have lengths of their own.
func (v *variable) isString() bool { return v.code == strCode || v.code == unicodeCode }

// usualEntry is about how many bytes of the header a variable takes.
const usualEntry = 128

// header is the parsed head of a file. It keeps spans of its text and builds no
// values, so that a small file is read without allocating; a used header can be
// used again for another file.
type header struct {
	text   []byte // the JSON, without its newline
	start  int64  // where text begins in the file
	body   int64  // where the body begins
	size   int64  // of the file
	legacy bool   // written by ds-format 2.0
	attrs  []byte // the JSON object of the dataset's attributes, nil for none
	vars   []variable
	byName []int32 // indexes of vars in the order of their names
	shapes []int64 // what the variables' shapes are cut from
	depth  int     // limit of nesting
}

// bodySize is the number of bytes behind the header.
func (h *header) bodySize() int64 { return h.size - h.body }

// read finds the header of a file, of which head are the first bytes, and
// parses it. It keeps head.
func (h *header) read(ctx context.Context, src *source, head []byte, lim ndfile.Limits) error {
	*h = header{vars: h.vars[:0], byName: h.byName[:0], shapes: h.shapes[:0], size: src.size, depth: lim.MaxDepth}
	if err := h.checkVersion(head); err != nil {
		return err
	}
	end := bytes.IndexByte(head[h.start:], '\n')
	most := min(lim.Header(), math.MaxInt32)
	for end < 0 {
		if have := int64(len(head)) - h.start; have > most {
			return ndfile.NewError(ndfile.ErrLimit, "the header has more than "+strconv.FormatInt(most, 10)+" bytes").At(h.start)
		}
		n := int64(len(head))
		if n >= src.size {
			break
		}
		// A quarter of a megabyte at least, then twice as much as before.
		more, err := ndfile.NewBytes(int(min(src.size, max(2*n, 256<<10), h.start+most+1)))
		if err != nil {
			return err
		}
		copy(more, head)
		if err := src.read(ctx, more[n:], n); err != nil {
			return err
		}
		head = more
		if i := bytes.IndexByte(head[n:], '\n'); i >= 0 {
			end = int(n-h.start) + i
		}
	}
	if end < 0 {
		h.text, h.body = head[h.start:], src.size
	} else {
		h.text, h.body = head[h.start:h.start+int64(end)], h.start+int64(end)+1
	}
	if int64(len(h.text)) > most {
		return ndfile.NewError(ndfile.ErrLimit, "the header has "+strconv.Itoa(len(h.text))+" bytes, at most "+strconv.FormatInt(most, 10)+" are allowed").At(h.start)
	}
	err := h.parse()
	if err != nil && h.legacy && ndfile.KindOf(err) == ndfile.ErrCorrupt {
		return ndfile.NewError(ndfile.ErrFormat, "neither a ds file (no version line) nor one of ds-format 2.0").Because(err)
	}
	return err
}

// checkVersion sets start and legacy.
func (h *header) checkVersion(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte(versionLine)):
		h.start = int64(len(versionLine))
		return nil
	case len(head) > 0 && head[0] == '{':
		h.legacy = true
		return nil
	case !isVersioned(head):
		return ndfile.NewError(ndfile.ErrFormat, "not a ds file: expected a first line of \"ds-1.0\"").At(0)
	case bytes.HasPrefix([]byte(versionLine), head):
		return ndfile.NewError(ndfile.ErrCorrupt, "the file ends within the version line").At(int64(len(head)))
	}
	line, _, _ := bytes.Cut(head[:min(len(head), 40)], []byte{'\n'})
	return ndfile.NewError(ndfile.ErrNotSupported, "format version "+strconv.Quote(string(line))+"; only \"ds-1.0\" exists").At(0)
}

// isVersioned reports whether a file begins with "ds-" and a digit, or with all
// of that which is there.
func isVersioned(head []byte) bool {
	const magic = "ds-"
	if len(head) <= len(magic) {
		return len(head) > 0 && bytes.HasPrefix([]byte(magic), head)
	}
	return bytes.HasPrefix(head, []byte(magic)) && head[len(magic)] >= '0' && head[len(magic)] <= '9'
}

// corrupt is an error at a position of the header's text.
func (h *header) corrupt(pos int, msg string) *ndfile.Error {
	return ndfile.NewError(ndfile.ErrCorrupt, msg).At(h.start + int64(pos))
}

// syntax gives an error of the scanner its place in the file.
func (h *header) syntax(err error) error {
	var se *pyjson.SyntaxError
	var le *pyjson.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &se):
		return h.corrupt(int(se.Offset), "header: "+se.Msg)
	case errors.As(err, &le):
		return ndfile.NewError(ndfile.ErrLimit, "header: "+le.Msg+", at most "+strconv.FormatInt(le.Limit, 10)).At(h.start + le.Offset)
	}
	return err
}

// parse reads the text: one object with an entry for each variable, and "." for
// the dataset. Other keys that begin with a dot have no meaning and are passed.
func (h *header) parse() error {
	s := pyjson.Scanner{Data: h.text, MaxDepth: h.depth}
	if err := s.EnterObject(); err != nil {
		return h.syntax(err)
	}
	dataset := false
	if h.vars == nil {
		h.vars = make([]variable, 0, len(h.text)/usualEntry+1)
		h.shapes = make([]int64, 0, 2*cap(h.vars))
	}
	for first := true; ; first = false {
		raw, plain, more, err := s.NextKey(first)
		if err != nil {
			return h.syntax(err)
		}
		if !more {
			break
		}
		pos := s.Pos
		key, err := text(raw, plain)
		if err != nil {
			return err
		}
		c, err := s.Peek()
		if err != nil {
			return h.syntax(err)
		}
		if len(key) > 0 && key[0] == '.' {
			value, err := s.Skip()
			if err != nil {
				return h.syntax(err)
			}
			if len(key) > 1 {
				continue
			}
			if c != '{' {
				return h.corrupt(s.Pos-len(value), "header: the attributes of the dataset: expected an object")
			}
			if dataset {
				return h.corrupt(pos, "header: the key \".\" comes twice")
			}
			h.attrs, dataset = value, true
			if err := h.checkAttrs(value); err != nil {
				return err
			}
			continue
		}
		if c != '{' {
			return h.corrupt(s.Pos, "expected an object").In(string(unescape(key)))
		}
		if err := h.variable(&s, unescape(key)); err != nil {
			return ndfile.Locate(h.syntax(err), "", string(unescape(key)), true)
		}
	}
	if err := s.End(); err != nil {
		return h.syntax(err)
	}
	return h.index()
}

// text resolves the escapes of a JSON string that the scanner has passed.
func text(raw []byte, plain bool) ([]byte, error) {
	if plain {
		return raw, nil
	}
	t, err := pyjson.Unquote(raw)
	return []byte(t), err
}

// unescape removes the backslash that a name in the header has when it begins
// with a dot or a backslash.
func unescape[T string | []byte](key T) T {
	if len(key) > 1 && key[0] == '\\' && (key[1] == '.' || key[1] == '\\') {
		return key[1:]
	}
	return key
}

// needsEscape is the other direction.
func needsEscape(name string) bool { return name != "" && (name[0] == '.' || name[0] == '\\') }

// variable parses the object of one variable, which comes next. Of a key that
// comes twice the last value counts, as in Python.
func (h *header) variable(s *pyjson.Scanner, name []byte) error {
	v := variable{name: name, length: -1, doubt: -1, code: float64Code, big: true}
	if h.legacy {
		v.code = unknown
	}
	dsize := int64(0)
	escaped := false
	start := s.Pos
	if err := s.EnterObject(); err != nil {
		return err
	}
	for first := true; ; first = false {
		raw, plain, more, err := s.NextKey(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		key, err := text(raw, plain)
		if err != nil {
			return err
		}
		escaped = escaped || len(key) > 0 && key[0] == '\\'
		c, err := s.Peek()
		if err != nil {
			return err
		}
		pos := s.Pos
		switch string(key) {
		case ".offset":
			err = h.integer(s, &v.offset, ".offset")
		case ".dsize":
			err = h.integer(s, &dsize, ".dsize")
		case ".len":
			err = h.length(s, c, &v)
		case ".size":
			err = h.extents(s, c, &v)
		case ".type":
			err = h.typeName(s, c, &v)
		case ".endian":
			var value []byte
			if value, _, err = s.RawString(); err == nil && string(value) != "l" && string(value) != "b" {
				err = h.corrupt(pos, ".endian: expected \"l\" or \"b\", found "+strconv.Quote(string(value)))
			}
			v.big = string(value) == "b"
		case ".missing":
			v.masked, err = s.Bool()
		default:
			_, err = s.Skip()
		}
		if err != nil {
			return err
		}
	}
	v.raw = h.text[start:s.Pos:s.Pos]
	if escaped {
		if err := h.checkAttrs(v.raw); err != nil {
			return err
		}
	}
	if h.legacy {
		if err := h.legacyVariable(&v, dsize); err != nil {
			return err
		}
	}
	count, err := ndarray.Count(v.shape)
	switch {
	case len(v.shape) > ndarray.MaxNDim:
		return ndfile.NewError(ndfile.ErrLimit, strconv.Itoa(len(v.shape))+" axes; at most "+strconv.Itoa(ndarray.MaxNDim)+" are supported").At(h.start + int64(start))
	case err != nil:
		return h.corrupt(start, ".size").Because(err)
	}
	v.count, v.at = count, v.offset
	h.vars = append(h.vars, v)
	return nil
}

// integer reads a number that is not negative.
func (h *header) integer(s *pyjson.Scanner, dst *int64, key string) error {
	pos := s.Pos
	n, ok, err := s.Int64()
	if err != nil {
		return err
	}
	if !ok || n < 0 {
		return h.corrupt(pos, key+": expected an integer from 0 to 2^63-1, found "+string(h.text[pos:s.Pos]))
	}
	*dst = n
	return nil
}

// length reads .len, which nothing depends on: what is no length is passed.
func (h *header) length(s *pyjson.Scanner, next byte, v *variable) error {
	v.length = -1
	if next != '-' && (next < '0' || next > '9') {
		_, err := s.Skip()
		return err
	}
	n, ok, err := s.Int64()
	if ok && n >= 0 {
		v.length = n
	}
	return err
}

// extents reads .size: a list, a number for one axis, or null for no data.
func (h *header) extents(s *pyjson.Scanner, next byte, v *variable) error {
	v.shape, v.noData = nil, false
	mark := len(h.shapes)
	extent := func() error {
		var n int64
		if err := h.integer(s, &n, ".size"); err != nil {
			return err
		}
		h.shapes = append(h.shapes, n)
		return nil
	}
	switch next {
	case 'n':
		v.noData = true
		return s.Null()
	case '[':
		if err := s.EnterArray(); err != nil {
			return err
		}
		for first := true; ; first = false {
			more, err := s.NextItem(first)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if _, err := s.Peek(); err != nil {
				return err
			}
			if err := extent(); err != nil {
				return err
			}
		}
	default:
		if err := extent(); err != nil {
			return err
		}
		if h.legacy && h.shapes[mark] == 1 { // a scalar: see legacy.go
			h.shapes = h.shapes[:mark]
		}
	}
	v.shape = h.shapes[mark:len(h.shapes):len(h.shapes)]
	return nil
}

// typeName reads .type. An unknown type makes this variable unreadable, not the
// others.
func (h *header) typeName(s *pyjson.Scanner, next byte, v *variable) error {
	v.code = unknown
	if next != '"' {
		_, err := s.Skip()
		return err
	}
	raw, plain, err := s.RawString()
	if err != nil {
		return err
	}
	name, err := text(raw, plain)
	if err != nil {
		return err
	}
	v.code = codeOf(name)
	if h.legacy {
		v.code = legacyCode(name)
	}
	return nil
}

// checkAttrs refuses an object in which two names become one when unescaped.
func (h *header) checkAttrs(raw []byte) error {
	if bytes.IndexByte(raw, '\\') < 0 {
		return nil
	}
	o, err := h.object(raw)
	if err != nil {
		return err
	}
	for i := range o.Len() {
		key, _ := o.At(i)
		name := unescape(key)
		// Only a key like \x, which ds-format does not write, can be in the way
		// of \\x.
		if name == key || name[0] == '.' || unescape(name) != name {
			continue
		}
		if _, twice := o.Get(name); twice {
			return ndfile.NewError(ndfile.ErrCorrupt, "two attributes are called "+strconv.Quote(name))
		}
	}
	return nil
}

// object builds an object of the header, which the scanner has passed before.
func (h *header) object(raw []byte) (*ndfile.Attrs, error) {
	if raw == nil {
		return ndfile.NewAttrs(), nil
	}
	return pyjson.ParseObject(raw, pyjson.Limits{MaxBytes: int64(len(raw)), MaxDepth: h.depth})
}

// attributes are the members of an object that are no dot-keys, unescaped.
func attributes(o *ndfile.Attrs) *ndfile.Attrs {
	attrs := ndfile.NewAttrs()
	for i := range o.Len() {
		if key, v := o.At(i); key == "" || key[0] != '.' {
			attrs.Set(unescape(key), v)
		}
	}
	return attrs
}

// index sorts the names and refuses a name that comes twice: ds-format would
// silently take the last.
func (h *header) index() error {
	sorted := true
	h.byName = slices.Grow(h.byName, len(h.vars))
	for i := range h.vars {
		h.byName = append(h.byName, int32(i))
		sorted = sorted && (i == 0 || bytes.Compare(h.vars[i-1].name, h.vars[i].name) < 0)
	}
	if sorted { // as ds-format writes them
		return nil
	}
	slices.SortFunc(h.byName, func(a, b int32) int { return bytes.Compare(h.vars[a].name, h.vars[b].name) })
	for i := 1; i < len(h.byName); i++ {
		if v := &h.vars[h.byName[i]]; bytes.Equal(v.name, h.vars[h.byName[i-1]].name) {
			return ndfile.NewError(ndfile.ErrCorrupt, "the header has two variables of this name").At(h.start).In(string(v.name))
		}
	}
	return nil
}

// find gives the index of a variable, or -1.
func (h *header) find(name string) int {
	i, ok := slices.BinarySearchFunc(h.byName, name, func(i int32, name string) int {
		switch have := h.vars[i].name; {
		case string(have) < name:
			return -1
		case string(have) > name:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return int(h.byName[i])
}
