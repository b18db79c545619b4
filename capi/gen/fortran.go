package main

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// fortranWrappers is the part of the module above the C functions: a template over kinds and ranks.
//
//go:embed fortran.f90.tmpl
var fortranWrappers string

// fortranTypes are the Fortran types of C's numbers.
var fortranTypes = map[string]string{
	"uint8_t": "integer(c_int8_t)", "int32_t": "integer(c_int32_t)", "uint32_t": "integer(c_int32_t)",
	"int64_t": "integer(c_int64_t)", "uint64_t": "integer(c_int64_t)",
	"ndf_file": "integer(c_int64_t)", "ndf_array": "integer(c_int64_t)", "ndf_map": "integer(c_int64_t)",
	"ndf_progress": "type(c_funptr)", "ndf_report": "type(c_funptr)", "void": "type(c_ptr)",
}

// fortranKind is one type of elements that the wrappers read and write: its short name, its dtype, its declaration.
type fortranKind struct{ Name, DType, Type string }

var fortranKinds = []fortranKind{
	{"i1", "i1", "integer(c_int8_t)"},
	{"i2", "i2", "integer(c_int16_t)"},
	{"i4", "i4", "integer(c_int32_t)"},
	{"i8", "i8", "integer(c_int64_t)"},
	{"f4", "f4", "real(c_float)"},
	{"f8", "f8", "real(c_double)"},
	{"c8", "c8", "complex(c_float_complex)"},
	{"c16", "c16", "complex(c_double_complex)"},
	{"b1", "b1", "logical(c_bool)"},
}

// fortranRanks are the ranks that the wrappers know: Fortran's own limit without the newer ones, and 0 apart.
var fortranRanks = []int{1, 2, 3, 4, 5, 6, 7}

// fortran is include/ndfile.f90.
func fortran(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, "! %s\n", generated)
	w := template.Must(template.New("").Funcs(template.FuncMap{
		"colons": func(n int) string { return strings.TrimSuffix(strings.Repeat(":, ", n), ", ") },
		"extents": func(n int) string {
			list := make([]string, n)
			for i := range list {
				list[i] = fmt.Sprintf("box%%count(%d)", i+1)
			}
			return strings.Join(list, ", ")
		},
		"bindings": func() string { return fortranBindings(a) },
	}).Parse(fortranWrappers))
	if err := w.Execute(&b, map[string]any{"Kinds": fortranKinds, "Ranks": fortranRanks}); err != nil {
		panic(err) // the template is part of the program
	}
	return b.String()
}

// fortranBindings are the constants, the structs and the interfaces of the C functions.
func fortranBindings(a *api) string {
	var b strings.Builder
	for _, c := range a.constants() {
		fmt.Fprintf(&b, "  integer(c_int32_t), parameter, public :: %s = %d\n", c.name, c.value)
	}
	for _, s := range a.types.structs {
		fmt.Fprintf(&b, "\n  type, bind(C), public :: %s\n", s.name)
		for _, f := range s.fields {
			fmt.Fprintf(&b, "    %s\n", fortranField(s, &f))
		}
		fmt.Fprintf(&b, "  end type\n")
	}
	b.WriteString("\n  interface\n")
	for i, f := range a.functions {
		if i > 0 {
			b.WriteString("\n")
		}
		fortranFunction(&b, f)
	}
	b.WriteString("  end interface\n")
	for _, f := range a.functions {
		fmt.Fprintf(&b, "  public :: %s\n", f.name)
	}
	return b.String()
}

// fortranField declares a member of a struct with its default: its own size for struct_size, else zero.
func fortranField(s *structDef, f *field) string {
	t, zero := fortranTypes[f.ctype], "0"
	switch {
	case f.inner != nil:
		return fmt.Sprintf("type(%s) :: %s", f.inner.name, f.name)
	case f.function:
		zero = "c_null_funptr"
	case f.pointer():
		t, zero = "type(c_ptr)", "c_null_ptr"
	case f.ctype == "char":
		t, zero = "character(kind=c_char)", "c_null_char"
	case f.name == "struct_size":
		zero = fmt.Sprint(s.size)
	}
	if s.name == "ndf_error" { // always filled by the library, so that it costs nothing to declare one
		zero = ""
	}
	d := t + " :: " + f.name
	if f.count > 0 {
		d += fmt.Sprintf("(%d)", f.count)
	}
	if zero != "" {
		d += " = " + zero
	}
	return d
}

// fortranFunction writes the interface of a function.
func fortranFunction(b *strings.Builder, f *function) {
	names := make([]string, len(f.params))
	for i, p := range f.params {
		names[i] = p.name
	}
	result := "integer(c_int32_t)"
	if !f.fallible() && f.result != "int32_t" {
		result = "type(c_ptr)"
	}
	fmt.Fprintf(b, "    ! %s\n", fortranText(f.summary))
	fmt.Fprintf(b, "    %s\n", fold(fmt.Sprintf("function %s(%s) bind(C)", f.name, strings.Join(names, ", "))))
	fmt.Fprintf(b, "      import\n")
	for i := range f.params {
		fmt.Fprintf(b, "      %s\n", fortranParam(&f.params[i]))
	}
	fmt.Fprintf(b, "      %s :: %s\n    end function\n", result, f.name)
}

// fortranText is a summary as a comment of one line.
func fortranText(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
	if len(s) > 110 {
		s = s[:strings.LastIndexByte(s[:107], ' ')] + " ..."
	}
	return s
}

// fold breaks a line where Fortran's would become too long.
func fold(s string) string {
	const most = 110
	var lines []string
	for len(s) > most {
		i := strings.LastIndex(s[:most], ", ") + 2
		lines = append(lines, s[:i]+"&")
		s = s[i:]
	}
	return strings.Join(append(lines, s), "\n        ")
}

// fortranParam declares a parameter. Texts that may be NULL are optional, other pointers that may be are addresses.
func fortranParam(p *param) string {
	base := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(p.ctype, "const "), "*"))
	intent := map[bool]string{true: "in", false: "inout"}[p.has(tagIn)]
	if p.has(tagOut) {
		intent = "out"
	}
	declared := func(t, name string) string {
		if p.has(tagNullable) {
			return fmt.Sprintf("%s, intent(%s), optional :: %s", t, intent, name)
		}
		return fmt.Sprintf("%s, intent(%s) :: %s", t, intent, name)
	}
	switch {
	case p.ctype == "const char *const *":
		return "type(c_ptr), intent(in) :: " + p.name + "(*)"
	case p.has(tagBorrowed):
		return "type(c_ptr), intent(out) :: " + p.name
	case !p.pointer():
		return fortranTypes[p.ctype] + ", value :: " + p.name
	case base == "char":
		return declared("character(kind=c_char)", p.name+"(*)")
	case base == "ndf_error" && p.name == errParam.name:
		return declared("type(ndf_error)", p.name)
	case p.has(tagNullable) || base == "void" || strings.HasPrefix(base, "struct "):
		return "type(c_ptr), value :: " + p.name
	case fortranTypes[base] != "" && p.has(tagIn):
		return declared(fortranTypes[base], p.name+"(*)")
	case fortranTypes[base] != "":
		return declared(fortranTypes[base], p.name)
	case p.has(tagOut): // the caller sets struct_size
		return fmt.Sprintf("type(%s), intent(inout) :: %s", base, p.name)
	}
	return declared("type("+base+")", p.name)
}
