package ndarray

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
)

// Kind is the family of an element type.
type Kind uint8

// The kinds. The comment gives the sizes in bytes and the letter of the name.
const (
	Invalid   Kind = iota
	Bool           // b: 1; zero is false, anything else true
	Int            // i: 1, 2, 4, 8, 16; two's complement
	Uint           // u: 1, 2, 4, 8, 16
	Float          // f: 2, 4, 8 are IEEE 754; 16 is a C long double, only copied and swapped
	BFloat         // bfloat16: 2; the upper half of a 4-byte Float
	Complex        // c: 4, 8, 16, 32; real then imaginary part, each a Float of half the size
	Bytes          // S: fixed length, padded with NUL bytes
	Unicode        // U: fixed length in UCS4, 4 bytes a character, padded with NUL characters
	Datetime       // M8: 8; signed count of units since 1970
	Timedelta      // m8: 8; signed count of units
	Raw            // V: opaque bytes
	Record         // fields one after the other, without padding
	VarBytes       // "bytes": one byte string of its own length each
	VarString      // "str": one UTF-8 text of its own length each
)

// kindLetters are the letters of the kinds from Bool to Raw in a typestring. '-'
// is a place holder: names of BFloat are no typestrings.
const kindLetters = "biuf-cSUMmV"

// Order is the byte order of the words of an element.
type Order uint8

// The byte orders, with their letter in a NumPy typestring.
const (
	NoOrder Order = iota // '|': elements without byte order, as single bytes, S and V
	Little               // '<'
	Big                  // '>'
)

// MaxItemSize is the largest size of an element in bytes, as in NumPy.
const MaxItemSize = math.MaxInt32

// DType is the type of an element. [Parse] makes valid ones. A DType may also be
// written down as a literal; there NoOrder in a type of several bytes a word
// means the machine's order. Fields is shared between copies and not to be changed.
type DType struct {
	Kind   Kind
	Order  Order
	Size   int     // bytes of an element; 0 for VarBytes and VarString
	Unit   string  // Datetime and Timedelta: "ns", "25s"; "" is NumPy's generic unit
	Fields []Field // Record only
}

// Field is one member of a record.
type Field struct {
	Name   string
	DType  DType
	Shape  []int64 // of a sub-array, row-major; nil for none
	Offset int     // bytes from the start of the record
}

// count is the number of elements of the field; 1 without a sub-array. It cannot
// overflow in a record made by NewRecord, except where elements have no bytes.
func (f *Field) count() int {
	n, err := Count(f.Shape)
	if err != nil || f.DType.Size == 0 {
		return 0
	}
	return int(n)
}

// NewRecord makes a packed record type of fields in the given order and computes
// their offsets; the Offset given is ignored. The names must be unique. An empty
// name becomes "f" and the position of the field, as in NumPy. Fields of variable
// length and records larger than [MaxItemSize] are refused. fields is copied.
func NewRecord(fields []Field) (DType, error) {
	d := DType{Kind: Record, Fields: slices.Clone(fields)}
	if len(fields) == 0 {
		return DType{}, fmt.Errorf("%w: record without fields", ErrDType)
	}
	seen := make(map[string]bool, len(fields))
	for i := range d.Fields {
		f := &d.Fields[i]
		if f.Name == "" {
			f.Name = "f" + strconv.Itoa(i)
		}
		if seen[f.Name] {
			return DType{}, fmt.Errorf("%w: record with two fields named %q", ErrDType, shorten(f.Name))
		}
		seen[f.Name] = true
		if f.DType.IsVar() || !f.DType.valid() {
			return DType{}, fmt.Errorf("%w: field %q: expected a type of fixed size, found %s", ErrDType, shorten(f.Name), f.DType)
		}
		n, err := NBytes(f.Shape, f.DType.Size)
		if err != nil {
			return DType{}, fmt.Errorf("field %q: %w", shorten(f.Name), err)
		}
		if n > int64(MaxItemSize-d.Size) {
			return DType{}, fmt.Errorf("%w: record of more than %d bytes at field %q", ErrOverflow, MaxItemSize, shorten(f.Name))
		}
		f.Offset = d.Size
		d.Size += int(n)
	}
	return d, nil
}

// Check verifies that the kind exists in this size and that the fields of a record
// lie inside it. It fails with [ErrDType]. What [Parse] and [NewRecord] give is valid.
func (d DType) Check() error {
	if !d.valid() {
		return fmt.Errorf("%w: no type of kind %d has %d bytes and %d fields", ErrDType, d.Kind, d.Size, len(d.Fields))
	}
	return nil
}

// checkFixed is Check, and refuses the types that do not fit into a buffer.
func checkFixed(d *DType) error {
	if d.IsVar() {
		return fmt.Errorf("%w: expected a type of fixed size, found %s", ErrDType, *d)
	}
	return d.Check()
}

func (d *DType) valid() bool {
	powerOf2 := d.Size > 0 && d.Size&(d.Size-1) == 0
	switch d.Kind {
	case Bool:
		return d.Size == 1
	case Int, Uint:
		return powerOf2 && d.Size <= 16
	case Float:
		return powerOf2 && d.Size >= 2 && d.Size <= 16
	case BFloat:
		return d.Size == 2
	case Complex:
		return powerOf2 && d.Size >= 4 && d.Size <= 32
	case Datetime, Timedelta:
		return d.Size == 8
	case Bytes, Raw:
		return d.Size >= 0 && d.Size <= MaxItemSize
	case Unicode:
		return d.Size >= 0 && d.Size <= MaxItemSize && d.Size%4 == 0
	case VarBytes, VarString:
		return d.Size == 0
	case Record:
		for i := range d.Fields {
			f := &d.Fields[i]
			n, err := NBytes(f.Shape, f.DType.Size)
			if err != nil || f.DType.IsVar() || !f.DType.valid() || f.Offset < 0 || n > int64(d.Size)-int64(f.Offset) {
				return false
			}
		}
		return len(d.Fields) > 0 && d.Size <= MaxItemSize
	}
	return false
}

// word is the size in bytes of the parts that byte order applies to: half of a
// complex number, one character of a Unicode. It is 1 for kinds without order.
func (d *DType) word() int {
	switch d.Kind {
	case Int, Uint, Float, BFloat, Datetime, Timedelta:
		return d.Size
	case Complex:
		return d.Size / 2
	case Unicode:
		return 4
	}
	return 1
}

// order is the effective byte order; NoOrder for kinds without one and for records.
func (d *DType) order() Order {
	switch {
	case d.word() <= 1:
		return NoOrder
	case d.Order == NoOrder:
		return NativeOrder
	}
	return d.Order
}

// same reports whether two types are equal, or equal but for byte order.
func (d *DType) same(e *DType, anyOrder bool) bool {
	if d.Kind != e.Kind || d.Size != e.Size || d.Unit != e.Unit || len(d.Fields) != len(e.Fields) ||
		!anyOrder && d.order() != e.order() {
		return false
	}
	for i := range d.Fields {
		f, g := &d.Fields[i], &e.Fields[i]
		if f.Name != g.Name || f.Offset != g.Offset || !slices.Equal(f.Shape, g.Shape) || !f.DType.same(&g.DType, anyOrder) {
			return false
		}
	}
	return true
}

// IsSwapOf reports whether [SwapBytes] turns elements of one type into elements
// of the other: they are the same but for the byte order, and that of every word
// differs. Records of which some fields differ are not.
func (d DType) IsSwapOf(e DType) bool { return d.same(&e, true) && d.swapped(&e) }

// swapped is for types that are the same but for byte order.
func (d *DType) swapped(e *DType) bool {
	if o := d.order(); o != NoOrder && o == e.order() {
		return false
	}
	for i := range d.Fields {
		if !d.Fields[i].DType.swapped(&e.Fields[i].DType) {
			return false
		}
	}
	return true
}

// Equal reports whether two types are the same in every respect, byte order included.
func (d DType) Equal(e DType) bool { return d.same(&e, false) }

// IsVar reports whether elements have a length of their own each, as VarBytes and
// VarString. Such elements do not fit into a [Buffer].
func (d DType) IsVar() bool { return d.Kind == VarBytes || d.Kind == VarString }

// IsNumeric reports whether elements are numbers: Int, Uint, Float, BFloat or
// Complex. As in NumPy, Bool is not a number.
func (d DType) IsNumeric() bool { return d.Kind >= Int && d.Kind <= Complex }

// Swapped reports whether anything in the element is stored in the other byte
// order than the machine's.
func (d DType) Swapped() bool { return d.has(NativeOrder ^ Little ^ Big) }

// has reports whether anything in the element is stored in byte order o.
func (d *DType) has(o Order) bool {
	for i := range d.Fields {
		if d.Fields[i].DType.has(o) {
			return true
		}
	}
	return d.order() == o
}

// InNumPy reports whether NumPy has the type, long doubles included: not bfloat16,
// |i16 and |u16, <c4 and those of variable length. The fields of records count.
func (d DType) InNumPy() bool {
	switch d.Kind {
	case Int, Uint:
		return d.Size <= 8
	case Complex:
		return d.Size >= 8
	case Invalid, BFloat, VarBytes, VarString:
		return false
	}
	return !slices.ContainsFunc(d.Fields, func(f Field) bool { return !f.DType.InNumPy() })
}

// Native returns the type in the machine's byte order, fields included.
func (d DType) Native() DType { return d.WithOrder(NativeOrder) }

// WithOrder returns the type in byte order o, Little or Big, fields included.
// Kinds without byte order do not change; NoOrder changes nothing.
func (d DType) WithOrder(o Order) DType {
	if o == NoOrder {
		return d
	}
	if d.order() != NoOrder {
		d.Order = o
	}
	if d.has(o ^ Little ^ Big) { // only records get here
		d.Fields = slices.Clone(d.Fields)
		for i := range d.Fields {
			d.Fields[i].DType = d.Fields[i].DType.WithOrder(o)
		}
	}
	return d
}

// String is the canonical name, see [DType.AppendName].
func (d DType) String() string { return string(d.AppendName(nil)) }

// AppendName appends the canonical name, which [Parse] reads back: a NumPy
// typestring with '|' for types without byte order and '<' or '>' for others,
// never '='; "bfloat16" (little) or ">bfloat16"; "bytes"; "str"; a record as the
// text that Python's json.dumps writes for NumPy's dtype.descr. An invalid type
// gives "invalid".
func (d DType) AppendName(dst []byte) []byte {
	switch d.Kind {
	case VarBytes:
		return append(dst, "bytes"...)
	case VarString:
		return append(dst, "str"...)
	case Record:
		return d.appendRecord(dst)
	case BFloat:
		if d.order() == Big {
			dst = append(dst, '>')
		}
		return append(dst, "bfloat16"...)
	}
	if d.Kind == Invalid || int(d.Kind) > len(kindLetters) {
		return append(dst, "invalid"...)
	}
	dst = append(dst, "|<>"[d.order()], kindLetters[d.Kind-1])
	size := d.Size
	if d.Kind == Unicode {
		size /= 4
	}
	dst = strconv.AppendInt(dst, int64(size), 10)
	if d.Unit != "" {
		dst = append(dst, '[')
		dst = append(dst, d.Unit...)
		dst = append(dst, ']')
	}
	return dst
}

func (d *DType) appendRecord(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range d.Fields {
		f := &d.Fields[i]
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendJSONString(append(dst, '['), f.Name)
		dst = append(dst, ", "...)
		if f.DType.Kind == Record {
			dst = f.DType.appendRecord(dst)
		} else {
			dst = append(f.DType.AppendName(append(dst, '"')), '"')
		}
		if f.Shape != nil {
			dst = appendShape(append(dst, ", "...), f.Shape)
		}
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

// appendJSONString appends s as json.dumps does: ASCII only, the rest escaped.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r <= 0xffff:
			dst = appendEscape(dst, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			dst = appendEscape(appendEscape(dst, hi), lo)
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, u rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}
