package main

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// printable quotes a name that could be mistaken for something else.
func printable(name string) string {
	if q := strconv.Quote(name); name == "" || len(q) != len(name)+2 || strings.ContainsAny(name, " ,()") {
		return q
	}
	return name
}

// printablePath quotes a path that a terminal could not show.
func printablePath(path string) string {
	if q := strconv.Quote(path); len(q) != len(path)+2 {
		return q
	}
	return path
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// either is yes when cond holds, else no.
func either(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func quoteIf(dst []byte, s string, quote bool) []byte {
	if quote {
		return strconv.AppendQuote(dst, s)
	}
	return append(dst, s...)
}

// appendStrict appends a JSON value in which NaN and the infinities are
// strings, so that every JSON reader takes it.
func appendStrict(dst []byte, v ndfile.Value) []byte {
	if f, ok := v.Float64(); ok && !v.IsInt() && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return appendFloat(dst, f, 64, true)
	}
	if o := v.Object(); o != nil {
		return appendStrictAttrs(dst, o)
	}
	if items := v.Items(); items != nil {
		dst = append(dst, '[')
		for i, it := range items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendStrict(dst, it)
		}
		return append(dst, ']')
	}
	return ndfile.AppendJSONValue(dst, v)
}

// appendStrictAttrs is appendStrict for attributes; nil ones are {}.
func appendStrictAttrs(dst []byte, a *ndfile.Attrs) []byte {
	dst = append(dst, '{')
	for i := 0; a != nil && i < a.Len(); i++ {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		k, v := a.At(i)
		dst = append(ndfile.AppendJSONString(dst, k), ": "...)
		dst = appendStrict(dst, v)
	}
	return append(dst, '}')
}

// text is a string in JSON output, whatever bytes it holds.
type text string

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) { return ndfile.AppendJSONString(nil, string(t)), nil }

// texts makes a list; nil stays nil, which is null.
func texts(list []string) []text {
	if list == nil {
		return nil
	}
	out := make([]text, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}

// attrsJSON are attributes in JSON output.
type attrsJSON struct{ *ndfile.Attrs }

// MarshalJSON implements json.Marshaler.
func (a attrsJSON) MarshalJSON() ([]byte, error) { return appendStrictAttrs(nil, a.Attrs), nil }

// value is one JSON value, spelled already.
type value = json.RawMessage

// emit prints a JSON value on a line.
func emit(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// schemaKey is the annotation of a command with the schema of its JSON output.
const schemaKey = "json"

// schema annotates a command: it prints v as JSON.
func schema(v any) map[string]string {
	return map[string]string{schemaKey: schemaOf(reflect.TypeOf(v), "")}
}

// schemaOf spells a type: field names with the kinds of their values.
func schemaOf(t reflect.Type, indent string) string {
	switch t {
	case reflect.TypeFor[text]():
		return "string"
	case reflect.TypeFor[attrsJSON]():
		return "object"
	case reflect.TypeFor[value]():
		return "value"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Pointer:
		return schemaOf(t.Elem(), indent) + " or null"
	case reflect.Slice:
		return "[" + schemaOf(t.Elem(), indent) + ", ...]"
	case reflect.Struct:
		inner := indent + "  "
		s := "{"
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			kind := schemaOf(f.Type, inner)
			if when := f.Tag.Get("null"); when != "" {
				kind += " or null (" + when + ")"
			}
			s += either(i == 0, "\n", ",\n") + inner + strconv.Quote(name) + ": " + kind
		}
		return s + "\n" + indent + "}"
	}
	return "number"
}
