package ndfile

import (
	"context"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/mem"
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
	// Condition must hold too; nil is none.
	Condition *Condition
	// Start is the first row looked at, Stop the row where to stop; a Stop of 0 is
	// the end of the table.
	Start, Stop int64
	// Skip is how many of the rows that fulfil the terms to leave out, Limit how
	// many to give after that; a Limit of 0 is all.
	Skip, Limit int64
}

// A block of the widest column takes about whereBytes in memory, so that it stays in
// the cache, or as much as a chunk, up to mostWhereBytes; a single row may take more.
const (
	whereBytes     = 256 << 10
	mostWhereBytes = 4 << 20
)

// Where finds the rows of a table that fulfil a query. It works on blocks of rows:
// whole chunks of the first column looked at, of some hundred KiB. Later terms are
// read only where the earlier ones hold, where these are few. emit gets the rows that were found in a
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
	defer s.release()
	blocks := newTiling(ndarray.Box{Start: []int64{s.start}, Count: []int64{s.stop - s.start}}, s.unit, 1, s.blockRows)
	for block := range blocks.all() {
		if err := ctx.Err(); err != nil {
			return NewError(ErrCanceled, "").Because(err)
		}
		rows, err := s.matching(ctx, block.Start[0], block.Count[0])
		if err != nil {
			return err
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
	mask  []byte
	uses  int    // how often a condition has it
	held  block  // the rows in data
	spare *spare // where memory comes from
}

// read reads rows into the column's memory.
func (c *column) read(ctx context.Context, rows []int64) (ndarray.Buffer, error) {
	shape := append([]int64{int64(len(rows))}, c.spec.Shape[1:]...)
	n, err := ndarray.NBytes(shape, c.dtype.Size)
	if err != nil {
		return ndarray.Buffer{}, err
	}
	if c.data, err = c.spare.sized(c.data, n); err != nil {
		return ndarray.Buffer{}, err
	}
	b := ndarray.Buffer{DType: c.dtype, Shape: shape, Data: c.data}
	return b, take(ctx, c.array, rows, b, nil)
}

// block reads a block of a column of one axis, once however often it is asked for. mask
// is nil where nothing can be missing.
func (c *column) block(ctx context.Context, b block) (data, mask []byte, err error) {
	if c.held == b {
		return c.data, c.mask, nil
	}
	n, err := ndarray.NBytes([]int64{b.n}, c.dtype.Size)
	if err != nil {
		return nil, nil, err
	}
	c.held = block{}
	if c.data, err = c.spare.sized(c.data, n); err != nil {
		return nil, nil, err
	}
	if c.spec.Masked {
		if c.mask, err = c.spare.sized(c.mask, b.n); err != nil {
			return nil, nil, err
		}
	}
	dst := ndarray.Buffer{DType: c.dtype, Shape: []int64{b.n}, Data: c.data}
	if err = readBlock(ctx, c.array, rowBox(c.spec.Shape, b.first, b.n), dst, c.mask); err == nil {
		c.held = b
	}
	return c.data, c.mask, err
}

// search is one call of Select.
type search struct {
	start, stop int64
	skip, limit int64 // what is left of them; limit < 0: all
	file        File
	condition   node               // nil: all rows
	compared    map[string]*column // those of the condition
	columns     []column
	buffers     []ndarray.Buffer
	unit        []int64 // chunk of the column that is read first
	widest      int64   // bytes of the longest row of a column
	blockRows   int64
	keep        []byte
	rows        []byte // int64
	spare
}

func newSearch(f File, q Query, columns []string) (*search, error) {
	if f.Kind() != Table {
		return nil, NewError(ErrArgument, "expected a table, found a file of kind "+f.Kind().String())
	}
	s := &search{start: q.Start, stop: q.Stop, skip: q.Skip, limit: q.Limit, file: f, compared: map[string]*column{}, widest: 1}
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
	conditions := make([]*Condition, 0, len(q.Terms)+1)
	for _, t := range q.Terms {
		conditions = append(conditions, t.Condition())
	}
	if q.Condition != nil {
		conditions = append(conditions, q.Condition)
	}
	if len(conditions) == 0 { // the rows are known without looking
		s.start += min(s.skip, s.stop-s.start)
		s.skip = 0
	} else if s.condition, err = s.conditionIn(And(conditions...), false); err != nil {
		return nil, err
	}
	for _, name := range columns {
		c, err := s.open(name)
		if err != nil {
			return nil, Locate(err, "", name, true)
		}
		s.columns = append(s.columns, c)
	}
	s.buffers = make([]ndarray.Buffer, len(columns))
	s.blockRows = max(1, whereBytes/s.widest)
	if s.unit != nil && s.unit[0] > s.blockRows {
		if s.unit[0] <= mostWhereBytes/s.widest {
			s.blockRows = s.unit[0]
		} else {
			s.blockRows, s.unit = max(1, mostWhereBytes/s.widest), nil
		}
	}
	return s, nil
}

// open finds a column.
func (s *search) open(name string) (column, error) {
	a, err := s.file.Array(name)
	if err != nil {
		return column{}, err
	}
	c := column{name: name, array: a, spec: a.Spec(), spare: &s.spare}
	c.dtype = c.spec.DType.Native()
	switch {
	case c.dtype.IsVar():
		return c, NewError(ErrNotSupported, "a column of "+c.dtype.String()+", which has elements of variable length")
	case len(c.spec.Shape) == 0 || c.spec.Shape[0] < s.stop:
		return c, NewError(ErrCorrupt, "a column of shape "+shapeText(c.spec.Shape)+" in a table where rows to "+strconv.FormatInt(s.stop, 10)+" are wanted")
	}
	n, err := ndarray.NBytes(c.spec.Shape[1:], c.dtype.Size)
	s.widest = max(s.widest, n)
	if s.unit == nil && c.spec.Chunks != nil {
		s.unit = c.spec.Chunks[:1]
	}
	return c, err
}

// column finds a column that a condition compares.
func (s *search) column(name string) (*column, error) {
	if c := s.compared[name]; c != nil {
		c.uses++
		return c, nil
	}
	c, err := s.open(name)
	if err == nil && len(c.spec.Shape) != 1 {
		err = NewError(ErrNotSupported, "comparing a column of "+strconv.Itoa(len(c.spec.Shape))+" axes")
	}
	if err == nil {
		c.dtype, err = comparable(c.spec.DType)
	}
	if err != nil {
		return nil, err
	}
	c.uses = 1
	s.compared[name] = &c
	return &c, nil
}

// matching gives those of n consecutive rows that fulfil the condition.
func (s *search) matching(ctx context.Context, first, n int64) (_ []int64, err error) {
	if s.rows, err = s.sized(s.rows, 8*n); err != nil {
		return nil, err
	}
	rows := view[int64](s.rows)
	if s.condition == nil {
		for i := range rows {
			rows[i] = first + int64(i)
		}
		return rows, nil
	}
	if s.keep, err = s.sized(s.keep, n); err != nil {
		return nil, err
	}
	for i := range s.keep {
		s.keep[i] = 1
	}
	if err := s.condition.apply(ctx, block{first, n}, s.keep); err != nil {
		return nil, err
	}
	found := 0
	for i, k := range s.keep { // without branches
		rows[found] = first + int64(i)
		found += int(k)
	}
	return rows[:found], nil
}

// spare lends memory of searches that are done: fresh pages cost more than what is
// done with them.
type spare struct{ lent []*mem.Block }

var spares = sync.Pool{New: func() any { return new(mem.Block) }} // small ones

// sized gives n aligned bytes of undefined content: b if it is long enough, or lent
// memory, which is the search's until release.
func (s *spare) sized(b []byte, n int64) ([]byte, error) {
	if n <= int64(cap(b)) {
		return b[:n], nil
	}
	block := spares.Get().(*mem.Block)
	s.lent = append(s.lent, block)
	return sized(block, n)
}

func (s *spare) release() {
	for _, block := range s.lent {
		block.FreeLarge()
		spares.Put(block)
	}
	s.lent = nil
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

// project reads the columns that were asked for.
func (s *search) project(ctx context.Context, rows []int64) (err error) {
	for i := range s.columns {
		if s.buffers[i], err = s.columns[i].read(ctx, rows); err != nil {
			return Locate(err, "", s.columns[i].name, true)
		}
	}
	return nil
}
