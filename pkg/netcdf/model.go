package netcdf

import (
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// model is what kind of file it is, which netCDF4-python calls its data model.
type model uint8

const (
	hdf5        model = iota // NetCDF-4: everything
	hdf5Classic              // NetCDF-4 that keeps to what the classic formats have
	cdf1                     // the classic formats
	cdf2
	cdf5
)

// modelNames are netCDF4-python's, in the order of the constants.
var modelNames = [...]string{"NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"}

func (m model) String() string { return modelNames[m] }

// isCDF tells the formats that need no libnetcdf.
func (m model) isCDF() bool { return m >= cdf1 }

// version is the byte after "CDF".
func (m model) version() byte { return [...]byte{cdf1: 1, cdf2: 2, cdf5: 5}[m] }

// holds tells whether a variable or attribute can have a type.
func (m model) holds(t ncType) bool {
	switch m {
	case hdf5:
		return true
	case cdf5:
		return t < ncString
	}
	return t <= ncDouble
}

// parseModel is the reverse of String.
func parseModel(name string) (model, error) {
	if i := slices.Index(modelNames[:], name); i >= 0 {
		return model(i), nil
	}
	return 0, ndfile.NewError(ndfile.ErrArgument, `extra "model": expected one of `+strings.Join(modelNames[:], ", ")+", found "+name)
}

// Keys of the metadata in NetCDF's own terms: of a file (ndfile.CreateOptions.Extra)
// and of an array (ndfile.Spec.Extra).
const (
	// keyModel is the data model. A file has the one that its Extra names, else the one
	// that its first array does, else NETCDF4.
	keyModel = "model"
	// keyUnlimited lists names of dimensions without limit: in an array those of its
	// own axes.
	keyUnlimited = "unlimited"
	// keyTypes has the types of attributes, by name, that are not the ones which their
	// values would get; of a file "group/name" is that of a group.
	keyTypes = "types"
	// keyDims has the lengths of all dimensions of a file by name, in order.
	keyDims = "dims"
	// keyFill is true for bytes of NetCDF-4 that had NetCDF's default value before they
	// were written (NC_FILL): other programs take that for missing, as they do in
	// wider numbers anyway.
	keyFill = "fill"
	// keyDefaultFill is true for a variable of which we do so, too: missing elements
	// have that value, and no attribute names it.
	keyDefaultFill = ndfile.DefaultFillKey
	// keyEnum is the enumeration of an array of integers: an object with its name and
	// its values by name. keyType is the name of the type of a compound.
	keyEnum = "enum"
	keyType = "type"
	// keyText is the name of the dimension of the characters of an array of strings;
	// "" for a single character without.
	keyText = "text"
)

// typeNames are those of ncdump, by ncType.
var typeNames = [...]string{ncByte: "byte", ncChar: "char", ncShort: "short", ncInt: "int", ncFloat: "float", ncDouble: "double",
	ncUByte: "ubyte", ncUShort: "ushort", ncUInt: "uint", ncInt64: "int64", ncUInt64: "uint64", ncString: "string"}

// attTypes are types of attributes by name.
type attTypes map[string]ncType

// extra is what NetCDF's own metadata of a file or an array say.
type extra struct {
	model     model
	hasModel  bool
	unlimited []string
	types     attTypes
	dims      []cdfDim
	text      *string
	storage   storage

	fill, defaultFill bool

	enum     *userType
	typeName string
}

// parseExtra checks metadata that a caller gives.
func parseExtra(given *ndfile.Attrs, ofArray bool) (x extra, err error) {
	for i := range given.Len() {
		switch key, v := given.At(i); {
		case key == keyModel:
			name, _ := v.Str()
			x.hasModel = true
			if x.model, err = parseModel(name); err != nil {
				return x, err
			}
		case key == keyUnlimited:
			names, ok := stringList(v)
			if !ok {
				return x, wrongExtra(key, "a list of names of axes", v)
			}
			x.unlimited = names
		case key == keyTypes:
			if x.types, err = parseTypes(v); err != nil {
				return x, err
			}
		case key == keyText && ofArray && v.Kind() == pyjson.KindString:
			name, _ := v.Str()
			x.text = &name
		case (key == keyFill || key == keyDefaultFill) && ofArray && v.Kind() == pyjson.KindBool:
			on, _ := v.Bool()
			x.fill = x.fill || on
			x.defaultFill = x.defaultFill || on && key == keyDefaultFill
		case key == keyEnum && ofArray:
			if x.enum, err = parseEnum(v); err != nil {
				return x, err
			}
		case key == keyType && ofArray && v.Kind() == pyjson.KindString:
			x.typeName, _ = v.Str()
			if err := checkName("type", x.typeName); err != nil {
				return x, err
			}
		case key == keyDims && !ofArray:
			if x.dims, err = parseDims(v); err != nil {
				return x, err
			}
		case ofArray && x.storage.parse(key, v):
		default:
			return x, wrongExtra(key, "NetCDF's model, unlimited, types; of arrays text, enum, type, fill, default_fill, chunks, deflate, shuffle, fletcher32; of files dims", v)
		}
	}
	return x, nil
}

func wrongExtra(key, expected string, v ndfile.Value) error {
	return ndfile.NewError(ndfile.ErrArgument, "extra \""+key+"\": expected "+expected+", found "+string(ndfile.AppendJSONValue(nil, v)))
}

func stringList(v ndfile.Value) (list []string, ok bool) {
	if v.Kind() != pyjson.KindList {
		return nil, false
	}
	for _, item := range v.Items() {
		s, ok := item.Str()
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

func parseDims(v ndfile.Value) (dims []cdfDim, err error) {
	members := v.Object()
	if members == nil {
		return nil, wrongExtra(keyDims, "an object of lengths by name", v)
	}
	for i := range members.Len() {
		name, length := members.At(i)
		n, ok := length.Int64()
		if !ok || n < 0 {
			return nil, wrongExtra(keyDims, "an object of lengths by name", v)
		}
		if err := checkName("axis", name); err != nil {
			return nil, err
		}
		dims = append(dims, cdfDim{name: name, length: n})
	}
	return dims, nil
}

func parseTypes(v ndfile.Value) (attTypes, error) {
	types := attTypes{}
	members := v.Object()
	if members == nil {
		return nil, wrongExtra(keyTypes, "an object of types by names of attributes", v)
	}
	for i := range members.Len() {
		name, t := members.At(i)
		text, _ := t.Str()
		k := slices.Index(typeNames[:], text)
		if k <= 0 {
			return nil, wrongExtra(keyTypes, "types as ncdump names them", v)
		}
		types[name] = ncType(k)
	}
	return types, nil
}

func stringValues(list []string) ndfile.Value {
	items := make([]ndfile.Value, len(list))
	for i, s := range list {
		items[i] = pyjson.String(s)
	}
	return pyjson.List(items...)
}
