package main

import (
	"fmt"
	"strings"
)

// exportsTest is capi/exports_test.go: all exports for a test that calls them, by
// which tools that know no C see them used too.
func exportsTest(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage main\n\n// exports are what C calls.\nvar exports = []any{\n", generated)
	for _, f := range a.functions {
		fmt.Fprintf(&b, "\t%s,\n", f.goName)
	}
	b.WriteString("}\n\n// privates are what the library's own C calls.\nvar privates = []any{\n")
	for _, name := range a.private {
		fmt.Fprintf(&b, "\t%s,\n", name)
	}
	b.WriteString("}\n")
	return b.String()
}
