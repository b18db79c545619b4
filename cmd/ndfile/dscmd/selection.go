package dscmd

import (
	"fmt"
	"math"
	"slices"
)

// chosen are indexes along dimensions; one says that a single one is left, and the
// dimension goes.
type chosen map[string]*indexes

type indexes struct {
	list []int64
	one  bool
}

// and intersects with what was chosen along a dimension before.
func (s chosen) and(dim string, x *indexes) {
	before := s[dim]
	if before == nil {
		s[dim] = x
		return
	}
	var both []int64
	for _, i := range before.list {
		if slices.Contains(x.list, i) {
			both = append(both, i)
		}
	}
	slices.Sort(both)
	s[dim] = &indexes{list: slices.Compact(both)}
}

// selected reads a file: the variables, as far as the selectors among the options
// choose. All variables where names is nil.
func (c *call) selected(file any, names []string) (*dataset, error) {
	return c.selectedWith(file, names, newObject())
}

func (c *call) selectedWith(file any, names []string, sel *object) (*dataset, error) {
	path, err := text(file, "input", false)
	if err != nil {
		return nil, err
	}
	options := map[string]*object{"sel": newObject(), "range": newObject(), "at": newObject(), "between": newObject()}
	options["sel"].update(sel)
	for name, o := range options {
		if v, ok := c.opts.get(name); ok {
			given, err := member(v, name)
			if err != nil {
				return nil, err
			}
			o.update(given)
		}
	}
	d, err := read(c.ctx, path, func(name string) bool {
		_, at := options["at"].get(name)
		_, between := options["between"].get(name)
		return names == nil || slices.Contains(names, name) || at || between
	})
	if err != nil {
		return nil, err
	}
	s := chosen{}
	for _, selector := range []struct {
		name   string
		choose func(d *dataset, s chosen, key string, v any) error
	}{{"sel", bySel}, {"range", byRange}, {"at", byAt}, {"between", byBetween}} {
		o := options[selector.name]
		for _, key := range o.keys {
			if err := selector.choose(d, s, key, o.values[key]); err != nil {
				return nil, err
			}
		}
	}
	for name, v := range d.vars {
		if names != nil && !slices.Contains(names, name) {
			delete(d.vars, name)
		} else {
			v.take(s)
		}
	}
	return d, nil
}

// member is an option that is an object, maybe as the only item of a list.
func member(v any, what string) (*object, error) {
	if list, ok := v.([]any); ok {
		switch len(list) {
		case 0:
			return newObject(), nil
		case 1:
			v = list[0]
		}
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("%s: invalid type", what)
	}
	return o, nil
}

// length is the one of a dimension.
func (d *dataset) length(dim string) (int64, error) {
	v, _ := d.dimSizes(d.names()).get(dim)
	n, ok := v.(int64)
	if !ok {
		return 0, fmt.Errorf("%s: dimension not found", dim)
	}
	return n, nil
}

// bySel: an index, a list of them, or a mask.
func bySel(d *dataset, s chosen, dim string, v any) error {
	n, err := d.length(dim)
	if err != nil {
		return nil // of no variable here
	}
	items, list := v.([]any)
	if !list {
		items = []any{v}
	}
	x := &indexes{one: !list}
	for k, item := range items {
		switch i := item.(type) {
		case bool:
			if i {
				x.list = append(x.list, int64(k))
			}
		case int64:
			if i < 0 {
				i += n
			}
			if i < 0 || i >= n {
				return fmt.Errorf("index %d is out of bounds for dimension %s with size %d", item, dim, n)
			}
			x.list = append(x.list, i)
		default:
			return fmt.Errorf("sel: invalid type")
		}
	}
	s.and(dim, x)
	return nil
}

// pair are the two ends of a range, nil where there is none.
func pair(v any, what string) (low, high any, err error) {
	list, ok := v.([]any)
	if !ok || len(list) != 2 {
		return nil, nil, fmt.Errorf("%s: invalid type", what)
	}
	return list[0], list[1], nil
}

// byRange: from an index to another, without that.
func byRange(d *dataset, s chosen, dim string, v any) error {
	low, high, err := pair(v, "range")
	if err != nil {
		return err
	}
	n, err := d.length(dim)
	if err != nil {
		return err
	}
	end := func(v any, otherwise int64) int64 {
		i, ok := v.(int64)
		if !ok {
			return otherwise
		}
		if i < 0 {
			i += n
		}
		return max(0, min(i, n))
	}
	x := &indexes{}
	for i := end(low, 0); i < end(high, n); i++ {
		x.list = append(x.list, i)
	}
	s.and(dim, x)
	return nil
}

// numbers are those of a variable with the given number of axes, NaN where one is
// missing.
func (d *dataset) numbers(name string) (v *variable, x []float64, err error) {
	if v = d.vars[name]; v == nil || v.data == nil {
		return nil, nil, fmt.Errorf("%s: variable not found", name)
	}
	x = make([]float64, v.data.count())
	for i := range x {
		f, ok := asNumber(v.data.element(int64(i)))
		if x[i] = f; !ok {
			x[i] = math.NaN()
		}
	}
	return v, x, nil
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// byAt: the elements that are closest to values.
func byAt(d *dataset, s chosen, name string, v any) error {
	of, x, err := d.numbers(name)
	if err != nil {
		return err
	}
	values, list := v.([]any)
	if !list {
		values = []any{v}
	}
	places := map[string]*indexes{}
	for _, value := range values {
		f, ok := asNumber(value)
		if !ok {
			return fmt.Errorf("at: expected numbers: times as texts are not supported; use ndfile.compat.ds_format")
		}
		best := 0
		for i := range x {
			if math.Abs(x[i]-f) < math.Abs(x[best]-f) || math.IsNaN(x[best]) {
				best = i
			}
		}
		at := int64(best)
		dims := of.dims()
		for axis := len(dims) - 1; axis >= 0; axis-- {
			p := places[dims[axis]]
			if p == nil {
				p = &indexes{one: !list}
				places[dims[axis]] = p
			}
			if i := at % of.data.shape[axis]; !slices.Contains(p.list, i) {
				p.list = append(p.list, i)
			}
			at /= of.data.shape[axis]
		}
	}
	for _, dim := range of.dims() {
		slices.Sort(places[dim].list)
		s.and(dim, places[dim])
	}
	return nil
}

// byBetween: the elements from a value to another, without that.
func byBetween(d *dataset, s chosen, name string, v any) error {
	low, high, err := pair(v, "between")
	if err != nil {
		return err
	}
	of, x, err := d.numbers(name)
	if err != nil {
		return err
	}
	if len(of.data.shape) != 1 {
		return fmt.Errorf("between: %s has not one dimension", name)
	}
	from, hasLow := asNumber(low)
	to, hasHigh := asNumber(high)
	if !hasLow && low != nil || !hasHigh && high != nil {
		return fmt.Errorf("between: expected numbers: times as texts are not supported; use ndfile.compat.ds_format")
	}
	p := &indexes{}
	for i, f := range x {
		if !math.IsNaN(f) && (!hasLow || f >= from) && (!hasHigh || f < to) {
			p.list = append(p.list, int64(i))
		}
	}
	s.and(of.dims()[0], p)
	return nil
}

// take keeps what is chosen.
func (v *variable) take(s chosen) {
	dims := v.dims()
	changed := false
	for axis := len(dims) - 1; axis >= 0; axis-- {
		x := s[dims[axis]]
		if x == nil {
			continue
		}
		changed = true
		if v.data != nil {
			v.data = v.data.take(axis, x.list, x.one)
		}
		if x.one {
			dims = slices.Delete(dims, axis, axis+1)
		}
	}
	if changed {
		v.setDims(dims)
	}
}
