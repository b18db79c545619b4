package main

// #include "internal.h"
import "C"

import (
	"context"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// ndfgo_load reads the arrays of a small file in one call.
//
// Elements, masks, offsets and names go to buf, where the infos tell their places; elements are row-major, in native
// byte order, and begin at multiples of 64 bytes from buf (which is best aligned to 64 itself). The format goes by the
// extension first and by content when that was wrong. When buf or the room for infos is too small the status is
// NDF_ERR_BUFFER, and *len, *ninfos and as many infos as there is room for are filled: come again with more. The file
// can have changed in between.
//
// C: int32_t ndf_load(const char *path, const char *name, void *buf, int64_t *len, ndf_load_info *infos, int64_t *ninfos, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder
//   - name (in, nullable): name of the array to read; NULL: all
//   - buf (out, nullable): receives the arrays; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: bytes that are used or needed
//   - infos (out, nullable): receives a description of each array. struct_size of the first is set by the caller and
//     counts for all; NULL only with *ninfos 0
//   - ninfos (inout): in: infos that there is room for; out: number of arrays
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_NAME when there is no array of that name; NDF_ERR_NOT_FOUND;
// NDF_ERR_PERMISSION; NDF_ERR_FORMAT; NDF_ERR_CORRUPT; NDF_ERR_LIMIT (see ndf_set_limits); NDF_ERR_IO; NDF_ERR_ARGUMENT. Other than
// NDF_ERR_BUFFER leave *len and *ninfos as they were, and the content of buf undefined.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_load
func ndfgo_load(path *C.char, name *C.char, buf address, len *C.int64_t, infos *C.ndf_load_info, ninfos *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	own := C.ndfgo_load_args{name: C.uintptr_t(uintptr(address(name))), buf: C.uintptr_t(uintptr(buf)), cap: *len, infos: C.uintptr_t(uintptr(address(infos))), max_infos: *ninfos}
	done, e := loadArgs(&own, fromPath(textAt(path)))
	if done {
		*len, *ninfos = own.need, own.ninfos
	}
	return report(err, e)
}

// ndfgo_load_prepared does what ndf_load does, with arguments that can be used for the next file again.
//
// It is for languages where each argument takes time, and for metadata, parts of a file, and what describes the arrays
// without their elements: see the flags. In a series of files that are alike even the infos need not be
// looked at again: while series is not 0 and what it was after an earlier call of this process, whatever the arguments
// of that were, the arrays have the names, dtypes, shapes and places that they had then.
//
// C: int32_t ndf_load_prepared(const char *path, ndf_load_args *args, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder
//   - args (inout): the other arguments of ndf_load. need and what follows it are filled; one struct is for one call at
//     a time
//
// Returns: NDF_OK, and else what ndf_load returns. Other than NDF_OK and NDF_ERR_BUFFER leave args as it was.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_load_prepared
func ndfgo_load_prepared(path *C.char, args *C.ndf_load_args, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, loadPrepared(args, fromPath(textAt(path))))
}

// ndfgo_save writes arrays as a new file in one call.
//
// C: int32_t ndf_save(const char *path, const char *format, const ndf_item *items, int64_t n, const char *attrs_json, const ndf_write_options *options, ndf_error *err)
//
// Parameters:
//   - path (in): where the file shall appear
//   - format (in, nullable): name of the format; NULL: by the extension of path
//   - items (in, nullable): the arrays, each with its struct_size set; NULL only with n 0
//   - n: number of items
//   - attrs_json (in, nullable): attributes of the file as a JSON object; NULL: none
//   - options (in, nullable): how the file becomes visible; NULL: atomically, without fsync, over an existing file
//
// Returns: NDF_OK; NDF_ERR_FORMAT for an unknown format or an extension that names none or several; NDF_ERR_EXISTS
// with options.exclusive; NDF_ERR_NAME_EXISTS for a name that comes twice; NDF_ERR_DTYPE for a dtype that the format
// does not have; NDF_ERR_SHAPE; NDF_ERR_VALUE for what the format cannot hold; NDF_ERR_NOT_SUPPORTED; NDF_ERR_NOT_FOUND
// when the folder is missing; NDF_ERR_PERMISSION; NDF_ERR_LIMIT; NDF_ERR_IO; NDF_ERR_ARGUMENT. After an error nothing
// of the new file is left, and an older one is untouched (with NDF_COMMIT_DIRECT it can be lost).
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_save
func ndfgo_save(path *C.char, format *C.char, items *C.ndf_item, n C.int64_t, attrs_json *C.char, options *C.ndf_write_options, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, save(context.Background(), ndfile.OS, textAt(path), format, address(items), int64(n), attrs_json, options))
}

// ndfgo_save_prepared does what ndf_save does, with arguments that can be used for the next file again.
//
// It is for languages where each argument takes time.
//
// C: int32_t ndf_save_prepared(const char *path, const ndf_save_args *args, ndf_error *err)
//
// Parameters:
//   - path (in): where the file shall appear
//   - args (in): the other arguments of ndf_save
//
// Returns: NDF_OK, and else what ndf_save returns.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_save_prepared
func ndfgo_save_prepared(path *C.char, args *C.ndf_save_args, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	var own C.ndfgo_save_args
	e := input("ndf_save_args", args, &own)
	if e == nil {
		e = save(context.Background(), ndfile.OS, textAt(path), (*C.char)(pointer(own.format)), pointer(own.items), int64(own.nitems),
			(*C.char)(pointer(own.attrs_json)), (*C.ndf_write_options)(pointer(own.options)))
	}
	return report(err, e)
}

// itemLists are spare lists of items.
var itemLists = sync.Pool{New: func() any { return new([]ndfile.Item) }}

func save(ctx context.Context, fsys ndfile.FS, path string, format *C.char, items address, n int64, attrsJSON *C.char, options *C.ndf_write_options) error {
	opt, err := createOptions(format, attrsJSON, options)
	if err != nil {
		return ndfile.Locate(err, path, "", false)
	}
	opt.FS = fsys
	list := itemLists.Get().(*[]ndfile.Item)
	defer func() {
		clear(*list)
		*list = (*list)[:0]
		itemLists.Put(list)
	}()
	if *list, err = itemsAt(*list, items, n); err != nil {
		return ndfile.Locate(err, path, "", false)
	}
	return ndfile.Save(ctx, all.Formats, path, *list, opt)
}

// itemsAt appends the caller's items to list.
func itemsAt(list []ndfile.Item, items address, n int64) ([]ndfile.Item, error) {
	err := structsAt("ndf_item", items, n, func(p *C.ndf_item) error {
		var c C.ndfgo_item
		if err := input("ndf_item", p, &c); err != nil {
			return err
		}
		it, err := itemAt(&c)
		if err != nil {
			return ndfile.Locate(err, "", it.Name, true)
		}
		list = append(list, it)
		return nil
	})
	return list, err
}

// itemAt is one item; it shares the caller's memory.
func itemAt(c *C.ndfgo_item) (it ndfile.Item, err error) {
	it.Name = fieldText(c.name)
	if pointer(c.dtype) == nil {
		return it, badArgument("ndf_item: dtype is NULL")
	}
	d, err := ndarray.Parse(fieldText(c.dtype))
	if err != nil {
		return it, err
	}
	shape, err := axesAt("ndf_item: shape", c.ndim, (*C.int64_t)(pointer(c.shape)))
	if err != nil {
		return it, err
	}
	n, err := ndarray.Count(shape)
	if err != nil {
		return it, err
	}
	if it.Mask, err = maskAt((*C.uint8_t)(pointer(c.mask)), n); err != nil {
		return it, err
	}
	if d.IsVar() {
		it.Data = ndarray.Buffer{DType: d, Shape: shape}
		if pointer(c.strides) != nil {
			return it, badArgument("ndf_item: strides of elements of variable length")
		}
		if it.Offsets, err = offsetsAt("ndf_item: offsets", pointer(c.offsets), n); err == nil {
			it.Data.Data, err = delimited(it.Offsets, pointer(c.data))
		}
	} else {
		var strides []int64
		if pointer(c.strides) != nil {
			strides, _ = axesAt("ndf_item: strides", c.ndim, (*C.int64_t)(pointer(c.strides)))
		}
		it.Data, err = bufferAt("ndf_item: data", d, shape, strides, pointer(c.data))
	}
	if err == nil {
		it.Dims, it.Attrs, it.Extra, err = metadataAt(c.dims_json, c.attrs_json, c.extra_json)
	}
	return it, err
}
