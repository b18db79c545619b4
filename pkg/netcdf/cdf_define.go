package netcdf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// cdfDraft is the header of a classic file that is being made.
type cdfDraft struct {
	cdfHeader
	unlimited []string // names of dimensions that are to have no limit
	types     attTypes // of the file's attributes
	names     map[string]bool
}

// cdfNew is a variable of a new classic file.
type cdfNew struct {
	fillRule
	name  string
	spec  ndfile.Spec
	typ   ncType
	types attTypes
	text  *string // as keyText has it, nil for the usual one
	dims  []int
}

// newDraft begins a header with what the file's Extra says.
func newDraft(m model, x extra) (*cdfDraft, error) {
	d := &cdfDraft{unlimited: x.unlimited, types: x.types, names: map[string]bool{}}
	d.model = m
	for _, dim := range x.dims {
		if _, err := d.dim(dim.name, dim.length, slices.Contains(x.unlimited, dim.name)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// define checks a variable and makes its dimensions. After an error the draft is as
// it was.
func (d *cdfDraft) define(name string, spec *ndfile.Spec) (*cdfNew, error) {
	if strings.Contains(name, "/") {
		return nil, errGroupless(d.model, name)
	}
	if err := checkName("variable", name); err != nil {
		return nil, err
	}
	x, err := parseExtra(spec.Extra, true)
	if err != nil {
		return nil, err
	}
	if x.hasModel && x.model != d.model {
		return nil, ndfile.NewError(ndfile.ErrArgument, "the file has the data model "+d.model.String()+", the array is to have "+x.model.String())
	}
	v := &cdfNew{name: name, types: x.types, text: x.text}
	if v.typ, v.spec, v.fillRule, err = newVariable(spec, d.model, &x); err != nil {
		return nil, err
	}
	have, limit := len(d.dims), slices.Clone(d.unlimited)
	for _, name := range x.unlimited {
		if !slices.Contains(spec.Dims, name) && (x.text == nil || name != *x.text) {
			return nil, ndfile.NewError(ndfile.ErrArgument, "extra \"unlimited\": the array has no axis "+strconv.Quote(name))
		}
		d.unlimited = append(d.unlimited, name)
	}
	if err = d.axes(v); err != nil {
		d.dims, d.unlimited = d.dims[:have], limit
		return nil, err
	}
	d.names[name] = true
	return v, nil
}

// axes finds or makes the dimensions of a variable.
func (d *cdfDraft) axes(v *cdfNew) error {
	for axis, length := range v.spec.Shape {
		name := unnamedDim(length)
		if v.spec.Dims != nil {
			name = v.spec.Dims[axis]
		}
		unlimited := slices.Contains(d.unlimited, name) || length == 0
		if unlimited && axis > 0 {
			return ndfile.NewError(ndfile.ErrValue, "in the data model "+d.model.String()+" only the first axis can be unlimited or have the length 0: found "+
				strconv.Quote(name)+" as axis "+strconv.Itoa(axis))
		}
		id, err := d.dim(name, length, unlimited)
		if err != nil {
			return err
		}
		v.dims = append(v.dims, id)
	}
	if v.typ == ncChar {
		return d.textAxis(v)
	}
	return nil
}

// textAxis finds or makes the dimension of the characters of strings, if they have
// one.
func (d *cdfDraft) textAxis(v *cdfNew) (err error) {
	length, id := int64(v.spec.DType.Size), 0
	switch {
	case v.text == nil || *v.text == "" && (length != 1 || len(v.spec.Shape) > 0):
		id, err = d.textDim(length)
	case *v.text == "":
		return nil
	default:
		unlimited := slices.Contains(d.unlimited, *v.text)
		if unlimited && len(v.dims) > 0 {
			return ndfile.NewError(ndfile.ErrValue, "in the data model "+d.model.String()+" only the first axis can be unlimited: found "+strconv.Quote(*v.text))
		}
		id, err = d.dim(*v.text, length, unlimited)
	}
	v.dims = append(v.dims, id)
	return err
}

// dim gives the dimension of that name, or makes it.
func (d *cdfDraft) dim(name string, length int64, unlimited bool) (int, error) {
	for i := range d.dims {
		switch have := &d.dims[i]; {
		case have.name != name:
			if unlimited && have.unlimited {
				return 0, ndfile.NewError(ndfile.ErrValue, "the data model "+d.model.String()+" has one unlimited dimension: "+strconv.Quote(have.name)+" is it already, besides "+
					strconv.Quote(name))
			}
		case have.length != length:
			return 0, ndfile.NewError(ndfile.ErrValue, "dimension "+strconv.Quote(name)+" has the length "+strconv.FormatInt(have.length, 10)+
				" in another array, and "+strconv.FormatInt(length, 10)+" in this one")
		default:
			return i, nil
		}
	}
	if most := int64(math.MaxInt32); d.model != cdf5 && length > most {
		return 0, ndfile.NewError(ndfile.ErrLimit, "the data model "+d.model.String()+" has axes of at most 2^31-1 elements, found "+strconv.FormatInt(length, 10))
	}
	d.dims = append(d.dims, cdfDim{name, length, unlimited})
	return len(d.dims) - 1, nil
}

// textDim makes a dimension for the length of strings, as group.textDim does.
func (d *cdfDraft) textDim(length int64) (int, error) {
	name := textDimName(length)
	for n := 1; ; n++ {
		id, err := d.dim(name, length, false)
		if ndfile.KindOf(err) != ndfile.ErrValue || n > len(d.dims)+1 {
			return id, err
		}
		name = textDimName(length) + "_" + strconv.Itoa(n)
	}
}

// layOut gives every variable its place, as libnetcdf does: behind the header those
// without records, then the first record of the others, each padded to 4 bytes. A
// single variable of records is not padded.
func (d *cdfDraft) layOut(vars []*cdfNew, attrs *ndfile.Attrs) error {
	var err error
	if d.atts, err = encodeAll(attrs, noType, nil, d.model, d.types); err != nil {
		return err
	}
	d.vars = make([]cdfVar, len(vars))
	for i, from := range vars {
		v := &d.vars[i]
		*v = cdfVar{name: from.name, dims: from.dims, typ: from.typ, bytes: externalSize[from.typ]}
		if v.atts, err = encodeAll(from.attrs, from.spec.DType, from.ours, d.model, from.types); err != nil {
			return err
		}
		for _, id := range v.dims {
			if dim := &d.dims[id]; dim.unlimited {
				v.record = true
				d.records = dim.length
			} else {
				v.bytes = product(v.bytes, dim.length)
			}
		}
	}
	at := int64(len(d.append(nil))) // the places have one size, whatever they are
	large := -1
	for _, record := range []bool{false, true} {
		for i := range d.vars {
			v := &d.vars[i]
			if v.record != record {
				continue
			}
			if large >= 0 && d.model != cdf5 {
				return ndfile.NewError(ndfile.ErrLimit, "the data model "+d.model.String()+" takes a variable of more than "+
					"4 GiB only as the last one: write NETCDF3_64BIT_DATA").In(d.vars[large].name)
			}
			if v.bytes > math.MaxUint32-3 {
				large = i
			}
			if v.begin = at; d.model == cdf1 && at > math.MaxInt32 {
				return ndfile.NewError(ndfile.ErrLimit, "the data model NETCDF3_CLASSIC has no variables behind 2 GiB: write NETCDF3_64BIT_OFFSET").In(v.name)
			}
			at += padded(v.bytes)
			if record {
				d.stride += padded(v.bytes)
			}
		}
	}
	if only := d.onlyRecord(); only != nil {
		d.stride = only.bytes
	}
	return nil
}

// onlyRecord is the variable of records, if there is a single one.
func (d *cdfDraft) onlyRecord() (only *cdfVar) {
	for i := range d.vars {
		if v := &d.vars[i]; v.record {
			if only != nil {
				return nil
			}
			only = v
		}
	}
	return only
}

// append appends the header.
func (h *cdfHeader) append(dst []byte) []byte {
	dst = append(dst, 'C', 'D', 'F', h.model.version())
	dst = h.count(dst, h.records)
	dst = h.head(dst, tagDims, len(h.dims))
	for i := range h.dims {
		dst = h.name(dst, h.dims[i].name)
		length := h.dims[i].length
		if h.dims[i].unlimited {
			length = 0
		}
		dst = h.count(dst, length)
	}
	dst = h.attributes(dst, h.atts)
	dst = h.head(dst, tagVars, len(h.vars))
	for i := range h.vars {
		v := &h.vars[i]
		dst = h.name(dst, v.name)
		dst = h.count(dst, int64(len(v.dims)))
		for _, id := range v.dims {
			dst = h.count(dst, int64(id))
		}
		dst = h.attributes(dst, v.atts)
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.typ))
		size := padded(v.bytes)
		if h.model != cdf5 {
			size = min(size, math.MaxUint32)
		}
		dst = h.count(dst, size)
		if h.model == cdf1 {
			dst = binary.BigEndian.AppendUint32(dst, uint32(v.begin))
		} else {
			dst = binary.BigEndian.AppendUint64(dst, uint64(v.begin))
		}
	}
	return dst
}

// count appends a number, of 8 bytes in CDF-5.
func (h *cdfHeader) count(dst []byte, n int64) []byte {
	if h.model == cdf5 {
		return binary.BigEndian.AppendUint64(dst, uint64(n))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

// head appends the head of a list; that of an empty one has no tag.
func (h *cdfHeader) head(dst []byte, tag uint32, n int) []byte {
	if n == 0 {
		tag = 0
	}
	return h.count(binary.BigEndian.AppendUint32(dst, tag), int64(n))
}

func (h *cdfHeader) name(dst []byte, name string) []byte {
	dst = append(h.count(dst, int64(len(name))), name...)
	return append(dst, make([]byte, -len(name)&3)...)
}

func (h *cdfHeader) attributes(dst []byte, all []attribute) []byte {
	dst = h.head(dst, tagAtts, len(all))
	for i := range all {
		a := &all[i]
		dst = h.name(dst, a.name)
		dst = binary.BigEndian.AppendUint32(dst, uint32(a.typ))
		dst = h.count(dst, int64(a.n))
		at := len(dst)
		dst = append(dst, a.data...)
		toNative(dst[at:], a.typ)
		dst = append(dst, make([]byte, -len(a.data)&3)...)
	}
	return dst
}

// paddingOf is what libnetcdf puts behind elements of a type up to a multiple of 4
// bytes: the value that it fills the variable with.
func (v *cdfNew) paddingOf(bytes int64) []byte {
	n := int(padded(bytes) - bytes)
	fill := []byte{0}
	if p := v.element(); p != nil {
		fill = slices.Clone(p)
	} else if d, ok := dtypeOf(v.typ); ok {
		fill = slices.Clone(defaultFill(d))
	}
	toNative(fill, v.typ)
	var padding []byte
	for len(padding) < n {
		padding = append(padding, fill...)
	}
	return padding[:n]
}

// newVariable is what both kinds of files check of a new variable, and what they
// make of its spec.
func newVariable(spec *ndfile.Spec, m model, x *extra) (t ncType, s ndfile.Spec, r fillRule, err error) {
	if spec.NoData {
		return 0, s, r, ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has no variables without data")
	}
	s = ndfile.Spec{Shape: slices.Clone(spec.Shape), Dims: slices.Clone(spec.Dims), Masked: spec.Masked}
	if t, s.DType, err = typeOf(spec.DType); err != nil {
		return 0, s, r, err
	}
	if !m.holds(t) {
		return 0, s, r, ndfile.NewError(ndfile.ErrDType, "the data model "+m.String()+" cannot store elements of dtype "+spec.DType.String())
	}
	if _, err = ndarray.NBytes(spec.Shape, max(1, s.DType.Size)); err != nil {
		return 0, s, r, err
	}
	if err = checkAxes(&s, t); err != nil {
		return 0, s, r, err
	}
	if spec.Masked && (t == ncChar || t == ncString || t == userDefined) {
		return 0, s, r, ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has no missing strings, complex numbers and records")
	}
	if base, ok := dtypeOf(t); x.enum != nil && (m != hdf5 || !ok || base.Kind == ndarray.Float) {
		return 0, s, r, ndfile.NewError(ndfile.ErrArgument, "extra \"enum\": only integers of the data model NETCDF4 can be an enumeration")
	}
	r.attrs = ndfile.NewAttrs()
	if spec.Attrs != nil {
		r.attrs = spec.Attrs.Clone()
	}
	all, err := encodeAll(r.attrs, s.DType, nil, m, x.types)
	if err != nil {
		return 0, s, r, err
	}
	r.dtype, r.defaultFill = s.DType, x.defaultFill
	r.given = r.fillsOf(all)
	return t, s, r, nil
}

// maxAxes is how many axes HDF5 has at most.
const maxAxes = 32

// checkAxes checks number and names of axes.
func checkAxes(s *ndfile.Spec, t ncType) error {
	axes := len(s.Shape)
	if t == ncChar {
		axes++
	}
	if axes > maxAxes {
		return ndfile.NewError(ndfile.ErrNotSupported, "NetCDF has at most 32 axes here, and strings of fixed length take one: found "+strconv.Itoa(len(s.Shape)))
	}
	if s.Dims == nil {
		return nil
	}
	if len(s.Dims) != len(s.Shape) {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("expected %d names of axes, found %d", len(s.Shape), len(s.Dims)))
	}
	for i, name := range s.Dims {
		if err := checkName("axis", name); err != nil {
			return err
		}
		if strings.HasPrefix(name, unnamedPrefix) {
			return ndfile.NewError(ndfile.ErrValue, "the axis name "+strconv.Quote(name)+": names with "+unnamedPrefix+" mean here that there is none")
		}
		if k := slices.Index(s.Dims[:i], name); k >= 0 && s.Shape[k] != s.Shape[i] {
			return ndfile.NewError(ndfile.ErrValue, "two axes of different lengths have the name "+strconv.Quote(name))
		}
	}
	return nil
}
