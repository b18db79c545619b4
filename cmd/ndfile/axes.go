package main

import (
	"context"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// axis is what an axis of a picture shows: places of the elements, which rise or
// fall, or names, or neither, where elements are counted.
type axis struct {
	label  string
	units  string
	places []float64
	names  []string
	times  bool // places are seconds since 1970
}

// Longer coordinates are not read, and more texts not shown.
const (
	maxPlaces = 1 << 20
	maxNames  = 24
)

// axesOf describes the axes of an array by the arrays of one axis that bear the names
// of its dimensions, as in NetCDF and ds.
func axesOf(ctx context.Context, f ndfile.File, name string, a ndfile.Array) []axis {
	s := a.Spec()
	list := make([]axis, len(s.Shape))
	kept := 0
	for i := range list {
		list[i].label = "axis " + strconv.Itoa(i)
	}
	if s.Dims == nil {
		return list
	}
	if d, ok := a.(*decoded); ok {
		a = d.Array
	}
	v, ok := a.(*view)
	if !ok {
		v = whole(a)
	}
	dims := v.inner.Spec().Dims
	for i, sel := range v.sel {
		if sel.drop {
			continue
		}
		x := &list[kept]
		kept++
		x.label = dims[i]
		if c := coordinate(f, name, dims[i], v.inner.Spec().Shape[i]); c != nil {
			x.read(ctx, selected(c, []along{sel}))
		}
	}
	return list
}

// coordinate is the array of one axis that describes a dimension; nil where there is
// none. In a group it is looked for there first.
func coordinate(f ndfile.File, name, dim string, extent int64) ndfile.Array {
	for _, candidate := range []string{path.Join(path.Dir(name), dim), dim} {
		if candidate == name || !slices.Contains(f.Names(), candidate) {
			continue
		}
		c, err := f.Array(candidate)
		if err != nil || c.Spec().NoData || len(c.Spec().Shape) != 1 || c.Spec().Shape[0] != extent || extent > maxPlaces {
			continue
		}
		return c
	}
	return nil
}

// read takes places or names of a coordinate; where they cannot be read, or do not
// rise or fall all along, elements are counted.
func (x *axis) read(ctx context.Context, c ndfile.Array) {
	s := c.Spec()
	box := ndarray.Full(s.Shape)
	switch s.DType.Kind {
	case ndarray.VarString, ndarray.Unicode, ndarray.Bytes:
		if s.Shape[0] > maxNames {
			return
		}
		if b, err := readBlock(ctx, c, box, s.DType); err == nil {
			for i := range b.n {
				x.names = append(x.names, strings.Trim(string(appendElement(nil, s.DType.Native(), b.element(i), false)), `"`))
			}
		}
		return
	}
	d := decodingOf(c.Attrs(), false)
	places, err := readFloats(ctx, c, box, d.unpack)
	if err != nil || !monotonic(places) {
		return
	}
	x.places, x.units = places, d.units
	if d.long != "" {
		x.label = d.long
	}
	switch perSecond, epoch, ok := timeUnit(d.units, d.calendar); {
	case s.DType.Kind == ndarray.Datetime:
		x.times = x.scale(s.DType.Unit)
	case ok:
		for i := range places {
			places[i] = epoch + places[i]*perSecond
		}
		x.times = true
	}
	if !x.times && x.units != "" {
		x.label += " [" + x.units + "]"
	}
}

// scale turns counts of one of NumPy's units of time into seconds.
func (x *axis) scale(unit string) bool {
	name := strings.TrimLeftFunc(unit, unicode.IsDigit)
	multiple := 1.0
	if digits := unit[:len(unit)-len(name)]; digits != "" {
		multiple, _ = strconv.ParseFloat(digits, 64)
	}
	u, ok := timeUnits[name]
	for i := range x.places {
		if u.parts > 0 {
			x.places[i] *= multiple / float64(u.parts)
		} else {
			x.places[i] *= multiple * float64(u.seconds)
		}
	}
	if !ok {
		x.places = nil // years and months
	}
	return ok
}

// at is the place of an element.
func (x *axis) at(i float64) float64 {
	if x.places == nil {
		return i
	}
	return x.places[int(i)]
}

// place is where an element lies, in words: a time, a name, a number, or its index.
func (x *axis) place(i int64) string {
	switch {
	case x.names != nil:
		return x.names[i]
	case x.times:
		return isoTime(int64(math.Round(x.places[i])), "s")
	}
	return strconv.FormatFloat(x.at(float64(i)), 'g', -1, 64)
}

// degrees tells whether places are degrees of a map.
func (x *axis) degrees() bool {
	u := strings.ToLower(x.units)
	return x.places != nil && (strings.HasPrefix(u, "degrees_") || strings.HasPrefix(u, "degree_"))
}

// monotonic tells whether numbers rise all along, or fall.
func monotonic(v []float64) bool {
	for i := range v {
		if math.IsNaN(v[i]) || i > 0 && (v[i] == v[i-1] || (v[i] > v[i-1]) != (v[1] > v[0])) {
			return false
		}
	}
	return len(v) > 0
}

// decoding is what attributes say of values, by the conventions of NetCDF.
type decoding struct {
	scale, offset   float64
	least, most     float64
	missing         []float64
	units, calendar string
	long            string
}

// decodingOf reads the attributes; raw leaves the values as they are stored.
func decodingOf(attrs *ndfile.Attrs, raw bool) decoding {
	d := decoding{scale: 1, least: math.Inf(-1), most: math.Inf(1)}
	if attrs == nil {
		return d
	}
	texts := func(dst *string, keys ...string) {
		for _, key := range keys {
			if v, ok := attrs.Get(key); ok && *dst == "" {
				*dst, _ = v.Str()
			}
		}
	}
	texts(&d.units, "units")
	texts(&d.calendar, "calendar")
	texts(&d.long, "long_name", "standard_name")
	if raw {
		return d
	}
	numbers := func(keys ...string) (list []float64) {
		for _, key := range keys {
			v, _ := attrs.Get(key)
			for _, item := range append([]ndfile.Value{v}, v.Items()...) {
				if n, ok := item.Float64(); ok {
					list = append(list, n)
				}
			}
		}
		return list
	}
	first := func(dst *float64, key string) {
		if list := numbers(key); len(list) == 1 {
			*dst = list[0]
		}
	}
	first(&d.scale, "scale_factor")
	first(&d.offset, "add_offset")
	first(&d.least, "valid_min")
	first(&d.most, "valid_max")
	if both := numbers("valid_range"); len(both) == 2 {
		d.least, d.most = both[0], both[1]
	}
	d.missing = numbers("_FillValue", "missing_value")
	return d
}

// unpack is the value of a stored number; NaN where it stands for nothing.
func (d *decoding) unpack(v float64) float64 {
	if slices.Contains(d.missing, v) || v < d.least || v > d.most {
		return math.NaN()
	}
	return v*d.scale + d.offset
}

// label names values: what they are, and their unit.
func (d *decoding) label() string {
	if d.units == "" || d.units == "1" {
		return d.long
	}
	return strings.TrimSpace(d.long + " [" + d.units + "]")
}
