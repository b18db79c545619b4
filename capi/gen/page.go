package main

import (
	"fmt"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// page is docs/c-api.md.
func page(a *api) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- %s -->\n\n# The C API of ndfile %s\n\n", generated, a.version)
	b.WriteString("The header is `include/ndfile.h`, the library `libndfile.so.1`.\n\n")
	_, contract, _ := strings.Cut(a.contract, "libndfile: ")
	for i, p := range strings.Split(strings.TrimSpace(contract), "\n\n") {
		if title, ok := strings.CutPrefix(p, "# "); ok {
			fmt.Fprintf(&b, "## %s\n\n", title)
			continue
		}
		p = escape(flow(p))
		if i == 0 {
			p = sentence(p)
		}
		b.WriteString(p + "\n\n")
	}
	b.WriteString("## Functions\n\n| function | |\n| --- | --- |\n")
	for _, f := range a.functions {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", f.name, f.name, escape(f.summary))
	}
	writeConstants(&b, "Statuses", statuses(), "%d")
	writeConstants(&b, "Capabilities of a format", caps(), "0x%x")
	fmt.Fprintf(&b, "\n## Types\n\n```c\n%s\n```\n", a.types.text)
	group := -1
	for _, f := range a.functions {
		if f.group != group {
			group = f.group
			fmt.Fprintf(&b, "\n## %s\n", groups[group].title)
		}
		fmt.Fprintf(&b, "\n### %s\n\n```c\n%s```\n\n%s\n", f.name, wrapPrototype(f.prototype()+";"), escape(sentence(f.summary)))
		for _, p := range f.prose {
			fmt.Fprintf(&b, "\n%s\n", escape(p))
		}
		if len(f.params) > 0 {
			b.WriteString("\n| parameter | |\n| --- | --- |\n")
		}
		for _, p := range f.params {
			fmt.Fprintf(&b, "| `%s` | %s |\n", p.name, escape(p.tagText()+p.doc))
		}
		fmt.Fprintf(&b, "\nReturns %s\n\nOwnership: %s\n\nThreads: %s\n\nSince %s.\n",
			escape(f.returns), escape(f.ownership), escape(f.threads), f.since)
	}
	return b.String()
}

// abilities is docs/abilities.md, the table of package ndfile as a page.
func abilities(*api) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!-- %s -->

# Abilities

What not every format can do. A format sets the bit in its Caps, and implements the interface; the suite formattest proves
that both agree. The interfaces are in pkg/ndfile/abilities.go. What is in brackets may be implemented beside it.

| ability | bit | meaning | interface | of |
| --- | --- | --- | --- | --- |
`, generated)
	for _, a := range ndfile.Abilities {
		var list []string
		if a.Interface != nil {
			list = append(list, "`"+a.Interface.Name()+"`")
		}
		for _, t := range a.Also {
			list = append(list, "(`"+t.Name()+"`)")
		}
		fmt.Fprintf(&b, "| %s | `NDF_CAP_%s` | %s | %s | %s |\n", a.Name, constantName(a.Name), escape(a.Text), strings.Join(list, " "), a.Of)
	}
	return b.String()
}

// writeConstants writes a table of constants.
func writeConstants(b *strings.Builder, title string, list []constantDef, format string) {
	fmt.Fprintf(b, "\n## %s\n\n| name | value | |\n| --- | --- | --- |\n", title)
	for _, c := range list {
		fmt.Fprintf(b, "| `%s` | "+format+" | %s |\n", c.name, c.value, escape(c.text))
	}
}

// escape keeps text from being taken for Markdown.
var escape = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`).Replace
