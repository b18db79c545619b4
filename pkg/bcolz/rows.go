package bcolz

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The order of writes decides what a crash leaves. The length of a table is that
// of its shortest column here, and of its first one to bcolz. So what grows has
// all chunks first, then every meta/sizes, the first column's last; and what
// shrinks has the first column's meta/sizes first, then the others', and chunks
// go only when nobody counts them any more. Whatever is missing then, both see
// the old table or the new one. A chunk that readers count is replaced by one
// that begins with the same rows; all of them take a longer one than they need.

// Rows implements [ndfile.RowResizer].
func (f *file) Rows() int64 {
	f.RLock()
	defer f.RUnlock()
	return f.rows
}

// AppendRows implements [ndfile.RowResizer].
func (f *file) AppendRows(ctx context.Context, columns []ndarray.Buffer) error {
	f.Lock()
	defer f.Unlock()
	err := f.beginRows(ctx)
	if err == nil {
		err = f.append(ctx, columns)
	}
	return f.Located(err)
}

// ResizeRows implements [ndfile.RowResizer].
func (f *file) ResizeRows(ctx context.Context, n int64) error {
	f.Lock()
	defer f.Unlock()
	err := f.beginRows(ctx)
	if err == nil {
		err = f.resize(ctx, n)
	}
	return f.Located(err)
}

func (f *file) beginRows(ctx context.Context) error {
	if err := f.Begin(ctx); err != nil {
		return err
	}
	if f.kind != ndfile.Table {
		return ndfile.NewError(ndfile.ErrNotSupported, "a carray is no table: resize the array")
	}
	return nil
}

// single is the array of a carray: unlike the columns of a table it can change
// its length on its own.
type single struct{ *column }

// array is the column as File.Array gives it.
func (c *column) array() ndfile.Array {
	if c.file.kind == ndfile.Single {
		return single{c}
	}
	return c
}

// Resize implements [ndfile.Resizer]. Only the first axis can change.
func (s single) Resize(ctx context.Context, shape []int64) error {
	f := s.file
	f.Lock()
	defer f.Unlock()
	err := f.Begin(ctx)
	if err == nil {
		switch now := s.chunks.Shape(); {
		case len(shape) != len(now):
			err = ndfile.NewError(ndfile.ErrShape, "expected "+decimal(len(now))+" axes, found "+decimal(len(shape)))
		case !slices.Equal(shape[1:], now[1:]):
			err = fixedAxes()
		default:
			err = f.resize(ctx, shape[0])
		}
	}
	return s.located(err)
}

func fixedAxes() error {
	return ndfile.NewError(ndfile.ErrNotSupported, "only the first axis of a carray can change its extent")
}

// Append implements [ndfile.Resizer]. The axis is the first one.
func (s single) Append(ctx context.Context, axis int, src ndarray.Buffer) error {
	f := s.file
	f.Lock()
	defer f.Unlock()
	err := f.Begin(ctx)
	if err == nil && axis != 0 {
		err = fixedAxes()
	}
	if err == nil {
		err = f.append(ctx, []ndarray.Buffer{src})
	}
	return s.located(err)
}

// checkRows checks rows to be appended, and counts them.
func (f *file) checkRows(columns []ndarray.Buffer) (n int64, err error) {
	if len(columns) != len(f.columns) {
		return 0, ndfile.NewError(ndfile.ErrArgument, "expected "+decimal(len(f.columns))+" columns, found "+decimal(len(columns)))
	}
	for i, c := range f.columns {
		b, shape := &columns[i], c.chunks.Shape()
		if len(b.Shape) != len(shape) || !slices.Equal(b.Shape[1:], shape[1:]) || i > 0 && b.Shape[0] != n {
			return 0, c.located(ndfile.NewError(ndfile.ErrShape, "rows to be appended: all columns need the same number, of the shape that they have"))
		}
		n = b.Shape[0]
		if err := b.Check(); err != nil {
			return 0, c.located(err)
		}
		if !ndarray.CanConvert(b.DType, c.storage.dtype) {
			return 0, c.located(ndfile.NewError(ndfile.ErrDType, "elements of dtype "+b.DType.String()+" cannot be stored as "+c.storage.dtype.String()))
		}
		all := slices.Clone(shape)
		ok := false
		if all[0], ok = ndarray.Add(f.rows, n); !ok {
			return 0, c.located(ndarray.ErrOverflow)
		}
		if _, err := ndarray.NBytes(all, c.storage.dtype.Size); err != nil {
			return 0, c.located(err)
		}
	}
	return n, f.broken
}

// append adds rows to all columns. After an error there are as many as before.
func (f *file) append(ctx context.Context, columns []ndarray.Buffer) error {
	n, err := f.checkRows(columns)
	if err != nil || n == 0 {
		return err
	}
	err = f.settleRows(ctx)
	if err == nil {
		err = f.settleColumns(ctx)
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(f.columns, func(c *column) bool { return c.chunks.Completes(n) }) {
		if err := f.unchanged(ctx); err != nil { // a chunk will be written
			return err
		}
		f.intend(f.rows + n)
	}
	before, flush := f.rows, false
	f.appended = true
	for i, c := range f.columns {
		full, err := c.chunks.AppendRows(ctx, columns[i])
		if err != nil {
			f.undo(ctx, f.columns[:i], before)
			return c.located(err)
		}
		flush = flush || full
	}
	f.countRows(before + n)
	if flush && f.Mode == edit.Updating {
		if err := f.writeRows(ctx); err != nil {
			f.undo(ctx, f.columns, before)
			return err
		}
	}
	return nil
}

// settleColumns makes columns that were added part of the table: the order of
// writes is about those that are.
func (f *file) settleColumns(ctx context.Context) error {
	if f.Mode != edit.Updating || !f.changed {
		return nil
	}
	return f.flush(ctx)
}

// undo takes columns back to a number of rows that they had before AppendRows.
// All of these rows have to be in the files then: a tail is all or nothing.
func (f *file) undo(ctx context.Context, columns []*column, rows int64) {
	ctx = context.WithoutCancel(ctx)
	f.rows = rows
	for _, c := range columns {
		err := c.chunks.FlushRows(ctx)
		if err == nil {
			err = c.setRows(rows)
		}
		if err != nil {
			f.broken = c.located(err)
		}
	}
	f.takeBack(ctx, true)
}

// countRows is called after the chunks of all columns have got more rows.
func (f *file) countRows(n int64) {
	f.rows = n
	for _, c := range f.columns {
		c.spec.Shape = c.chunks.Shape()
	}
}

// flushRows writes the rows in memory, and counts them on disk.
func (f *file) flushRows(ctx context.Context) error {
	if f.Mode == edit.Updating && !f.settled {
		return nil // nothing was changed
	}
	if !slices.ContainsFunc(f.columns, func(c *column) bool { return !c.fresh && c.sizes.shape[0] != f.rows }) {
		return nil
	}
	if err := f.unchanged(ctx); err != nil {
		return err
	}
	return f.writeRows(ctx)
}

// writeRows is flushRows after unchanged.
func (f *file) writeRows(ctx context.Context) error {
	f.intend(f.rows)
	for _, c := range f.columns {
		if c.fresh {
			continue
		}
		if err := c.chunks.FlushRows(ctx); err != nil {
			return c.located(err)
		}
	}
	for _, c := range slices.Backward(f.columns) {
		if c.fresh || c.sizes.shape[0] == f.rows {
			continue
		}
		if err := c.writeSizes(f.rows, c.compressed(c.wholeChunks(c.sizes.shape[0]), c.wholeChunks(f.rows))); err != nil {
			return c.located(err)
		}
	}
	f.appended = false
	f.Settle()
	return nil
}

func (c *column) wholeChunks(rows int64) int64 { return rows / c.storage.chunklen }

// writeSizes counts rows on disk, and more bytes of compressed chunks.
func (c *column) writeSizes(rows, cbytes int64) error {
	s := sizes{shape: slices.Clone(c.sizes.shape), cbytes: c.sizes.cbytes + cbytes}
	s.shape[0] = rows
	text := s.text(c.storage.dtype.Size)
	if err := c.file.disk.write(c.dir+"/"+sizesFile, text, c.file.Write); err != nil {
		return err
	}
	c.sizes, c.sizesText = s, text
	return nil
}

// resize cuts all columns to n rows, or grows them.
func (f *file) resize(ctx context.Context, n int64) error {
	switch {
	case n < 0:
		return ndfile.NewError(ndfile.ErrShape, "expected 0 rows or more, found "+decimal(n))
	case f.broken != nil:
		return f.broken
	case len(f.columns) == 0 && n > 0:
		return ndfile.NewError(ndfile.ErrShape, "a table without columns has no rows")
	}
	if err := f.settleRows(ctx); err != nil {
		return err
	}
	if n < f.rows {
		return f.shrink(ctx, n)
	}
	columns := make([]ndarray.Buffer, len(f.columns))
	for i, c := range f.columns {
		var err error
		if columns[i], err = c.fillRows(n - f.rows); err != nil {
			return c.located(err)
		}
	}
	if err := f.append(ctx, columns); err != nil || f.Mode == edit.Creating {
		return err
	}
	return f.flushRows(ctx)
}

// shrink cuts all columns to n rows.
func (f *file) shrink(ctx context.Context, n int64) error {
	if f.Mode == edit.Updating {
		if err := f.flush(ctx); err != nil {
			return err
		}
	}
	for _, c := range f.columns {
		if err := c.chunks.FlushRows(ctx); err != nil {
			return c.located(err)
		}
	}
	return f.trim(ctx, n)
}

// trim cuts all columns that have more than n rows on disk or in all. When the
// first meta/sizes is written the rows are gone: what fails after that is
// reported, but does not end it. A column whose meta/sizes cannot be written keeps
// its chunks.
func (f *file) trim(ctx context.Context, n int64) (err error) {
	var cut []*column
	for _, c := range f.columns {
		if c.rows() <= n && c.sizes.shape[0] <= n {
			continue
		}
		if len(cut) == 0 {
			if err := f.unchanged(ctx); err != nil {
				return err
			}
			f.intend(n)
		}
		if e := c.located(c.cut(n)); e != nil {
			if len(cut) == 0 {
				return e
			}
			if err = e; c.setRows(n) != nil {
				f.broken = e
			}
			continue
		}
		cut = append(cut, c)
	}
	f.rows = n
	ctx = context.WithoutCancel(ctx)
	for _, c := range cut {
		if e := c.located(c.drop(ctx, n)); err == nil {
			err = e
		}
	}
	if err == nil {
		f.Settle()
	}
	return err
}

// cut counts only n rows on disk.
func (c *column) cut(n int64) error {
	if c.fresh {
		return nil // nobody counts yet
	}
	numbers, err := c.chunkFiles()
	if err != nil {
		return err
	}
	gone := int64(0)
	for _, k := range numbers {
		if k >= c.wholeChunks(n) && k < c.wholeChunks(c.sizes.shape[0]) {
			gone += c.compressedOne(k)
		}
	}
	return c.writeSizes(n, -gone)
}

// drop forgets all rows but n, and removes them from the files. What nobody
// counts any more goes first: it needs no reading.
func (c *column) drop(ctx context.Context, n int64) error {
	if err := c.setRows(n); err != nil {
		return err
	}
	if err := c.prune(); err != nil {
		return err
	}
	return c.chunks.Refill(ctx, c.chunks.Shape())
}

// prune removes the chunk files behind the last row.
func (c *column) prune() error {
	numbers, err := c.chunkFiles()
	if err != nil {
		return err
	}
	need := c.chunks.Grid()[0]
	for _, k := range slices.Backward(numbers) {
		if k < need {
			break
		}
		if err := c.file.disk.Remove(chunkPath(c.dir, k)); err != nil {
			return err
		}
	}
	return nil
}
