package netcdf

import (
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// fillRule says which elements of a new variable stand for missing ones.
type fillRule struct {
	dtype ndarray.DType // of the variable
	attrs *ndfile.Attrs
	given *fills // of the attributes _FillValue and missing_value
	ours  []byte // a _FillValue that was chosen here

	defaultFill bool // NetCDF's default stands for missing ones, beside what is given
}

// fillsOf finds what stands for missing elements by attributes as they are written.
func (r *fillRule) fillsOf(all []attribute) *fills {
	f := missingValues(all, r.dtype)
	if r.defaultFill && fillsByDefault(r.dtype, all, true) {
		f = f.withDefault(r.dtype)
	}
	return f
}

// element is the element that stands for missing ones, as far as it is known.
func (r *fillRule) element() []byte {
	if r.ours != nil {
		return r.ours
	}
	d := numbersOf(r.dtype)
	for _, name := range []string{attFill, attMissing} {
		v, _ := r.attrs.Get(name)
		if items := v.Items(); len(items) > 0 {
			v = items[0]
		}
		if p, ok := element(d, v); ok && r.given != nil {
			return p
		}
	}
	if r.defaultFill && r.given != nil {
		return defaultFill(d)
	}
	return nil
}

// pack gives elements as the file has them, but for the order of bytes: packed, with
// the fill value in place of missing ones. It is the memory of src if that is so.
func (r *fillRule) pack(shape []int64, src ndarray.Buffer, mask []byte) ([]byte, error) {
	data := src.Bytes()
	if data == nil || !src.DType.Equal(r.dtype) || mask != nil || r.dtype.Kind == ndarray.Bool {
		packed, err := ndarray.NewBuffer(r.dtype, shape)
		if err != nil {
			return nil, err
		}
		if err := ndarray.Copy(packed, src); err != nil {
			return nil, err
		}
		data = packed.Data
		if r.dtype.Kind == ndarray.Bool {
			normal(data)
		}
	}
	return data, r.fillIn(data, mask)
}

// normal makes every true 1.
func normal(data []byte) {
	for i, b := range data {
		if b != 0 {
			data[i] = 1
		}
	}
}

// subMask is the part of a packed mask; nil stays nil.
func subMask(mask []byte, shape []int64, part ndarray.Box) ([]byte, error) {
	if mask == nil {
		return nil, nil
	}
	sub, err := ndarray.Buffer{DType: maskType, Shape: shape, Data: mask}.Sub(part)
	if err != nil {
		return nil, err
	}
	packed, err := ndarray.NewBuffer(maskType, part.Count)
	if err != nil {
		return nil, err
	}
	return packed.Data, ndarray.Copy(packed, sub)
}

// fillIn puts the fill value in place of missing elements, and refuses present ones
// that would read as missing.
func (r *fillRule) fillIn(data, mask []byte) error {
	d := numbersOf(r.dtype)
	fill := r.element()
	for i, m := range mask {
		switch {
		case m == 0:
		case fill == nil:
			return ndfile.NewError(ndfile.ErrNotSupported, "missing elements in an array that was not added as masked, after elements were written")
		default:
			copy(data[i*d.Size:(i+1)*d.Size], fill)
		}
	}
	if r.given == nil {
		return nil
	}
	for i := range len(data) / d.Size {
		if p := data[i*d.Size : (i+1)*d.Size]; (mask == nil || mask[i] == 0) && r.given.has(d, p) {
			return ndfile.NewError(ndfile.ErrValue, "the value "+number(d, p).Text()+" of an element equals _FillValue or missing_value, and would be missing "+
				"afterwards: write it as missing, or choose another fill value")
		}
	}
	return nil
}

func errLateFill(name string) error {
	return ndfile.NewError(ndfile.ErrNotSupported, "attribute "+strconv.Quote(name)+" says which elements are missing: it has to be given to Add")
}

func errIncomplete(k int64) error {
	return ndfile.NewError(ndfile.ErrOrder, "not completely written: element "+strconv.FormatInt(k, 10)+" is missing")
}
