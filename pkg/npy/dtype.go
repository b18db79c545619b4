package npy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyliteral"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// pickled says what elements are that are never read.
const pickled = "the elements are pickled Python objects, which are never read"

// dtypeOf reads the value of "descr": a typestring, or the list of the fields of
// a record. Errors are ErrNotSupported for Python objects, and ErrCorrupt.
func dtypeOf(v *pyliteral.Value) (ndarray.DType, error) {
	f, err := typeOf(v)
	switch {
	case err != nil:
		return f.DType, err
	case f.Shape != nil || f.DType.Size == 0:
		return f.DType, notDescr()
	}
	return f.DType, nil
}

func notDescr() error {
	return ndfile.NewError(ndfile.ErrCorrupt, "descr: expected a NumPy dtype whose elements have bytes: a typestring, or a list of fields")
}

// typeOf reads a type; the shape is that of a tuple of a type and a shape. How
// deep it goes is limited by pyliteral.
func typeOf(v *pyliteral.Value) (f ndarray.Field, err error) {
	switch {
	case v.Kind == pyliteral.Str:
		f.DType, err = parseName(v.Text)
	case v.Kind == pyliteral.List:
		f.DType, err = recordOf(v.Items)
	case v.Kind == pyliteral.Tuple && len(v.Items) == 2:
		if f, err = typeOf(&v.Items[0]); err == nil {
			err = addShape(&f, &v.Items[1])
		}
	default:
		err = notDescr()
	}
	return f, err
}

func parseName(name string) (ndarray.DType, error) {
	switch strings.TrimLeft(name, "<>=|") {
	case "O", "O4", "O8", "object":
		return ndarray.DType{}, ndfile.NewError(ndfile.ErrNotSupported, "descr: "+pickled)
	}
	d, err := ndarray.Parse(name)
	if err != nil || d.Kind == ndarray.Record || !inNumPy(&d) {
		return d, ndfile.NewError(ndfile.ErrCorrupt, "descr: expected a NumPy typestring, found "+short(name))
	}
	return d, nil
}

// short quotes a text for a message.
func short(text string) string {
	const most = 80
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strconv.Quote(text)
}

// inNumPy reports whether NumPy has a dtype that is no record.
func inNumPy(d *ndarray.DType) bool {
	switch d.Kind {
	case ndarray.Int, ndarray.Uint:
		return d.Size <= 8
	case ndarray.Complex:
		return d.Size >= 8
	}
	return d.Kind != ndarray.BFloat && !d.IsVar()
}

// recordOf reads fields: tuples of a name, a type and perhaps the shape of a
// sub-array. In the place of the name there can be a tuple of title and name.
// Padding has no name in a file and gets the one that NumPy's dtype would give
// it, f and its position.
func recordOf(items []pyliteral.Value) (ndarray.DType, error) {
	fields := make([]ndarray.Field, len(items))
	names := make(map[string]bool, len(items))
	for i := range items {
		parts := items[i].Items
		if items[i].Kind != pyliteral.Tuple || len(parts) < 2 || len(parts) > 3 {
			return ndarray.DType{}, notDescr()
		}
		name := &parts[0]
		if name.Kind == pyliteral.Tuple && len(name.Items) == 2 {
			name = &name.Items[1]
		}
		f, err := typeOf(&parts[1])
		if err == nil && len(parts) == 3 {
			err = addShape(&f, &parts[2])
		}
		switch {
		case err != nil:
			return f.DType, err
		case name.Kind != pyliteral.Str:
			return f.DType, notDescr()
		}
		f.Name = name.Text
		names[f.Name] = true
		fields[i] = f
	}
	for i := range fields {
		if fields[i].Name == "" {
			name := "f" + strconv.Itoa(i)
			for names[name] {
				name += "_"
			}
			fields[i].Name, names[name] = name, true
		}
	}
	d, err := ndarray.NewRecord(fields)
	if err != nil {
		return d, ndfile.NewError(ndfile.ErrCorrupt, "descr").Because(err)
	}
	return d, nil
}

// addShape makes a field a sub-array: v is a tuple of extents, or one extent.
func addShape(f *ndarray.Field, v *pyliteral.Value) error {
	extents := v.Items
	if v.Kind == pyliteral.Int {
		extents = []pyliteral.Value{*v}
	} else if v.Kind != pyliteral.Tuple {
		return notDescr()
	}
	if len(extents) > ndarray.MaxNDim {
		return notDescr()
	}
	var shape []int64
	for i := range extents {
		if extents[i].Kind != pyliteral.Int || extents[i].N < 0 {
			return notDescr()
		}
		shape = append(shape, extents[i].N)
	}
	f.Shape = append(shape, f.Shape...)
	return nil
}

// checkDType refuses what NumPy does not have, with ErrDType.
func checkDType(d *ndarray.DType) error {
	if err := d.Check(); err != nil {
		return err
	}
	if d.Size == 0 || !storable(d) {
		return ndfile.NewError(ndfile.ErrDType, "a .npy file cannot store elements of dtype "+d.String()+
			": it has the dtypes of NumPy, of at least one byte, and packed records of them")
	}
	return nil
}

func storable(d *ndarray.DType) bool {
	if d.Kind != ndarray.Record {
		return inNumPy(d)
	}
	for i := range d.Fields {
		if f := &d.Fields[i]; !storable(&f.DType) || !utf8.ValidString(f.Name) {
			return false
		}
	}
	packed, err := ndarray.NewRecord(d.Fields)
	return err == nil && packed.Equal(*d)
}

// appendDescr writes what numpy.save writes for a dtype that passed checkDType.
func appendDescr(dst []byte, d *ndarray.DType) []byte {
	if d.Kind != ndarray.Record {
		return append(d.AppendName(append(dst, '\'')), '\'')
	}
	dst = append(dst, '[')
	for i := range d.Fields {
		f := &d.Fields[i]
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(pyliteral.AppendStr(append(dst, '('), f.Name), ", "...)
		dst = appendDescr(dst, &f.DType)
		if len(f.Shape) > 0 {
			dst = pyliteral.AppendInts(append(dst, ", "...), f.Shape)
		}
		dst = append(dst, ')')
	}
	return append(dst, ']')
}
