package main

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"context"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// ndfgo_verify checks a file or folder thoroughly, and repairs it where that is asked for and certain.
//
// Formats with NDF_CAP_VERIFY check every chunk, lengths against metadata, and what lies beside; of others all elements
// are read. Problems are no error of the call: a status other than NDF_OK says that checking could not go on.
//
// C: int32_t ndf_verify(const char *path, const ndf_verify_options *options, ndf_report on_problem, void *user, int64_t *nproblems, ndf_error *err)
//
// Parameters:
//   - path: the file or folder
//   - options: may be NULL: format by content, default limits, no repair
//   - on_problem: called for each problem, on the calling thread; may be NULL: they are only counted
//   - user: handed to on_problem; may be NULL
//   - nproblems: receives the number of problems that were found, repaired ones too
//
// Returns: NDF_OK; NDF_ERR_NOT_FOUND; NDF_ERR_PERMISSION; NDF_ERR_FORMAT when it is of no known format or not of the one
// named; NDF_ERR_CANCELED when on_problem or progress want so; NDF_ERR_BUSY; NDF_ERR_IO; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; not beside calls that change the file.
//
// Since: 1.0
//
//export ndfgo_verify
func ndfgo_verify(path *C.char, options *C.ndf_verify_options, on_problem C.ndf_report, user C.uintptr_t, nproblems *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*nproblems = 0
	return report(err, verify(textAt(path), options, on_problem, user, nproblems))
}

func verify(path string, options *C.ndf_verify_options, onProblem C.ndf_report, user C.uintptr_t, found *C.int64_t) error {
	opt := ndfile.VerifyOptions{FS: ndfile.OS, Limits: limits()}
	if options != nil {
		var own C.ndfgo_verify_options
		if err := input("ndf_verify_options", options, &own); err != nil {
			return err
		}
		var err error
		if opt.Limits, err = limitsAt("ndf_verify_options", own.max_header); err != nil {
			return err
		}
		opt.Format, opt.FollowSymlinks, opt.Repair = strings.Clone(fieldText(own.format)), own.follow_symlinks != 0, own.repair != 0
		opt.Progress = progressAt(own.progress, own.user)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := ndfile.Verify(ctx, all.Formats, strings.Clone(path), opt, func(p ndfile.Problem) {
		*found++
		if onProblem != nil && ctx.Err() == nil && !tell(onProblem, user, &p) {
			cancel()
		}
	})
	if err == nil && ctx.Err() != nil {
		err = ndfile.NewError(ndfile.ErrCanceled, "").On(path)
	}
	return err
}

// tell hands a problem to the caller, in C's memory. False: no more.
func tell(onProblem C.ndf_report, user C.uintptr_t, p *ndfile.Problem) bool {
	out := C.ndf_problem{struct_size: C.sizeof_ndf_problem, code: C.int32_t(p.Kind.Code), offset: C.int64_t(p.Offset)}
	if p.Repaired {
		out.repaired = 1
	}
	for _, text := range []struct {
		there bool
		text  string
		field **C.char
	}{
		{true, p.Path, &out.path},
		{p.HasArray, p.Array, &out.array},
		{true, p.Msg, &out.message},
		{p.Repair != "", p.Repair, &out.repair},
	} {
		if text.there {
			*text.field = C.CString(text.text)
			defer C.free(address(*text.field))
		}
	}
	return C.ndfile_call_report(onProblem, user, &out) == 0
}
