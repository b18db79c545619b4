package netcdf

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Attributes with a meaning.
const (
	ncMaxName = 256 // bytes of a name

	attFill    = "_FillValue"
	attMissing = "missing_value"
	attDType   = "dtype" // "bool" on bytes, as xarray has it

	// attMarker is our own, and not shown: the text of a JSON object. Its "json"
	// lists the attributes whose text is JSON, since NetCDF has no type for their
	// value; "fill" is true if _FillValue was chosen here and not given, or the number
	// that was given if it reads differently in the type of the variable (-999 in a
	// variable of floats).
	attMarker  = "_ndfile"
	markerJSON = "json"
	markerFill = "fill"
)

// reservedAtts are names that libnetcdf and HDF5 keep for themselves.
var reservedAtts = []string{attMarker, "CLASS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_NCProperties",
	"_nc3_strict", "_IsNetcdf4", "_SuperblockVersion", "_NCCOPIED", "_ARRAY_DIMENSIONS", "_Format", "_NCZARR_ATTR", "_nczarr_attr", "_codecs"}

// typedAtts are attributes that belong into the type of the variable, where that
// holds their values.
var typedAtts = []string{attFill, attMissing, "valid_min", "valid_max", "valid_range", "flag_values", "flag_masks"}

// attribute is an attribute in the terms of NetCDF.
type attribute struct {
	name  string
	typ   ncType
	n     int      // elements
	data  []byte   // of n elements, unless they are strings
	texts []string // of type ncString
	user  int32    // number of the type in the file where it is an enumeration; 0: typ
}

// noType is the dtype of what is no variable.
var noType ndarray.DType

// encode finds the type for a value that the data model has; ok is false when there
// is none, so that it becomes JSON. want is the dtype to prefer for numbers, noType
// for none.
func encode(name string, v ndfile.Value, want ndarray.DType, m model) (a attribute, ok bool) {
	a.name = name
	items := []ndfile.Value{v}
	switch v.Kind() {
	case pyjson.KindString:
		s, _ := v.Str()
		return textAttribute(name, s), isText(s)
	case pyjson.KindList:
		if items = v.Items(); len(items) < 2 { // a single value would come back without its list
			return a, false
		}
	}
	if a.texts, ok = textsOf(items); ok {
		a.typ, a.n = ncString, len(items)
		return a, m.holds(ncString)
	}
	whole := int64Type
	if m != hdf5 { // what every program of these models reads
		whole = int32Type
	}
	for _, d := range []ndarray.DType{want, whole, int64Type, uint64Type, doubleType} {
		if a.typ, d, ok = numberType(d); ok && m.holds(a.typ) && a.numbers(d, items) {
			return a, true
		}
	}
	return a, false
}

var (
	int32Type  = ndarray.MustParse("<i4")
	int64Type  = ndarray.MustParse("<i8")
	uint64Type = ndarray.MustParse("<u8")
	doubleType = ndarray.MustParse("<f8")
)

// encodeAs gives a value the type t; ok is false when it would come back otherwise.
func encodeAs(name string, v ndfile.Value, t ncType) (a attribute, ok bool) {
	a = attribute{name: name, typ: t}
	items := []ndfile.Value{v}
	if v.Kind() == pyjson.KindList {
		if items = v.Items(); len(items) == 1 {
			return a, false
		}
	}
	switch d, numeric := dtypeOf(t); {
	case numeric:
		return a, a.numbers(d, items)
	case t == ncString:
		a.texts, ok = textsOf(items)
		a.n = len(items)
		return a, ok
	}
	s, ok := v.Str()
	return textAttribute(name, s), ok && isText(s)
}

// unusualTypes are the types of attributes that their values would not get by
// themselves.
func unusualTypes(all []attribute, shown *ndfile.Attrs, d ndarray.DType, m model) *ndfile.Attrs {
	types := ndfile.NewAttrs()
	for i := range all {
		a := &all[i]
		v, ok := shown.Get(a.name)
		if !ok || int(a.typ) >= len(typeNames) || a.typ == 0 || a.name == attFill {
			continue
		}
		if usual, ok := encode(a.name, v, wantedType(a.name, d), m); ok && usual.typ == a.typ {
			continue
		}
		if same, ok := encodeAs(a.name, v, a.typ); ok && bytes.Equal(same.data, a.data) && slices.Equal(same.texts, a.texts) {
			types.Set(a.name, pyjson.String(typeNames[a.typ]))
		}
	}
	return types
}

// wantedType is the dtype to prefer for the numbers of an attribute.
func wantedType(name string, d ndarray.DType) ndarray.DType {
	if slices.Contains(typedAtts, name) {
		return d
	}
	return noType
}

// numberType is typeOf for numbers in the machine's order.
func numberType(d ndarray.DType) (ncType, ndarray.DType, bool) {
	if !d.IsNumeric() || d.Kind == ndarray.Complex {
		return 0, d, false
	}
	t, d, err := typeOf(d)
	return t, d, err == nil
}

// numbers stores items as numbers that come back the same.
func (a *attribute) numbers(d ndarray.DType, items []ndfile.Value) bool {
	a.data, a.n = nil, len(items)
	for _, v := range items {
		p, ok := element(d, v)
		if !ok || !number(d, p).Equal(v) {
			return false
		}
		a.data = append(a.data, p...)
	}
	return true
}

func textAttribute(name, text string) attribute {
	return attribute{name: name, typ: ncChar, n: len(text), data: []byte(text)}
}

// isText reports whether NetCDF keeps a text as it is.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func textsOf(items []ndfile.Value) (texts []string, ok bool) {
	for _, v := range items {
		s, ok := v.Str()
		if !ok || !isText(s) {
			return nil, false
		}
		texts = append(texts, s)
	}
	return texts, true
}

// encodeAll gives all attributes to write, the marker last. d is the dtype of the
// variable, noType for those of a group. ours is a _FillValue that was chosen
// here, else nil. types are those that attributes are to have.
func encodeAll(attrs *ndfile.Attrs, d ndarray.DType, ours []byte, m model, types attTypes) ([]attribute, error) {
	var all []attribute
	var texts []ndfile.Value
	marker := ndfile.NewAttrs()
	for i := range attrs.Len() {
		name, v := attrs.At(i)
		if err := checkAttribute(name, v, d); err != nil {
			return nil, err
		}
		a, ok := encode(name, v, wantedType(name, d), m)
		if t, given := types[name]; given && m.holds(t) {
			if as, fits := encodeAs(name, v, t); fits {
				a, ok = as, true
			}
		}
		if t, stored, numeric := numberType(d); numeric && name == attFill && (!ok || a.typ != t) {
			p, _ := element(stored, v) // checked
			a, ok = attribute{name: name, typ: t, n: 1, data: p}, true
			marker.Set(markerFill, v)
		}
		if !ok {
			a = textAttribute(name, string(ndfile.AppendJSONValue(nil, v)))
			texts = append(texts, pyjson.String(name))
		}
		all = append(all, a)
	}
	if texts != nil {
		marker.Set(markerJSON, pyjson.List(texts...))
	}
	if d.Kind == ndarray.Bool {
		all = append(all, textAttribute(attDType, "bool"))
		d = boolStored
	}
	if ours != nil {
		t, _, _ := typeOf(d)
		all = append(all, attribute{name: attFill, typ: t, n: 1, data: ours})
		marker.Set(markerFill, pyjson.Bool(true))
	}
	if marker.Len() > 0 {
		all = append(all, textAttribute(attMarker, string(ndfile.AppendJSON(nil, marker))))
	}
	return all, nil
}

// boolStored is what a bool is in the file.
var boolStored = ndarray.MustParse("|i1")

// checkAttribute refuses names that cannot be, and a _FillValue that is not an
// element of the variable.
func checkAttribute(name string, v ndfile.Value, d ndarray.DType) error {
	if err := checkName("attribute", name); err != nil {
		return err
	}
	if slices.Contains(reservedAtts, name) {
		return ndfile.NewError(ndfile.ErrValue, "attribute "+strconv.Quote(name)+": NetCDF keeps this name for itself")
	}
	if text, _ := v.Str(); name == attDType && text == "bool" && d.Size == 1 && (d.Kind == ndarray.Int || d.Kind == ndarray.Bool) {
		return ndfile.NewError(ndfile.ErrValue, "attribute \"dtype\": \"bool\" would make bytes read as bool")
	}
	if name != attFill || d.Kind == ndarray.Invalid {
		return nil
	}
	if _, stored, ok := numberType(d); ok {
		if _, ok := element(stored, v); ok {
			return nil
		}
	}
	return ndfile.NewError(ndfile.ErrValue, "attribute \"_FillValue\": expected a value that elements of dtype "+d.String()+" can have, found "+
		string(ndfile.AppendJSONValue(nil, v)))
}

// checkName refuses names that libnetcdf would refuse or change. what says whose.
func checkName(what, name string) error {
	expected := ""
	switch {
	case name == "" || len(name) > ncMaxName:
		expected = "1 to 256 bytes"
	case !isText(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		expected = "UTF-8 without control characters"
	case strings.Contains(name, "/"):
		expected = "no slash"
	case name[0] < 0x80 && name[0] != '_' && !isAlnum(name[0]):
		expected = "a letter, a digit or '_' at the beginning"
	case strings.HasSuffix(name, " "):
		expected = "no space at the end"
	default:
		return nil
	}
	return ndfile.NewError(ndfile.ErrValue, "the name of "+article(what)+" in NetCDF: expected "+expected+", found "+strconv.Quote(name))
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func article(what string) string {
	if strings.ContainsRune("aeiou", rune(what[0])) {
		return "an " + what
	}
	return "a " + what
}

// value is the attribute in our terms: a number, a text, or a list of these; null
// if it has a user-defined type. A single value has no list around it.
func (a *attribute) value() ndfile.Value {
	if a.typ == ncChar {
		return textValue(strings.TrimRight(string(a.data), "\x00"))
	}
	var items []ndfile.Value
	d, ok := dtypeOf(a.typ)
	switch {
	case a.typ == ncString:
		for _, s := range a.texts {
			items = append(items, textValue(s))
		}
	case ok:
		for i := range a.n {
			items = append(items, number(d, a.data[i*d.Size:(i+1)*d.Size]))
		}
	default:
		return pyjson.Null()
	}
	if len(items) == 1 {
		return items[0]
	}
	return pyjson.List(items...)
}

// textValue is a text of a file, which is UTF-8 or, in old files, Latin-1.
func textValue(s string) ndfile.Value {
	if utf8.ValidString(s) {
		return pyjson.String(s)
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return pyjson.String(b.String())
}

// decodeAll gives the attributes that are shown. d is the dtype of the variable.
func decodeAll(all []attribute, d ndarray.DType) *ndfile.Attrs {
	marker := ndfile.NewAttrs()
	for i := range all {
		if a := &all[i]; a.name == attMarker && a.typ == ncChar {
			if m, err := ndfile.ParseJSON(a.data); err == nil {
				marker = m
			}
		}
	}
	texts, _ := marker.Get(markerJSON)
	given, _ := marker.Get(markerFill)
	ours, _ := given.Bool()
	attrs := ndfile.NewAttrs()
	for i := range all {
		a := &all[i]
		switch {
		case a.name == attMarker, a.name == attFill && ours, a.name == attDType && d.Kind == ndarray.Bool:
			continue
		}
		v := a.value()
		if slices.ContainsFunc(texts.Items(), pyjson.String(a.name).Equal) {
			if w, err := ndfile.ParseValue(a.data); err == nil {
				v = w
			}
		}
		if p, ok := element(d, given); ok && a.name == attFill && bytes.Equal(p, a.data) {
			v = given
		}
		attrs.Set(a.name, v)
	}
	return attrs
}

// missingValues are the elements that mean missing: _FillValue and all of
// missing_value that the dtype can hold.
func missingValues(all []attribute, d ndarray.DType) *fills {
	if _, _, ok := numberType(d); !ok && d.Kind != ndarray.Bool {
		return nil
	}
	if d.Kind == ndarray.Bool {
		d = boolStored
	}
	var f *fills
	for i := range all {
		a := &all[i]
		if _, ok := dtypeOf(a.typ); !ok || a.name != attFill && a.name != attMissing {
			continue
		}
		values := []ndfile.Value{a.value()}
		if a.n != 1 {
			values = values[0].Items()
		}
		for _, v := range values {
			if p, ok := element(d, v); ok {
				if f == nil {
					f = new(fills)
				}
				f.add(d, p)
			}
		}
	}
	return f
}
