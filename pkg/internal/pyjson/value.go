package pyjson

import (
	"math"
	"slices"
	"strconv"
)

// Kind is the type of a [Value].
type Kind uint8

// The kinds. NaN, Infinity and -Infinity are numbers.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindList
	KindObject
)

var kindNames = [...]string{"null", "bool", "number", "string", "list", "object"}

// String names the kind for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Value is one JSON value. The zero Value is null. A Value is small and copied
// freely; copies share the list or object they hold. Reading from several
// goroutines at once is safe as long as nobody changes a shared object.
type Value struct {
	kind Kind
	b    bool    // of a bool
	text string  // of a number, as in the source; of a string, resolved
	node *Object // of an object; of a list, which uses only node.vals
}

// Null returns the value null.
func Null() Value { return Value{} }

// Bool returns true or false.
func Bool(b bool) Value { return Value{kind: KindBool, b: b} }

// Int returns an integer.
func Int(i int64) Value { return Value{kind: KindNumber, text: strconv.FormatInt(i, 10)} }

// Uint returns an integer.
func Uint(u uint64) Value { return Value{kind: KindNumber, text: strconv.FormatUint(u, 10)} }

// Float returns a float, spelled as [AppendFloat] does; never an integer.
func Float(f float64) Value {
	return Value{kind: KindNumber, text: string(AppendFloat(nil, f))}
}

// Number returns the number that text spells, which it keeps. It fails with a
// *SyntaxError when text is not exactly one number, and a *LimitError when it has
// more than 4300 digits.
func Number(text string) (Value, error) {
	data := []byte(text)
	end, _, err := scanNumber(data, 0)
	if err != nil {
		return Value{}, err
	}
	if end < len(data) {
		return Value{}, expected("the end of the number", data, end)
	}
	return Value{kind: KindNumber, text: text}, nil
}

// String returns a string. See [AppendString] for a text that is not UTF-8.
func String(s string) Value { return Value{kind: KindString, text: s} }

// List returns a list of a copy of v.
func List(v ...Value) Value {
	return Value{kind: KindList, node: &Object{vals: slices.Clone(v)}}
}

// ObjectValue returns a value that holds o itself, not a copy; nil gives an empty
// object. An object must not come to contain itself.
func ObjectValue(o *Object) Value {
	if o == nil {
		o = NewObject()
	}
	return Value{kind: KindObject, node: o}
}

// Kind returns the type of v.
func (v Value) Kind() Kind { return v.kind }

// Bool returns the truth value; ok is false when v is not a bool.
func (v Value) Bool() (b, ok bool) { return v.b, v.kind == KindBool }

// IsInt tells whether v is an integer as Python sees it: a number without a
// fraction or exponent. 1.0 and 1e3 are floats.
func (v Value) IsInt() bool { return v.kind == KindNumber && isIntText(v.text) }

// Int64 returns an integer exactly; ok is false when v is none or out of range.
func (v Value) Int64() (i int64, ok bool) {
	if !v.IsInt() {
		return 0, false
	}
	return parseInt64(v.text)
}

// Uint64 returns an integer exactly; ok is false when v is none or out of range.
func (v Value) Uint64() (u uint64, ok bool) {
	if !v.IsInt() {
		return 0, false
	}
	if v.text == "-0" {
		return 0, true
	}
	return parseUint64(v.text)
}

// Float64 returns the float nearest to a number. As in Python, a float literal
// past the range is an infinity, while an integer past it has no float: ok is
// false, as it is when v is not a number.
func (v Value) Float64() (f float64, ok bool) {
	if v.kind != KindNumber {
		return 0, false
	}
	f = parseFloat(v.text)
	if isIntText(v.text) {
		if math.IsInf(f, 0) {
			return 0, false
		}
		f += 0 // the integer -0 is 0
	}
	return f, true
}

// Text returns a number as its source spelled it, and "" for the other kinds.
func (v Value) Text() string {
	if v.kind != KindNumber {
		return ""
	}
	return v.text
}

// Str returns a string in UTF-8, lone surrogates as WTF-8; ok is false when v is
// not a string.
func (v Value) Str() (s string, ok bool) {
	if v.kind != KindString {
		return "", false
	}
	return v.text, true
}

// Items returns the values of a list, nil for the other kinds. The slice belongs
// to the list: read it only.
func (v Value) Items() []Value {
	if v.kind != KindList {
		return nil
	}
	return v.node.vals
}

// Object returns the object v holds, nil for the other kinds.
func (v Value) Object() *Object {
	if v.kind != KindObject {
		return nil
	}
	return v.node
}

// Equal tells whether v and w are the same value to [Append]: an int is not equal
// to a float, nor 0.0 to -0.0, NaN equals NaN, 1.10 equals 1.1, and members of
// objects must have the same order. Strings compare byte for byte.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case KindBool:
		return v.b == w.b
	case KindNumber:
		return v.text == w.text ||
			string(appendNumber(nil, v.text)) == string(appendNumber(nil, w.text))
	case KindString:
		return v.text == w.text
	case KindList, KindObject:
		return slices.Equal(v.node.keys, w.node.keys) &&
			slices.EqualFunc(v.node.vals, w.node.vals, Value.Equal)
	}
	return true
}

// clone copies the lists and objects v is made of.
func (v Value) clone() Value {
	if v.node != nil {
		v.node = v.node.Clone()
	}
	return v
}
