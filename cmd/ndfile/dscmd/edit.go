package dscmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// write writes a dataset; the extension tells the format.
func (c *call) write(file any, d *dataset) error {
	path, err := text(file, "output", false)
	if err != nil {
		return err
	}
	if filepath.Ext(path) == ".json" {
		return writeJSON(path, d)
	}
	toDS := filepath.Ext(path) == ".ds"
	var items []ndfile.Item
	for _, name := range d.names() {
		v := d.vars[name]
		if toDS {
			items = append(items, v.item(nil, nil, v.meta))
			continue
		}
		items = append(items, v.item(v.dims(), d.attrsOf(name), nil))
	}
	return ndfile.Save(c.ctx, all.Formats, path, items, ndfile.SaveOptions{Attrs: d.attrs})
}

// writeJSON writes data and metadata as ds-format does.
func writeJSON(path string, d *dataset) error {
	o, meta := newObject(), newObject()
	if !d.last {
		meta.set(".", fromAttrs(d.attrs))
	}
	for _, name := range d.names() {
		v := d.vars[name]
		var data any
		if v.data != nil {
			data, _ = v.data.nested(v.data.shape, 0)
		}
		o.set(escape(name), data)
		meta.set(escape(name), fromAttrs(v.meta))
	}
	meta.set(".", fromAttrs(d.attrs))
	o.set(".", meta)
	return ndfile.OS.WriteFile(path, [][]byte{appendJSON(nil, o)}, ndfile.WriteOptions{})
}

// files are the last two arguments, and those before.
func (c *call) files(least int) (args []any, input, output any, err error) {
	n := len(c.args)
	if n < least+2 {
		return nil, nil, nil, errUsage
	}
	return c.args[:n-2], c.args[n-2], c.args[n-1], nil
}

func selectVars(c *call) error {
	args, input, output, err := c.files(0)
	if err != nil {
		return err
	}
	sel := newObject()
	var patterns []any
	for _, arg := range args {
		if o, ok := arg.(*object); ok {
			sel.update(o)
		} else {
			patterns = append(patterns, arg)
		}
	}
	path, err := text(input, "input", false)
	if err != nil {
		return err
	}
	d, err := read(c.ctx, path, func(string) bool { return false })
	if err != nil {
		return err
	}
	var names []string
	if len(patterns) > 0 {
		if names, err = c.variables(d, patterns); err != nil {
			return err
		}
	}
	if !c.fixed {
		dims, by := d.dimNames(), newObject()
		for _, key := range sel.keys {
			dim, err := find(dims, key, "dimension")
			if err != nil {
				return err
			}
			by.set(dim, sel.values[key])
		}
		sel = by
	}
	if d, err = c.selectedWith(input, names, sel); err != nil {
		return err
	}
	return c.write(output, d)
}

func remove(c *call) error {
	args, input, output, err := c.files(1)
	if err != nil || len(args) > 2 {
		return errOr(err, errUsage)
	}
	d, err := c.selected(input, nil)
	if err != nil {
		return err
	}
	names := []string{""} // the dataset
	if args[0] != nil {
		list, ok := args[0].([]any)
		if !ok {
			list = args[:1]
		}
		if names, err = c.variables(d, list); err != nil {
			return err
		}
	}
	if len(args) == 1 {
		for _, name := range names {
			delete(d.vars, name)
		}
		return c.write(output, d)
	}
	patterns, err := textList(args[1], "attr")
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, attr := range c.attrsMatching(d, name, patterns) {
			d.removeAttr(name, attr)
		}
	}
	return c.write(output, d)
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// attrsMatching are the attributes that patterns mean.
func (c *call) attrsMatching(d *dataset, name string, patterns []string) (attrs []string) {
	for _, pattern := range patterns {
		if c.fixed {
			attrs = append(attrs, pattern)
		} else {
			attrs = append(attrs, findAll(attrNames(d.attrsOf(name)), pattern)...)
		}
	}
	return attrs
}

func rename(c *call) error {
	args, input, output, err := c.files(1)
	if err != nil {
		return err
	}
	d, err := c.selected(input, nil)
	if err != nil {
		return err
	}
	if vars, ok := args[0].(*object); ok && len(args) == 1 {
		if err := c.renameVars(d, vars); err != nil {
			return err
		}
		return c.write(output, d)
	}
	pairs := args
	if _, list := args[0].([]any); !list || len(args) == 2 && isObjectAt(args, 1) {
		pairs = []any{args}
	}
	for _, p := range pairs {
		list, ok := p.([]any)
		if !ok || len(list) != 2 {
			return errUsage
		}
		attrs, ok := list[1].(*object)
		if !ok {
			return fmt.Errorf("attrs: invalid type")
		}
		if err := c.renameAttrs(d, list[0], attrs); err != nil {
			return err
		}
	}
	return c.write(output, d)
}

// renameVars renames variables and dimensions; none removes.
func (c *call) renameVars(d *dataset, vars *object) error {
	moved := map[string]*variable{}
	for _, key := range vars.keys {
		v, err := c.variable(d, key)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		delete(d.vars, v.name)
		if to, ok := vars.values[key].(string); ok {
			moved[to] = v
		}
	}
	dims := map[string]string{}
	for to, v := range moved {
		dims[v.name] = to
		v.name = to
		d.vars[to] = v
	}
	d.renameDims(dims)
	return nil
}

func (d *dataset) renameDims(to map[string]string) {
	for _, v := range d.vars {
		dims := v.dims()
		changed := false
		for i, dim := range dims {
			if name, ok := to[dim]; ok {
				dims[i], changed = name, true
			}
		}
		if changed {
			v.setDims(dims)
		}
	}
}

// renameAttrs renames attributes of variables, or of the dataset (nil).
func (c *call) renameAttrs(d *dataset, of any, attrs *object) error {
	names := []string{""}
	if of != nil {
		list, ok := of.([]any)
		if !ok {
			list = []any{of}
		}
		var err error
		if names, err = c.variables(d, list); err != nil {
			return err
		}
	}
	for _, name := range names {
		moved := map[string]ndfile.Value{}
		var order []string
		for _, key := range attrs.keys {
			for _, attr := range c.attrsMatching(d, name, []string{key}) {
				v, ok := d.attrsOf(name).Get(attr)
				if !ok {
					if err := c.missing(attr, "attribute"); err != nil {
						return err
					}
					continue
				}
				d.removeAttr(name, attr)
				if to, ok := attrs.values[key].(string); ok {
					moved[to], order = v, append(order, to)
				}
			}
		}
		for _, to := range order {
			d.setAttr(name, to, moved[to])
		}
	}
	return nil
}

func renameDim(c *call) error {
	args, input, output, err := c.files(1)
	if err != nil {
		return err
	}
	dims, ok := args[0].(*object)
	if !ok || len(args) > 1 {
		return errUsage
	}
	d, err := c.selected(input, nil)
	if err != nil {
		return err
	}
	to := map[string]string{}
	known := d.dimNames()
	for _, key := range dims.keys {
		name := key
		if !c.fixed {
			if name, err = find(known, key, "dimension"); err != nil {
				return err
			}
		}
		if to[name], err = text(dims.values[key], "dims", false); err != nil {
			return err
		}
	}
	d.renameDims(to)
	return c.write(output, d)
}

func mergeFiles(c *call) error {
	if len(c.args) < 3 {
		return errUsage
	}
	dim, err := text(c.args[0], "dim", false)
	if err != nil {
		return err
	}
	var dd []*dataset
	for _, input := range c.args[1 : len(c.args)-1] {
		d, err := c.selected(input, nil)
		if err != nil {
			return err
		}
		dd = append(dd, d)
	}
	if !c.fixed {
		if dim, err = find(dd[0].dimNames(), dim, "dimension"); err != nil {
			return err
		}
	}
	fresh, _ := c.opts.get("new")
	along, err := text(fresh, "new", true)
	if err != nil {
		return err
	}
	var only []string
	if v, ok := c.opts.get("variables"); ok && v != nil {
		if only, err = textList(v, "variables"); err != nil {
			return err
		}
	}
	d, err := merge(dd, dim, along, only)
	if err != nil {
		return err
	}
	return c.write(c.args[len(c.args)-1], d)
}

// merge joins datasets along a dimension: of variables that have it, or of all where
// none has; along is a new one for the others, only restricts these.
func merge(dd []*dataset, dim, along string, only []string) (*dataset, error) {
	made := &dataset{attrs: ndfile.NewAttrs(), vars: map[string]*variable{}}
	isNew := true
	for _, d := range dd {
		for i := range d.attrs.Len() {
			made.attrs.Set(d.attrs.At(i))
		}
		for _, name := range d.names() {
			isNew = isNew && !slices.Contains(d.vars[name].dims(), dim)
			if made.vars[name] == nil {
				made.vars[name] = d.vars[name]
			}
		}
	}
	for name, first := range made.vars {
		wanted := only == nil || slices.Contains(only, name)
		to := ""
		switch {
		case isNew && wanted, slices.Contains(first.dims(), dim):
			to = dim
		case along != "" && wanted:
			to = along
		default:
			continue
		}
		v, err := join(dd, name, first, to)
		if err != nil {
			return nil, err
		}
		made.vars[name] = v
	}
	return made, nil
}

// join puts the parts of a variable one behind the other along an axis, or along a
// new first one. What a dataset does not have is missing.
func join(dd []*dataset, name string, first *variable, dim string) (*variable, error) {
	dims := first.dims()
	axis := slices.Index(dims, dim)
	v := &variable{name: name, meta: ndfile.NewAttrs()}
	if first.data == nil {
		return first, nil
	}
	outer, shape := int64(1), slices.Clone(first.data.shape)
	if axis < 0 {
		shape = append([]int64{1}, shape...)
	}
	for _, n := range shape[:max(0, axis)] {
		outer *= n
	}
	made := &data{dtype: first.data.dtype, texts: nil}
	var parts []*data
	total := int64(0)
	for _, d := range dd {
		part, err := partOf(d, name, first, dims, axis, dim)
		if err != nil {
			return nil, err
		}
		if part.meta != nil {
			for i := range part.meta.Len() {
				v.meta.Set(part.meta.At(i))
			}
		}
		parts = append(parts, part.data)
		if axis < 0 {
			total++
		} else {
			total += part.data.shape[axis]
		}
	}
	masked := slices.ContainsFunc(parts, func(t *data) bool { return t.mask != nil })
	for o := range outer {
		for _, t := range parts {
			if masked && t.mask == nil {
				t.mask = make([]byte, t.count())
			}
			n := t.count() / outer
			made.append(t, o*n, n)
		}
	}
	shape[max(0, axis)] = total
	made.shape = shape
	v.data = made
	if axis < 0 {
		dims = append([]string{dim}, dims...)
	}
	v.setDims(dims)
	return v, nil
}

// partOf is the variable in one of the datasets, or missing elements in its place.
func partOf(d *dataset, name string, first *variable, dims []string, axis int, dim string) (*variable, error) {
	v := d.vars[name]
	if v != nil && v.data != nil {
		if !slices.Equal(v.dims(), dims) {
			return nil, fmt.Errorf("merge: incompatible dimensions in variable %q", name)
		}
		for i, n := range v.data.shape {
			if i != axis && n != first.data.shape[i] {
				return nil, fmt.Errorf("merge: incompatible size in variable %q", name)
			}
		}
		return v, nil
	}
	shape := slices.Clone(first.data.shape)
	if axis >= 0 {
		shape[axis], _ = d.length(dim)
	}
	n, err := ndarray.Count(shape)
	if err != nil {
		return nil, err
	}
	t := &data{dtype: first.data.dtype, shape: shape, mask: []byte(strings.Repeat("\x01", int(n)))}
	if first.data.texts != nil {
		t.texts = make([][]byte, n)
	} else {
		t.bytes = make([]byte, n*int64(t.dtype.Size))
	}
	return &variable{name: name, data: t}, nil
}
