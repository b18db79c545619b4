// Package columnar gives tables and arrays as Arrow has them in memory, without a library
// of Arrow: the C library hands what it makes to any, package ndarrow to that of Go.
//
// Types become: |b1 bool; integers of 1 to 8 bytes and floats of 2, 4 and 8 bytes the
// same; S binary and U utf8, both without the NULs that they are padded with; M8 in s, ms,
// us and ns the timestamp of that unit, without a zone, in h and m that in s, in D and W
// date32; m8 in s, ms, us and ns the duration of that unit, in W, D, h and m that in s; V
// fixed-size binary. Axes beyond the first become fixed-size lists. NaT is null. Others are
// refused: complex numbers, records, 16-byte numbers, bfloat16, and other units of time.
package columnar

import (
	"context"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The size of a batch. A column of a batch has at most maxColumnBytes, so that the offsets of Arrow's texts, which have
// 32 bits, reach; where the caller has not chosen, all columns together have about defaultBatchBytes at most.
const (
	defaultBatchRows  = 64 << 10
	defaultBatchBytes = 64 << 20
	maxColumnBytes    = 1 << 30
)

// Field is a field of a schema. Format is the text that the C data interface has for the
// type.
type Field struct {
	Name, Format string
	Children     []Field // of a list: one
}

// Memory is an Arrow array in the making.
type Memory interface {
	// Begin says how long the array is, and how many buffers and children it has.
	Begin(length int64, buffers, children int) error
	// Buffer makes buffer i of n bytes, of which any may have any value. Buffers that are
	// not made are none.
	Buffer(i int, n int64) ([]byte, error)
	Child(i int) Memory
	// SetNulls says how many elements buffer 0, of bits, marks as null.
	SetNulls(n int64)
}

// Stream is a table as record batches, or an array as arrays. It may be used by several
// goroutines.
type Stream struct {
	columns []column
	rows    int64 // of all batches
	batch   int64 // rows of one
	bare    bool  // the only column is the stream, not the child of a record

	rowBytes, chunk int64 // of all columns; the longest chunk

	mu sync.Mutex
	at int64 // the next row; guarded by mu
}

// OfTable is the stream of a table, or of some of its columns: names nil is all. Batches
// have batchRows rows, 0: about 65536 and whole chunks; fewer where a column of one would
// take more than 1 GiB. It has the rows that the table has now. Errors: ErrNotSupported
// for a file that is no table and elements that can be missing, ErrName, ErrDType for what
// Arrow has no type for, ErrLimit for rows of more than 1 GiB.
func OfTable(f ndfile.File, names []string, batchRows int64) (*Stream, error) {
	t, ok := f.(ndfile.RowResizer)
	if !ok || f.Kind() != ndfile.Table {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "the file is no table")
	}
	if names == nil {
		names = f.Names()
	}
	s := &Stream{rows: t.Rows(), batch: batchRows}
	for _, name := range names {
		a, err := f.Array(name)
		if err == nil {
			err = s.add(a, name)
		}
		if err != nil {
			return nil, ndfile.Locate(err, "", name, true)
		}
	}
	s.limit(batchRows == 0)
	return s, nil
}

// OfArray is the stream of an array of one axis or more. Batches and errors are as of
// [OfTable]; ErrNoData, and ErrShape for an array without axes.
func OfArray(a ndfile.Array, name string, batchRows int64) (*Stream, error) {
	spec := a.Spec()
	switch {
	case spec.NoData:
		return nil, ndfile.NewError(ndfile.ErrNoData, "")
	case len(spec.Shape) == 0:
		return nil, ndfile.NewError(ndfile.ErrShape, "an array without axes is no column")
	}
	s := &Stream{bare: true, rows: spec.Shape[0], batch: batchRows}
	if err := s.add(a, name); err != nil {
		return nil, err
	}
	s.limit(batchRows == 0)
	return s, nil
}

// add adds a column.
func (s *Stream) add(a ndfile.Array, name string) error {
	if s.batch == 0 {
		s.batch = defaultBatchRows
	}
	c, spec, err := newColumn(a, name)
	if err != nil {
		return err
	}
	size, err := ndarray.NBytes(c.inner, max(c.dtype.Size, 1))
	if err != nil || size > maxColumnBytes {
		return ndfile.NewError(ndfile.ErrLimit, "a row takes more than 1 GiB")
	}
	if size > 0 {
		s.batch = min(s.batch, maxColumnBytes/size)
	}
	s.rowBytes += size
	if len(spec.Chunks) > 0 {
		s.chunk = max(s.chunk, spec.Chunks[0])
	}
	s.columns = append(s.columns, c)
	return nil
}

// limit chooses how many rows a batch has, where the caller has not.
func (s *Stream) limit(choose bool) {
	if s.batch == 0 {
		s.batch = defaultBatchRows
	}
	if !choose {
		return
	}
	most, chunk := max(1, defaultBatchBytes/max(s.rowBytes, 1)), max(s.chunk, 1)
	switch s.batch = min(s.batch, most); {
	case chunk <= s.batch:
		s.batch -= s.batch % chunk
	case chunk <= most:
		s.batch = chunk
	}
}

// Schema is the field of the array, or the record ("+s") of the columns.
func (s *Stream) Schema() Field {
	if s.bare {
		return s.columns[0].schema()
	}
	f := Field{Format: "+s"}
	for i := range s.columns {
		f.Children = append(f.Children, s.columns[i].schema())
	}
	return f
}

// Next makes the next batch, and tells its rows: 0 after the last one, when out stays as
// it is. After an error the next call tries the same batch again.
func (s *Stream) Next(ctx context.Context, out Memory) (rows int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rows = min(s.batch, s.rows-s.at); rows == 0 {
		return 0, nil
	}
	if s.bare {
		err = s.read(ctx, 0, out, rows)
	} else {
		err = s.record(ctx, out, rows)
	}
	if err != nil {
		return 0, err
	}
	s.at += rows
	return rows, nil
}

// record reads all columns, several at a time.
func (s *Stream) record(ctx context.Context, out Memory, rows int64) error {
	if err := out.Begin(rows, 1, len(s.columns)); err != nil {
		return err
	}
	errs := make([]error, len(s.columns))
	err := ndfile.Parallel{}.Each(ctx, int64(len(errs)), func(ctx context.Context, _ int, i int64) {
		errs[i] = s.read(ctx, i, out.Child(int(i)), rows)
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// read makes a column's part of a batch.
func (s *Stream) read(ctx context.Context, i int64, out Memory, rows int64) error {
	c := &s.columns[i]
	return ndfile.Locate(c.read(ctx, out, s.at, rows), "", c.name, true)
}
