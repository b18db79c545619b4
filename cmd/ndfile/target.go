package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// target is an argument FILE, FILE:NAME, FILE[SLICE] or FILE:NAME[SLICE].
type target struct {
	path   string
	name   string
	named  bool        // NAME was given
	index  []subscript // nil: all elements
	decode bool        // arrays are as their attributes say
}

// targets reads an argument; a glob pattern in FILE can make several of it. What
// exists as it is written is a path. Otherwise the longest FILE that exists, or
// that a pattern finds, counts: colons and brackets may be part of names.
func targets(arg string) ([]target, error) {
	if exists(arg) {
		return []target{{path: arg}}, nil
	}
	whole, index, err := cutIndex(arg)
	for end := len(whole); end > 0; end = strings.LastIndexByte(whole[:end], ':') {
		paths := glob(whole[:end])
		if paths == nil {
			continue
		}
		if err != nil {
			return nil, err.On(arg)
		}
		t := target{index: index, named: end < len(whole)}
		if t.named {
			t.name = whole[end+1:]
		}
		list := make([]target, len(paths))
		for i, path := range paths {
			list[i] = t
			list[i].path = path
		}
		return list, nil
	}
	if paths := glob(arg); paths != nil { // brackets of a pattern
		return asTargets(paths), nil
	}
	return nil, ndfile.NewError(ndfile.ErrNotFound, "").On(arg)
}

func asTargets(paths []string) []target {
	list := make([]target, len(paths))
	for i, path := range paths {
		list[i].path = path
	}
	return list
}

// one is targets where there must be exactly one.
func one(arg string) (target, error) {
	list, err := targets(arg)
	if err != nil {
		return target{}, err
	}
	if len(list) > 1 {
		return target{}, usage("the pattern matches several files, where one is expected").On(arg)
	}
	return list[0], nil
}

// each calls do for every target of the arguments. Errors do not keep it from the
// others.
func each(ctx context.Context, args []string, do func(target) error) error {
	var failed failures
	for _, arg := range args {
		list, err := targets(arg)
		failed.add(err)
		for _, t := range list {
			failed.add(do(t))
			if err := ctx.Err(); err != nil {
				return failed.err()
			}
		}
	}
	return failed.err()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// glob gives the path itself where it exists, else what the pattern finds, or nil.
func glob(pattern string) []string {
	if exists(pattern) {
		return []string{pattern}
	}
	if !strings.ContainsAny(pattern, `*?[`) {
		return nil
	}
	paths, _ := filepath.Glob(pattern) // a bad pattern finds nothing
	return paths
}

// open opens the file for reading. Close it with Abort.
func (t *target) open(ctx context.Context) (ndfile.File, ndfile.Format, error) {
	return ndfile.OpenAs(ctx, all.Formats, t.path, ndfile.OpenOptions{})
}

// names lists the arrays that are meant. Further names may come from arguments of
// their own. A slice needs a single array.
func (t *target) names(f ndfile.File, more []string) ([]string, error) {
	names := more
	if t.named {
		names = append([]string{t.name}, more...)
	}
	if len(names) == 0 {
		names = f.Names()
	}
	if t.index != nil && len(names) != 1 {
		return nil, usage("a slice selects from one array: name it, as in FILE:NAME[SLICE]").On(t.path)
	}
	return names, nil
}

// array gives an array of the open file, or the selection of it.
func (t *target) array(f ndfile.File, name string) (ndfile.Array, error) {
	a, err := f.Array(name)
	err = suggested(err, name, f.Names())
	if err == nil && t.index != nil {
		a, err = sliced(a, t.index)
	}
	if err == nil && t.decode {
		a = decode(a)
	}
	return a, ndfile.Locate(err, t.path, name, err != nil && (f.Kind() != ndfile.Single || name != ""))
}

// only gives the one array that is meant, with its name.
func (t *target) only(f ndfile.File) (ndfile.Array, string, error) {
	names, err := t.names(f, nil)
	if err != nil {
		return nil, "", err
	}
	if len(names) != 1 {
		return nil, "", usage("which of the arrays? Name one, as in FILE:NAME").On(t.path)
	}
	a, err := t.array(f, names[0])
	return a, names[0], err
}
