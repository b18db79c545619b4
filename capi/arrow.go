package main

// #include "native.h"
import "C"

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

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

// ndfgo_table_arrow gives a table, or some of its columns, as a stream of Arrow record batches.
//
// The stream is that of the Arrow C stream interface. It has the rows that the table has now. Types become: |b1 bool;
// integers of 1 to 8 bytes and floats of 2, 4 and 8 bytes the same; S binary and U utf8, both without the NULs that they
// are padded with; M8 in s, ms, us and ns the timestamp of that unit, without a zone, in h and m that in s, in D and W
// date32; m8 in s, ms, us and ns the duration of that unit, in W, D, h and m that in s; V fixed-size binary. Axes beyond
// the first become fixed-size lists. NaT is null. Columns of other types are refused: complex numbers, records, 16-byte
// numbers, bfloat16, and other units of time.
//
// Errors of the stream's get_schema and get_next are errno values, ENOSYS where nothing is wrong with the file but Arrow
// has no place for a value; get_last_error gives the reason as ndf_error has it. After an error the next get_next tries
// the same batch again.
//
// C: int32_t ndf_table_arrow(ndf_file file, const char *columns_json, int64_t batch_rows, struct ArrowArrayStream *stream, ndf_error *err)
//
// Parameters:
//   - file: the handle of a table
//   - columns_json (in, nullable): names of the columns as a JSON list of strings, in the order that is wanted; NULL:
//     all
//   - batch_rows: rows of a batch; 0: as the library chooses, about 65536 and whole chunks. Batches of wide columns are
//     shorter, so that no column of one takes more than 1 GiB
//   - stream (out, owned): receives the stream; its release is NULL after an error
//
// Returns: NDF_OK; NDF_ERR_NAME for a column that the table does not have; NDF_ERR_DTYPE for one that Arrow has no type
// for; NDF_ERR_LIMIT for one whose rows are longer than 1 GiB; NDF_ERR_NOT_SUPPORTED for a file that is no table;
// NDF_ERR_HANDLE; NDF_ERR_NO_MEMORY; NDF_ERR_ARGUMENT.
//
// Ownership: the stream, the schema and the batches are the consumer's, who calls their release. Batches are memory of
// their own, valid until released. The stream keeps the file open for reading, also after its handle is closed; of a
// file that was created or changed it fails then.
//
// Threads: any, also for the stream, but one at a time. In a child of fork() the stream only gives an error.
//
// Since: 1.0
//
//export ndfgo_table_arrow
func ndfgo_table_arrow(file C.ndf_file, columns_json *C.char, batch_rows C.int64_t, stream *C.struct_ArrowArrayStream, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*stream = C.struct_ArrowArrayStream{}
	return report(err, openStream(handle(file), columns_json, int64(batch_rows), stream))
}

func openStream(h handle, columnsJSON *C.char, batchRows int64, out *C.struct_ArrowArrayStream) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	if batchRows < 0 {
		return badArgument("batch_rows is " + strconv.FormatInt(batchRows, 10) + ", expected 0 or more")
	}
	if !f.retain() {
		return errClosed(kindFile)
	}
	s := &arrowStream{file: f}
	if err = f.shared(func(nf ndfile.File) error { return s.plan(nf, columnsJSON, batchRows) }); err == nil {
		err = s.register(out)
	}
	if err != nil {
		f.release()
	}
	return err
}

// ndfgo_array_arrow gives an array of one axis or more as a stream of Arrow arrays: chunks of one column, as Arrow's
// libraries take for a series. Types and errors are as for ndf_table_arrow.
//
// C: int32_t ndf_array_arrow(ndf_array array, int64_t batch_rows, struct ArrowArrayStream *stream, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - batch_rows: rows of a chunk; 0: as the library chooses
//   - stream (out, owned): receives the stream; its release is NULL after an error
//
// Returns: NDF_OK; NDF_ERR_DTYPE for elements that Arrow has no type for; NDF_ERR_SHAPE for an array without axes;
// NDF_ERR_NOT_SUPPORTED for one whose elements can be missing; NDF_ERR_NO_DATA; NDF_ERR_LIMIT for rows longer than 1 GiB;
// NDF_ERR_HANDLE; NDF_ERR_NO_MEMORY; NDF_ERR_ARGUMENT.
//
// Ownership: as for ndf_table_arrow.
//
// Threads: as for ndf_table_arrow.
//
// Since: 1.0
//
//export ndfgo_array_arrow
func ndfgo_array_arrow(array C.ndf_array, batch_rows C.int64_t, stream *C.struct_ArrowArrayStream, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*stream = C.struct_ArrowArrayStream{}
	return report(err, openArrayStream(handle(array), int64(batch_rows), stream))
}

func openArrayStream(h handle, batchRows int64, out *C.struct_ArrowArrayStream) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	if batchRows < 0 {
		return badArgument("batch_rows is " + strconv.FormatInt(batchRows, 10) + ", expected 0 or more")
	}
	if !a.file.retain() {
		return errClosed(kindFile)
	}
	s := &arrowStream{file: a.file, bare: true, batch: batchRows}
	err = a.read(func(spec *ndfile.Spec) error {
		switch {
		case spec.NoData:
			return ndfile.NewError(ndfile.ErrNoData, "")
		case len(spec.Shape) == 0:
			return ndfile.NewError(ndfile.ErrShape, "an array without axes is no column")
		}
		s.rows = spec.Shape[0]
		return s.add(a.array, a.name)
	})
	if err == nil {
		s.limit(batchRows == 0)
		err = s.register(out)
	}
	if err != nil {
		a.file.release()
	}
	return err
}

// arrowStream is what the handle of an Arrow stream stands for. It holds a reference to the file.
type arrowStream struct {
	file    *file
	columns []arrowColumn
	rows    int64 // of all batches
	batch   int64 // rows of one
	bare    bool  // the only column is the stream, not the child of a record

	rowBytes, chunk int64 // of all columns; the longest chunk

	mu sync.Mutex
	at int64 // the next row; guarded by mu
}

// arrowColumn is a column as Arrow has it.
type arrowColumn struct {
	name  string
	array ndfile.Array
	dtype ndarray.DType // in native byte order
	inner []int64       // shape of a row
	arrowType
	scratch []byte // elements before they are converted
}

// arrowType is what becomes of a dtype.
type arrowType struct {
	format string
	// fill makes the buffers of values, of which there are n, of the rows from at on.
	fill   func(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error
	factor int64 // what units of time are multiplied by
}

// plan finds the columns, and how many rows a batch has.
func (s *arrowStream) plan(nf ndfile.File, columnsJSON *C.char, batchRows int64) error {
	t, err := s.file.table(nf)
	if err != nil {
		return err
	}
	names := nf.Names()
	if columnsJSON != nil {
		// which are written as those of axes
		if names, err = ndfile.ParseDims(bytesOf(textAt(columnsJSON))); err != nil || names == nil {
			return badArgument("columns_json is not a JSON list of names")
		}
	}
	s.rows, s.batch = t.Rows(), batchRows
	for _, name := range names {
		a, err := nf.Array(name)
		if err == nil {
			err = s.add(a, name)
		}
		if err != nil {
			return ndfile.Locate(err, "", name, true)
		}
	}
	s.limit(batchRows == 0)
	return nil
}

// add adds a column.
func (s *arrowStream) add(a ndfile.Array, name string) error {
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
func (s *arrowStream) limit(choose bool) {
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

func newColumn(a ndfile.Array, name string) (c arrowColumn, spec ndfile.Spec, err error) {
	spec = a.Spec()
	if strings.ContainsRune(name, 0) {
		return c, spec, ndfile.NewError(ndfile.ErrNotSupported, "Arrow has no names with a NUL")
	}
	if len(spec.Shape) == 0 {
		return c, spec, ndfile.NewError(ndfile.ErrCorrupt, "a column without rows")
	}
	c = arrowColumn{name: strings.Clone(name), array: a, dtype: spec.DType.Native(), inner: slices.Clone(spec.Shape[1:])}
	c.arrowType, err = arrowTypeOf(spec.DType)
	if spec.Masked {
		err = ndfile.NewError(ndfile.ErrNotSupported, "columns with missing elements cannot go to Arrow")
	}
	return c, spec, err
}

// register gives the stream its handle and the C side of it.
func (s *arrowStream) register(out *C.struct_ArrowArrayStream) error {
	h, err := handles().add(kindStream, s)
	if err != nil {
		return err
	}
	if C.ndfile_arrow_stream(out, C.uint64_t(h)) == 0 {
		handles().take(kindStream, h)
		return noMemory()
	}
	return nil
}

func noMemory() error { return ndfile.NewError(ndfile.ErrNoMemory, "") }

//export ndfile_arrow_close
func ndfile_arrow_close(h C.uint64_t) {
	defer guard(nil, nil)
	if s, err := take[*arrowStream](kindStream, handle(h)); err == nil {
		s.file.release() // of a file that is read: nothing is at stake
	}
}

//export ndfile_arrow_schema
func ndfile_arrow_schema(h C.uint64_t, out *C.struct_ArrowSchema, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	s, e := find[*arrowStream](kindStream, handle(h))
	if e == nil {
		e = s.schema(out)
	}
	return report(err, e)
}

func (s *arrowStream) schema(out *C.struct_ArrowSchema) error {
	if s.bare {
		return s.columns[0].schema(out)
	}
	if err := newField(out, "+s", "", len(s.columns)); err != nil {
		return err
	}
	for i := range s.columns {
		if err := s.columns[i].schema(C.ndfile_arrow_field_child(out, C.int64_t(i))); err != nil {
			return err
		}
	}
	return nil
}

// schema is the field of a column.
func (c *arrowColumn) schema(field *C.struct_ArrowSchema) error {
	name := c.name
	for _, n := range c.inner {
		if err := newField(field, "+w:"+strconv.FormatInt(n, 10), name, 1); err != nil {
			return err
		}
		field, name = C.ndfile_arrow_field_child(field, 0), "item"
	}
	return newField(field, c.format, name, 0)
}

func newField(out *C.struct_ArrowSchema, format, name string, children int) error {
	if C.ndfile_arrow_field(out, C.CString(format), C.CString(name), C.ARROW_FLAG_NULLABLE, C.int64_t(children)) == 0 {
		return noMemory()
	}
	return nil
}

//export ndfile_arrow_next
func ndfile_arrow_next(h C.uint64_t, out *C.struct_ArrowArray, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	s, e := find[*arrowStream](kindStream, handle(h))
	if e == nil {
		e = s.next(out)
	}
	return report(err, e)
}

// next makes the next batch. After the last one out stays as it is.
func (s *arrowStream) next(out *C.struct_ArrowArray) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := min(s.batch, s.rows-s.at)
	if rows == 0 {
		return nil
	}
	if s.bare {
		c := &s.columns[0]
		err := s.file.shared(func(ndfile.File) error {
			return ndfile.Locate(c.read(out, s.at, rows), s.file.path, c.name, true)
		})
		if err == nil {
			s.at += rows
		}
		return err
	}
	if err := newArray(out, rows, 1, len(s.columns)); err != nil {
		return err
	}
	errs := make([]error, len(s.columns))
	err := s.file.shared(func(ndfile.File) error {
		work := func(_ context.Context, _ int, i int64) {
			c := &s.columns[i]
			errs[i] = ndfile.Locate(c.read(C.ndfile_arrow_child(out, C.int64_t(i)), s.at, rows), s.file.path, c.name, true)
		}
		if err := (ndfile.Parallel{}).Each(context.Background(), int64(len(errs)), work); err != nil {
			return err
		}
		return firstOf(errs)
	})
	if err == nil {
		s.at += rows
	}
	return err
}

// firstOf is the first of some errors, nil when there is none.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func newArray(out *C.struct_ArrowArray, length int64, buffers, children int) error {
	if C.ndfile_arrow_array(out, C.int64_t(length), C.int64_t(buffers), C.int64_t(children)) == 0 {
		return noMemory()
	}
	return nil
}

// newBuffer makes buffer i of n bytes, which are not set.
func newBuffer(a *C.struct_ArrowArray, i int, n int64) ([]byte, error) {
	p := C.ndfile_arrow_buffer(a, C.int64_t(i), C.int64_t(n))
	if p == nil {
		return nil, noMemory()
	}
	return sliceAt[byte]("buffer", p, n)
}

// read makes the column's part of a batch: a list for each inner axis, and the values.
func (c *arrowColumn) read(out *C.struct_ArrowArray, at, rows int64) error {
	n := rows
	for _, extent := range c.inner {
		if err := newArray(out, n, 1, 1); err != nil {
			return err
		}
		out, n = C.ndfile_arrow_child(out, 0), n*extent // the bytes of a batch are bounded
	}
	return c.fill(c, out, at, rows, n)
}

// elements reads rows into dst.
func (c *arrowColumn) elements(dst []byte, at, rows int64) error {
	box := ndarray.Box{Start: make([]int64, 1+len(c.inner)), Count: append([]int64{rows}, c.inner...)}
	box.Start[0] = at
	return c.array.ReadBox(context.Background(), box, ndarray.Buffer{DType: c.dtype, Shape: box.Count, Data: dst})
}

// scratched reads n elements that are to be converted.
func (c *arrowColumn) scratched(at, rows, n int64) ([]byte, error) {
	size := int(n) * c.dtype.Size
	if cap(c.scratch) < size {
		var err error
		if c.scratch, err = ndfile.NewBytes(size); err != nil {
			return nil, err
		}
	}
	raw := c.scratch[:size]
	return raw, c.elements(raw, at, rows)
}

// arrowTypeOf is the type that a dtype has in Arrow.
func arrowTypeOf(d ndarray.DType) (arrowType, error) {
	switch d.Kind {
	case ndarray.Bool:
		return arrowType{format: "b", fill: fillBools}, nil
	case ndarray.Int, ndarray.Uint, ndarray.Float:
		// the letters of sizes 1, 2, 4 and 8
		letters := map[ndarray.Kind]string{ndarray.Int: "csil", ndarray.Uint: "CSIL", ndarray.Float: "?efg"}[d.Kind]
		if i := slices.Index([]int{1, 2, 4, 8}, d.Size); i >= 0 {
			return arrowType{format: letters[i : i+1], fill: fillSame}, nil
		}
	case ndarray.Bytes:
		return arrowType{format: "z", fill: fillBytes}, nil
	case ndarray.Unicode:
		return arrowType{format: "u", fill: fillTexts}, nil
	case ndarray.Raw:
		return arrowType{format: "w:" + strconv.Itoa(d.Size), fill: fillSame}, nil
	case ndarray.Datetime, ndarray.Timedelta:
		if t, ok := arrowTime(d); ok {
			return t, nil
		}
	}
	return arrowType{}, ndfile.NewError(ndfile.ErrDType, "Arrow has no type for elements of "+d.String())
}

// arrowTime is the type of a time, whose unit can have a factor, as in "25s".
func arrowTime(d ndarray.DType) (arrowType, bool) {
	unit := strings.TrimLeft(d.Unit, "0123456789")
	t := arrowType{fill: fillTimes, factor: 1}
	if digits := d.Unit[:len(d.Unit)-len(unit)]; digits != "" {
		var err error
		if t.factor, err = strconv.ParseInt(digits, 10, 32); err != nil || t.factor == 0 {
			return t, false
		}
	}
	const day = 24 * 60 * 60
	seconds := map[string]int64{"m": 60, "h": 60 * 60, "D": day, "W": 7 * day}[unit]
	switch {
	case unit == "s" || unit == "ms" || unit == "us" || unit == "ns":
		t.format = unit[:1]
	case seconds >= day && d.Kind == ndarray.Datetime:
		t.format, t.factor, t.fill = "tdD", t.factor*(seconds/day), fillDates
		return t, true
	case seconds > 0:
		t.format, t.factor = "s", t.factor*seconds
	default:
		return t, false
	}
	if d.Kind == ndarray.Datetime {
		t.format = "ts" + t.format + ":"
	} else {
		t.format = "tD" + t.format
	}
	return t, true
}

// fillSame fills values that Arrow has as NumPy has them.
func fillSame(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error {
	if err := newArray(values, n, 2, 0); err != nil {
		return err
	}
	dst, err := newBuffer(values, 1, n*int64(c.dtype.Size))
	if err != nil {
		return err
	}
	return c.elements(dst, at, rows)
}

// fillBools packs bytes to bits.
func fillBools(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error {
	raw, err := c.scratched(at, rows, n)
	if err != nil {
		return err
	}
	if err := newArray(values, n, 2, 0); err != nil {
		return err
	}
	bits, err := newBuffer(values, 1, (n+7)/8)
	if err != nil {
		return err
	}
	clear(bits)
	for i, b := range raw {
		if b != 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return nil
}

// fillBytes fills binary values without the NULs at their ends.
func fillBytes(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error {
	return fillVariable(c, values, at, rows, n, func(dst, element []byte) (int, error) {
		for len(element) > 0 && element[len(element)-1] == 0 {
			element = element[:len(element)-1]
		}
		return copy(dst, element), nil
	})
}

// fillTexts fills texts, which are UCS4, as UTF-8 without the NULs at their ends.
func fillTexts(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error {
	return fillVariable(c, values, at, rows, n, func(dst, element []byte) (int, error) {
		size, last := 0, 0 // with and without what may be padding
		for ; len(element) >= 4; element = element[4:] {
			r := binary.NativeEndian.Uint32(element)
			if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return 0, ndfile.NewError(ndfile.ErrValue, "the character U+"+strconv.FormatUint(uint64(r), 16)+" is none in UTF-8")
			}
			size += utf8.EncodeRune(dst[size:size+4], rune(r))
			if r != 0 {
				last = size
			}
		}
		return last, nil
	})
}

// fillVariable fills values that have a length of their own; put stores one at dst, which has room for itemsize bytes,
// and gives its length.
func fillVariable(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64, put func(dst, element []byte) (int, error)) error {
	raw, err := c.scratched(at, rows, n)
	if err != nil {
		return err
	}
	if err := newArray(values, n, 3, 0); err != nil {
		return err
	}
	offsets, err := newBuffer(values, 1, 4*(n+1))
	if err != nil {
		return err
	}
	dst, err := newBuffer(values, 2, int64(len(raw)))
	if err != nil {
		return err
	}
	end := 0
	binary.NativeEndian.PutUint32(offsets, 0)
	size := c.dtype.Size
	for i := range int(n) {
		length, err := put(dst[end:], raw[i*size:][:size])
		if err != nil {
			return rowError(err, at, rows, n, int64(i))
		}
		end += length
		binary.NativeEndian.PutUint32(offsets[4*(i+1):], uint32(end))
	}
	return nil
}

// rowError tells the row of value i of n.
func rowError(err error, at, rows, n, i int64) error {
	return ndfile.NewError(ndfile.KindOf(err), "row "+strconv.FormatInt(at+i/(n/rows), 10)).Because(err)
}

// fillTimes fills times of 64 bits.
func fillTimes(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error {
	if err := newArray(values, n, 2, 0); err != nil {
		return err
	}
	dst, err := newBuffer(values, 1, 8*n)
	if err != nil {
		return err
	}
	if err := c.elements(dst, at, rows); err != nil {
		return err
	}
	return c.scale(values, dst, at, rows, n, func(i, t int64) bool {
		binary.NativeEndian.PutUint64(dst[8*i:], uint64(t))
		return true
	})
}

// fillDates fills days, which have 32 bits.
func fillDates(c *arrowColumn, values *C.struct_ArrowArray, at, rows, n int64) error {
	raw, err := c.scratched(at, rows, n)
	if err != nil {
		return err
	}
	if err := newArray(values, n, 2, 0); err != nil {
		return err
	}
	dst, err := newBuffer(values, 1, 4*n)
	if err != nil {
		return err
	}
	return c.scale(values, raw, at, rows, n, func(i, t int64) bool {
		binary.NativeEndian.PutUint32(dst[4*i:], uint32(t))
		return t == int64(int32(t))
	})
}

// scale multiplies n times of 64 bits by the factor of the type and hands them to put, which tells whether they fit. NaT
// is 0 and null.
func (c *arrowColumn) scale(values *C.struct_ArrowArray, raw []byte, at, rows, n int64, put func(i, t int64) bool) error {
	const nat = math.MinInt64
	var valid []byte // a bit for each; nil: no nulls
	for i := range n {
		t := int64(binary.NativeEndian.Uint64(raw[8*i:]))
		if t == nat {
			if valid == nil {
				var err error
				if valid, err = newBuffer(values, 0, (n+7)/8); err != nil {
					return err
				}
				for k := range valid {
					valid[k] = 0xff
				}
			}
			valid[i/8] &^= 1 << (i % 8)
			values.null_count++
			put(i, 0)
			continue
		}
		if scaled := t * c.factor; scaled/c.factor != t || scaled == nat || !put(i, scaled) {
			err := ndfile.NewError(ndfile.ErrValue, "the time "+strconv.FormatInt(t, 10)+" of "+c.dtype.String()+" does not fit into Arrow's "+c.format)
			return rowError(err, at, rows, n, i)
		}
	}
	return nil
}
