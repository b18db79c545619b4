package netcdf

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// userType is a type that is defined in a file.
type userType struct {
	name string
	kind string // what the type is, in words
	base ncType // the integers of an enumeration; 0 for other types
	enum *ndfile.Attrs
	// dtype is that of the elements of a compound; of kind Invalid where there is
	// none, which why tells.
	dtype ndarray.DType
	why   string
	// size is that of an element as libnetcdf has it, and moves make the dtype's of
	// it; nil where they are the same.
	size  int
	moves []move
}

// move copies n bytes of an element.
type move struct{ to, from, n int }

// maxMoves bounds the parts of an element that are moved one by one.
const maxMoves = 1 << 12

func (u *userType) called() string {
	text := u.kind + " type " + strconv.Quote(u.name)
	if u.why != "" {
		text += ", in which " + u.why + ","
	}
	return text
}

// field is a member of a compound, as libnetcdf has it.
type field struct {
	name   string
	offset int
	shape  []int64
	typ    ncType
	of     *userType // where typ is one of the file's
}

// compound makes the dtype of fields, or says why there is none.
func (u *userType) compound(fields []field) {
	members := make([]ndarray.Field, len(fields))
	inner := make([][]move, len(fields)) // of one element, nil: it is packed
	sizes := make([]int, len(fields))
	for i, f := range fields {
		m := &members[i]
		m.Name, m.Shape = f.name, f.shape
		d, ok := dtypeOf(f.typ)
		switch {
		case ok:
		case f.typ == ncChar:
			d = ndarray.DType{Kind: ndarray.Bytes, Size: 1}
			if last := len(f.shape) - 1; last >= 0 {
				d.Size, m.Shape = int(f.shape[last]), f.shape[:last]
			}
		case f.of != nil && f.of.dtype.Kind != ndarray.Invalid:
			d, inner[i] = f.of.dtype, f.of.moves
		default:
			u.why = "the field " + strconv.Quote(f.name) + " is of " + f.typeName()
			return
		}
		if m.DType, sizes[i] = d, d.Size; f.of != nil && f.of.size > 0 {
			sizes[i] = f.of.size
		}
	}
	d, err := ndarray.NewRecord(members)
	if err != nil {
		u.why = err.Error()
		return
	}
	for i, f := range d.Fields {
		n, _ := ndarray.Count(f.Shape) // checked by NewRecord
		part := inner[i]
		if part == nil {
			part, sizes[i], n = []move{{0, 0, int(n) * f.DType.Size}}, 0, 1
		}
		if int64(len(u.moves))+n*int64(len(part)) > maxMoves {
			u.why = "fields lie apart more than " + strconv.Itoa(maxMoves) + " times"
			return
		}
		for k := range int(n) {
			for _, m := range part {
				u.moves = append(u.moves, move{f.Offset + k*f.DType.Size + m.to, fields[i].offset + k*sizes[i] + m.from, m.n})
			}
		}
	}
	if u.dtype = d; isComplex(d) {
		u.dtype = ndarray.DType{Kind: ndarray.Complex, Size: d.Size}.Native()
	}
	if d.Size == u.size && !slices.ContainsFunc(u.moves, func(m move) bool { return m.to != m.from }) {
		u.moves = nil
	}
}

func (f *field) typeName() string {
	switch {
	case f.of != nil:
		return f.of.called()
	case f.typ == ncString:
		return "strings"
	}
	return "type " + strconv.Itoa(int(f.typ))
}

// complexNames are the fields of complex numbers, as h5py and nc-complex call them.
var complexNames = [][2]string{{"r", "i"}, {"real", "imag"}, {"re", "im"}}

// isComplex tells a complex number: two floats of the same size with the names of its
// parts.
func isComplex(d ndarray.DType) bool {
	if len(d.Fields) != 2 || d.Fields[0].Shape != nil || d.Fields[1].Shape != nil {
		return false
	}
	r, i := d.Fields[0], d.Fields[1]
	return r.DType.Kind == ndarray.Float && r.DType.Equal(i.DType) &&
		slices.Contains(complexNames, [2]string{strings.ToLower(r.Name), strings.ToLower(i.Name)})
}

// complexRecord is a complex number as a compound, and what nc-complex calls it.
func complexRecord(d ndarray.DType) (record ndarray.DType, name string) {
	part := ndarray.DType{Kind: ndarray.Float, Size: d.Size / 2}.Native()
	record, _ = ndarray.NewRecord([]ndarray.Field{{Name: "r", DType: part}, {Name: "i", DType: part}})
	if d.Size == 8 {
		return record, "_PFNC_FLOAT_COMPLEX_TYPE"
	}
	return record, "_PFNC_DOUBLE_COMPLEX_TYPE"
}

// pack moves n elements out of libnetcdf's layout.
func (u *userType) pack(dst, src []byte, n int) {
	size := u.dtype.Size
	for i := range n {
		to, from := dst[i*size:(i+1)*size], src[i*u.size:(i+1)*u.size]
		for _, m := range u.moves {
			copy(to[m.to:m.to+m.n], from[m.from:])
		}
	}
}

// unpack is the reverse of pack. What lies between fields is zero.
func (u *userType) unpack(dst, src []byte, n int) {
	size := u.dtype.Size
	for i := range n {
		to, from := dst[i*u.size:(i+1)*u.size], src[i*size:(i+1)*size]
		for _, m := range u.moves {
			copy(to[m.from:m.from+m.n], from[m.to:])
		}
	}
}

// layoutOf is a checked record as a C struct, which libnetcdf wants in memory: with
// its fields aligned. Its name is left open.
func layoutOf(d ndarray.DType) (u *userType, fields []field, align int) {
	u, align = &userType{}, 1
	for _, f := range d.Fields {
		m := field{name: f.Name, shape: f.Shape}
		size, to := f.DType.Size, f.DType.Size
		switch f.DType.Kind {
		case ndarray.Record:
			m.typ = userDefined
			m.of, _, to = layoutOf(f.DType)
			size = m.of.size
		case ndarray.Bytes:
			m.typ, m.shape, to = ncChar, append(slices.Clone(f.Shape), int64(size)), 1
		default:
			m.typ, _, _ = typeOf(f.DType)
		}
		n, _ := ndarray.Count(f.Shape)
		m.offset = alignedTo(u.size, to)
		u.size = m.offset + int(n)*size
		align = max(align, to)
		fields = append(fields, m)
	}
	u.size = alignedTo(u.size, align)
	u.compound(fields)
	u.dtype = d
	return u, fields, align
}

func alignedTo(n, align int) int { return (n + align - 1) / align * align }

// Keys of keyEnum.
const (
	enumName   = "name"
	enumValues = "values"
)

// describe adds what Extra says of the type.
func (u *userType) describe(o *ndfile.Attrs) {
	if u.enum == nil {
		o.Set(keyType, pyjson.String(u.name))
		return
	}
	e := ndfile.NewAttrs()
	e.Set(enumName, pyjson.String(u.name))
	e.Set(enumValues, pyjson.ObjectValue(u.enum))
	o.Set(keyEnum, pyjson.ObjectValue(e))
}

// parseEnum is the reverse of describe.
func parseEnum(v ndfile.Value) (*userType, error) {
	u := &userType{}
	name, _ := v.Object().Get(enumName)
	values, _ := v.Object().Get(enumValues)
	u.name, _ = name.Str()
	u.enum = values.Object()
	if u.enum.Len() == 0 || checkName("type", u.name) != nil {
		return nil, wrongExtra(keyEnum, "an object with the name of the enumeration, and its values by name", v)
	}
	return u, nil
}

// maxHeader is how many bytes HDF5 has for the description of a record, and
// fieldHeader what a field takes of it beside its name, at most.
const (
	maxHeader   = 64000
	fieldHeader = 64
)

// recordType is the type of elements that NetCDF has no type of its own for, nil for
// those that it cannot have.
func recordType(d ndarray.DType) error {
	if d.Kind == ndarray.Complex {
		if d.Size == 8 || d.Size == 16 {
			return nil
		}
		return errNoType(d)
	}
	header := 0
	for _, f := range d.Fields {
		var err error
		header += fieldHeader + len(f.Name)
		switch {
		case header > maxHeader:
			return ndfile.NewError(ndfile.ErrDType, "NetCDF describes a record in 64 KiB: "+strconv.Itoa(len(d.Fields))+" fields are too many")
		case f.DType.Kind == ndarray.Record:
			err = recordType(f.DType)
		case f.DType.Kind == ndarray.Bytes && f.DType.Size > 0:
		case f.DType.IsNumeric() && f.DType.Kind != ndarray.Complex:
			_, _, err = typeOf(f.DType)
		default:
			err = errNoType(d)
		}
		if err == nil {
			err = checkName("field", f.Name)
		}
		if err != nil {
			return ndfile.NewError(ndfile.KindOf(err), "field "+strconv.Quote(f.Name)+": "+err.Error())
		}
	}
	return nil
}

func errNoType(d ndarray.DType) error {
	return ndfile.NewError(ndfile.ErrDType, "NetCDF cannot store elements of dtype "+d.String()+"; it has bool, integers of 1 to 8 bytes, "+
		"floats of 4 and 8, complex numbers of 8 and 16, S of at least one byte, U, str, and records of these numbers and S")
}
