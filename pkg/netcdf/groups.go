package netcdf

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// nodes are the attributes of groups, by path.
type nodes map[string]*ndfile.Attrs

// names lists the groups, sorted.
func (n nodes) names() []string {
	names := make([]string, 0, len(n))
	for name := range n {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// attrsOf gives the attributes of a group.
func (n nodes) attrsOf(name string) (*ndfile.Attrs, error) {
	if attrs := n[name]; attrs != nil {
		return attrs, nil
	}
	return nil, ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name))
}

// addAbove takes up the groups that a path lies in.
func (n nodes) addAbove(name string) {
	for i := range name {
		if name[i] == '/' && n[name[:i]] == nil {
			n[name[:i]] = ndfile.NewAttrs()
		}
	}
}

// below are the types of the attributes of a group.
func (t attTypes) below(group string) attTypes {
	types := attTypes{}
	for name, typ := range t {
		if rest, ok := strings.CutPrefix(name, group+"/"); ok && !strings.Contains(rest, "/") {
			types[rest] = typ
		}
	}
	return types
}

// checkAttributes checks those of a file or a group.
func checkAttributes(attrs *ndfile.Attrs) error {
	for i := range attrs.Len() {
		name, v := attrs.At(i)
		if err := checkAttribute(name, v, noType); err != nil {
			return err
		}
	}
	return nil
}

// Groups implements [ndfile.Tree], as the methods below do. A classic file has none.
func (f *file) Groups() []string { return f.groups.names() }

func (f *file) GroupAttrs(_ context.Context, name string) (*ndfile.Attrs, error) {
	err := f.check(false)
	var attrs *ndfile.Attrs
	if err == nil {
		attrs, err = f.groups.attrsOf(name)
	}
	return attrs, f.located(err)
}

func (f *file) AddGroup(context.Context, string, *ndfile.Attrs) error {
	return f.located(f.check(true))
}
func (f *file) Rename(context.Context, string, string) error { return f.located(f.check(true)) }
func (f *file) Consolidate(context.Context, bool) error      { return f.located(f.check(true)) }

// tree is a new file that can hold groups.
type tree interface {
	nodes() nodes
	addGroup(name string, attrs *ndfile.Attrs) error
}

func (d *created) Groups() []string {
	if t, ok := d.started().(tree); ok {
		return t.nodes().names()
	}
	return nil
}

func (d *created) GroupAttrs(_ context.Context, name string) (*ndfile.Attrs, error) {
	var groups nodes
	if t, ok := d.started().(tree); ok {
		groups = t.nodes()
	}
	attrs, err := groups.attrsOf(name)
	return attrs, d.located(err)
}

// AddGroup makes a group. The classic formats have none: ndfile.ErrNotSupported.
func (d *created) AddGroup(_ context.Context, name string, attrs *ndfile.Attrs) error {
	if err := d.first(&ndfile.Spec{}); err != nil {
		return ndfile.Locate(err, d.path, strings.Clone(name), true)
	}
	t, ok := d.started().(tree)
	if !ok {
		return ndfile.Locate(ndfile.NewError(ndfile.ErrNotSupported, "the classic data models have no groups"), d.path, strings.Clone(name), true)
	}
	return ndfile.Locate(t.addGroup(strings.Clone(name), attrs), d.path, strings.Clone(name), true)
}

func (d *created) Rename(_ context.Context, from, _ string) error {
	return ndfile.Locate(ndfile.NewError(ndfile.ErrNotSupported, "names in a NetCDF file do not change: add it by the other name"), d.path, strings.Clone(from), true)
}

func (d *created) Consolidate(context.Context, bool) error {
	return d.located(ndfile.NewError(ndfile.ErrNotSupported, "a NetCDF file has all metadata in one place"))
}

// checkGroup checks the path and the attributes of a new group.
func checkGroup(name string, attrs *ndfile.Attrs) error {
	for part := range strings.SplitSeq(name, "/") {
		if err := checkName("group", part); err != nil {
			return err
		}
	}
	return checkAttributes(attrs)
}

func errGroupless(m model, name string) error {
	return ndfile.NewError(ndfile.ErrValue, "the data model "+m.String()+" has no groups: "+strconv.Quote(name))
}
