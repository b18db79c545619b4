package ndfile

import (
	"context"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Op is a comparison.
type Op uint8

// The comparisons, of an element with a constant.
const (
	Equal Op = iota + 1
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

var opNames = [...]string{Equal: "==", NotEqual: "!=", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">="}

// String is the operator as [ParseOp] reads it.
func (o Op) String() string {
	if o < Equal || o > GreaterEqual {
		return "Op(" + strconv.Itoa(int(o)) + ")"
	}
	return opNames[o]
}

// ParseOp reads "==", "!=", "<", "<=", ">" or ">=". Anything else is ErrArgument.
func ParseOp(s string) (Op, error) {
	for op := Equal; op <= GreaterEqual; op++ {
		if s == opNames[op] {
			return op, nil
		}
	}
	return 0, NewError(ErrArgument, "unknown comparison "+strconv.Quote(s)+"; expected ==, !=, <, <=, > or >=")
}

// Term is a condition on one column of a table.
//
// Comparisons are exact: neither element nor constant is rounded or wraps, and
// integers of any size are told apart. A number with a point or an exponent is the
// nearest float64, as in Python. What can be compared:
//
//   - bool, integers and floats of up to 8 bytes: numbers and bools (true is 1). As
//     in IEEE 754, of the comparisons with a NaN only != holds.
//   - datetimes and timedeltas: numbers, counting the column's unit. Datetimes also
//     strings in ISO 8601, in UTC ("2020", "2020-03", "2020-03-15",
//     "2020-03-15T12:30:00.5", "NaT"), unless the unit is generic; one that lies
//     between two counts is equal to neither. Of the comparisons with NaT only !=
//     holds, as in NumPy.
//   - fixed strings (S and U): strings. S goes by bytes, which are the constant's
//     UTF-8 (or single ones, as \udc80 to \udcff in JSON), U by code points; NULs at
//     the end do not count.
type Term struct {
	Column string
	Op     Op
	Value  Value
}

// Query says which rows of a table are wanted. The zero Query is all rows.
type Query struct {
	// Terms must all hold. A missing element fulfils none.
	Terms []Term
	// Start is the first row looked at, Stop the row where to stop; a Stop of 0 is
	// the end of the table.
	Start, Stop int64
	// Skip is how many of the rows that fulfil the terms to leave out, Limit how
	// many to give after that; a Limit of 0 is all.
	Skip, Limit int64
}

// whereBytes is the most that a block of one column takes in memory; a single row
// may take more.
const whereBytes = 4 << 20

// Where finds the rows of a table that fulfil a query. It works on blocks of rows:
// as many as whole chunks of the first term's column fill 4 MiB. Later terms are
// read only where the earlier ones hold. emit gets the rows that were found in a
// block, rising, in memory that is valid until it returns; with more false, or an
// error, which Where returns, the search ends.
//
// Errors name the column: ErrArgument for a file that is not a table and for a
// constant that the column cannot be compared with, ErrName, ErrBounds for rows
// outside the table, ErrNotSupported for columns of more than one axis and for
// dtypes that a [Term] does not list.
func Where(ctx context.Context, f File, q Query, emit func(rows []int64) (more bool, err error)) error {
	return Select(ctx, f, q, nil, func(rows []int64, _ []ndarray.Buffer) (bool, error) { return emit(rows) })
}

// Select is [Where] with the values of columns, any that are of fixed size: emit
// gets one buffer a column, in the order of columns, contiguous and in native byte
// order, with as many rows as there are in rows. The memory is used again for the
// next block. Without terms it goes over all rows, block by block. A missing
// element in these columns is ErrMasked.
func Select(ctx context.Context, f File, q Query, columns []string, emit func(rows []int64, cols []ndarray.Buffer) (more bool, err error)) error {
	s, err := newSearch(f, q, columns)
	if err != nil {
		return err
	}
	blocks := newTiling(ndarray.Box{Start: []int64{s.start}, Count: []int64{s.stop - s.start}}, s.unit, 1, s.blockRows)
	for block := range blocks.all() {
		if err := ctx.Err(); err != nil {
			return NewError(ErrCanceled, "").Because(err)
		}
		rows := s.fill(block.Start[0], block.Count[0])
		for i := range s.terms {
			if rows, err = s.terms[i].keep(ctx, rows); err != nil {
				return Locate(err, "", s.terms[i].name, true)
			}
		}
		skipped := min(s.skip, int64(len(rows)))
		rows, s.skip = rows[skipped:], s.skip-skipped
		if s.limit >= 0 {
			rows = rows[:min(s.limit, int64(len(rows)))]
			s.limit -= int64(len(rows))
		}
		if len(rows) > 0 {
			if err := s.project(ctx, rows); err != nil {
				return err
			}
			if more, err := emit(rows, s.buffers); err != nil || !more {
				return err
			}
		}
		if s.limit == 0 {
			return nil
		}
	}
	return nil
}

// column is a column that is read.
type column struct {
	name  string
	array Array
	spec  Spec
	dtype ndarray.DType // in which it is read
	data  []byte
}

// read reads rows into the column's memory.
func (c *column) read(ctx context.Context, rows []int64, mask []byte) (ndarray.Buffer, error) {
	shape := append([]int64{int64(len(rows))}, c.spec.Shape[1:]...)
	n, err := ndarray.NBytes(shape, c.dtype.Size)
	if err != nil {
		return ndarray.Buffer{}, err
	}
	c.data = grown(c.data, n)
	b := ndarray.Buffer{DType: c.dtype, Shape: shape, Data: c.data}
	return b, take(ctx, c.array, rows, b, mask)
}

// search is one call of Select.
type search struct {
	start, stop int64
	skip, limit int64 // what is left of them; limit < 0: all
	terms       []condition
	columns     []column
	buffers     []ndarray.Buffer
	unit        []int64 // chunk of the column that is read first
	blockRows   int64
	rows        []int64
}

func newSearch(f File, q Query, columns []string) (*search, error) {
	if f.Kind() != Table {
		return nil, NewError(ErrArgument, "expected a table, found a file of kind "+f.Kind().String())
	}
	s := &search{start: q.Start, stop: q.Stop, skip: q.Skip, limit: q.Limit}
	total, err := tableRows(f)
	if err != nil {
		return nil, err
	}
	if s.stop == 0 {
		s.stop = total
	}
	switch {
	case s.start < 0 || s.start > s.stop || s.stop > total:
		return nil, NewError(ErrBounds, "rows "+strconv.FormatInt(q.Start, 10)+" to "+strconv.FormatInt(s.stop, 10)+" of a table of "+strconv.FormatInt(total, 10))
	case s.skip < 0 || s.limit < 0:
		return nil, NewError(ErrArgument, "skip and limit: expected 0 or more, found "+strconv.FormatInt(s.skip, 10)+" and "+strconv.FormatInt(s.limit, 10))
	case s.limit == 0:
		s.limit = -1
	}
	if len(q.Terms) == 0 { // the rows are known without looking
		s.start += min(s.skip, s.stop-s.start)
		s.skip = 0
	}
	widest := int64(1)
	open := func(name string) (column, error) {
		a, err := f.Array(name)
		if err != nil {
			return column{}, err
		}
		c := column{name: name, array: a, spec: a.Spec()}
		c.dtype = c.spec.DType.Native()
		switch {
		case c.dtype.IsVar():
			return c, NewError(ErrNotSupported, "a column of "+c.dtype.String()+", which has elements of variable length")
		case len(c.spec.Shape) == 0 || c.spec.Shape[0] < s.stop:
			return c, NewError(ErrCorrupt, "a column of shape "+shapeText(c.spec.Shape)+" in a table of "+strconv.FormatInt(total, 10)+" rows")
		}
		n, err := ndarray.NBytes(c.spec.Shape[1:], c.dtype.Size)
		widest = max(widest, n)
		if s.unit == nil && c.spec.Chunks != nil {
			s.unit = c.spec.Chunks[:1]
		}
		return c, err
	}
	for _, t := range q.Terms {
		c, err := open(t.Column)
		if err == nil {
			s.terms = append(s.terms, condition{column: c})
			err = s.terms[len(s.terms)-1].compile(t)
		}
		if err != nil {
			return nil, Locate(err, "", t.Column, true)
		}
	}
	for _, name := range columns {
		c, err := open(name)
		if err != nil {
			return nil, Locate(err, "", name, true)
		}
		s.columns = append(s.columns, c)
	}
	s.buffers = make([]ndarray.Buffer, len(columns))
	s.blockRows = max(1, whereBytes/widest)
	if s.unit != nil && s.unit[0] > s.blockRows {
		s.unit = nil
	}
	return s, nil
}

// tableRows is the number of rows of a table.
func tableRows(f File) (int64, error) {
	if r, ok := f.(RowResizer); ok {
		return r.Rows(), nil
	}
	names := f.Names()
	if len(names) == 0 {
		return 0, nil
	}
	a, err := f.Array(names[0])
	if err != nil {
		return 0, err
	}
	if shape := a.Spec().Shape; len(shape) > 0 {
		return shape[0], nil
	}
	return 0, NewError(ErrCorrupt, "a column without rows").In(names[0])
}

// fill gives n consecutive rows.
func (s *search) fill(first, n int64) []int64 {
	if int64(cap(s.rows)) < n {
		s.rows = make([]int64, n)
	}
	rows := s.rows[:n]
	for i := range rows {
		rows[i] = first + int64(i)
	}
	return rows
}

// project reads the columns that were asked for.
func (s *search) project(ctx context.Context, rows []int64) (err error) {
	for i := range s.columns {
		if s.buffers[i], err = s.columns[i].read(ctx, rows, nil); err != nil {
			return Locate(err, "", s.columns[i].name, true)
		}
	}
	return nil
}
