package bcolz

import (
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/numpyname"
	"github.com/ndfile/ndfile/pkg/internal/pyliteral"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// parseDType reads the "dtype" of meta/storage: what str(np.dtype) gives or
// np.dtype takes. Without a byte order a name means little endian, whatever this
// machine is. shape is that of the elements of types such as "(2,)i4". Errors:
// ErrNotSupported for Python objects, ErrCorrupt for what is no dtype, or one
// whose elements have no bytes.
func parseDType(text string) (d ndarray.DType, shape []int64, err error) {
	if len(text) > pyliteral.MaxLen {
		return d, nil, notDType(text)
	}
	record := text
	if inner, ok := strings.CutPrefix(text, "(numpy.record, "); ok { // of a recarray
		record = strings.TrimSuffix(inner, ")")
	}
	if strings.HasPrefix(record, "[") || strings.HasPrefix(record, "{") {
		v, ok := pyliteral.Parse(record)
		if !ok {
			return d, nil, notDType(text)
		}
		d, err = recordOf(&v)
	} else {
		d, shape, err = parseFormats(text)
	}
	if err != nil {
		return d, nil, err
	}
	if n, err := ndarray.NBytes(shape, d.Size); err != nil || n == 0 {
		return d, nil, notDType(text)
	}
	return d, shape, nil
}

func notDType(text string) error {
	const most = 80
	if len(text) > most {
		text = text[:most] + "..."
	}
	return ndfile.NewError(ndfile.ErrCorrupt, "expected a NumPy dtype whose elements have bytes, found "+strconv.Quote(text))
}

// parseFormats reads a type, or several separated by commas, which make a record
// of fields f0, f1, ...
func parseFormats(text string) (ndarray.DType, []int64, error) {
	var fields []ndarray.Field
	depth, start := 0, 0
	for i := range len(text) + 1 {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			if i == len(text) && start == i && start > 0 {
				continue // a comma at the end
			}
			f, err := parseFormat(text[start:i])
			if err != nil {
				return f.DType, nil, err
			}
			fields = append(fields, f)
			start = i + 1
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		}
	}
	if start == len(text)+1 && len(fields) == 1 {
		return fields[0].DType, fields[0].Shape, nil
	}
	d, err := ndarray.NewRecord(fields)
	if err != nil {
		return d, nil, ndfile.NewError(ndfile.ErrCorrupt, "dtype").Because(err)
	}
	return d, nil, nil
}

// parseFormat reads a type with the shape or the length of a sub-array in front:
// "i4", "(2,3)>f8", "3S5". Byte order may stand before or behind that.
func parseFormat(text string) (f ndarray.Field, err error) {
	order, rest := cutOrder(strings.Trim(text, " "))
	if end := strings.IndexByte(rest, ')'); end >= 0 {
		v, ok := pyliteral.Parse(rest[:end+1])
		if f.Shape, ok = shapeOf(&v, ok); !ok {
			return f, notDType(text)
		}
		rest = rest[end+1:]
	} else if name := strings.TrimLeft(rest, "0123456789"); name != rest {
		n, err := strconv.ParseInt(rest[:len(rest)-len(name)], 10, 32)
		if err != nil {
			return f, notDType(text)
		}
		f.Shape, rest = []int64{n}, name
	}
	if order == 0 {
		order, rest = cutOrder(strings.TrimLeft(rest, " "))
	}
	f.DType, err = parseName(rest, order)
	return f, err
}

// cutOrder cuts the letter of a byte order from the front; 0 is none.
func cutOrder(text string) (order byte, rest string) {
	if text != "" && strings.IndexByte("<>=|", text[0]) >= 0 {
		return text[0], text[1:]
	}
	return 0, text
}

// parseName reads a type without fields, whose byte order has been cut off.
func parseName(name string, order byte) (ndarray.DType, error) {
	code := name
	if w, ok := numpyname.Typestring(name); ok {
		code = w
	} else if strings.HasPrefix(name, "a") {
		code = "S" + name[1:] // its letter in old NumPy
	}
	if name == "O" || name == "O8" || name == "object" {
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrNotSupported, "elements of dtype object are pickled Python objects, which are never read")
	}
	d, err := ndarray.Parse(code)
	if err != nil || code != "" && code[0] == '[' || !d.InNumPy() {
		return ndarray.DType{}, notDType(name)
	}
	if order == '>' {
		return d.WithOrder(ndarray.Big), nil
	}
	return d.WithOrder(ndarray.Little), nil
}

// recordOf makes the record that a literal describes: a list of fields, or the
// dict that NumPy writes where the fields are not packed.
func recordOf(v *pyliteral.Value) (ndarray.DType, error) {
	var fields []ndarray.Field
	var err error
	if v.Kind == pyliteral.Dict {
		fields, err = fieldsOfDict(v)
	} else {
		fields, err = fieldsOfList(v)
	}
	if err != nil {
		return ndarray.DType{}, err
	}
	d, err := ndarray.NewRecord(fields)
	if err != nil {
		return d, ndfile.NewError(ndfile.ErrCorrupt, "dtype").Because(err)
	}
	return d, nil
}

func notRecord() error {
	return ndfile.NewError(ndfile.ErrCorrupt, "expected a dtype of fields as NumPy prints it: a list of tuples of a name, a type and perhaps a shape, "+
		"or a dict of names, formats, offsets and itemsize")
}

// fieldsOfList reads [('a', '<i4'), ('b', '<f8', (2,)), (('title', 'c'), [...])].
func fieldsOfList(v *pyliteral.Value) ([]ndarray.Field, error) {
	fields := make([]ndarray.Field, len(v.Items))
	for i := range v.Items {
		item := &v.Items[i]
		if v.Kind != pyliteral.List || item.Kind != pyliteral.Tuple || len(item.Items) < 2 || len(item.Items) > 3 {
			return nil, notRecord()
		}
		name := &item.Items[0]
		if name.Kind == pyliteral.Tuple && len(name.Items) == 2 {
			name = &name.Items[1]
		}
		if name.Kind != pyliteral.Str {
			return nil, notRecord()
		}
		f, err := fieldOf(&item.Items[1])
		if err != nil {
			return nil, err
		}
		if len(item.Items) == 3 {
			shape, ok := shapeOf(&item.Items[2], true)
			if !ok {
				return nil, notRecord()
			}
			f.Shape = append(shape, f.Shape...)
		}
		f.Name = name.Text
		fields[i] = f
	}
	return fields, nil
}

// fieldsOfDict reads {'names': [...], 'formats': [...], 'offsets': [...],
// 'itemsize': 8}, whose fields must not overlap. What lies between them becomes
// fields of raw bytes, as in dtype.descr.
func fieldsOfDict(v *pyliteral.Value) ([]ndarray.Field, error) {
	names, _ := v.Get("names")
	formats, _ := v.Get("formats")
	offsets, _ := v.Get("offsets")
	size, _ := v.Get("itemsize")
	n := len(names.Items)
	if n == 0 || len(formats.Items) != n || len(offsets.Items) != n || size.Kind != pyliteral.Int {
		return nil, notRecord()
	}
	var fields []ndarray.Field
	at := int64(0)
	pad := func(to int64) bool {
		if to < at || to > ndarray.MaxItemSize {
			return false
		}
		if to > at {
			fields = append(fields, ndarray.Field{Name: freeName(names.Items, len(fields)), DType: ndarray.DType{Kind: ndarray.Raw, Size: int(to - at)}})
			at = to
		}
		return true
	}
	for i := range n {
		if names.Items[i].Kind != pyliteral.Str || offsets.Items[i].Kind != pyliteral.Int {
			return nil, notRecord()
		}
		f, err := fieldOf(&formats.Items[i])
		if err != nil {
			return nil, err
		}
		length, err := ndarray.NBytes(f.Shape, f.DType.Size)
		if err != nil || length > ndarray.MaxItemSize || !pad(offsets.Items[i].N) {
			return nil, notRecord()
		}
		f.Name = names.Items[i].Text
		fields = append(fields, f)
		at += length
	}
	if !pad(size.N) {
		return nil, notRecord()
	}
	return fields, nil
}

// freeName is a name for the field at a position that is none of names.
func freeName(names []pyliteral.Value, position int) string {
	name := "f" + strconv.Itoa(position)
	for i := 0; i < len(names); i++ {
		if names[i].Text == name {
			name += "_"
			i = -1
		}
	}
	return name
}

// fieldOf reads the type of a field: a name, a list or dict of fields, or a tuple
// of one of these and a shape.
func fieldOf(v *pyliteral.Value) (f ndarray.Field, err error) {
	switch {
	case v.Kind == pyliteral.Str:
		f.DType, f.Shape, err = parseFormats(v.Text)
	case v.Kind == pyliteral.List || v.Kind == pyliteral.Dict:
		f.DType, err = recordOf(v)
	case v.Kind == pyliteral.Tuple && len(v.Items) == 2:
		if f, err = fieldOf(&v.Items[0]); err == nil {
			shape, ok := shapeOf(&v.Items[1], true)
			if !ok {
				return f, notRecord()
			}
			f.Shape = append(shape, f.Shape...)
		}
	default:
		err = notRecord()
	}
	return f, err
}

// shapeOf is the shape that a tuple of integers gives, nil for ().
func shapeOf(v *pyliteral.Value, ok bool) ([]int64, bool) {
	if !ok || v.Kind != pyliteral.Tuple || len(v.Items) > ndarray.MaxNDim {
		return nil, false
	}
	var shape []int64
	for i := range v.Items {
		if v.Items[i].Kind != pyliteral.Int || v.Items[i].N < 0 {
			return nil, false
		}
		shape = append(shape, v.Items[i].N)
	}
	return shape, true
}

// kindLetter is the kind of a dtype in NumPy, for blosc.BcolzTypeSize.
func kindLetter(d ndarray.DType) byte {
	if d.Kind == ndarray.Record {
		return 'V'
	}
	return d.Native().String()[1]
}

// typeSize is the element size that bcolz needs in the header of chunks.
func typeSize(d ndarray.DType) (int, error) {
	n, err := blosc.BcolzTypeSize(kindLetter(d), d.Size)
	if err != nil {
		return 0, ndfile.NewError(ndfile.ErrDType, "dtype "+d.String()).Because(err)
	}
	return n, nil
}

// storable checks that bcolz can open arrays of a dtype, and gives it a byte order.
func storable(d ndarray.DType) (ndarray.DType, error) {
	if err := d.Check(); err != nil {
		return d, err
	}
	if d.WithOrder(ndarray.Big).Equal(d) {
		d = d.WithOrder(ndarray.Big)
	} else {
		d = d.WithOrder(ndarray.Little)
	}
	switch {
	case d.Kind == ndarray.Record:
		return d, ndfile.NewError(ndfile.ErrDType, "bcolz cannot reopen a carray of records (dtype "+d.String()+"): write a table with a column for each field")
	case !d.InNumPy() || d.Size == 0 || d.Kind == ndarray.Float && d.Size == 16 || d.Kind == ndarray.Complex && d.Size == 32:
		return d, ndfile.NewError(ndfile.ErrDType, "bcolz cannot store elements of dtype "+d.String())
	}
	return d, nil
}

// dtypeName is str(np.dtype): what bcolz writes. Words stand for little endian.
func dtypeName(d ndarray.DType) string {
	s := d.String()
	if !d.WithOrder(ndarray.Little).Equal(d) {
		return s
	}
	bits := strconv.Itoa(8 * d.Size)
	switch d.Kind {
	case ndarray.Bool:
		return "bool"
	case ndarray.Int:
		return "int" + bits
	case ndarray.Uint:
		return "uint" + bits
	case ndarray.Float:
		return "float" + bits
	case ndarray.Complex:
		return "complex" + bits
	case ndarray.Datetime:
		return "datetime64" + s[len("<M8"):]
	case ndarray.Timedelta:
		return "timedelta64" + s[len("<m8"):]
	}
	return s // S, U, V
}
