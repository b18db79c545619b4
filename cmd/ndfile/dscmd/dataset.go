package dscmd

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// dataset is what ds-format reads of a file: metadata, and data as far as they are
// asked for.
type dataset struct {
	attrs *ndfile.Attrs
	last  bool // attributes come behind the metadata of variables, as in a ds file
	vars  map[string]*variable
}

// variable has its metadata as ds-format has them: attributes and keys with a dot.
type variable struct {
	name string
	meta *ndfile.Attrs
	data *data // nil: not read, or there are none
}

// data are elements in native order; those of variable length are texts.
type data struct {
	dtype ndarray.DType
	shape []int64
	bytes []byte
	texts [][]byte
	mask  []byte // 1 = missing; nil where nothing is
}

// read reads a file: the data of the variables that want says, all where it is nil.
func read(ctx context.Context, file string, want func(name string) bool) (*dataset, error) {
	f, format, err := ndfile.OpenAs(ctx, all.Formats, file, ndfile.OpenOptions{})
	if ndfile.KindOf(err) == ndfile.ErrNotFound {
		return nil, fmt.Errorf("%s: File does not exist", file)
	}
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	d := &dataset{attrs: f.Attrs().Clone(), last: format.Name() == "ds", vars: map[string]*variable{}}
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			return nil, ndfile.Locate(err, file, name, true)
		}
		v := describe(name, a, format.Name())
		if want == nil || want(name) {
			if v.data, err = load(ctx, a, v); err != nil {
				return nil, ndfile.Locate(err, file, name, true)
			}
		}
		d.vars[name] = v
	}
	return d, nil
}

// describe gives the metadata of a variable. Those of a ds file are as they are.
func describe(name string, a ndfile.Array, format string) *variable {
	s := a.Spec()
	if format == "ds" {
		return &variable{name: name, meta: s.Extra.Clone()}
	}
	m := ndfile.NewAttrs()
	for i := range a.Attrs().Len() {
		key, v := a.Attrs().At(i)
		m.Set(escape(key), v)
	}
	shape, dims := s.Shape, s.Dims
	if dims == nil {
		for i := range shape {
			dims = append(dims, name+"_"+strconv.Itoa(i+1))
		}
	}
	if format == "netcdf" && s.DType.Kind == ndarray.Bytes { // characters have an axis
		text := "string" + strconv.Itoa(s.DType.Size)
		if v, ok := s.Extra.Get("text"); ok {
			text, _ = v.Str()
		}
		if text != "" {
			shape, dims = append(slices.Clone(shape), int64(s.DType.Size)), append(slices.Clone(dims), text)
		}
	}
	sizes := make([]any, len(shape))
	for i, n := range shape {
		sizes[i] = n
	}
	m.Set(".dims", toValue(texts(dims)))
	m.Set(".size", toValue(sizes))
	m.Set(".type", ndfile.StringValue(typeName(s.DType)))
	return &variable{name: name, meta: m}
}

func texts(list []string) []any {
	items := make([]any, len(list))
	for i, s := range list {
		items[i] = s
	}
	return items
}

// typeName is ds-format's name of a dtype.
func typeName(d ndarray.DType) string {
	switch d.Kind {
	case ndarray.Bytes, ndarray.VarBytes:
		return "str"
	case ndarray.Unicode, ndarray.VarString:
		return "unicode"
	case ndarray.Bool:
		return "bool"
	case ndarray.Int:
		return "int" + strconv.Itoa(8*d.Size)
	case ndarray.Uint:
		return "uint" + strconv.Itoa(8*d.Size)
	case ndarray.Float:
		return "float" + strconv.Itoa(8*d.Size)
	}
	return d.String()
}

func load(ctx context.Context, a ndfile.Array, v *variable) (*data, error) {
	s := a.Spec()
	n, err := ndarray.Count(s.Shape)
	if s.NoData || n == 0 || err != nil {
		return nil, err
	}
	t := &data{dtype: s.DType.Native(), shape: slices.Clone(s.Shape)}
	if s.Masked {
		t.mask = make([]byte, n)
	}
	box := ndarray.Full(s.Shape)
	if s.DType.IsVar() {
		t.texts, err = loadTexts(ctx, a, box, n, t.mask)
		return t, err
	}
	b, err := ndarray.NewBuffer(t.dtype, s.Shape)
	if err != nil {
		return nil, err
	}
	if m, ok := a.(ndfile.Masked); ok && s.Masked {
		err = m.ReadMasked(ctx, box, b, t.mask)
	} else {
		err = a.ReadBox(ctx, box, b)
	}
	t.bytes = b.Data
	if v.size() != nil && len(v.size()) > len(t.shape) { // characters
		t.shape, t.dtype.Size = v.size(), 1
	}
	if !slices.Contains(t.mask, 1) {
		t.mask = nil
	}
	return t, err
}

func loadTexts(ctx context.Context, a ndfile.Array, box ndarray.Box, n int64, mask []byte) ([][]byte, error) {
	offsets := make([]int64, n+1)
	s, ok := a.(ndfile.Strings)
	if !ok {
		return nil, ndfile.NewError(ndfile.ErrDType, "texts cannot be read")
	}
	need, err := s.ReadStrings(ctx, box, offsets, nil, mask)
	if err != nil && ndfile.KindOf(err) != ndfile.ErrBuffer {
		return nil, err
	}
	raw := make([]byte, need)
	if _, err := s.ReadStrings(ctx, box, offsets, raw, mask); err != nil {
		return nil, err
	}
	list := make([][]byte, n)
	for i := range list {
		list[i] = raw[offsets[i]:offsets[i+1]]
	}
	return list, nil
}

func escape(name string) string {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, `\`) {
		return `\` + name
	}
	return name
}

func unescape(name string) string {
	if strings.HasPrefix(name, `\.`) || strings.HasPrefix(name, `\\`) {
		return name[1:]
	}
	return name
}

// names lists the variables, sorted.
func (d *dataset) names() []string {
	var names []string
	for name := range d.vars {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// size is the shape of a variable; nil where it is not known.
func (v *variable) size() []int64 {
	if v.data != nil {
		return v.data.shape
	}
	m, _ := v.meta.Get(".size")
	var shape []int64
	for _, item := range m.Items() {
		n, _ := item.Int64()
		shape = append(shape, n)
	}
	return shape
}

// dims are the names of the axes; those without get one.
func (v *variable) dims() []string {
	m, ok := v.meta.Get(".dims")
	var dims []string
	if !ok {
		for i := range v.size() {
			dims = append(dims, v.name+"_"+strconv.Itoa(i+1))
		}
	}
	for _, item := range m.Items() {
		s, _ := item.Str()
		dims = append(dims, s)
	}
	return dims
}

func (v *variable) setDims(dims []string) { v.meta.Set(".dims", toValue(texts(dims))) }

// attrs are the attributes of a variable, or of the dataset.
func (d *dataset) attrsOf(name string) *ndfile.Attrs {
	if name == "" {
		return d.attrs
	}
	attrs := ndfile.NewAttrs()
	if v := d.vars[name]; v != nil {
		for i := range v.meta.Len() {
			if key, value := v.meta.At(i); !strings.HasPrefix(key, ".") {
				attrs.Set(unescape(key), value)
			}
		}
	}
	return attrs
}

// setAttr changes an attribute of a variable, or of the dataset.
func (d *dataset) setAttr(name, attr string, v ndfile.Value) {
	if name == "" {
		d.attrs.Set(attr, v)
	} else {
		d.vars[name].meta.Set(escape(attr), v)
	}
}

func (d *dataset) removeAttr(name, attr string) {
	if name == "" {
		d.attrs.Delete(attr)
	} else if v := d.vars[name]; v != nil {
		v.meta.Delete(escape(attr))
	}
}

// dimSizes are the lengths of dimensions, of the given variables.
func (d *dataset) dimSizes(names []string) *object {
	sizes := newObject()
	for _, name := range names {
		v := d.vars[name]
		shape := v.size()
		for i, dim := range v.dims() {
			if i < len(shape) {
				sizes.set(dim, shape[i])
			} else {
				sizes.set(dim, nil)
			}
		}
	}
	return sizes
}

// dimNames are the dimensions of all variables, sorted.
func (d *dataset) dimNames() []string {
	names := slices.Clone(d.dimSizes(d.names()).keys)
	slices.Sort(names)
	return names
}

func sorted(m map[string]any) *object {
	o := newObject()
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		o.set(key, m[key])
	}
	return o
}

// findAll gives the names that match a pattern, or the pattern where none does.
func findAll(names []string, pattern string) []string {
	var found []string
	for _, name := range names {
		if ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00")); ok && err == nil {
			found = append(found, name)
		}
	}
	if found == nil {
		return []string{pattern}
	}
	return found
}

// find is findAll where one is meant.
func find(names []string, pattern, what string) (string, error) {
	found := findAll(names, pattern)
	if len(found) > 1 {
		return "", fmt.Errorf("more than one %s is matching the pattern %q", what, pattern)
	}
	return found[0], nil
}
