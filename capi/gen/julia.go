package main

import (
	"fmt"
	"strings"
)

// juliaTypes are the Julia types of C's.
var juliaTypes = map[string]string{
	"char": "UInt8", "uint8_t": "UInt8", "int32_t": "Int32", "uint32_t": "UInt32", "int64_t": "Int64", "uint64_t": "UInt64", "void": "Cvoid",
	"ndf_progress": "Ptr{Cvoid}", "ndf_report": "Ptr{Cvoid}",
}

// julia is bindings/julia/NDFile/src/capi.jl.
func julia(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# The C library as ccall sees it: constants, structs, functions.\n\nusing Libdl\n\n", generated)
	fmt.Fprintf(&b, "const NDF_VERSION = %q\n\n", a.version)
	for _, c := range a.constants() {
		fmt.Fprintf(&b, "const %s = Int32(%d)\n", c.name, c.value)
	}
	for _, s := range a.types.structs {
		fmt.Fprintf(&b, "\nstruct %s\n", s.name)
		for _, f := range s.fields {
			t := juliaType(f.ctype)
			if f.count > 0 {
				t = fmt.Sprintf("NTuple{%d,%s}", f.count, t)
			}
			fmt.Fprintf(&b, "    %s::%s\n", f.name, t)
		}
		b.WriteString("end\n")
	}
	b.WriteString(`
"A zeroed struct in memory that C can write to, its struct_size set."
function zeroed(::Type{T}) where {T}
    r = Ref{T}()
    GC.@preserve r begin
        p = Ptr{UInt8}(pointer_from_objref(r))
        for i in 1:sizeof(T)
            unsafe_store!(p, 0x00, i)
        end
        fieldname(T, 1) === :struct_size && unsafe_store!(Ptr{UInt32}(p), UInt32(sizeof(T)))
    end
    return r
end

# The addresses of the functions, found by bind!.
`)
	for _, f := range a.functions {
		fmt.Fprintf(&b, "const p_%s = Ref{Ptr{Cvoid}}(C_NULL)\n", f.name)
	}
	b.WriteString("\n\"Finds all functions in an open library; for `__init__`.\"\nfunction bind!(library::Ptr{Cvoid})\n")
	for _, s := range a.types.structs {
		fmt.Fprintf(&b, "    @assert sizeof(%s) == %d\n", s.name, s.size)
	}
	for _, f := range a.functions {
		fmt.Fprintf(&b, "    p_%s[] = dlsym(library, :%s)\n", f.name, f.name)
	}
	b.WriteString("    return nothing\nend\n\n")
	for _, f := range a.functions {
		var names, types string
		for i, p := range f.params {
			if i > 0 {
				names += ", "
			}
			names += p.name
			types += juliaType(p.ctype) + ", "
		}
		args := ""
		if names != "" {
			args = ", " + names
		}
		fmt.Fprintf(&b, "%s(%s) = ccall(p_%s[], %s, (%s)%s)\n", f.name, names, f.name, juliaType(f.result), strings.TrimSuffix(types, " "), args)
	}
	return b.String()
}

// juliaType is the Julia type of a C type.
func juliaType(ctype string) string {
	if ctype == "const char *" {
		return "Cstring"
	}
	if t, ok := strings.CutSuffix(ctype, "const *"); ok {
		return "Ptr{" + juliaType(t) + "}"
	}
	if strings.HasPrefix(ctype, "struct ") { // of Arrow
		return "Ptr{Cvoid}"
	}
	if t, ok := strings.CutSuffix(mutable(ctype), "*"); ok {
		return "Ptr{" + juliaType(strings.TrimSpace(t)) + "}"
	}
	if t, ok := juliaTypes[ctype]; ok {
		return t
	}
	if ctype == "ndf_file" || ctype == "ndf_array" || ctype == "ndf_map" {
		return "UInt64"
	}
	return ctype
}
