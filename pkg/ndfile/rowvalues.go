package ndfile

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// check finds whether the field can hold the column's values, and its unit of time.
func (f *field) check() error {
	element := f.typ
	for _, n := range f.inner {
		if element.Kind() != reflect.Array || int64(element.Len()) != n {
			return NewError(ErrShape, "a field of "+f.typ.String()+" for rows of shape "+shapeText(f.inner))
		}
		element = element.Elem()
	}
	fits, flat := false, len(f.inner) == 0
	switch f.dtype.Kind {
	case ndarray.Datetime:
		f.unit = unitNanoseconds(f.dtype.Unit)
		fits = flat && element == timeType && f.unit > 0
	case ndarray.Timedelta:
		f.unit = unitNanoseconds(f.dtype.Unit)
		fits = flat && element == durationType && f.unit > 0
	case ndarray.Bytes, ndarray.Unicode:
		fits = flat && element.Kind() == reflect.String
	default:
		d, ok := ndarray.TypeFor(element)
		fits = ok && element != durationType && ndarray.CanConvert(f.dtype, d)
	}
	if !fits {
		return NewError(ErrDType, "elements of "+f.dtype.String()+" and a field of "+f.typ.String())
	}
	return nil
}

// memory makes f.values n long, and gives numbers in it as an array.
func (f *field) memory(n int) ndarray.Buffer {
	if !f.values.IsValid() || f.values.Cap() < n {
		f.values = reflect.MakeSlice(reflect.SliceOf(f.typ), n, n)
	}
	f.values = f.values.Slice(0, n)
	element := f.typ
	for range f.inner {
		element = element.Elem()
	}
	d, ok := ndarray.TypeFor(element)
	if !ok {
		return ndarray.Buffer{}
	}
	return ndarray.Buffer{DType: d, Shape: append([]int64{int64(n)}, f.inner...), Data: memoryOf(f.values)}
}

// fill makes values of the column's part of a block of rows.
func (f *field) fill(col ndarray.Buffer, rows []int64) error {
	b := f.memory(len(rows))
	at := func(i int, err error) error {
		return NewError(KindOf(err), "row "+strconv.FormatInt(rows[i], 10)).Because(err)
	}
	switch f.dtype.Kind {
	case ndarray.Datetime, ndarray.Timedelta:
		for i := range rows {
			count := int64(binary.NativeEndian.Uint64(col.Data[8*i:]))
			if f.dtype.Kind == ndarray.Datetime {
				t, err := timeOf(count, f.unit)
				if err != nil {
					return at(i, err)
				}
				f.values.Index(i).Set(reflect.ValueOf(t))
				continue
			}
			d := count * f.unit
			if count == nat || d/f.unit != count {
				return at(i, NewError(ErrValue, "the duration "+strconv.FormatInt(count, 10)+" of "+f.dtype.String()+" does not fit into a time.Duration"))
			}
			f.values.Index(i).SetInt(d)
		}
	case ndarray.Bytes, ndarray.Unicode:
		offsets := make([]int64, len(rows)+1)
		data, err := fixedTexts(col, offsets)
		if err != nil {
			return err
		}
		all := string(data)
		for i := range rows {
			f.values.Index(i).SetString(all[offsets[i]:offsets[i+1]])
		}
	default:
		if err := ndarray.Copy(b, col); err != nil {
			return err
		}
		ndarray.TidyBools(b)
	}
	return nil
}

// gather makes the column's part of rows, a slice of structs.
func (f *field) gather(rows reflect.Value) (ndarray.Buffer, error) {
	n := rows.Len()
	b := f.memory(n)
	for i := range n {
		f.values.Index(i).Set(rows.Index(i).Field(f.index))
	}
	switch f.dtype.Kind {
	case ndarray.Datetime, ndarray.Timedelta:
		counts := make([]int64, n)
		for i := range counts {
			var err error
			if f.dtype.Kind == ndarray.Datetime {
				counts[i], err = countOf(f.values.Index(i).Interface().(time.Time), f.unit)
			} else if d := f.values.Index(i).Int(); d%f.unit == 0 {
				counts[i] = d / f.unit
			} else {
				err = NewError(ErrValue, time.Duration(d).String()+" is no whole number of units")
			}
			if err != nil {
				return b, NewError(KindOf(err), "row "+strconv.Itoa(i)+", for "+f.dtype.String()).Because(err)
			}
		}
		b = ndarray.Of(counts)
		b.DType = f.dtype
	case ndarray.Bytes, ndarray.Unicode:
		offsets, data := make([]int64, n+1), []byte(nil)
		for i := range n {
			data = append(data, f.values.Index(i).String()...)
			offsets[i+1] = int64(len(data))
		}
		b, err := ndarray.NewBuffer(f.dtype.Native(), []int64{int64(n)})
		if err == nil {
			err = putTexts(b, offsets, data, f.dtype.Kind == ndarray.Unicode)
		}
		return b, err
	}
	return b, nil
}
