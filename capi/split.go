package main

// #include "internal.h"
import "C"

import (
	"context"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// ndfgo_split cuts a store into several along the first axis, without touching compressed data.
//
// Chunk files are copied as they are. Each part but the last has to end between chunks of every column. Attributes go
// into every part. src stays as it is.
//
// C: int32_t ndf_split(const char *src, const ndf_part *parts, int64_t nparts, const ndf_split_options *options, ndf_error *err)
//
// Parameters:
//   - src (in): the store, of a format with NDF_CAP_SPLIT
//   - parts (in): the parts one after the other, each with its struct_size set; together they have all rows
//   - nparts: number of parts
//   - options (in, nullable): how the new stores become visible; NULL: atomically, without fsync, over existing ones
//
// Returns: NDF_OK; NDF_ERR_SHAPE when the parts have not all rows together, or one ends within a chunk: the message names
// the nearest rows that do; NDF_ERR_NOT_SUPPORTED for another format; NDF_ERR_EXISTS with options.exclusive;
// NDF_ERR_NOT_FOUND; NDF_ERR_PERMISSION; NDF_ERR_FORMAT; NDF_ERR_CORRUPT; NDF_ERR_LIMIT; NDF_ERR_IO; NDF_ERR_ARGUMENT.
// After an error no part is half there; parts before it can be.
//
// Ownership: nothing is kept.
//
// Threads: any; not beside calls that change src.
//
// Since: 1.0
//
//export ndfgo_split
func ndfgo_split(src *C.char, parts *C.ndf_part, nparts C.int64_t, options *C.ndf_split_options, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, split(strings.Clone(textAt(src)), address(parts), int64(nparts), options))
}

func split(src string, parts address, n int64, options *C.ndf_split_options) error {
	opt, err := splitOptions(options)
	if err != nil {
		return ndfile.Locate(err, src, "", false)
	}
	var list []ndfile.Part
	err = structsAt("ndf_part", parts, n, func(p *C.ndf_part) error {
		var own C.ndfgo_part
		if err := input("ndf_part", p, &own); err != nil {
			return err
		}
		if pointer(own.path) == nil || own.nrows < 0 {
			return badArgument("ndf_part " + strconv.Itoa(len(list)) + ": path is NULL or nrows negative")
		}
		list = append(list, ndfile.Part{Path: strings.Clone(fieldText(own.path)), Rows: int64(own.nrows)})
		return nil
	})
	if err != nil {
		return ndfile.Locate(err, src, "", false)
	}
	return ndfile.Split(context.Background(), all.Formats, src, list, opt)
}

// ndfgo_concat makes one store of several, one after the other along the first axis, without touching compressed data.
//
// Names, dtypes, chunks and the shapes of rows have to be the same, and each store but the last has to end between chunks.
// Attributes are those of the first. The stores stay as they are.
//
// C: int32_t ndf_concat(const char *const *srcs, int64_t nsrcs, const char *dst, const ndf_split_options *options, ndf_error *err)
//
// Parameters:
//   - srcs (in): the stores, of one format with NDF_CAP_SPLIT
//   - nsrcs: how many, 1 or more
//   - dst (in): where the new store shall appear
//   - options (in, nullable): how it becomes visible; NULL: atomically, without fsync, over an existing one
//
// Returns: NDF_OK; NDF_ERR_SHAPE; NDF_ERR_DTYPE; NDF_ERR_NAME; NDF_ERR_NOT_SUPPORTED for another format; NDF_ERR_EXISTS
// with options.exclusive; NDF_ERR_NOT_FOUND; NDF_ERR_PERMISSION; NDF_ERR_FORMAT; NDF_ERR_CORRUPT; NDF_ERR_LIMIT;
// NDF_ERR_IO; NDF_ERR_ARGUMENT for stores of different formats, and a dst that is one of them. After an error nothing of
// the new store is left, and an older one is untouched.
//
// Ownership: nothing is kept.
//
// Threads: any; not beside calls that change the stores.
//
// Since: 1.0
//
//export ndfgo_concat
func ndfgo_concat(srcs **C.char, nsrcs C.int64_t, dst *C.char, options *C.ndf_split_options, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, concat(address(srcs), int64(nsrcs), strings.Clone(textAt(dst)), options))
}

func concat(srcs address, n int64, dst string, options *C.ndf_split_options) error {
	opt, err := splitOptions(options)
	if err != nil {
		return ndfile.Locate(err, dst, "", false)
	}
	paths, err := sliceAt[C.uintptr_t]("srcs", srcs, n)
	if err != nil {
		return ndfile.Locate(err, dst, "", false)
	}
	list := make([]string, len(paths))
	for i, p := range paths {
		if pointer(p) == nil {
			return badArgument("path " + strconv.Itoa(i) + " is NULL")
		}
		list[i] = strings.Clone(fieldText(p))
	}
	return ndfile.Concat(context.Background(), all.Formats, list, dst, opt)
}

// splitOptions reads the options of splitting and joining.
func splitOptions(options *C.ndf_split_options) (opt ndfile.SplitOptions, err error) {
	opt.FS, opt.Limits = ndfile.OS, limits()
	if options == nil {
		return opt, nil
	}
	var own C.ndfgo_split_options
	if err = input("ndf_split_options", options, &own); err != nil {
		return opt, err
	}
	if opt.WriteOptions, err = writeOptions("ndf_split_options", own.commit, own.sync, own.exclusive); err != nil {
		return opt, err
	}
	opt.Format, opt.FollowSymlinks = strings.Clone(fieldText(own.format)), own.follow_symlinks != 0
	opt.Limits, err = limitsAt("ndf_split_options", own.max_header)
	return opt, err
}
