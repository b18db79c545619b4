package ndfile

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// RowResizer is a File of kind Table whose number of rows can change. Its calls
// exclude all others on the file. The columns of a table do not change their
// length on their own.
type RowResizer interface {
	// Rows is the number of rows: the length of the shortest column.
	Rows() int64
	// AppendRows adds rows to all columns at once. There is one buffer a column,
	// in the order of Names, and each has the same extent along axis 0. As to
	// memory it is as Resizer.Append.
	AppendRows(ctx context.Context, columns []ndarray.Buffer) error
	// ResizeRows cuts all columns to n rows, or grows them with fill values.
	ResizeRows(ctx context.Context, n int64) error
}

// Orderer is a table whose columns can change their order.
type Orderer interface {
	// Order puts the columns, all of them, into the order of names, at once and for
	// good. Names that are not those of the columns are ErrArgument.
	Order(ctx context.Context, names []string) error
}
