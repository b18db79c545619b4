package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// good is an export as it should be.
const good = `// Package main is libndfile: x.
package main

const version = "1.2.3"

// ndfgo_file_close closes a file.
//
// More about it.
//
// C: int32_t ndf_file_close(ndf_file file, const char *why, ndf_error *err)
//
// Parameters:
//   - file (taken): the handle
//   - why (in, nullable): a text
//
// Returns: NDF_OK; NDF_ERR_HANDLE.
//
// Ownership: takes the handle back.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_close
func ndfgo_file_close(file C.ndf_file, why *C.char, err *C.ndf_error) (status C.int32_t) { return 0 }
`

// folder makes a package capi of one Go file.
func folder(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	types, err := os.ReadFile("../ndfile_types.h")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"file.go": source, "ndfile_types.h": string(types)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGood(t *testing.T) {
	a, err := load(folder(t, good))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.functions) != 1 || a.version != "1.2.3" {
		t.Fatalf("%d functions, version %q", len(a.functions), a.version)
	}
	f := a.functions[0]
	if f.summary != "closes a file." || len(f.prose) != 1 || len(f.params) != 3 || f.params[0].has(tagNullable) || !f.params[1].has(tagNullable) || !f.params[0].has(tagTaken) {
		t.Errorf("%+v", f)
	}
	shim := shim(a)
	if strings.Contains(shim, `"file"`) || strings.Contains(shim, `"ndf_file_close", "why"`) || !strings.Contains(shim, "ARG(char *, why)") {
		t.Errorf("shim:\n%s", shim)
	}
	for _, want := range []string{"NDF_API int32_t ndf_file_close(ndf_file file, const char *why, ndf_error *err);", "#define NDF_VERSION_MINOR 2"} {
		if !strings.Contains(header(a), want) {
			t.Errorf("the header lacks %s", want)
		}
	}
}

// An export that is not documented in every respect is refused, and the refusal says what is missing.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"closes a file.", "closes a file", "the summary"},
		{"ndfgo_file_close closes", "This closes", "the summary"},
		{"// C: int32_t", "// int32_t", `"C:" is missing`},
		{"// Returns: NDF_OK; NDF_ERR_HANDLE.\n//\n", "", `"Returns:" is missing`},
		{"// Ownership: takes the handle back.\n//\n", "", `"Ownership:" is missing`},
		{"// Threads: any.\n//\n", "", `"Threads:" is missing`},
		{"// Since: 1.0\n", "// Since:\n", `"Since:" is missing`},
		{"//   - why (in, nullable): a text\n", "", "parameter why is not documented"},
		{"//   - file (taken): the handle\n", "", "parameter why is documented, but"},
		{"//   - why (in, nullable): a text\n", "//   - why:\n", "without a text"},
		{"//   - why (in, nullable): a text\n", "//   - why (in): a text\n//   - more: a text\n", "parameter more"},
		{"why (in, nullable)", "why (nullable)", "a pointer has one of the tags"},
		{"why (in, nullable)", "why (in, out)", "a pointer has one of the tags"},
		{"why (in, nullable)", "why (out)", "goes with const"},
		{"why (in, nullable)", "why (in, maybe)", `unknown tag "maybe"`},
		{"why (in, nullable)", "why (in, owned)", "has to be closed"},
		{"why (in, nullable)", "why (in, taken)", "what is no handle"},
		{"why (in, nullable)", "why (in, borrowed)", "addresses that the library gives"},
		{"file (taken)", "file (in)", "of no pointer"},
		{"why (in, nullable): a text", "why (in): a text; may be NULL", `the tag "nullable" says what "may be NULL" says`},
		{"// Since: 1.0\n", "// Since: soon\n", "the minor release"},
		{"NDF_ERR_HANDLE.", "NDF_ERR_NONSENSE.", "unknown constant NDF_ERR_NONSENSE"},
		{"More about it.", "More about NDF_CAP_NONSENSE.", "unknown constant NDF_CAP_NONSENSE"},
		{"Returns: NDF_OK; NDF_ERR_HANDLE.", "Returns: NDF_ERR_HANDLE.", "does not begin with NDF_OK"},
		{"ndf_file_close(ndf_file", "ndf_close(ndf_file", "another name"},
		{"why *C.char,", "", "the Go function"},
		{"why *C.char", "reason *C.char", "the Go function"},
		{"const char *why, ndf_error *err)", "const char *why)", "the last parameter"},
		{"//export ndfgo_file_close", "//export ndfgo_other", "exported as ndfgo_other"},
		{"// Threads: any.\n//\n// Since: 1.0\n", "// Since: 1.0\n//\n// Threads: any.\n", `"Threads:" comes twice or too late`},
		{"// Since: 1.0\n", "// Since: 1.0\n//\n// More.\n", "a paragraph after"},
		{`const version = "1.2.3"`, "", "no constant version"},
		{"ndfgo_file_close", "other_file_close", "does not begin with ndfgo_"},
	} {
		source := strings.ReplaceAll(good, c.old, c.new)
		if source == good {
			t.Fatalf("%q is not in the source", c.old)
		}
		if _, err := load(folder(t, source)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, expected %q", c.new, c.old, err, c.want)
		}
	}
	dir := folder(t, good)
	if err := os.Rename(filepath.Join(dir, "file.go"), filepath.Join(dir, "other.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil || !strings.Contains(err.Error(), "groups") {
		t.Errorf("a file without a group: %v", err)
	}
}

// The layouts are those of C: natural alignment.
func TestLayout(t *testing.T) {
	s, err := new(types).parseStruct("x", "uint32_t a; const char *p; uint8_t b; int64_t c, d; char e[3]; int32_t f;")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, f := range s.fields {
		got = append(got, f.offset)
	}
	want := []int{0, 8, 16, 24, 32, 40, 44}
	if len(got) != len(want) || s.size != 48 {
		t.Fatalf("%v, size %d", got, s.size)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s at %d, expected %d", s.fields[i].name, got[i], want[i])
		}
	}
	if _, err := new(types).parseStruct("x", "float a;"); err == nil {
		t.Error("an unknown type was accepted")
	}
	inner, err := new(types).parseStruct("inner", "char a[3]; int32_t b;")
	if err != nil {
		t.Fatal(err)
	}
	if s, err = (&types{structs: []*structDef{inner}}).parseStruct("x", "char a; inner b, c; int64_t d;"); err != nil {
		t.Fatal(err)
	}
	if b, c, d := s.fields[1], s.fields[2], s.fields[3]; b.offset != 4 || c.offset != 12 || d.offset != 24 || s.size != 32 {
		t.Errorf("structs inside at %d and %d, then %d, size %d", b.offset, c.offset, d.offset, s.size)
	}
}

// Structs of others, callbacks and the pointer that goes with one come through; what is between the library's own Go and C
// is no function of it.
func TestForeignTypes(t *testing.T) {
	source := strings.ReplaceAll(good, "const char *why, ndf_error", "struct ArrowArrayStream *why, ndf_report what, void *user, ndf_error")
	source = strings.ReplaceAll(source, "why *C.char", "why *C.struct_ArrowArrayStream, what C.ndf_report, user C.uintptr_t")
	source = strings.ReplaceAll(source, "//   - why (in, nullable): a text\n", "//   - why (out, owned): a stream\n//   - what: a function\n//   - user (opaque): anything\n")
	source += "\n//export ndfile_private\nfunc ndfile_private() {}\n"
	a, err := load(folder(t, source))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.functions) != 1 {
		t.Fatalf("%d functions", len(a.functions))
	}
	for _, c := range []struct{ text, want string }{
		{shim(a), `if (IS_NULL(why)) return refuse_null(err, "ndf_file_close", "why");`},
		{shim(a), "ARG(struct ArrowArrayStream *, why), what, (uintptr_t)user, ARG(ndf_error *, err)"},
		{internalHeader(a), "struct ArrowArrayStream *why, ndf_report what, uintptr_t user, ndf_error *err"},
		{python(a), `"ndf_file_close": (c_int32, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,))`},
		{julia(a), "(UInt64, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{ndf_error},)"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("nowhere: %s", c.want)
		}
	}
	if strings.Contains(shim(a), `"user"`) || strings.Contains(abi(a), "ARROW_") {
		t.Error("user is checked, or constants of Arrow are ours")
	}
}

// The outputs are those in the repository; writing, checking and writing again is stable; a changed file is found.
func TestOutputs(t *testing.T) {
	if err := run("../..", true); err != nil {
		t.Error(err)
	}
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "capi"), os.DirFS(folder(t, good))); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "include/ndfile.h") {
		t.Errorf("nothing is there: %v", err)
	}
	for range 2 {
		if err := run(root, false); err != nil {
			t.Fatal(err)
		}
		if err := run(root, true); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(root, "capi", "shim.c")
	if err := os.WriteFile(path, []byte("changed"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "capi/shim.c") || strings.Contains(err.Error(), "ndfile.h") {
		t.Errorf("a changed file: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "changed" {
		t.Errorf("checking has written: %v", err)
	}
}

// No line of the header is too long to be read.
func TestHeaderWidth(t *testing.T) {
	a, err := load("..")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(header(a), "\n") {
		if len(line) > width {
			t.Errorf("line %d has %d bytes: %s", i+1, len(line), line)
		}
	}
}
