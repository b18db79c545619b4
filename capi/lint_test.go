package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sources parses the package's own files.
func sources(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if files[name], err = parser.ParseFile(fset, name, text, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
	}
	return fset, files
}

// A panic must not leave an export: it would end the process of the host.
func TestExportsAreGuarded(t *testing.T) {
	fset, files := sources(t)
	exports := 0
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "ndfgo_") && !strings.HasPrefix(f.Name.Name, "ndfile_") {
				continue
			}
			exports++
			want := []string{"nil", "nil"}
			if list := f.Type.Params.List; len(list) > 0 && list[len(list)-1].Names[0].Name == "err" {
				want = []string{"err", "&status"}
			}
			if got := guardArguments(f.Body); strings.Join(got, ",") != strings.Join(want, ",") {
				t.Errorf("%s: %s begins with defer guard(%s), expected guard(%s)",
					fset.Position(f.Pos()), f.Name.Name, strings.Join(got, ", "), strings.Join(want, ", "))
			}
		}
	}
	if exports < 30 {
		t.Errorf("only %d exports were found", exports)
	}
}

// guardArguments are the arguments of the deferred guard that a body begins with.
func guardArguments(body *ast.BlockStmt) []string {
	if len(body.List) == 0 {
		return nil
	}
	d, ok := body.List[0].(*ast.DeferStmt)
	if !ok {
		return nil
	}
	if f, ok := d.Call.Fun.(*ast.Ident); !ok || f.Name != "guard" {
		return nil
	}
	var args []string
	for _, a := range d.Call.Args {
		switch a := a.(type) {
		case *ast.Ident:
			args = append(args, a.Name)
		case *ast.UnaryExpr:
			args = append(args, a.Op.String()+a.X.(*ast.Ident).Name)
		}
	}
	return args
}

// Memory of the caller is handled in one file, and no format is named in the package.
func TestImports(t *testing.T) {
	_, files := sources(t)
	for name, file := range files {
		for _, imp := range file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			switch {
			case path == "unsafe" && name != "memory.go":
				t.Errorf("%s imports unsafe; only memory.go does", name)
			case !strings.Contains(path, "/ndfile/pkg/"):
			case name == "blosc.go" && strings.HasSuffix(path, "/pkg/blosc"): // a codec, not a format
			case name == "arrow.go" && strings.HasSuffix(path, "/pkg/columnar"): // tables as Arrow has them, for ndarrow too
			case strings.HasSuffix(path, "/pkg/ndfile"), strings.HasSuffix(path, "/pkg/ndfile/all"), strings.HasSuffix(path, "/pkg/ndarray"):
			default:
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
