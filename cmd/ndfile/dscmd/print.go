package dscmd

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// metadata reads the last argument without data.
func (c *call) metadata(least, most int) (*dataset, error) {
	if len(c.args) < least || most > 0 && len(c.args) > most {
		return nil, errUsage
	}
	file, err := text(c.args[len(c.args)-1], "input", false)
	if err != nil {
		return nil, err
	}
	return read(c.ctx, file, func(string) bool { return false })
}

func attrNames(a *ndfile.Attrs) []string { return slices.Clone(a.Keys()) }

func printAttrs(c *call) error {
	d, err := c.metadata(1, 3)
	if err != nil {
		return err
	}
	name := ""
	if len(c.args) > 1 && c.args[0] != nil {
		v, err := c.variable(d, c.args[0])
		if err != nil {
			return err
		}
		if v == nil {
			return c.print(newObject())
		}
		name = v.name
	}
	attrs := d.attrsOf(name)
	if len(c.args) < 3 {
		return c.print(fromAttrs(attrs))
	}
	pattern, err := text(c.args[1], "attr", false)
	if err == nil && !c.fixed {
		pattern, err = find(attrNames(attrs), pattern, "attribute")
	}
	if err != nil {
		return err
	}
	v, ok := attrs.Get(pattern)
	if !ok {
		if err := c.missing(pattern, "attribute"); err != nil {
			return err
		}
	}
	return c.print(fromValue(v))
}

func cat(c *call) error {
	d, err := c.metadata(1, 0)
	if err != nil {
		return err
	}
	if c.on("jd") || c.on("h") {
		return fmt.Errorf("times are printed as they are stored: -h and --jd are not supported; use ndfile.compat.ds_format")
	}
	names, err := c.variables(d, c.args[:len(c.args)-1])
	if err != nil || len(names) == 0 {
		return err
	}
	if d, err = c.selected(c.args[len(c.args)-1], names); err != nil {
		return err
	}
	var columns []*data
	var dims []string
	for i, name := range names {
		v := d.vars[name]
		if v == nil {
			if err := c.missing(name, "variable"); err != nil {
				return err
			}
			v = &variable{name: name, meta: ndfile.NewAttrs()}
		}
		if i > 0 && !slices.Equal(v.dims(), dims) {
			return fmt.Errorf("incompatible dimensions")
		}
		dims, columns = v.dims(), append(columns, v.data)
	}
	if !c.on("n") {
		if err := c.print(oneOrList(texts(names))); err != nil {
			return err
		}
	}
	return c.rows(columns)
}

// rows prints a line for each index of the first axis.
func (c *call) rows(columns []*data) error {
	for i := int64(0); columns[0] != nil; i++ {
		line := make([]any, len(columns))
		for k, t := range columns {
			switch {
			case t == nil:
			case len(t.shape) == 0:
				line[k] = t.element(0)
			case i < t.shape[0]:
				line[k], _ = t.nested(t.shape[1:], i*(t.count()/t.shape[0]))
			}
		}
		if first := columns[0].shape; len(first) == 0 && i > 0 || len(first) > 0 && i >= first[0] {
			return nil
		}
		if err := c.print(oneOrList(line)); err != nil {
			return err
		}
	}
	return nil
}

func oneOrList(items []any) any {
	if len(items) == 1 {
		return items[0]
	}
	return items
}

func printDim(c *call) error {
	d, err := c.metadata(2, 2)
	if err != nil {
		return err
	}
	name, err := text(c.args[0], "dim", false)
	if err != nil {
		return err
	}
	n, ok := d.dimSizes(d.names()).get(name)
	if !ok {
		if err := c.missing(name, "dimension"); err != nil {
			return err
		}
		n = int64(0)
	}
	return c.print(n)
}

func printDims(c *call) error {
	d, err := c.metadata(1, 2)
	if err != nil {
		return err
	}
	withSize := c.on("z") || c.on("size")
	if len(c.args) == 1 || c.args[0] == nil {
		if withSize {
			return c.print(d.dimSizes(d.names()))
		}
		return c.print(texts(d.dimNames()))
	}
	v, err := c.variable(d, c.args[0])
	switch {
	case err != nil:
		return err
	case v == nil:
		return c.print([]any{})
	case withSize:
		return c.print(d.dimSizes([]string{v.name}))
	}
	return c.print(texts(v.dims()))
}

func ls(c *call) error {
	d, err := c.metadata(1, 0)
	if err != nil {
		return err
	}
	names := d.names()
	if patterns := c.args[:len(c.args)-1]; len(patterns) > 0 {
		if names, err = c.variables(d, patterns); err != nil {
			return err
		}
	}
	var known []string
	for _, name := range names {
		if d.vars[name] != nil {
			known = append(known, name)
		} else if err := c.missing(name, "variable"); err != nil {
			return err
		}
	}
	if c.on("l") {
		if err := c.print(d.dimSizes(known)); err != nil {
			return err
		}
	}
	asked, withAttrs := c.opts.get("a")
	for _, name := range known {
		v := d.vars[name]
		line := []any{name}
		if c.on("l") {
			typ, _ := v.meta.Get(".type")
			line = append(line, fromValue(typ), texts(v.dims()))
		}
		if withAttrs {
			list, err := textList(asked, "a")
			if err != nil {
				return err
			}
			attrs := d.attrsOf(name)
			for _, attr := range list {
				value, _ := attrs.Get(attr)
				line = append(line, fromValue(value))
			}
		}
		if err := c.print(oneOrList(line)); err != nil {
			return err
		}
	}
	return nil
}

func printMeta(c *call) error {
	d, err := c.metadata(1, 2)
	if err != nil {
		return err
	}
	meta := map[string]any{}
	switch {
	case len(c.args) == 1 || c.args[0] == nil:
		for _, name := range d.names() {
			meta[escape(name)] = fromAttrs(d.vars[name].meta)
		}
		meta["."] = fromAttrs(d.attrs)
	case c.args[0] == ".":
		meta = fromAttrs(d.attrs).values
	default:
		v, err := c.variable(d, c.args[0])
		if err != nil {
			return err
		}
		if v != nil {
			meta = fromAttrs(v.meta).values
		}
	}
	return c.print(sorted(meta))
}

func printSize(c *call) error {
	return c.printOf(func(v *variable) any {
		size := []any{}
		for _, n := range v.size() {
			size = append(size, n)
		}
		return size
	})
}

func printType(c *call) error {
	return c.printOf(func(v *variable) any {
		typ, _ := v.meta.Get(".type")
		return fromValue(typ)
	})
}

// printOf prints something of one variable.
func (c *call) printOf(what func(*variable) any) error {
	d, err := c.metadata(2, 2)
	if err != nil {
		return err
	}
	v, err := c.variable(d, c.args[0])
	if err != nil {
		return err
	}
	if v == nil {
		return c.print(nil)
	}
	return c.print(what(v))
}

// stats prints count, extremes, mean, median, deviation and percentiles; NaN and
// missing elements count nowhere but in the count.
func stats(c *call) error {
	d, err := c.metadata(2, 2)
	if err != nil {
		return err
	}
	v, err := c.variable(d, c.args[0])
	if err != nil || v == nil {
		return err
	}
	if d, err = c.selected(c.args[1], []string{v.name}); err != nil {
		return err
	}
	t := d.vars[v.name].data
	if t == nil {
		return nil
	}
	var x []float64
	whole := true
	for i := range t.count() {
		switch e := t.element(i).(type) {
		case int64:
			x = append(x, float64(e))
		case uint64:
			x = append(x, float64(e))
		case float64:
			if whole = false; !math.IsNaN(e) {
				x = append(x, e)
			}
		case nil:
		default:
			return fmt.Errorf("%s: not a number", v.name)
		}
	}
	sort.Float64s(x)
	o := newObject()
	o.set("count", t.count())
	o.set("min", extreme(x, 0, whole))
	o.set("max", extreme(x, len(x)-1, whole))
	mean, deviation := moments(x)
	o.set("mean", mean)
	o.set("median", percentile(x, 50))
	o.set("std", deviation)
	for _, p := range []float64{68, 95, 99} {
		o.set(fmt.Sprintf("p%g", p), []any{percentile(x, 50-p/2), percentile(x, 50+p/2)})
	}
	return c.print(o)
}

func extreme(x []float64, i int, whole bool) any {
	switch {
	case len(x) == 0:
		return math.NaN()
	case whole:
		return int64(x[i])
	}
	return x[i]
}

func moments(x []float64) (mean, deviation float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(x)))
}

// percentile is that of sorted numbers, with linear interpolation.
func percentile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	at := p / 100 * float64(len(x)-1)
	lo := int(math.Floor(at))
	hi := min(lo+1, len(x)-1)
	return x[lo] + (x[hi]-x[lo])*(at-float64(lo))
}
