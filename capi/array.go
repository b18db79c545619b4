package main

// #include "internal.h"
import "C"

import (
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// array is what an array handle stands for.
type array struct {
	file  *file
	name  string
	array ndfile.Array

	// Calls share mu, closing the handle excludes.
	mu     sync.RWMutex
	closed bool // guarded by mu
}

// openArray makes a handle for the array that pick finds or adds; run is f.shared or f.alone. The name that pick
// gives is Go's memory.
func (f *file) openArray(run func(func(ndfile.File) error) error, pick func(ndfile.File) (string, ndfile.Array, error)) (h handle, err error) {
	if !f.retain() {
		return 0, errClosed(kindFile) // by another thread, a moment ago
	}
	a := &array{file: f}
	err = run(func(nf ndfile.File) (err error) {
		a.name, a.array, err = pick(nf)
		return err
	})
	if err == nil {
		h, err = handles().add(kindArray, a)
	}
	if err != nil {
		f.release() // what was written is not at stake: its handle is open, or reports for itself
	}
	return h, err
}

// enter keeps the handle open until leave.
func (a *array) enter() error {
	a.mu.RLock()
	if a.closed {
		a.mu.RUnlock()
		return errClosed(kindArray)
	}
	return nil
}

func (a *array) leave() { a.mu.RUnlock() }

// locate names the array in err.
func (a *array) locate(err error) error {
	return ndfile.Locate(err, a.file.path, a.name, !a.file.single.Load())
}

// findArray looks an array up and enters it.
func findArray(h handle) (*array, error) {
	a, err := find[*array](kindArray, h)
	if err != nil {
		return nil, err
	}
	return a, a.enter()
}

// ndfgo_array_close closes an array handle.
//
// Nothing is committed by it: what was written becomes part of the file when the file is closed.
//
// C: int32_t ndf_array_close(ndf_array array, ndf_error *err)
//
// Parameters:
//   - array (taken): the handle
//
// Returns: NDF_OK; NDF_ERR_HANDLE, as for a handle that is closed already; NDF_ERR_IO.
//
// Ownership: takes the handle back.
//
// Threads: any; waits for calls that are running on the array.
//
// Since: 1.0
//
//export ndfgo_array_close
func ndfgo_array_close(array C.ndf_array, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, closeArray(handle(array)))
}

func closeArray(h handle) error {
	a, err := take[*array](kindArray, h)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	return a.file.release()
}

// ndfgo_array_get_info describes an array.
//
// C: int32_t ndf_array_get_info(ndf_array array, ndf_array_info *info, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - info (out): struct_size set by the caller, the rest is filled
//
// Returns: NDF_OK; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_info
func ndfgo_array_get_info(array C.ndf_array, info *C.ndf_array_info, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayInfo(handle(array), info))
}

func arrayInfo(h handle, info *C.ndf_array_info) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	spec := a.spec()
	out := C.ndf_array_info{ndim: C.int32_t(len(spec.Shape)), itemsize: C.int64_t(spec.DType.Size)}
	if n, err := ndarray.Count(spec.Shape); err != nil {
		return a.locate(err)
	} else if !spec.NoData {
		out.count = C.int64_t(n)
	}
	out.flags = flagIf(spec.Masked, C.NDF_ARRAY_MASKED) | flagIf(spec.DType.IsVar(), C.NDF_ARRAY_STRINGS) |
		flagIf(spec.NoData, C.NDF_ARRAY_NO_DATA) | flagIf(a.file.single.Load(), C.NDF_ARRAY_SINGLE) |
		flagIf(spec.Chunks != nil, C.NDF_ARRAY_CHUNKED) | flagIf(spec.Fill != nil, C.NDF_ARRAY_FILL)
	if name := spec.DType.String(); len(name) < len(out.dtype) {
		setName(out.dtype[:], name)
	}
	for i, n := range spec.Shape {
		out.shape[i] = C.int64_t(n)
	}
	for i, n := range spec.Chunks {
		out.chunks[i] = C.int64_t(n)
	}
	for i, n := range spec.Shards {
		out.shards[i] = C.int64_t(n)
	}
	if c, ok := spec.Compression(); ok {
		setName(out.codec[:], c.Codec)
		out.level, out.shuffle = C.int32_t(c.Level), C.uint32_t(c.Shuffle)
	}
	return output("ndf_array_info", info, &out)
}

func flagIf(on bool, flag C.uint32_t) C.uint32_t {
	if on {
		return flag
	}
	return 0
}

// ndfgo_array_get_fill gives the value of elements that were never written.
//
// C: int32_t ndf_array_get_fill(ndf_array array, void *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - buf (out, nullable): receives one element of the stored dtype, in native byte order; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: itemsize of ndf_array_info, or 0 when the array has no such value (without
//     NDF_ARRAY_FILL), where the element reads as zero
//
// Returns: NDF_OK; NDF_ERR_BUFFER, *len is the number of bytes that is needed; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_fill
func ndfgo_array_get_fill(array C.ndf_array, buf address, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayFill(handle(array), buf, len))
}

func arrayFill(h handle, buf address, length *C.int64_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	spec := a.spec()
	var fill []byte
	if spec.Fill != nil {
		if fill, err = reordered(spec.Fill, spec.DType, spec.DType.Native()); err != nil {
			return a.locate(err)
		}
	}
	return a.locate(bytesOut("the fill value", fill, buf, length))
}

// spec is the array's present description.
func (a *array) spec() ndfile.Spec {
	a.file.mu.RLock()
	defer a.file.mu.RUnlock()
	return a.array.Spec()
}

// ndfgo_array_get_dtype gives the name of an array's stored dtype, of any length.
//
// C: int32_t ndf_array_get_dtype(ndf_array array, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - buf (out, nullable): receives the name; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the name
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_dtype
func ndfgo_array_get_dtype(array C.ndf_array, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayText(handle(array), buf, len, func(spec ndfile.Spec) string { return spec.DType.String() }))
}

// ndfgo_array_get_codecs gives the codecs that make the bytes of a chunk of its elements.
//
// A chunk passes through them from the first to the last when it is written. What is read from a file has the names
// and the configurations that stand there.
//
// C: int32_t ndf_array_get_codecs(ndf_array array, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - buf (out, nullable): receives a JSON list of names and of objects with a name and its configuration, or "null"
//     when the array is not stored in chunks; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the text
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_codecs
func ndfgo_array_get_codecs(array C.ndf_array, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayText(handle(array), buf, len, func(spec ndfile.Spec) string { return string(ndfile.AppendCodecs(nil, &spec)) }))
}

// ndfgo_array_get_dims gives the names of an array's axes.
//
// C: int32_t ndf_array_get_dims(ndf_array array, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - buf (out, nullable): receives a JSON list of strings, or "null" when the axes have no names; NULL only with *len
//     0
//   - len (inout): in: bytes at buf; out: length of the text
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_dims
func ndfgo_array_get_dims(array C.ndf_array, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayText(handle(array), buf, len, func(spec ndfile.Spec) string { return string(ndfile.AppendDimsJSON(nil, spec.Dims)) }))
}

// ndfgo_array_get_extra gives what the array's own metadata holds beyond dtype, shape, dims and attributes.
//
// The terms are the format's own. Given as extra_json to ndf_file_add or ndf_save of the same format it is written
// back.
//
// C: int32_t ndf_array_get_extra(ndf_array array, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - buf (out, nullable): receives a JSON object; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the text
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_get_extra
func ndfgo_array_get_extra(array C.ndf_array, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayText(handle(array), buf, len, func(spec ndfile.Spec) string { return string(ndfile.AppendJSON(nil, spec.Extra)) }))
}

// arrayText gives the caller a text made of the array's description.
func arrayText(h handle, buf *C.char, length *C.int64_t, make func(ndfile.Spec) string) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.locate(textOut(make(a.spec()), buf, length))
}
