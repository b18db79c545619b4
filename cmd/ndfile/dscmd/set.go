package dscmd

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// assignment is what set is to do with a variable.
type assignment struct {
	name    string
	typ     string // "" as it is, or as the data are
	dims    any    // nil as they are
	data    any
	setData bool
	attrs   *object
}

func set(c *call) error {
	args, input, output, err := c.files(0)
	if err != nil {
		return err
	}
	options := newObject()
	var rest []any
	lists := true
	for _, arg := range args {
		if o, ok := arg.(*object); ok {
			options.update(o)
			continue
		}
		_, list := arg.([]any)
		lists = lists && list
		rest = append(rest, arg)
	}
	var all []assignment
	attrs := options
	if !lists {
		attrs = newObject()
		rest = []any{append(rest, options)}
	}
	for _, arg := range rest {
		a, err := newAssignment(arg.([]any))
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	d := &dataset{attrs: ndfile.NewAttrs(), vars: map[string]*variable{}}
	if input != nil {
		if d, err = c.selected(input, nil); err != nil {
			return err
		}
	}
	for _, a := range all {
		if err := c.assign(d, a); err != nil {
			return err
		}
	}
	c.setAttrs(d, "", attrs)
	return c.write(output, d)
}

// newAssignment reads { var [type [dims [data]]] [attrs] }.
func newAssignment(args []any) (a assignment, err error) {
	a.attrs = newObject()
	if len(args) < 2 || len(args) > 5 {
		return a, errUsage
	}
	if o, ok := args[len(args)-1].(*object); ok {
		a.attrs, args = o, args[:len(args)-1]
	}
	if a.name, err = text(args[0], "var", false); err != nil {
		return a, err
	}
	if len(args) > 1 {
		if a.typ, err = text(args[1], "type", true); err != nil {
			return a, err
		}
	}
	if len(args) > 2 {
		a.dims = args[2]
	}
	if a.setData = len(args) > 3; a.setData {
		a.data = args[3]
	}
	return a, nil
}

// assign changes or makes the variables that a name means.
func (c *call) assign(d *dataset, a assignment) error {
	names := []string{a.name}
	if !c.fixed {
		names = findAll(d.names(), a.name)
	}
	var dims []string
	if a.dims != nil {
		list, err := textList(a.dims, "dims")
		if err != nil {
			return err
		}
		dims = list
		for i, pattern := range dims {
			if !c.fixed {
				if dims[i], err = find(d.dimNames(), pattern, "dimension"); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range names {
		v := d.vars[name]
		if v == nil {
			v = &variable{name: name, meta: ndfile.NewAttrs()}
			d.vars[name] = v
		}
		if err := v.assign(a); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if a.dims != nil {
			v.meta.Delete(".dims")
			if len(dims) > 0 {
				v.setDims(dims)
			}
		}
		if v.data != nil && len(v.dims()) != len(v.data.shape) {
			return fmt.Errorf("dataset variable %q has inconsistent number of dimensions: %d dimensions defined but data has %d dimensions",
				name, len(v.dims()), len(v.data.shape))
		}
		c.setAttrs(d, name, a.attrs)
	}
	return nil
}

// assign sets data and type.
func (v *variable) assign(a assignment) error {
	var elements []any
	var shape []int64
	switch {
	case a.setData && a.data == nil:
		v.data = nil
		return nil
	case a.setData:
		var err error
		if shape, err = flatten(a.data, 0, nil, &elements); err != nil {
			return err
		}
	case v.data == nil || a.typ == "":
		return nil
	default:
		shape = v.data.shape
		for i := range v.data.count() {
			elements = append(elements, v.data.element(i))
		}
	}
	typ := a.typ
	if typ == "" {
		typ = commonType(elements)
	}
	t, err := fromElements(elements, shape, typ)
	if err != nil {
		return err
	}
	v.data = t
	if a.typ != "" {
		v.meta.Set(".type", ndfile.StringValue(typ))
	}
	return nil
}

// setAttrs sets attributes; a name can be a pattern for those that are there.
func (c *call) setAttrs(d *dataset, name string, attrs *object) {
	for _, key := range attrs.keys {
		for _, attr := range c.attrsMatching(d, name, []string{key}) {
			d.setAttr(name, attr, toValue(attrs.values[key]))
		}
	}
}

// flatten gives the shape of nested lists and appends their elements.
func flatten(v any, depth int, shape []int64, elements *[]any) ([]int64, error) {
	list, ok := v.([]any)
	if !ok {
		if depth < len(shape) {
			return nil, fmt.Errorf("invalid data: lists of different depth")
		}
		*elements = append(*elements, v)
		return shape, nil
	}
	if depth == len(shape) {
		if len(*elements) > 0 {
			return nil, fmt.Errorf("invalid data: lists of different depth")
		}
		shape = append(shape, int64(len(list)))
	} else if shape[depth] != int64(len(list)) {
		return nil, fmt.Errorf("invalid data: lists of different lengths")
	}
	var err error
	for _, item := range list {
		if shape, err = flatten(item, depth+1, shape, elements); err != nil {
			return nil, err
		}
	}
	return shape, nil
}

// commonType is the type that holds all elements.
func commonType(elements []any) string {
	best := "bool"
	rank := map[string]int{"bool": 0, "int64": 1, "float64": 2, "unicode": 3}
	for _, e := range elements {
		typ := "bool"
		switch e.(type) {
		case nil, bool:
		case int64, uint64:
			typ = "int64"
		case float64:
			typ = "float64"
		default:
			typ = "unicode"
		}
		if rank[typ] > rank[best] {
			best = typ
		}
	}
	return best
}

var dtypes = map[string]string{"bool": "|b1", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "uint8": "|u1", "uint16": "<u2",
	"uint32": "<u4", "uint64": "<u8", "float32": "<f4", "float64": "<f8", "str": "bytes", "unicode": "str"}

// fromElements makes data of a type of ds-format; nil is missing.
func fromElements(elements []any, shape []int64, typ string) (*data, error) {
	name, ok := dtypes[typ]
	if !ok {
		return nil, fmt.Errorf("invalid type")
	}
	t := &data{dtype: ndarray.MustParse(name).Native(), shape: shape, mask: make([]byte, len(elements))}
	missing := false
	for i, e := range elements {
		if e == nil {
			t.mask[i], missing = 1, true
		}
		if t.dtype.IsVar() {
			t.texts = append(t.texts, []byte(plainText(e)))
			continue
		}
		p, err := t.bytesOf(e)
		if err != nil {
			return nil, err
		}
		t.bytes = append(t.bytes, p...)
	}
	if !missing {
		t.mask = nil
	}
	return t, nil
}

// plainText is an element as Python's str has it.
func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".en") {
			s += ".0"
		}
		return s
	}
	return scalarText(v)
}

// bytesOf converts an element as NumPy's astype does.
func (t *data) bytesOf(v any) ([]byte, error) {
	p := make([]byte, t.dtype.Size)
	var f float64
	var i int64
	switch v := v.(type) {
	case nil:
		return p, nil
	case bool:
		if v {
			f, i = 1, 1
		}
	case int64:
		f, i = float64(v), v
	case uint64:
		f, i = float64(v), int64(v)
	case float64:
		f, i = v, int64(v)
	default:
		return nil, fmt.Errorf("%s is no number", scalarText(v))
	}
	switch {
	case t.dtype.Kind == ndarray.Bool:
		if f != 0 {
			p[0] = 1
		}
	case t.dtype.Kind == ndarray.Float && t.dtype.Size == 4:
		binary.NativeEndian.PutUint32(p, math.Float32bits(float32(f)))
	case t.dtype.Kind == ndarray.Float:
		binary.NativeEndian.PutUint64(p, math.Float64bits(f))
	case t.dtype.Size == 1:
		p[0] = byte(i)
	case t.dtype.Size == 2:
		binary.NativeEndian.PutUint16(p, uint16(i))
	case t.dtype.Size == 4:
		binary.NativeEndian.PutUint32(p, uint32(i))
	default:
		binary.NativeEndian.PutUint64(p, uint64(i))
	}
	return p, nil
}
