// Command gen writes everything that follows from the C functions of package capi: the header, the C shims, the
// symbol map, the list of the ABI, the reference page, and the tables of the Python and Julia bindings.
//
//	go run ./capi/gen          writes the files that differ
//	go run ./capi/gen -check   writes nothing; exit status 1 and their names when some differ
//
// What it reads are the doc comments of the //export functions in capi/*.go (see exports.go for their form), the
// structs in capi/ndfile_types.h, and the error table and capabilities of package ndfile. It parses package capi but
// never compiles it, so that it works while the generated files are missing or wrong.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// outputs are the generated files, by their path in the repository.
var outputs = map[string]func(*api) string{
	"include/ndfile.h":                     header,
	"capi/internal.h":                      internalHeader,
	"capi/shim.c":                          shim,
	"capi/ndfile.map":                      symbolMap,
	"capi/abi.txt":                         abi,
	"include/ndfile.f90":                   fortran,
	"capi/exports_test.go":                 exportsTest,
	"docs/c-api.md":                        page,
	"docs/abilities.md":                    abilities,
	"bindings/python/ndfile/_capi.py":      python,
	"bindings/python/ndfile/_constants.py": pythonConstants,
	"bindings/python/ndfile/_structs.py":   pythonStructs,
	"bindings/julia/NDFile/src/capi.jl":    julia,
}

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	root, err := findRoot()
	if err == nil {
		err = run(root, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// findRoot is the folder of go.mod, from the current one upwards.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("not inside the repository: no go.mod")
		}
		dir = up
	}
}

// run generates all outputs under root, or compares them.
func run(root string, check bool) error {
	a, err := load(filepath.Join(root, "capi"))
	if err != nil {
		return err
	}
	var stale []string
	for name, make := range outputs {
		text := []byte(make(a))
		path := filepath.Join(root, filepath.FromSlash(name))
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			continue
		}
		stale = append(stale, name)
		if check {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	if check && len(stale) > 0 {
		slices.Sort(stale)
		return fmt.Errorf("not as generated: %q; run go run ./capi/gen", stale)
	}
	return nil
}
