// Package features holds what each language can do, row by row, and makes docs/features.md of it. A call is in the table only if a
// test of that language makes it.
package features

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// document is the page that is made.
const document = "docs/features.md"

// language is a column: its name, and where its tests are.
type language struct {
	name   string
	folder []string
	suffix []string
}

var languages = []language{
	{"C", []string{"capi/ctest"}, []string{".c"}},
	{"C++", []string{"capi/ctest", "docs/examples"}, []string{".cpp"}},
	{"Go", []string{"pkg"}, []string{"_test.go"}},
	{"Python", []string{"bindings/python/tests"}, []string{".py"}},
	{"Julia", []string{"bindings/julia/NDFile/test"}, []string{".jl"}},
	{"Fortran", []string{"bindings/fortran"}, []string{".f90"}},
}

// header declares C's functions for C++, and module those for Fortran: they can be called there as they are.
const (
	header = "include/ndfile.h"
	module = "include/ndfile.f90"
)

// row is a feature and, for each language, its call. "C" stands for C's own function, which the language calls; what
// begins with a blank says why there is none. What is shown ends before "~", behind which is the regular expression that
// finds it in a test; without one it is the call itself.
type row struct {
	feature string
	calls   [6]string
}

// Page is the text of the document. Errors name the calls that no test makes.
func Page(tree fs.FS) (string, error) {
	tests := make([]string, len(languages))
	for i, l := range languages {
		text, err := sources(tree, l)
		if err != nil {
			return "", err
		}
		tests[i] = text
	}
	declared := map[string]string{}
	for name, file := range map[string]string{"C++": header, "Fortran": module} {
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return "", err
		}
		declared[name] = string(text)
	}
	var b strings.Builder
	b.WriteString(intro)
	for _, l := range languages {
		b.WriteString(" " + l.name + " |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(languages)+1) + "\n")
	var missing []string
	for _, r := range rows {
		b.WriteString("| " + r.feature + " |")
		for i, l := range languages {
			shown, ok := cell(r, i, tests[i], declared[l.name])
			if !ok {
				missing = append(missing, fmt.Sprintf("%s: %s: no test has %q", l.name, r.feature, r.calls[i]))
			}
			b.WriteString(" " + shown + " |")
		}
		b.WriteString("\n")
	}
	if missing != nil {
		return "", fmt.Errorf("%s", strings.Join(missing, "\n"))
	}
	return b.String(), nil
}

// cell is what stands in column i of a row, and whether a test has it.
func cell(r row, i int, tests, declared string) (string, bool) {
	call := r.calls[i]
	if call == "" {
		return "", false
	}
	if call[0] == ' ' {
		return "—" + call, true
	}
	if call == "C" {
		name, _, _ := strings.Cut(r.calls[0], "~")
		return "C's `" + name + "`", strings.HasPrefix(name, "ndf_") && strings.Contains(declared, name)
	}
	shown, pattern, given := strings.Cut(call, "~")
	if !given {
		pattern = regexp.QuoteMeta(shown)
	}
	return "`" + shown + "`", regexp.MustCompile(pattern).MatchString(tests)
}

// sources is the text of all tests of a language.
func sources(tree fs.FS, l language) (string, error) {
	var b strings.Builder
	for _, folder := range l.folder {
		err := fs.WalkDir(tree, folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			for _, s := range l.suffix {
				if strings.HasSuffix(path.Base(name), s) {
					text, err := fs.ReadFile(tree, name)
					b.Write(text)
					return err
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
