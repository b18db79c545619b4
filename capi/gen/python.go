package main

import (
	"fmt"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// pythonTypes are the ctypes of the types of struct fields.
var pythonTypes = map[string]string{
	"char": "c_char", "uint8_t": "c_uint8", "int32_t": "c_int32", "uint32_t": "c_uint32",
	"int64_t": "c_int64", "uint64_t": "c_uint64", "const char *": "c_char_p",
}

// pythonHead begins a generated file of the package.
const pythonHead = `# %s
# fmt: off
# ruff: noqa
"""%s"""

`

// pythonConstants is bindings/python/ndfile/_constants.py.
func pythonConstants(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, pythonHead+"VERSION = %q\n\n", generated, "The constants and the errors of the C library.", a.version)
	for _, c := range a.constants() {
		fmt.Fprintf(&b, "%s = %d\n", c.name, c.value)
	}
	b.WriteString("\n# status, name in C, exception class, builtin that it also inherits (\"\": none), meaning\nERRORS = (\n")
	for _, k := range ndfile.ErrorKinds {
		fmt.Fprintf(&b, "    (%d, %q, %q, %q, %q),\n", k.Code, k.C, k.Python, k.Base, k.Text)
	}
	b.WriteString(")\n")
	return b.String()
}

// pythonStructs is bindings/python/ndfile/_structs.py.
func pythonStructs(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, pythonHead+"from ctypes import Structure, c_char, c_char_p, c_int32, c_int64, c_uint8, c_uint32, c_void_p, sizeof\n",
		generated, "The structs of the C library, for ctypes.")
	for _, s := range a.types.structs {
		fmt.Fprintf(&b, "\n\nclass %s(Structure):\n    _fields_ = [\n", s.name)
		for _, f := range s.fields {
			t, ok := pythonTypes[f.ctype]
			switch {
			case f.inner != nil:
				t = f.inner.name
			case !ok:
				t = "c_void_p"
			}
			if f.count > 0 {
				t += fmt.Sprintf(" * %d", f.count)
			}
			fmt.Fprintf(&b, "        (%q, %s),\n", f.name, t)
		}
		fmt.Fprintf(&b, "    ]\n\n\nassert sizeof(%s) == %d\n", s.name, s.size)
	}
	return b.String()
}

// python is bindings/python/ndfile/_capi.py.
func python(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, pythonHead+`from ctypes import CDLL, c_char_p, c_int32, c_uint32, c_void_p

from ._constants import *
from ._structs import *

`, generated, "The C library as ctypes sees it: constants, errors, structs, functions.")
	b.WriteString(`# Pointers, handles and 64-bit integers are c_void_p, which is the fastest to pass.
FUNCTIONS = {
`)
	for _, f := range a.functions {
		args := ""
		for _, p := range f.params {
			args += pythonArg(p.ctype) + ", "
		}
		result := "c_int32"
		if !f.fallible() {
			result = "c_char_p"
		}
		fmt.Fprintf(&b, "    %q: (%s, (%s)),\n", f.name, result, strings.TrimSuffix(args, " "))
	}
	b.WriteString(`}


def bind(lib: CDLL) -> None:
    """Declare the types of all functions of lib, a CDLL."""
    for name, (restype, argtypes) in FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype = restype
        function.argtypes = argtypes
`)
	return b.String()
}

// pythonArg is the ctype of an argument.
func pythonArg(ctype string) string {
	switch ctype {
	case "int32_t":
		return "c_int32"
	case "uint32_t":
		return "c_uint32"
	}
	return "c_void_p"
}
