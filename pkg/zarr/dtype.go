package zarr

import (
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/numpyname"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxRecordDepth is how deep records nest, as in ndarray.Parse.
const maxRecordDepth = 64

// parseDType reads a dtype as NumPy's dtype.descr has it: a name, or a list of
// fields, each a list of a name, a dtype and perhaps the shape of a sub-array.
// Fields without a name, as the padding of aligned records, are named by their
// position. Errors are ErrDType.
func parseDType(v pyjson.Value) (ndarray.DType, error) { return parseDescr(v, 1) }

func parseDescr(v pyjson.Value, depth int) (ndarray.DType, error) {
	name, isName := v.Str()
	switch {
	case isName:
		return parseName(name)
	case v.Kind() != pyjson.KindList:
		return ndarray.DType{}, badDType("expected a dtype, found " + metafile.Short(v))
	case depth > maxRecordDepth:
		return ndarray.DType{}, badDType("records nested deeper than " + strconv.Itoa(maxRecordDepth))
	}
	fields := make([]ndarray.Field, len(v.Items()))
	for i, item := range v.Items() {
		parts := item.Items()
		if len(parts) < 2 || len(parts) > 3 {
			return ndarray.DType{}, badDType("expected a field as [name, dtype] or [name, dtype, shape], found " + metafile.Short(item))
		}
		f := &fields[i]
		var ok bool
		if f.Name, ok = parts[0].Str(); !ok {
			return ndarray.DType{}, badDType("expected the name of a field, found " + metafile.Short(parts[0]))
		}
		var err error
		if f.DType, err = parseDescr(parts[1], depth+1); err != nil {
			return ndarray.DType{}, err
		}
		if len(parts) == 3 {
			if f.Shape, err = parseSubShape(parts[2]); err != nil {
				return ndarray.DType{}, err
			}
		}
	}
	return ndarray.NewRecord(fields)
}

// parseSubShape reads the shape of a sub-array: an integer or a list of them.
func parseSubShape(v pyjson.Value) ([]int64, error) {
	items := v.Items()
	if v.Kind() == pyjson.KindNumber {
		items = []pyjson.Value{v}
	}
	shape := make([]int64, len(items))
	for i, item := range items {
		n, ok := item.Int64()
		if !ok || n < 0 {
			return nil, badDType("expected the shape of a sub-array, found " + metafile.Short(v))
		}
		shape[i] = n
	}
	if len(items) == 0 {
		if v.Kind() != pyjson.KindList {
			return nil, badDType("expected the shape of a sub-array, found " + metafile.Short(v))
		}
		return nil, nil
	}
	return shape, nil
}

// parseName reads the name of a dtype in any of NumPy's spellings but lists in
// a string ("i4,f8").
func parseName(name string) (ndarray.DType, error) {
	d, err := ndarray.Parse(numpyName(name))
	if err != nil {
		return d, err
	}
	if !d.InNumPy() {
		return d, badDType("expected the name of a NumPy dtype, found " + strconv.Quote(name))
	}
	if d.Size == 0 {
		return d, badDType("expected elements of at least one byte, found " + strconv.Quote(name))
	}
	d.Unit = strings.Clone(d.Unit) // it may be part of a large text
	return d, nil
}

// numpyName replaces NumPy's other names by typestrings.
func numpyName(name string) string {
	order, code := "", name
	if len(name) > 1 && strings.IndexByte("<>=|", name[0]) >= 0 {
		order, code = name[:1], name[1:]
	}
	if short, ok := numpyname.Typestring(code); ok && (order == "" || len(code) == 1) {
		return order + short
	}
	if len(code) > 1 && code[0] == 'a' && code[1] >= '0' && code[1] <= '9' { // an old letter for S
		return order + "S" + code[1:]
	}
	return name
}

// dtypeValue is what parseDType reads back as d: NumPy's dtype.descr. It fails
// with ErrDType for what NumPy does not have, and for records with sub-arrays or
// gaps: the reference implementation writes documents for these that it cannot
// open.
func dtypeValue(d ndarray.DType) (pyjson.Value, error) {
	if err := d.Check(); err != nil {
		return pyjson.Value{}, err
	}
	switch {
	case !d.InNumPy():
		return pyjson.Value{}, badDType("zarr stores the dtypes of NumPy only, found " + d.String())
	case d.Size == 0:
		return pyjson.Value{}, badDType("zarr stores elements of at least one byte, found " + d.String())
	case d.Kind != ndarray.Record:
		return pyjson.String(d.String()), nil
	}
	fields := make([]pyjson.Value, len(d.Fields))
	end := 0
	for i := range d.Fields {
		f := &d.Fields[i]
		if f.Shape != nil || f.Offset != end {
			return pyjson.Value{}, badDType("field " + strconv.Quote(f.Name) + ": zarr stores records without sub-arrays and gaps")
		}
		end += f.DType.Size
		v, err := dtypeValue(f.DType)
		if err != nil {
			return v, err
		}
		fields[i] = pyjson.List(pyjson.String(f.Name), v)
	}
	if end != d.Size {
		return pyjson.Value{}, badDType("zarr stores records without a gap at their end")
	}
	return pyjson.List(fields...), nil
}

func badDType(msg string) error { return ndfile.NewError(ndfile.ErrDType, msg) }
