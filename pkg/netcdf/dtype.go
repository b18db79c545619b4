package netcdf

import (
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// ncType is a type code of netcdf.h; those from firstUserType on are defined in
// the file.
type ncType int32

const (
	ncByte   ncType = 1
	ncChar   ncType = 2
	ncShort  ncType = 3
	ncInt    ncType = 4
	ncFloat  ncType = 5
	ncDouble ncType = 6
	ncUByte  ncType = 7
	ncUShort ncType = 8
	ncUInt   ncType = 9
	ncInt64  ncType = 10
	ncUInt64 ncType = 11
	ncString ncType = 12

	firstUserType ncType = 32
	// userDefined stands for the type of a new variable that is to be defined.
	userDefined = firstUserType
)

// numeric are the types that hold numbers, with their dtype in memory, which is in
// the machine's order, and the value that libnetcdf fills them with, as C bits.
var numeric = [...]struct {
	typ  ncType
	kind ndarray.Kind
	size int
	fill uint64
}{
	{ncByte, ndarray.Int, 1, 0x81},                   // -127
	{ncShort, ndarray.Int, 2, 0x8001},                // -32767
	{ncInt, ndarray.Int, 4, 0x80000001},              // -2147483647
	{ncInt64, ndarray.Int, 8, 0x8000000000000002},    // -9223372036854775806
	{ncUByte, ndarray.Uint, 1, 0xff},                 // 255
	{ncUShort, ndarray.Uint, 2, 0xffff},              // 65535
	{ncUInt, ndarray.Uint, 4, 0xffffffff},            // 4294967295
	{ncUInt64, ndarray.Uint, 8, 0xfffffffffffffffe},  // 18446744073709551614
	{ncFloat, ndarray.Float, 4, 0x7cf00000},          // 9.969209968386869e+36
	{ncDouble, ndarray.Float, 8, 0x479e000000000000}, // the same
}

// dtypeOf is the dtype of a numeric type; ok is false for others.
func dtypeOf(t ncType) (d ndarray.DType, ok bool) {
	for i := range numeric {
		if n := &numeric[i]; n.typ == t {
			return ndarray.DType{Kind: n.kind, Size: n.size}.Native(), true
		}
	}
	return d, false
}

// typeOf is the type that elements of a dtype are written as, and the dtype that
// they are read as. What NetCDF has no type for is ndfile.ErrDType.
func typeOf(d ndarray.DType) (ncType, ndarray.DType, error) {
	if err := d.Check(); err != nil {
		return 0, d, err
	}
	switch {
	case d.Kind == ndarray.Bool:
		return ncByte, d, nil
	case d.Kind == ndarray.Bytes && d.Size > 0:
		return ncChar, d, nil
	case d.Kind == ndarray.Unicode, d.Kind == ndarray.VarString:
		return ncString, ndarray.DType{Kind: ndarray.VarString}, nil
	case d.Kind == ndarray.Complex, d.Kind == ndarray.Record:
		return userDefined, d.Native(), recordType(d)
	}
	for i := range numeric {
		if n := &numeric[i]; n.kind == d.Kind && n.size == d.Size {
			return n.typ, d.Native(), nil
		}
	}
	return 0, d, errNoType(d)
}

// defaultFill is the element that libnetcdf fills a numeric type with.
func defaultFill(d ndarray.DType) []byte {
	if d.Kind == ndarray.Bool {
		return []byte{0x81}
	}
	for i := range numeric {
		if n := &numeric[i]; n.kind == d.Kind && n.size == d.Size {
			return putBits(make([]byte, n.size), n.fill)
		}
	}
	return nil
}
