package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// types is what ndfile_types.h declares.
type types struct {
	text      string // all of it but the first comment
	handles   []string
	callbacks []callback
	constants []constantDef
	structs   []*structDef
}

// callback is one type of functions that the library calls.
type callback struct{ name, text string }

// constantDef is one named integer.
type constantDef struct {
	name  string
	value int64
	text  string // "" where the header's own comment says it
}

// structDef is one struct with its layout on 64-bit machines.
type structDef struct {
	name        string
	size, align int
	fields      []field
}

// field is one member of a struct.
type field struct {
	ctype, name string
	count       int // of an array, else 0
	function    bool
	inner       *structDef // where the type is a struct
	offset      int
}

var (
	commentForm = regexp.MustCompile(`(?s)/\*.*?\*/`)
	callForm    = regexp.MustCompile(`typedef (int32_t \(\*(\w+)\)\(.*?\));`)
	handleForm  = regexp.MustCompile(`typedef uint64_t (\w+);`)
	defineForm  = regexp.MustCompile(`(?m)^#define (NDF_\w+) (\d+)$`)
	enumForm    = regexp.MustCompile(`(?s)enum \{(.*?)\};`)
	memberForm  = regexp.MustCompile(`(\w+) = (-?\d+)`)
	structForm  = regexp.MustCompile(`(?s)typedef struct (\w+) \{(.*?)\} (\w+);`)
	fieldForm   = regexp.MustCompile(`^((?:const )?\w+ \*?)(.+)$`)
	arrayForm   = regexp.MustCompile(`^(\w+)\[(\d+)\]$`)
)

// sizes are the bytes of the types of fields; pointers have pointerSize.
var sizes = map[string]int{"char": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8}

const pointerSize = 8

// parseTypes reads ndfile_types.h. It knows only what is used there.
func parseTypes(text string) (*types, error) {
	first := commentForm.FindStringIndex(text)
	if first == nil || first[0] != 0 {
		return nil, fmt.Errorf("ndfile_types.h does not begin with a comment")
	}
	t := &types{text: strings.TrimSpace(text[first[1]:])}
	code := commentForm.ReplaceAllString(t.text, "")
	for _, m := range handleForm.FindAllStringSubmatch(code, -1) {
		t.handles = append(t.handles, m[1])
	}
	for _, m := range callForm.FindAllStringSubmatch(code, -1) {
		t.callbacks = append(t.callbacks, callback{m[2], m[1]})
	}
	for _, m := range defineForm.FindAllStringSubmatch(code, -1) {
		t.constants = append(t.constants, newConstant(m[1], m[2]))
	}
	for _, e := range enumForm.FindAllStringSubmatch(code, -1) {
		for _, m := range memberForm.FindAllStringSubmatch(e[1], -1) {
			t.constants = append(t.constants, newConstant(m[1], m[2]))
		}
	}
	for _, m := range structForm.FindAllStringSubmatch(code, -1) {
		s, err := t.parseStruct(m[1], m[2])
		if err != nil || m[1] != m[3] {
			return nil, fmt.Errorf("ndfile_types.h: struct %s: %w", m[1], err)
		}
		t.structs = append(t.structs, s)
	}
	return t, nil
}

func newConstant(name, digits string) constantDef {
	v, _ := strconv.ParseInt(digits, 10, 64) // digits only
	return constantDef{name: name, value: v}
}

// parseStruct lays a struct out.
func (t *types) parseStruct(name, body string) (*structDef, error) {
	s := &structDef{name: name, align: 1}
	for _, line := range strings.Split(body, ";") {
		line = flow(line)
		if line == "" {
			continue
		}
		m := fieldForm.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("cannot read %q", line)
		}
		for _, n := range strings.Split(m[2], ",") {
			f := field{ctype: strings.TrimSpace(m[1]), name: strings.TrimSpace(n)}
			f.function = slices.ContainsFunc(t.callbacks, func(c callback) bool { return c.name == f.ctype })
			if a := arrayForm.FindStringSubmatch(f.name); a != nil {
				f.name = a[1]
				f.count, _ = strconv.Atoi(a[2])
			}
			if i := slices.IndexFunc(t.structs, func(s *structDef) bool { return s.name == f.ctype }); i >= 0 {
				f.inner = t.structs[i]
			}
			size, align := f.layout()
			if size == 0 {
				return nil, fmt.Errorf("unknown type %q", f.ctype)
			}
			f.offset = roundUp(s.size, align)
			s.size = f.offset + size*max(f.count, 1)
			s.align = max(s.align, align)
			s.fields = append(s.fields, f)
		}
	}
	s.size = roundUp(s.size, s.align)
	return s, nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

func (f *field) pointer() bool { return f.function || strings.HasSuffix(f.ctype, "*") }

// layout is the size and the alignment of an element.
func (f *field) layout() (size, align int) {
	switch {
	case f.inner != nil:
		return f.inner.size, f.inner.align
	case f.pointer():
		return pointerSize, pointerSize
	}
	return sizes[f.ctype], sizes[f.ctype]
}

// declaration is the field in C, with the type given.
func (f *field) declaration(ctype string) string {
	d := declare(ctype, f.name)
	if f.count > 0 {
		d += "[" + strconv.Itoa(f.count) + "]"
	}
	return d
}

// pointers reports whether a struct holds any.
func (s *structDef) pointers() bool {
	for _, f := range s.fields {
		if f.pointer() {
			return true
		}
	}
	return false
}

// statuses are the statuses, from the error table of package ndfile.
func statuses() []constantDef {
	list := []constantDef{{"NDF_OK", 0, "success"}}
	for _, k := range ndfile.ErrorKinds {
		list = append(list, constantDef{k.C, int64(k.Code), k.Text})
	}
	return list
}

// caps are the capability bits, from the table of abilities of package ndfile.
func caps() []constantDef {
	var list []constantDef
	for _, a := range ndfile.Abilities {
		list = append(list, constantDef{"NDF_CAP_" + constantName(a.Name), int64(a.Cap), a.Text})
	}
	return list
}

// constantName is the word of an ability as a part of a constant's name.
func constantName(word string) string {
	return strings.ToUpper(strings.ReplaceAll(word, "-", "_"))
}

// constants are all constants of the C library but the version.
func (a *api) constants() []constantDef {
	return append(append(statuses(), caps()...), a.types.constants...)
}
