// Package architecture checks that the repository is built as docs/architecture.md
// says: who imports whom, where unsafe is, and rules that need no list. It looks at
// the text of the Go files only.
package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	module   = "github.com/ndfile/ndfile/"
	document = "docs/architecture.md"
	waist    = "pkg/ndfile"
	// maxLines is how long a function may be outside of tests and of what writes
	// assembly.
	maxLines = 80
)

// forTests are packages of which all is for tests.
var forTests = regexp.MustCompile(`(^|/)(formattest|storetest|crashtest|crosstest|peer)(/|$)`)

// source is one Go file.
type source struct {
	path string
	file *ast.File
	set  *token.FileSet
}

// dir is the folder, "" for the top.
func (s *source) dir() string { return strings.TrimPrefix(path.Dir(s.path), ".") }

func (s *source) test() bool {
	return strings.HasSuffix(s.path, "_test.go") || forTests.MatchString(s.dir())
}

// Check gives a line for each place where the tree breaks a rule.
func Check(tree fs.FS) ([]string, error) {
	text, err := fs.ReadFile(tree, document)
	if err != nil {
		return nil, err
	}
	sources, err := parse(tree)
	if err != nil {
		return nil, err
	}
	var broken []string
	broken = append(broken, imports(sources, table(string(text), "Who imports whom"))...)
	broken = append(broken, unsafes(sources, table(string(text), "Where unsafe is"))...)
	broken = append(broken, inits(sources)...)
	broken = append(broken, abilities(sources)...)
	broken = append(broken, lengths(sources)...)
	slices.Sort(broken)
	return broken, nil
}

// parse reads all Go files of the tree but those in testdata, what is built, and
// examples for programs of others.
func parse(tree fs.FS) (list []*source, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "build" || name == "docs" || d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		list = append(list, &source{name, file, set})
		return err
	})
	return list, err
}

var codeForm = regexp.MustCompile("`([^`]+)`")

// table gives the rows of the table below a heading: what is quoted in the first
// column of each.
func table(text, heading string) (rows [][]string) {
	_, below, _ := strings.Cut(text, "\n## "+heading+"\n")
	below, _, _ = strings.Cut(below, "\n## ")
	for line := range strings.Lines(below) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		first, _, _ := strings.Cut(line[1:], "|")
		var names []string
		for _, m := range codeForm.FindAllStringSubmatch(first, -1) {
			names = append(names, m[1])
		}
		rows = append(rows, names)
	}
	return rows
}

// imports finds packages that are in no row, rows without a package, and imports of
// what is not in a row above.
func imports(sources []*source, rows [][]string) (broken []string) {
	row := map[string]int{}
	for i, names := range rows {
		for _, n := range names {
			row[n] = i
		}
	}
	seen := map[string]bool{}
	for _, s := range sources {
		if s.test() {
			continue
		}
		from, known := row[s.dir()]
		if !known {
			if !seen[s.dir()] {
				broken = append(broken, s.dir()+": in no row of "+document)
			}
			seen[s.dir()] = true
			continue
		}
		seen[s.dir()] = true
		for _, spec := range s.file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			to, ours := strings.CutPrefix(name, module)
			if to, known := row[to]; ours && (!known || to >= from) {
				broken = append(broken, s.path+": imports "+name+", which is not above it in "+document)
			}
		}
	}
	for name := range row {
		if !seen[name] {
			broken = append(broken, document+": there is no package "+name)
		}
	}
	return broken
}

// unsafes compares the files that import unsafe with the rows: files, or folders.
func unsafes(sources []*source, rows [][]string) (broken []string) {
	allowed := map[string]bool{} // whether it was met
	for _, names := range rows {
		for _, n := range names {
			allowed[n] = false
		}
	}
	for _, s := range sources {
		if s.test() || !slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"unsafe"` }) {
			continue
		}
		place := s.path
		if _, ok := allowed[place]; !ok {
			place = s.dir()
		}
		if _, ok := allowed[place]; !ok {
			broken = append(broken, s.path+": unsafe, which "+document+" does not have there")
			continue
		}
		allowed[place] = true
	}
	for name, met := range allowed {
		if !met {
			broken = append(broken, document+": there is no unsafe in "+name)
		}
	}
	return broken
}

// inits finds functions init: there is no registry.
func inits(sources []*source) (broken []string) {
	for _, s := range sources {
		tagged := slices.ContainsFunc(s.file.Comments, func(c *ast.CommentGroup) bool {
			return c.Pos() < s.file.Package && strings.Contains(c.List[0].Text, "ndfpanic")
		})
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && !s.test() && !tagged {
				broken = append(broken, s.path+": a function init")
			}
		}
	}
	return broken
}

// notOptional are the interfaces that are no abilities.
var notOptional = []string{"Format", "File", "Array"}

// abilities finds exported interfaces of the waist that are not in its table of
// abilities, or not on the page with it.
func abilities(sources []*source) (broken []string) {
	const page = waist + "/abilities.go"
	used := map[string]bool{}
	for _, s := range sources {
		if s.path == page {
			ast.Inspect(s.file, func(n ast.Node) bool {
				if x, ok := n.(*ast.IndexExpr); ok { // reflect.TypeFor[X]
					if id, ok := x.Index.(*ast.Ident); ok {
						used[id.Name] = true
					}
				}
				return true
			})
		}
	}
	for _, s := range sources {
		if s.dir() != waist || s.test() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok || !t.Name.IsExported() || slices.Contains(notOptional, t.Name.Name) {
				return true
			}
			if _, ok := t.Type.(*ast.InterfaceType); !ok {
				return true
			}
			switch {
			case s.path != page:
				broken = append(broken, s.path+": the interface "+t.Name.Name+" belongs on "+page)
			case !used[t.Name.Name]:
				broken = append(broken, s.path+": the interface "+t.Name.Name+" is in no row of Abilities")
			}
			return true
		})
	}
	return broken
}

// lengths finds functions that are too long to be read.
func lengths(sources []*source) (broken []string) {
	for _, s := range sources {
		if s.test() || path.Base(s.dir()) == "asm" {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
			if n > maxLines {
				broken = append(broken, fmt.Sprintf("%s: %s has %d lines, at most %d are", s.path, f.Name.Name, n, maxLines))
			}
		}
	}
	return broken
}
