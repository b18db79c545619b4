package ndfile

import (
	"context"
	"iter"
	"reflect"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Rows goes over the rows of a table that fulfil a query, as values of the struct R. Each
// exported field is a column: the one that its tag names (`ndfile:"net weight"`), else
// of its own name, in upper or lower case; `ndfile:"-"` is none. Fields are
//
//   - bools and numbers, of the column's type or one that it widens to exactly
//   - strings, of S and U, without the NULs at the end
//   - time.Time, of M8 in W to ns; the zero time is NaT
//   - time.Duration, of m8 in W to ns, where it fits and is not NaT
//   - arrays of bools and numbers, as [3]float64, of columns that have more axes
//
// Only these columns are read, block by block. A field without a column is ErrName, of a
// type that does not fit ErrDType, an array that does not ErrShape, a value ErrValue. An
// error is the last that comes.
func Rows[R any](ctx context.Context, f File, q Query) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		fields, err := fieldsOf(reflect.TypeFor[R](), f)
		if err == nil {
			err = Select(ctx, f, q, columnsOf(fields), func(rows []int64, cols []ndarray.Buffer) (bool, error) {
				for k := range fields {
					if err := fields[k].fill(cols[k], rows); err != nil {
						return false, Locate(err, "", fields[k].column, true)
					}
				}
				var row R
				v := reflect.ValueOf(&row).Elem()
				for i := range rows {
					for k := range fields {
						v.Field(fields[k].index).Set(fields[k].values.Index(i))
					}
					if !yield(row, nil) {
						return false, nil
					}
				}
				return true, nil
			})
		}
		if err != nil {
			var none R
			yield(none, err)
		}
	}
}

// Append adds rows to a table, from structs as [Rows] has them. Each column needs a field.
// Errors are as there and as of [RowResizer].
func Append[R any](ctx context.Context, f File, rows []R) error {
	t, ok := f.(RowResizer)
	if !ok || f.Kind() != Table {
		return NewError(ErrNotSupported, "rows can be added to tables only")
	}
	fields, err := fieldsOf(reflect.TypeFor[R](), f)
	if err != nil {
		return err
	}
	columns := make([]ndarray.Buffer, len(f.Names()))
	source := reflect.ValueOf(rows)
	for i, name := range f.Names() {
		x := fieldOf(fields, name)
		if x == nil {
			return NewError(ErrName, "no field of "+reflect.TypeFor[R]().String()+" is this column").In(name)
		}
		if columns[i], err = x.gather(source); err != nil {
			return Locate(err, "", name, true)
		}
	}
	return t.AppendRows(ctx, columns)
}

// field is a field of a struct, and its column.
type field struct {
	index  int
	column string
	typ    reflect.Type
	dtype  ndarray.DType // of the column, in native byte order
	inner  []int64       // the shape of a row of it
	unit   int64         // of times, in nanoseconds
	values reflect.Value // a slice of typ: those of a block
}

func columnsOf(fields []field) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].column
	}
	return names
}

// fieldOf is the field of a column, or nil.
func fieldOf(fields []field, column string) *field {
	for i := range fields {
		if fields[i].column == column {
			return &fields[i]
		}
	}
	return nil
}

// fieldsOf finds the columns of the fields of a struct.
func fieldsOf(t reflect.Type, f File) ([]field, error) {
	if t.Kind() != reflect.Struct {
		return nil, NewError(ErrArgument, t.String()+" is no struct, whose fields would be columns")
	}
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, tagged := sf.Tag.Lookup("ndfile")
		if !sf.IsExported() || name == "-" {
			continue
		}
		if !tagged {
			name = columnFor(sf.Name, f.Names())
		}
		a, err := f.Array(name)
		if err != nil {
			return nil, Locate(err, "", name, true)
		}
		spec := a.Spec()
		if len(spec.Shape) == 0 {
			return nil, NewError(ErrCorrupt, "a column without rows").In(name)
		}
		x := field{index: i, column: name, typ: sf.Type, dtype: spec.DType.Native(), inner: spec.Shape[1:]}
		if err := x.check(); err != nil {
			return nil, Locate(err, "", name, true)
		}
		fields = append(fields, x)
	}
	if fields == nil {
		return nil, NewError(ErrArgument, t.String()+" has no field that could be a column")
	}
	return fields, nil
}

// columnFor is the column that a field's name means.
func columnFor(field string, names []string) string {
	found := field
	for _, n := range names {
		if n == field {
			return n
		}
		if strings.EqualFold(n, field) {
			found = n
		}
	}
	return found
}
