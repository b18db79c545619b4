// Package numpyname has the names that NumPy gives to element types beside those
// that package ndarray knows.
package numpyname

// Typestring gives the typestring without byte order of a letter or a word of
// np.dtype, of any release of NumPy: "d" is "f8", "intc" is "i4". C types have the
// widths of 64-bit Unix. It is not ok for typestrings and for the words that
// ndarray.Parse knows.
func Typestring(name string) (code string, ok bool) {
	code, ok = names[name]
	return code, ok
}

var names = map[string]string{
	"?": "b1", "b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "q": "i8", "Q": "u8", "p": "i8", "P": "u8",
	"e": "f2", "f": "f4", "d": "f8", "g": "f16", "F": "c8", "D": "c16", "G": "c32", "M": "M8", "m": "m8", "c": "S1",
	"bool_": "b1", "bool8": "b1", "byte": "i1", "ubyte": "u1", "short": "i2", "ushort": "u2", "intc": "i4", "uintc": "u4",
	"int": "i8", "int_": "i8", "uint": "u8", "long": "i8", "ulong": "u8", "intp": "i8", "uintp": "u8", "longlong": "i8", "ulonglong": "u8",
	"half": "f2", "single": "f4", "float": "f8", "float_": "f8", "double": "f8", "longdouble": "f16", "longfloat": "f16", "float128": "f16",
	"csingle": "c8", "singlecomplex": "c8", "complex": "c16", "complex_": "c16", "cdouble": "c16", "cfloat": "c16",
	"clongdouble": "c32", "clongfloat": "c32", "longcomplex": "c32", "complex256": "c32",
}
