package main

// #include "internal.h"
import "C"

import (
	"context"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// ndfgo_convert copies a file into one of another format, or of the same.
//
// What the destination has no place for is found before anything is written, and is NDF_ERR_LOSS unless it is allowed;
// losses then lists it. Compressed chunks are copied as they are where both formats have them alike, also into shards and
// out of them. A single array is
// called "data" in a dataset; of a dataset or table a format of single arrays takes the only array or the one named. The
// destination appears when it is whole, and is then read back and compared. With src and dst the same, a store is turned
// into another format in place, where the format can do so: at every moment it is a whole store of one or the other.
//
// C: int32_t ndf_convert(const char *src, const char *dst, const ndf_convert_options *options, char *losses, int64_t *losses_len, ndf_error *err)
//
// Parameters:
//   - src (in): the file or folder
//   - dst (in): where the new one shall appear
//   - options (in, nullable): NULL: formats by content and extension, nothing may be lost or overwritten
//   - losses (out, nullable): receives a JSON list of objects with array, what ("data", "dtype", "mask", "attributes",
//     "dims", "file attributes" or "trailing bytes") and why
//   - losses_len (inout, nullable): in: bytes at losses; out: length of the text. When losses is too small nothing is
//     stored there and losses_len is the capacity that is needed, which does not change the status; NULL only when
//     losses is
//
// Returns: NDF_OK; NDF_ERR_LOSS; NDF_ERR_EXISTS without options.overwrite; NDF_ERR_NAME; NDF_ERR_CORRUPT, also when
// reading back finds a difference; NDF_ERR_FORMAT; NDF_ERR_NOT_SUPPORTED; NDF_ERR_CANCELED; NDF_ERR_NOT_FOUND;
// NDF_ERR_PERMISSION; NDF_ERR_DTYPE and NDF_ERR_VALUE when not one array can be carried over; NDF_ERR_LIMIT; NDF_ERR_IO;
// NDF_ERR_ARGUMENT. After an error nothing of the new file is left (but for a difference when it was read back), and an
// older one is untouched.
//
// Ownership: nothing is kept.
//
// Threads: any; not beside calls that change src.
//
// Since: 1.0
//
//export ndfgo_convert
func ndfgo_convert(src *C.char, dst *C.char, options *C.ndf_convert_options, losses *C.char, losses_len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, convert(strings.Clone(textAt(src)), strings.Clone(textAt(dst)), options, losses, losses_len))
}

func convert(src, dst string, options *C.ndf_convert_options, losses *C.char, lossesLen *C.int64_t) error {
	if lossesLen == nil {
		lossesLen = new(C.int64_t)
	}
	if _, err := roomAt("losses", "losses_len", address(losses), int64(*lossesLen)); err != nil {
		return ndfile.Locate(err, src, "", false)
	}
	opt, err := convertOptions(options)
	if err != nil {
		return ndfile.Locate(err, src, "", false)
	}
	list, err := ndfile.Convert(context.Background(), all.Formats, src, dst, opt)
	_ = textOut(lossesJSON(list), losses, lossesLen) // too small a buffer is no error
	return err
}

// convertOptions reads the options of a conversion.
func convertOptions(options *C.ndf_convert_options) (opt ndfile.ConvertOptions, err error) {
	opt.FS, opt.Limits = ndfile.OS, limits()
	if options == nil {
		return opt, nil
	}
	var own C.ndfgo_convert_options
	if err = input("ndf_convert_options", options, &own); err != nil {
		return opt, err
	}
	if opt.WriteOptions, err = writeOptions("ndf_convert_options", own.commit, own.sync, 0); err != nil {
		return opt, err
	}
	opt.From, opt.To = strings.Clone(fieldText(own.from)), strings.Clone(fieldText(own.to))
	opt.Name = strings.Clone(fieldText(own.name))
	opt.AllowLoss, opt.NoCheck, opt.Overwrite = own.allow_loss != 0, own.no_check != 0, own.overwrite != 0
	opt.FollowSymlinks, opt.DefaultFill, opt.ShardSize = own.follow_symlinks != 0, own.default_fill != 0, int64(own.shard_size)
	opt.Progress = progressAt(own.progress, own.user)
	opt.Limits, err = limitsAt("ndf_convert_options", own.max_header)
	return opt, err
}

// lossesJSON is a JSON list of losses.
func lossesJSON(losses []ndfile.Loss) string {
	b := []byte{'['}
	for i, l := range losses {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = ndfile.AppendJSONString(append(b, `{"array": `...), l.Array)
		b = ndfile.AppendJSONString(append(b, `, "what": `...), l.What)
		b = ndfile.AppendJSONString(append(b, `, "why": `...), l.Why)
		b = append(b, '}')
	}
	return string(append(b, ']'))
}
