// Package ndarrow gives tables and arrays of package ndfile to Arrow, as records and
// chunked arrays. It is a module of its own, so that programs without Arrow do not have to
// build it. Package columnar says what becomes of the types.
package ndarrow

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ndfile/ndfile/pkg/columnar"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Options are the options of NewReader and Chunked. The zero Options are all columns, in
// batches as the library chooses, in Go's memory.
type Options struct {
	// Columns are the columns of a table that are wanted, in this order; nil: all. They
	// do not count for an array.
	Columns []string
	// BatchRows is how many rows a record or chunk has; 0: about 65536 and whole chunks.
	// Fewer where a column of one would take more than 1 GiB.
	BatchRows int64
	// Allocator gives the memory of records; nil is memory.DefaultAllocator.
	Allocator memory.Allocator
}

// NewReader reads a table as a stream of records. It has the rows that the table has now.
//
// Each record is read when it is asked for: ctx ends the reading, and the file stays open
// until the reader is released. As with every reader of Arrow a record is valid until the
// next one, unless it is retained. The reader is for one goroutine at a time.
//
// Errors, of NewReader and of the reader, are those of package ndfile: ErrNotSupported for a
// file that is no table and for elements that can be missing, ErrName for a column that it
// does not have, ErrDType for one that Arrow has no type for, ErrLimit for rows of more than
// 1 GiB, ErrArgument for a negative BatchRows, ErrValue for a value that Arrow has no place
// for.
func NewReader(ctx context.Context, f ndfile.File, opt Options) (array.RecordReader, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	s, err := columnar.OfTable(f, opt.Columns, opt.BatchRows)
	if err != nil {
		return nil, err
	}
	t, err := typeOf(s.Schema())
	if err != nil {
		return nil, err
	}
	schema := arrow.NewSchema(t.(*arrow.StructType).Fields(), nil)
	return array.ReaderFromIter(schema, func(yield func(arrow.RecordBatch, error) bool) {
		for data, err := range batches(ctx, s, t, opt.Allocator) {
			if err != nil {
				yield(nil, err)
				return
			}
			record := array.RecordFromStructArray(data.(*array.Struct), schema)
			data.Release()
			if !yield(record, nil) {
				return
			}
		}
	}), nil
}

// Chunked reads a whole array of one axis or more. Axes beyond the first are fixed-size
// lists. Errors are as of NewReader, with ErrShape for an array without axes and ErrNoData.
func Chunked(ctx context.Context, a ndfile.Array, opt Options) (*arrow.Chunked, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	s, err := columnar.OfArray(a, "", opt.BatchRows)
	if err != nil {
		return nil, err
	}
	t, err := typeOf(s.Schema())
	if err != nil {
		return nil, err
	}
	var chunks []arrow.Array
	defer func() {
		for _, c := range chunks {
			c.Release()
		}
	}()
	for data, err := range batches(ctx, s, t, opt.Allocator) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, data)
	}
	return arrow.NewChunked(t, chunks), nil
}

func (opt *Options) check() error {
	if opt.Allocator == nil {
		opt.Allocator = memory.DefaultAllocator
	}
	if opt.BatchRows < 0 {
		return ndfile.NewError(ndfile.ErrArgument, "a negative number of rows in a batch")
	}
	return nil
}

// batches goes over the arrays of a stream. They are the consumer's to release.
func batches(ctx context.Context, s *columnar.Stream, t arrow.DataType, alloc memory.Allocator) iter.Seq2[arrow.Array, error] {
	return func(yield func(arrow.Array, error) bool) {
		for {
			m := &node{alloc: alloc}
			rows, err := s.Next(ctx, m)
			if err != nil {
				m.release()
				yield(nil, err)
				return
			}
			if rows == 0 || !yield(m.array(t), nil) {
				return
			}
		}
	}
}
