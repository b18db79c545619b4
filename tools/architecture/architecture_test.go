package architecture

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The repository is what docs/architecture.md says.
func TestArchitecture(t *testing.T) {
	broken, err := Check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

// good is a small tree that keeps all rules.
var good = map[string]string{
	"docs/architecture.md": "# A\n\n## Who imports whom\n\n| packages | |\n|---|---|\n| `pkg/ndarray` | |\n| `pkg/ndfile` | |\n" +
		"| `pkg/a`, `pkg/b` | formats |\n\n## Where unsafe is\n\n| place | for |\n|---|---|\n| `pkg/b/fast.go` | speed |\n\n## More\n",
	"pkg/ndarray/x.go":         "package ndarray\n",
	"pkg/ndfile/abilities.go":  "package ndfile\n\nvar Abilities = []any{reflect.TypeFor[Masked]()}\n\ntype Masked interface{ M() }\n",
	"pkg/ndfile/format.go":     "package ndfile\n\nimport _ \"github.com/ndfile/ndfile/pkg/ndarray\"\n\ntype Format interface{ F() }\n\ntype private interface{ P() }\n",
	"pkg/a/a.go":               "package a\n\nimport _ \"github.com/ndfile/ndfile/pkg/ndfile\"\n",
	"pkg/a/a_test.go":          "package a\n\nimport _ \"github.com/ndfile/ndfile/pkg/b\"\n\nfunc init() {}\n",
	"pkg/b/fast.go":            "package b\n\nimport _ \"unsafe\"\n",
	"pkg/b/asm/main.go":        "package main\n\nfunc long() {\n" + strings.Repeat("\n", maxLines) + "}\n",
	"pkg/b/testdata/broken.go": "no Go at all",
}

// Each rule, broken once, is found; the tree that keeps them is found good.
func TestBrokenRules(t *testing.T) {
	doc := good["docs/architecture.md"]
	doc = strings.Replace(doc, "`pkg/b` |", "`pkg/b` |\n| `pkg/b/asm` |", 1)
	for _, c := range []struct{ name, path, text, want string }{
		{name: "none"},
		{"sideways", "pkg/a/more.go", "package a\n\nimport _ \"github.com/ndfile/ndfile/pkg/b\"\n", "pkg/a/more.go: imports github.com/ndfile/ndfile/pkg/b,"},
		{"downwards", "pkg/ndarray/more.go", "package ndarray\n\nimport _ \"github.com/ndfile/ndfile/pkg/ndfile\"\n", "pkg/ndarray/more.go: imports"},
		{"a new package", "pkg/c/c.go", "package c\n", "pkg/c: in no row"},
		{"a package that is gone", "docs/architecture.md", strings.Replace(doc, "`pkg/a`", "`pkg/a`, `pkg/old`", 1), "there is no package pkg/old"},
		{"unsafe", "pkg/a/fast.go", "package a\n\nimport _ \"unsafe\"\n", "pkg/a/fast.go: unsafe"},
		{"unsafe in another file", "pkg/b/other.go", "package b\n\nimport _ \"unsafe\"\n", "pkg/b/other.go: unsafe"},
		{"unsafe that is gone", "pkg/b/fast.go", "package b\n", "there is no unsafe in pkg/b/fast.go"},
		{"a registry", "pkg/a/init.go", "package a\n\nfunc init() {}\n", "pkg/a/init.go: a function init"},
		{"an interface elsewhere", "pkg/ndfile/more.go", "package ndfile\n\ntype Extra interface{ E() }\n", "the interface Extra belongs on"},
		{"an interface without a row", "pkg/ndfile/abilities.go", good["pkg/ndfile/abilities.go"] + "\ntype Extra interface{ E() }\n", "the interface Extra is in no row"},
		{"a long function", "pkg/a/long.go", "package a\n\nfunc long() {\n" + strings.Repeat("\n", maxLines) + "}\n", "pkg/a/long.go: long has 82 lines"},
	} {
		files := maps.Clone(good)
		files["docs/architecture.md"] = doc
		if c.path != "" {
			files[c.path] = c.text
		}
		tree := fstest.MapFS{}
		for name, text := range files {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		broken, err := Check(tree)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.want == "" {
			if len(broken) > 0 {
				t.Errorf("%s: %q", c.name, broken)
			}
			continue
		}
		if !slices.ContainsFunc(broken, func(b string) bool { return strings.Contains(b, c.want) }) {
			t.Errorf("%s: %q, expected %q", c.name, broken, c.want)
		}
	}
}
