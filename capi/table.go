package main

// #include "internal.h"
import "C"

import (
	"context"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// table gives an open file as a table.
func (f *file) table(nf ndfile.File) (ndfile.RowResizer, error) {
	t, err := offered[ndfile.RowResizer](f, nf, "tables")
	if err == nil && nf.Kind() != ndfile.Table {
		err = ndfile.NewError(ndfile.ErrNotSupported, "the file is one array, not a table")
	}
	return t, err
}

// ndfgo_table_append appends rows to all columns of a table at once.
//
// Formats can keep them in memory until chunks are full: ndf_file_flush and ndf_file_close write them.
//
// C: int32_t ndf_table_append(ndf_file file, const ndf_item *items, int64_t nitems, ndf_error *err)
//
// Parameters:
//   - file: the handle of a table open for changes or being created
//   - items (in, nullable): one for each column, in any order, with its name, dtype, shape (the new rows and the shape of one),
//     strides and data; struct_size is set, the other fields are 0. dtype is the column's in any byte order, or one
//     that widens to it exactly; for columns of S and U also "bytes" or "str", with offsets; NULL only with
//     nitems 0
//   - nitems: number of items
//
// Returns: NDF_OK; NDF_ERR_NAME for a column that the table does not have, or that no item is for; NDF_ERR_NAME_EXISTS
// for two items of one column; NDF_ERR_SHAPE for rows of another shape, or not equally many in all columns;
// NDF_ERR_DTYPE for another dtype; NDF_ERR_VALUE for a string that the column cannot hold; NDF_ERR_READ_ONLY for a file
// open for reading; NDF_ERR_NOT_SUPPORTED for a file that
// is no table, and for a format without NDF_CAP_ROWS; NDF_ERR_LIMIT; NDF_ERR_CORRUPT; NDF_ERR_PERMISSION; NDF_ERR_IO;
// NDF_ERR_HANDLE; NDF_ERR_ARGUMENT. After an error the table is as before.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_table_append
func ndfgo_table_append(file C.ndf_file, items *C.ndf_item, nitems C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, appendRows(handle(file), address(items), int64(nitems)))
}

func appendRows(h handle, items address, n int64) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	list, err := itemsAt(nil, items, n)
	if err != nil {
		return ndfile.Locate(err, f.path, "", false)
	}
	return f.change(func(nf ndfile.File) error {
		t, err := f.table(nf)
		if err != nil {
			return err
		}
		columns, free, err := columnsOf(nf.Names(), list, func(name string) (ndarray.DType, error) {
			a, err := nf.Array(name)
			if err != nil {
				return ndarray.DType{}, err
			}
			return a.Spec().DType, nil
		})
		defer free()
		if err != nil {
			return err
		}
		return t.AppendRows(context.Background(), columns)
	})
}

// columnsOf puts the elements of items into the order of the columns; strings of variable length become the fixed ones
// of the column, in memory that free, never nil, gives back.
func columnsOf(names []string, items []ndfile.Item, dtype func(name string) (ndarray.DType, error)) (columns []ndarray.Buffer, free func(), err error) {
	columns = make([]ndarray.Buffer, len(names))
	var texts []func()
	free = func() {
		for _, f := range texts {
			f()
		}
	}
	found := make([]bool, len(names))
	for i := range items {
		it := &items[i]
		at := slices.Index(names, it.Name)
		switch {
		case at < 0:
			return nil, free, inColumn(ndfile.ErrName, "", it.Name)
		case found[at]:
			return nil, free, inColumn(ndfile.ErrNameExists, "the column comes twice", it.Name)
		case it.Mask != nil || it.Dims != nil || it.Attrs != nil || it.Extra != nil:
			return nil, free, inColumn(ndfile.ErrArgument, "ndf_item: rows have no mask and no metadata", it.Name)
		}
		columns[at], found[at] = it.Data, true
		if it.Data.DType.IsVar() {
			d, err := dtype(names[at])
			if err == nil && len(it.Data.Shape) != 1 {
				err = ndfile.NewError(ndfile.ErrShape, "strings of variable length in rows of several axes")
			}
			if err == nil {
				var done func()
				text := it.Data.DType.Kind == ndarray.VarString
				columns[at], done, err = ndfile.FixedTexts(d, it.Offsets, it.Data.Data, text)
				texts = append(texts, done)
			}
			if err != nil {
				return nil, free, ndfile.Locate(err, "", it.Name, true)
			}
		}
	}
	if at := slices.Index(found, false); at >= 0 {
		return nil, free, inColumn(ndfile.ErrName, "no item for the column", names[at])
	}
	return columns, free, nil
}

// inColumn is an error about a column, whose name may be the caller's memory.
func inColumn(kind *ndfile.ErrorKind, msg, name string) error {
	return ndfile.Locate(ndfile.NewError(kind, msg), "", name, true)
}

// ndfgo_table_resize sets the number of rows of a table.
//
// Rows that come into being have the fill value of their column (zero where there is none); those that fall off are
// gone for good.
//
// C: int32_t ndf_table_resize(ndf_file file, int64_t nrows, ndf_error *err)
//
// Parameters:
//   - file: the handle of a table open for changes or being created
//   - nrows: the new number of rows
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT for a negative number; NDF_ERR_READ_ONLY for a file open for reading;
// NDF_ERR_NOT_SUPPORTED for a file that is no table, and for a format without NDF_CAP_ROWS; NDF_ERR_LIMIT;
// NDF_ERR_CORRUPT; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_table_resize
func ndfgo_table_resize(file C.ndf_file, nrows C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, resizeTable(handle(file), int64(nrows)))
}

func resizeTable(h handle, nrows int64) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.change(func(nf ndfile.File) error {
		if nrows < 0 {
			return badArgument("nrows is " + strconv.FormatInt(nrows, 10) + ", expected 0 or more")
		}
		t, err := f.table(nf)
		if err != nil {
			return err
		}
		return t.ResizeRows(context.Background(), nrows)
	})
}

// ndfgo_table_order puts the columns of a table into another order, at once.
//
// C: int32_t ndf_table_order(ndf_file file, const char *names_json, ndf_error *err)
//
// Parameters:
//   - file: the handle of a table open for changes or being created
//   - names_json (in): the names of all columns, as a JSON list of strings
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT for names that are not those of the columns, each once; NDF_ERR_READ_ONLY;
// NDF_ERR_NOT_SUPPORTED for a file that is no table, and for a format without NDF_CAP_ROWS; NDF_ERR_CORRUPT;
// NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_table_order
func ndfgo_table_order(file C.ndf_file, names_json *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, orderColumns(handle(file), textAt(names_json)))
}

func orderColumns(h handle, namesJSON string) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	names, err := ndfile.ParseDims(bytesOf(namesJSON)) // which are written as those of axes
	if err != nil {
		return ndfile.Locate(jsonError("names_json", err), f.path, "", false)
	}
	return f.change(func(nf ndfile.File) error {
		if _, err := f.table(nf); err != nil {
			return err
		}
		t, err := offered[ndfile.Orderer](f, nf, "columns in another order")
		if err != nil {
			return err
		}
		return t.Order(context.Background(), names)
	})
}

// ndfgo_table_where finds the rows of a table for which all conditions hold.
//
// Columns are read block by block, those of later terms only where the earlier ones hold. When rows is full, next tells
// where to go on: come again with it as start, without skip and with what is left of limit.
//
// Comparisons are exact, neither element nor constant is rounded. Bools, integers and floats are compared with JSON
// numbers, true and false (NaN, Infinity and -Infinity too); times with the count of their units as a number, M8 also
// with a string in ISO 8601 or "NaT"; S and U with strings, NULs at the end do not count. Of the comparisons with NaN
// and NaT only NDF_OP_NE holds. A missing element fulfils no condition.
//
// A condition as text, in the options, is written as in Python, over names of columns: "(close > 1) & (id == 3)",
// "not (10 <= x < 20) or sym in ('A', 'B')", "(high - low) / close > 0.1", "~halted", "day >= '2020-03-01'"; a name
// that is no word stands in backquotes. & and | bind as "and" and "or" do. Comparisons of a column with constants are
// those of the terms; arithmetic is that of int64 where both sides are integers, else of float64, and a result that is
// no int64 an NDF_ERR_ARGUMENT.
//
// C: int32_t ndf_table_where(ndf_file file, const ndf_term *terms, int64_t nterms, const ndf_where_options *options, int64_t *rows, int64_t *nrows, int64_t *next, ndf_error *err)
//
// Parameters:
//   - file: the handle of a table
//   - terms (in, nullable): the conditions, each with its struct_size set; NULL only with nterms 0: all rows
//   - nterms: number of terms
//   - options (in, nullable): which part of the table, how many rows; NULL: all
//   - rows (out, nullable): receives the numbers of the rows, rising; NULL only with *nrows 0: they are only counted
//   - nrows (inout): in: rows that there is room for; out: number of rows that were stored, or counted
//   - next (out): receives the row to go on with, or -1 when there is nothing more to find
//
// Returns: NDF_OK; NDF_ERR_NAME for a column that the table does not have; NDF_ERR_ARGUMENT for a constant that the
// column cannot be compared with, an unknown op, a condition that cannot be read, and a file that is no table; NDF_ERR_NOT_SUPPORTED for columns of more
// than one axis and of other dtypes; NDF_ERR_BOUNDS for rows outside the table; NDF_ERR_CORRUPT; NDF_ERR_IO;
// NDF_ERR_HANDLE.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_table_where
func ndfgo_table_where(file C.ndf_file, terms *C.ndf_term, nterms C.int64_t, options *C.ndf_where_options, rows *C.int64_t, nrows *C.int64_t, next *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	room := int64(*nrows)
	*nrows, *next = 0, -1
	found, more, e := whereRows(handle(file), address(terms), int64(nterms), options, address(rows), room)
	if e == nil {
		*nrows, *next = C.int64_t(found), C.int64_t(more)
	}
	return report(err, e)
}

func whereRows(h handle, terms address, n int64, options *C.ndf_where_options, rows address, capacity int64) (found, next int64, err error) {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return 0, -1, err
	}
	q, err := queryAt(terms, n, options)
	var dst []int64
	if err == nil && rows != nil {
		dst, err = sliceAt[int64]("rows", rows, capacity)
	} else if err == nil && capacity != 0 {
		err = badArgument("nrows is " + strconv.FormatInt(capacity, 10) + ", expected the room at rows")
	}
	if err != nil {
		return 0, -1, ndfile.Locate(err, f.path, "", false)
	}
	limit := q.Limit
	if dst != nil && (limit == 0 || limit > capacity) {
		q.Limit = capacity
	}
	err = f.shared(func(nf ndfile.File) error {
		return interruptible(func(ctx context.Context) error {
			return ndfile.Where(ctx, nf, q, func(rows []int64) (bool, error) {
				copy(dst[min(found, capacity):], rows)
				found += int64(len(rows))
				return true, nil
			})
		})
	})
	next = -1
	if dst != nil && found == capacity && found != limit {
		next = dst[found-1] + 1
	}
	return found, next, err
}

// queryAt reads what rows are wanted. The constants are the caller's memory.
func queryAt(terms address, n int64, options *C.ndf_where_options) (q ndfile.Query, err error) {
	if options != nil {
		var own C.ndf_where_options
		if err := input("ndf_where_options", options, &own); err != nil {
			return q, err
		}
		q = ndfile.Query{Start: int64(own.start), Stop: int64(own.stop), Skip: int64(own.skip), Limit: int64(own.limit)}
		if own.condition != nil {
			if q.Condition, err = ndfile.ParseCondition(textAt(own.condition)); err != nil {
				return q, err
			}
		}
	}
	err = structsAt("ndf_term", terms, n, func(p *C.ndf_term) error {
		var own C.ndfgo_term
		if err := input("ndf_term", p, &own); err != nil {
			return err
		}
		t := ndfile.Term{Column: fieldText(own.column), Op: ndfile.Op(own.op)}
		if own.op > C.NDF_OP_GE { // an Op has fewer bits
			return badArgument("ndf_term: op is " + strconv.Itoa(int(own.op)))
		}
		t.Value, err = ndfile.ParseValue(bytesOf(fieldText(own.value_json)))
		q.Terms = append(q.Terms, t)
		return jsonError("ndf_term: value_json", err)
	})
	return q, err
}

// ndfgo_array_take reads rows of an array by their numbers (positions along the first axis), in the order given.
//
// Each chunk is decoded once, whatever the order. A row may come more than once.
//
// C: int32_t ndf_array_take(ndf_array array, const int64_t *rows, int64_t nrows, const char *dtype, void *data, const int64_t *strides, uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - rows (in, nullable): the numbers, from 0; NULL only with nrows 0
//   - nrows: how many
//   - dtype (in, nullable): type of the elements in memory, as for ndf_array_read; NULL: the stored one in native byte
//     order
//   - data (out, nullable): address of element 0 of the destination, whose shape is the array's but for nrows along the
//     first axis; NULL only where there are no elements
//   - strides (in, nullable): distances in bytes, one for each axis, may be negative; NULL: row-major without gaps
//   - mask (out, nullable): receives a byte for each element in row-major order, 1 = missing; NULL: a missing element
//     is NDF_ERR_MASKED
//
// Returns: NDF_OK; NDF_ERR_BOUNDS for a row outside the array; NDF_ERR_SHAPE for an array without axes; NDF_ERR_MASKED;
// NDF_ERR_DTYPE for another dtype, and for elements of variable length; NDF_ERR_NO_DATA; NDF_ERR_CORRUPT;
// NDF_ERR_NOT_SUPPORTED for a file with NDF_CAP_WRITE_ONCE that is being created; NDF_ERR_IO; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT. After an error the content of data and mask is undefined.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_take
func ndfgo_array_take(array C.ndf_array, rows *C.int64_t, nrows C.int64_t, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, takeRows(handle(array), address(rows), int64(nrows), dtype, data, strides, mask))
}

func takeRows(h handle, rows address, n int64, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t) error {
	return readPoints(h, 1, "rows", rows, n, dtype, data, strides, mask)
}

// ndfgo_array_read_points reads elements by their positions, in the order given.
//
// A position counts the combinations of indexes along the first axes, row-major, from 0: with all axes it is one
// element, with one axis a row, as for ndf_array_take. Along the axes behind them everything is read. Of an array in
// chunks each is decoded once; elements of a file without chunks are copied one by one out of a mapping.
//
// C: int32_t ndf_array_read_points(ndf_array array, int32_t axes, const int64_t *points, int64_t npoints, const char *dtype, void *data, const int64_t *strides, uint8_t *mask, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - axes: along how many axes the positions go, 1 up to all
//   - points (in, nullable): the positions; NULL only with npoints 0
//   - npoints: how many, at most 2147483647
//   - dtype (in, nullable): as for ndf_array_take
//   - data (out, nullable): address of element 0 of the destination, whose shape is npoints, then the extents of the
//     axes from number axes on; NULL only where there are no elements
//   - strides (in, nullable): distances in bytes, one for each axis of that, may be negative; NULL: row-major without
//     gaps
//   - mask (out, nullable): as for ndf_array_take
//
// Returns: NDF_OK; NDF_ERR_BOUNDS for a position outside the array; NDF_ERR_SHAPE when the array has not so many axes;
// NDF_ERR_MASKED; NDF_ERR_DTYPE; NDF_ERR_NO_DATA; NDF_ERR_CORRUPT; NDF_ERR_LIMIT; NDF_ERR_NOT_SUPPORTED for a file with
// NDF_CAP_WRITE_ONCE that is being created; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT. After an error the content of
// data and mask is undefined.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_array_read_points
func ndfgo_array_read_points(array C.ndf_array, axes C.int32_t, points *C.int64_t, npoints C.int64_t, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, readPoints(handle(array), int(axes), "points", address(points), int64(npoints), dtype, data, strides, mask))
}

func readPoints(h handle, axes int, what string, points address, n int64, dtype *C.char, data address, strides *C.int64_t, mask *C.uint8_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	list, err := sliceAt[int64](what, points, n)
	if err != nil {
		return a.locate(err)
	}
	return a.read(func(spec *ndfile.Spec) error {
		if err := present(spec, false); err != nil {
			return err
		}
		if axes < 1 || axes > len(spec.Shape) {
			return ndfile.NewError(ndfile.ErrShape, what+": positions along "+strconv.Itoa(axes)+" axes, the array has "+strconv.Itoa(len(spec.Shape)))
		}
		shape := append([]int64{n}, spec.Shape[axes:]...)
		dst, err := elementsAt(spec, dtype, shape, strides, data)
		if err != nil {
			return err
		}
		count, err := ndarray.Count(shape)
		if err != nil {
			return err
		}
		missing, err := maskAt(mask, count)
		if err != nil {
			return err
		}
		if _, ok := a.array.(ndfile.Masked); !ok || !spec.Masked {
			clear(missing)
			missing = nil
		}
		return interruptible(func(ctx context.Context) error { return ndfile.ReadPoints(ctx, a.array, axes, list, dst, missing) })
	})
}
