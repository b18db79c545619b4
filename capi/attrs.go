package main

// #include "internal.h"
import "C"

import "github.com/ndfile/ndfile/pkg/ndfile"

// ndfgo_file_get_attrs gives the attributes of a file.
//
// C: int32_t ndf_file_get_attrs(ndf_file file, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - file: the handle
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
//export ndfgo_file_get_attrs
func ndfgo_file_get_attrs(file C.ndf_file, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, fileAttrs(handle(file), buf, len))
}

func fileAttrs(h handle, buf *C.char, length *C.int64_t) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.shared(func(nf ndfile.File) error {
		return textOut(jsonText(nf.Attrs()), buf, length)
	})
}

// ndfgo_file_set_attrs replaces all attributes of a file.
//
// They are written when the file is flushed or closed.
//
// C: int32_t ndf_file_set_attrs(ndf_file file, const char *attrs_json, ndf_error *err)
//
// Parameters:
//   - file: the handle
//   - attrs_json (in): the new attributes as a JSON object; NaN, Infinity and -Infinity are allowed
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading;
// NDF_ERR_NOT_SUPPORTED where the format has no attributes of files; NDF_ERR_LIMIT; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT for text that is not a JSON object.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_set_attrs
func ndfgo_file_set_attrs(file C.ndf_file, attrs_json *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, setFileAttrs(handle(file), attrs_json))
}

func setFileAttrs(h handle, attrsJSON *C.char) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	attrs, err := attrsAt("attrs_json", attrsJSON)
	if err != nil {
		return ndfile.Locate(err, f.path, "", false)
	}
	return f.alone(func(nf ndfile.File) error {
		return f.replaceAttrs(ndfile.CapFileAttrs, nf.Attrs(), attrs)
	})
}

// ndfgo_array_get_attrs gives the attributes of an array.
//
// C: int32_t ndf_array_get_attrs(ndf_array array, char *buf, int64_t *len, ndf_error *err)
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
//export ndfgo_array_get_attrs
func ndfgo_array_get_attrs(array C.ndf_array, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, arrayAttrs(handle(array), buf, len))
}

func arrayAttrs(h handle, buf *C.char, length *C.int64_t) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	return a.locate(a.file.shared(func(ndfile.File) error {
		return textOut(jsonText(a.array.Attrs()), buf, length)
	}))
}

// ndfgo_array_set_attrs replaces all attributes of an array.
//
// They are written when the file is flushed or closed.
//
// C: int32_t ndf_array_set_attrs(ndf_array array, const char *attrs_json, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - attrs_json (in): the new attributes as a JSON object; NaN, Infinity and -Infinity are allowed
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading;
// NDF_ERR_NOT_SUPPORTED where the format has no attributes of arrays; NDF_ERR_LIMIT; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT for text that is not a JSON object.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_array_set_attrs
func ndfgo_array_set_attrs(array C.ndf_array, attrs_json *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, setArrayAttrs(handle(array), attrs_json))
}

func setArrayAttrs(h handle, attrsJSON *C.char) error {
	a, err := findArray(h)
	if err != nil {
		return err
	}
	defer a.leave()
	attrs, err := attrsAt("attrs_json", attrsJSON)
	if err != nil {
		return a.locate(err)
	}
	return a.locate(a.file.alone(func(ndfile.File) error {
		return a.file.replaceAttrs(ndfile.CapArrayAttrs, a.array.Attrs(), attrs)
	}))
}

// replaceAttrs makes old, of a file or an array, hold what attrs holds.
func (f *file) replaceAttrs(need ndfile.Caps, old, attrs *ndfile.Attrs) error {
	switch {
	case f.access == reading:
		return ndfile.NewError(ndfile.ErrReadOnly, ndfile.ErrReadOnly.Text)
	case f.format.Caps()&need == 0 || old == nil:
		return ndfile.NewError(ndfile.ErrNotSupported, "the format "+f.format.Name()+" has no such attributes")
	}
	*old = *attrs
	return nil
}

// attrsAt reads attributes; NULL is none.
func attrsAt(what string, json *C.char) (*ndfile.Attrs, error) {
	if json == nil {
		return nil, nil
	}
	attrs, err := ndfile.ParseJSON(bytesOf(textAt(json)))
	return attrs, jsonError(what, err)
}

// metadataAt reads the metadata of an array; NULL is none.
func metadataAt(dimsJSON, attrsJSON, extraJSON C.uintptr_t) (dims []string, attrs, extra *ndfile.Attrs, err error) {
	if p := pointer(dimsJSON); p != nil {
		dims, err = ndfile.ParseDims([]byte(textAt((*C.char)(p))))
		err = jsonError("dims_json", err)
	}
	if err == nil {
		attrs, err = attrsAt("attrs_json", (*C.char)(pointer(attrsJSON)))
	}
	if err == nil {
		extra, err = attrsAt("extra_json", (*C.char)(pointer(extraJSON)))
	}
	return dims, attrs, extra, err
}

// jsonError is the error of a text that the caller has given: what is wrong is an argument, not a file.
func jsonError(what string, err error) error {
	if err == nil {
		return nil
	}
	kind := ndfile.KindOf(err)
	if kind == ndfile.ErrCorrupt {
		kind = ndfile.ErrArgument
	}
	return ndfile.NewError(kind, what).Because(err)
}

func jsonText(a *ndfile.Attrs) string { return string(ndfile.AppendJSON(nil, a)) }
