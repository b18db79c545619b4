package main

// #include "native.h"
import "C"

import (
	"context"
	"strconv"

	"github.com/ndfile/ndfile/pkg/columnar"
	"github.com/ndfile/ndfile/pkg/ndfile"
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
	err = f.shared(func(nf ndfile.File) (err error) {
		if _, err = f.table(nf); err != nil {
			return err
		}
		var names []string
		if columnsJSON != nil {
			// which are written as those of axes
			if names, err = ndfile.ParseDims(bytesOf(textAt(columnsJSON))); err != nil || names == nil {
				return badArgument("columns_json is not a JSON list of names")
			}
		}
		s.stream, err = columnar.OfTable(nf, names, batchRows)
		return err
	})
	if err == nil {
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
	s := &arrowStream{file: a.file}
	err = a.read(func(*ndfile.Spec) (err error) {
		s.stream, err = columnar.OfArray(a.array, a.name, batchRows)
		return err
	})
	if err == nil {
		err = s.register(out)
	}
	if err != nil {
		a.file.release()
	}
	return err
}

// arrowStream is what the handle of an Arrow stream stands for. It holds a reference to the file.
type arrowStream struct {
	file   *file
	stream *columnar.Stream
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
		e = newField(out, s.stream.Schema())
	}
	return report(err, e)
}

// newField makes a field and those in it.
func newField(out *C.struct_ArrowSchema, f columnar.Field) error {
	if C.ndfile_arrow_field(out, C.CString(f.Format), C.CString(f.Name), C.ARROW_FLAG_NULLABLE, C.int64_t(len(f.Children))) == 0 {
		return noMemory()
	}
	for i, child := range f.Children {
		if err := newField(C.ndfile_arrow_field_child(out, C.int64_t(i)), child); err != nil {
			return err
		}
	}
	return nil
}

//export ndfile_arrow_next
func ndfile_arrow_next(h C.uint64_t, out *C.struct_ArrowArray, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	s, e := find[*arrowStream](kindStream, handle(h))
	if e == nil {
		e = s.file.shared(func(ndfile.File) error {
			_, err := s.stream.Next(context.Background(), arrowMemory{out})
			return ndfile.Locate(err, s.file.path, "", false)
		})
	}
	return report(err, e)
}

// arrowMemory is an array in memory of C.
type arrowMemory struct{ array *C.struct_ArrowArray }

// Begin implements [columnar.Memory].
func (m arrowMemory) Begin(length int64, buffers, children int) error {
	if C.ndfile_arrow_array(m.array, C.int64_t(length), C.int64_t(buffers), C.int64_t(children)) == 0 {
		return noMemory()
	}
	return nil
}

// Buffer implements [columnar.Memory].
func (m arrowMemory) Buffer(i int, n int64) ([]byte, error) {
	p := C.ndfile_arrow_buffer(m.array, C.int64_t(i), C.int64_t(n))
	if p == nil {
		return nil, noMemory()
	}
	return sliceAt[byte]("buffer", p, n)
}

// Child implements [columnar.Memory].
func (m arrowMemory) Child(i int) columnar.Memory {
	return arrowMemory{C.ndfile_arrow_child(m.array, C.int64_t(i))}
}

// SetNulls implements [columnar.Memory].
func (m arrowMemory) SetNulls(n int64) { m.array.null_count = C.int64_t(n) }
