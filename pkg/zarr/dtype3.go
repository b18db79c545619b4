package zarr

import (
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// words3 are the data types of version 3 that are a word, with ours. Byte order
// is a matter of the codec "bytes". Source: the core specification.
var words3 = map[string]ndarray.DType{
	"bool": {Kind: ndarray.Bool, Size: 1},
	"int8": {Kind: ndarray.Int, Size: 1}, "uint8": {Kind: ndarray.Uint, Size: 1},
	"int16": {Kind: ndarray.Int, Size: 2}, "uint16": {Kind: ndarray.Uint, Size: 2},
	"int32": {Kind: ndarray.Int, Size: 4}, "uint32": {Kind: ndarray.Uint, Size: 4},
	"int64": {Kind: ndarray.Int, Size: 8}, "uint64": {Kind: ndarray.Uint, Size: 8},
	"float16": {Kind: ndarray.Float, Size: 2}, "float32": {Kind: ndarray.Float, Size: 4}, "float64": {Kind: ndarray.Float, Size: 8},
	"complex64": {Kind: ndarray.Complex, Size: 8}, "complex128": {Kind: ndarray.Complex, Size: 16},
	"bfloat16": {Kind: ndarray.BFloat, Size: 2}, "complex_float16": {Kind: ndarray.Complex, Size: 4},
	"string": {Kind: ndarray.VarString}, "variable_length_bytes": {Kind: ndarray.VarBytes},
}

// also3 are other words for data types of words3, which are read. Source: the
// registry of extensions.
var also3 = map[string]string{"complex_float32": "complex64", "complex_float64": "complex128", "bytes": "variable_length_bytes", "binary": "variable_length_bytes"}

// small3 are data types of fewer bits than a byte has, or of bytes that no type here
// stands for, with how many bits count. They are integers of one byte; Spec.Extra
// keeps the name as zarr_data_type.
var small3 = map[string]smallType{
	"int2": {ndarray.Int, 2}, "int4": {ndarray.Int, 4}, "uint2": {ndarray.Uint, 2}, "uint4": {ndarray.Uint, 4},
	"float4_e2m1fn": {ndarray.Uint, 4}, "float6_e2m3fn": {ndarray.Uint, 6}, "float6_e3m2fn": {ndarray.Uint, 6},
	"float8_e3m4": {ndarray.Uint, 8}, "float8_e4m3": {ndarray.Uint, 8}, "float8_e4m3b11fnuz": {ndarray.Uint, 8}, "float8_e4m3fnuz": {ndarray.Uint, 8},
	"float8_e4m3fn": {ndarray.Uint, 8}, "float8_e5m2": {ndarray.Uint, 8}, "float8_e5m2fnuz": {ndarray.Uint, 8}, "float8_e8m0fnu": {ndarray.Uint, 8},
}

type smallType struct {
	kind ndarray.Kind
	bits int
}

// smallKey is the member of Spec.Extra that names one of them.
const smallKey = "zarr_data_type"

// The data types of version 3 with a configuration. Their names are those that
// zarr-python 3.1 writes, struct3 is the later name of records3.
const (
	datetime3  = "numpy.datetime64"
	timedelta3 = "numpy.timedelta64"
	bytes3     = "null_terminated_bytes"
	unicode3   = "fixed_length_utf32"
	raw3       = "raw_bytes"
	records3   = "structured"
	struct3    = "struct"
)

// dtype3 reads a data type. order is that of the codec "bytes".
func dtype3(v pyjson.Value, order ndarray.Order, depth int) (ndarray.DType, error) {
	if word, ok := v.Str(); ok {
		return word3(word, order)
	}
	name, conf, err := extension("data_type", v)
	if err != nil {
		return ndarray.DType{}, err
	}
	switch name {
	case datetime3, timedelta3:
		return time3(name, conf, order)
	case bytes3, unicode3, raw3:
		return fixed3(name, conf, order)
	case records3, struct3:
		return record3(name, conf, order, depth)
	}
	if conf.Len() == 0 {
		return word3(name, order)
	}
	return ndarray.DType{}, unknownType3(name)
}

func unknownType3(name string) error {
	return ndfile.NewError(ndfile.ErrNotSupported, "data_type "+quoted(name)+" is not supported")
}

// word3 reads a data type without configuration: the core types, and r* for
// raw bits.
func word3(word string, order ndarray.Order) (ndarray.DType, error) {
	if core, ok := also3[word]; ok {
		word = core
	}
	if d, ok := words3[word]; ok {
		return d.WithOrder(order), nil
	}
	if digits, ok := strings.CutPrefix(word, "r"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && n%8 == 0 && n/8 <= ndarray.MaxItemSize && digits[0] != '+' && digits[0] != '0' {
			return ndarray.DType{Kind: ndarray.Raw, Size: n / 8}, nil
		}
	}
	return ndarray.DType{}, unknownType3(word)
}

// time3 reads numpy.datetime64 and numpy.timedelta64.
func time3(name string, conf *pyjson.Object, order ndarray.Order) (ndarray.DType, error) {
	if err := onlyKeys(name, conf, "unit", "scale_factor"); err != nil {
		return ndarray.DType{}, err
	}
	unitValue, _ := conf.Get("unit")
	unit, ok := unitValue.Str()
	scaleValue, hasScale := conf.Get("scale_factor")
	scale, isInt := scaleValue.Int64()
	if !ok || !hasScale || !isInt || scale < 1 || scale > 1<<31-1 {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrCorrupt, name+": expected a unit and a scale_factor from 1 to 2147483647, found "+metafile.Short(pyjson.ObjectValue(conf)))
	}
	if unit == "μs" {
		unit = "us"
	}
	letter := map[string]string{datetime3: "M8", timedelta3: "m8"}[name]
	if unit != "generic" {
		letter += "[" + strconv.FormatInt(scale, 10) + unit + "]"
	} else if scale != 1 {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrNotSupported, name+`: the unit "generic" with a scale_factor`)
	}
	d, err := ndarray.Parse(letter)
	if err != nil {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrCorrupt, name+": expected a unit of NumPy, found "+quoted(unit))
	}
	return d.WithOrder(order), nil
}

// fixed3 reads the types that have a number of bytes.
func fixed3(name string, conf *pyjson.Object, order ndarray.Order) (ndarray.DType, error) {
	if err := onlyKeys(name, conf, "length_bytes"); err != nil {
		return ndarray.DType{}, err
	}
	v, _ := conf.Get("length_bytes")
	n, ok := v.Int64()
	if !ok || n < 1 || n > ndarray.MaxItemSize || name == unicode3 && n%4 != 0 {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrCorrupt, name+": expected length_bytes, the size of an element, found "+metafile.Short(pyjson.ObjectValue(conf)))
	}
	d := ndarray.DType{Size: int(n)}
	switch name {
	case bytes3:
		d.Kind = ndarray.Bytes
	case raw3:
		d.Kind = ndarray.Raw
	default:
		d.Kind = ndarray.Unicode
	}
	return d.WithOrder(order), nil
}

// record3 reads "structured", whose fields are pairs, and "struct", whose fields
// are objects; both spellings are taken for both.
func record3(name string, conf *pyjson.Object, order ndarray.Order, depth int) (ndarray.DType, error) {
	if depth >= maxRecordDepth {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrLimit, "data_type: expected at most "+strconv.Itoa(maxRecordDepth)+" nested records")
	}
	if err := onlyKeys(name, conf, "fields"); err != nil {
		return ndarray.DType{}, err
	}
	list, _ := conf.Get("fields")
	fields := make([]ndarray.Field, 0, len(list.Items()))
	for _, item := range list.Items() {
		var label, kind pyjson.Value
		if pair := item.Items(); len(pair) == 2 {
			label, kind = pair[0], pair[1]
		} else {
			label, _ = item.Object().Get("name")
			kind, _ = item.Object().Get("data_type")
		}
		text, ok := label.Str()
		if !ok || text == "" {
			return ndarray.DType{}, ndfile.NewError(ndfile.ErrCorrupt, name+": expected fields with a name and a data_type, found "+metafile.Short(item))
		}
		d, err := dtype3(kind, order, depth+1)
		if err != nil {
			return ndarray.DType{}, err
		}
		fields = append(fields, ndarray.Field{Name: text, DType: d})
	}
	d, err := ndarray.NewRecord(fields)
	if err != nil {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrCorrupt, name).Because(err)
	}
	return d, nil
}

// dtype3Value is the data type as it is written; dtype3 reads it back in the
// order that the codec gives. Types without a name in version 3 are ErrDType.
//
// A record is "structured", as zarr-python 3.1 writes it: releases that write
// "struct" read it too.
func dtype3Value(d ndarray.DType) (pyjson.Value, error) {
	native := d.Native()
	for word, t := range words3 {
		if t.WithOrder(ndarray.NativeOrder).Equal(native) {
			return pyjson.String(word), nil
		}
	}
	switch {
	case d.Kind == ndarray.Datetime:
		return time3Value(datetime3, d.Unit), nil
	case d.Kind == ndarray.Timedelta:
		return time3Value(timedelta3, d.Unit), nil
	case d.Kind == ndarray.Bytes && d.Size > 0:
		return fixed3Value(bytes3, d.Size), nil
	case d.Kind == ndarray.Unicode && d.Size > 0:
		return fixed3Value(unicode3, d.Size), nil
	case d.Kind == ndarray.Raw && d.Size > 0:
		return fixed3Value(raw3, d.Size), nil
	case d.Kind == ndarray.Record:
		return record3Value(d)
	}
	return pyjson.Value{}, noType3(d, "")
}

// smallValue3 checks a name of small3 for elements of a type.
func smallValue3(v pyjson.Value, d ndarray.DType) (pyjson.Value, error) {
	name, _ := v.Str()
	if small, ok := small3[name]; !ok || d.Kind != small.kind || d.Size != 1 {
		return v, noType3(d, ": expected "+smallKey+" to be a type of its kind, found "+metafile.Short(v))
	}
	return v, nil
}

func noType3(d ndarray.DType, why string) error {
	return ndfile.NewError(ndfile.ErrDType, "zarr 3 has no data type for "+quoted(d.String())+why)
}

func time3Value(name, unit string) pyjson.Value {
	word := strings.TrimLeft(unit, "0123456789")
	scale, err := strconv.ParseInt(unit[:len(unit)-len(word)], 10, 64)
	if err != nil {
		scale = 1
	}
	if word == "" {
		word = "generic"
	}
	return named(name, "unit", pyjson.String(word), "scale_factor", pyjson.Int(scale))
}

func fixed3Value(name string, size int) pyjson.Value {
	return named(name, "length_bytes", pyjson.Int(int64(size)))
}

func record3Value(d ndarray.DType) (pyjson.Value, error) {
	fields := make([]pyjson.Value, len(d.Fields))
	end := 0
	for i := range d.Fields {
		f := &d.Fields[i]
		switch {
		case f.Shape != nil:
			return pyjson.Value{}, noType3(d, ": the field "+quoted(f.Name)+" has a shape")
		case f.Offset != end:
			return pyjson.Value{}, noType3(d, ": there are gaps between its fields")
		}
		end += f.DType.Size
		kind, err := dtype3Value(f.DType)
		if err != nil {
			return pyjson.Value{}, err
		}
		fields[i] = pyjson.List(pyjson.String(f.Name), kind)
	}
	if end != d.Size {
		return pyjson.Value{}, noType3(d, ": there is a gap behind its fields")
	}
	return named(records3, "fields", pyjson.List(fields...)), nil
}

// littleRecord gives a dtype and an element of it as they are stored: records are
// little endian, since zarr-python 3.1 takes them for that whatever the codec
// says.
func littleRecord(d ndarray.DType, elem []byte) (ndarray.DType, []byte, error) {
	little := d.WithOrder(ndarray.Little)
	if d.Kind != ndarray.Record || d.Equal(little) || elem == nil {
		if d.Kind == ndarray.Record {
			d = little
		}
		return d, elem, nil
	}
	if len(elem) != d.Size {
		return d, nil, badFillSize(elem, d)
	}
	swapped := make([]byte, d.Size)
	return little, swapped, ndarray.CopyRun(swapped, int64(d.Size), little, elem, int64(d.Size), d, 1)
}
