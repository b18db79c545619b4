package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// internalHeader is capi/internal.h: what the Go side and the shims share.
func internalHeader(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, `/* %s */

/* What the Go exports and the C shims share. Both include it, so the C compiler checks one against the other and
 * both against the public header. */
#ifndef NDFILE_INTERNAL_H
#define NDFILE_INTERNAL_H

#include "../include/ndfile.h"

/* The structs that hold pointers, with numbers in their place: Go does not bear pointers that are none. */
`, generated)
	for _, s := range a.types.structs {
		if !s.pointers() {
			continue
		}
		fmt.Fprintf(&b, "typedef struct %s {\n", goStruct(s))
		for _, f := range s.fields {
			ctype := f.ctype
			if f.pointer() {
				ctype = "uintptr_t"
			}
			fmt.Fprintf(&b, "  %s;\n", f.declaration(ctype))
		}
		fmt.Fprintf(&b, "} %s;\n\n", goStruct(s))
	}
	b.WriteString("/* The exports. Go knows no const. */\n")
	for _, f := range a.functions {
		fmt.Fprintf(&b, "extern %s(%s);\n", declare(mutable(f.result), f.goName), goParams(f))
	}
	b.WriteString("\n#endif\n")
	return b.String()
}

// goStruct is the name of a struct whose pointers are numbers.
func goStruct(s *structDef) string { return goPrefix + strings.TrimPrefix(s.name, cPrefix) }

// mutable is a C type without const.
func mutable(ctype string) string {
	return strings.Replace(strings.TrimPrefix(ctype, "const "), "*const *", "**", 1)
}

// goParams are the parameters of an export in C.
func goParams(f *function) string {
	if len(f.params) == 0 {
		return "void"
	}
	list := make([]string, len(f.params))
	for i, p := range f.params {
		list[i] = declare(p.goType(), p.name)
	}
	return strings.Join(list, ", ")
}

// shim is capi/shim.c: the public functions.
func shim(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, `/* %s */

/* The public functions: each checks its pointers and calls the Go export of the same name. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "native.h"

/* No address is lower. Empty arrays of some languages begin at a small number other than 0. */
#define LOWEST 4096
#define IS_NULL(p) ((uintptr_t)(p) < LOWEST)

/* A pointer for Go: without const, NULL when it is no address. */
#define ARG(type, p) (IS_NULL(p) ? NULL : (type)(p))

/* The Go side: every call goes through one table, this library's own or that of a copy (see reload.c). */
typedef struct calls {
`, generated)
	for _, f := range a.functions {
		fmt.Fprintf(&b, "  %s(*%s)(%s);\n", declare(mutable(f.result), ""), base(f), goParams(f))
	}
	b.WriteString("} calls;\n\nstatic const calls own_calls = {\n")
	for _, f := range a.functions {
		fmt.Fprintf(&b, "  %s,\n", f.goName)
	}
	fmt.Fprintf(&b, `};

const void *_Atomic ndfile_table = &own_calls;

const void *%s(ndfile_process *shared) {
  ndfile_shared = shared;
  ndfgo_set_threads(shared->threads, NULL); /* the Go side keeps these itself */
  ndfgo_set_limits(shared->max_header, shared->max_chunk, NULL);
  ndfgo_set_cache_limit(shared->cache_limit - 1, NULL);
  return &own_calls;
}

/* The one place that every call passes on its way to Go: gives the table to call through; NULL after a fork from which
 * there is no way back. */
static inline const calls *enter(ndf_error *err) {
  const calls *table = atomic_load_explicit(&ndfile_table, memory_order_acquire);
  return __builtin_expect(table != NULL, 1) ? table : ndfile_reload(IS_NULL(err) ? NULL : err);
}

/* Refuses a NULL. */
static int32_t refuse_null(ndf_error *err, const char *function, const char *parameter) {
  if (!IS_NULL(err)) {
    err->code = NDF_ERR_ARGUMENT;
    err->os_error = 0;
    err->offset = -1;
    snprintf(err->message, sizeof err->message, "%%s: %%s is NULL", function, parameter);
  }
  return NDF_ERR_ARGUMENT;
}
`, privateCalls)
	for _, f := range a.functions {
		writeShim(&b, f)
	}
	writeTexts(&b, a)
	b.WriteString("\n/* The layouts that are frozen. */\n#if UINTPTR_MAX == 0xffffffffffffffff\n")
	for _, s := range a.types.structs {
		fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == %d, \"%s\");\n", s.name, s.size, s.name)
		if s.pointers() {
			fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == %d, \"%s\");\n", goStruct(s), s.size, goStruct(s))
		}
		for _, f := range s.fields {
			fmt.Fprintf(&b, "_Static_assert(offsetof(%s, %s) == %d, \"%s.%s\");\n", s.name, f.name, f.offset, s.name, f.name)
		}
	}
	b.WriteString("#endif\n")
	return b.String()
}

// writeShim writes one public function.
func writeShim(b *strings.Builder, f *function) {
	fmt.Fprintf(b, "\n%s {\n", f.prototype())
	args := make([]string, len(f.params))
	for i, p := range f.params {
		args[i] = p.name
		if !p.pointer() {
			continue
		}
		if p.has(tagOpaque) {
			args[i] = "(uintptr_t)" + p.name
			continue
		}
		args[i] = fmt.Sprintf("ARG(%s, %s)", mutable(p.ctype), p.name)
		if !p.has(tagNullable) {
			fmt.Fprintf(b, "  if (IS_NULL(%s)) return refuse_null(err, %q, %q);\n", p.name, f.name, p.name)
		}
	}
	err, refused := "NULL", `""`
	if f.fallible() {
		err, refused = "err", "NDF_ERR_FORKED"
	}
	fmt.Fprintf(b, "  const calls *table = enter(%s);\n  return table == NULL ? %s : table->%s(%s);\n}\n", err, refused, base(f), strings.Join(args, ", "))
}

// writeTexts writes the texts that last as long as the process.
func writeTexts(b *strings.Builder, a *api) {
	b.WriteString("\n/* Texts that last as long as the process. */\n\nchar ndfile_build_text[128];\n\nchar *ndfile_version(void) { return (char *)NDF_VERSION; }\n")
	for _, t := range []struct {
		name, unknown string
		text          func(constantDef) string
	}{
		{"ndfile_status_name", "NDF_ERR_UNKNOWN", func(c constantDef) string { return c.name }},
		{"ndfile_status_text", "unknown status", func(c constantDef) string { return c.text }},
	} {
		fmt.Fprintf(b, "\nchar *%s(int32_t status) {\n  switch (status) {\n", t.name)
		for _, c := range statuses() {
			fmt.Fprintf(b, "    case %s: return (char *)%q;\n", c.name, t.text(c))
		}
		fmt.Fprintf(b, "    default: return (char *)%q;\n  }\n}\n", t.unknown)
	}
}

// privateCalls leaves the library, but is not for users: one copy of the library asks another for its table.
const privateCalls = "ndf_private_calls_1"

// base is the name of a function without its prefix.
func base(f *function) string { return strings.TrimPrefix(f.name, cPrefix) }

// privateProbe is for tests: how often the bounds of a thread's stack had to be found out.
const privateProbe = "ndf_private_stack_misses"

// symbolMap is capi/ndfile.map: the linker's list of what leaves the library. Each minor release has a node with the
// functions that it added, which inherits the one before: a program asks for the newest that it uses, and an older
// library says at once that it lacks it.
func symbolMap(a *api) string {
	var releases []string
	for _, f := range a.functions {
		if !slices.Contains(releases, f.since) {
			releases = append(releases, f.since)
		}
	}
	slices.SortFunc(releases, compareReleases)
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n", generated)
	inherits := ""
	for _, r := range releases {
		fmt.Fprintf(&b, "NDFILE_%s {\n  global:\n", r)
		for _, f := range a.functions {
			if f.since == r {
				fmt.Fprintf(&b, "    %s;\n", f.name)
			}
		}
		fmt.Fprintf(&b, "}%s;\n\n", inherits)
		inherits = " NDFILE_" + r
	}
	fmt.Fprintf(&b, "/* Between copies of the library, and for tests: no part of the ABI. */\nNDFILE_PRIVATE {\n  global:\n    %s;\n    %s;\n  local:\n    *;\n};\n", privateCalls, privateProbe)
	return b.String()
}

// compareReleases orders "MAJOR.MINOR" by number.
func compareReleases(x, y string) int {
	majorX, minorX, _ := strings.Cut(x, ".")
	majorY, minorY, _ := strings.Cut(y, ".")
	return cmp.Or(cmp.Compare(len(majorX), len(majorY)), cmp.Compare(majorX, majorY), cmp.Compare(len(minorX), len(minorY)), cmp.Compare(minorX, minorY))
}

// abi is capi/abi.txt: every symbol, constant, struct and field, sorted.
func abi(a *api) string {
	var lines []string
	for _, f := range a.functions {
		lines = append(lines, "function "+f.prototype())
	}
	lines = append(lines, "private "+privateCalls, "private "+privateProbe)
	for _, c := range a.constants() {
		lines = append(lines, fmt.Sprintf("constant %s = %d", c.name, c.value))
	}
	for _, c := range a.types.callbacks {
		lines = append(lines, "callback "+c.text)
	}
	for _, s := range a.types.structs {
		lines = append(lines, fmt.Sprintf("struct %s: %d bytes", s.name, s.size))
		for _, f := range s.fields {
			lines = append(lines, fmt.Sprintf("struct %s: at %4d %s", s.name, f.offset, f.declaration(f.ctype)))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
