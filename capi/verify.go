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
// A repair deletes nothing: it keeps what it takes away or writes anew in a new folder beside the store, PATH.ndf-removed-N,
// which undo gives back; the last repair first. Undo reports each file that is as it was before as a problem that is
// repaired. NDF_ERR_EXISTS: something was changed since, so that nothing is undone.
//
// C: int32_t ndf_verify(const char *path, const ndf_verify_options *options, ndf_report on_problem, void *user, int64_t *nproblems, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder
//   - options (in, nullable): NULL: format by content, default limits, no repair
//   - on_problem (nullable): called for each problem, on the calling thread; NULL: they are only counted
//   - user (opaque): handed to on_problem
//   - nproblems (out): receives the number of problems that were found, repaired ones too
//
// Returns: NDF_OK; NDF_ERR_NOT_FOUND, also when there is no repair to undo or no seal; NDF_ERR_EXISTS; NDF_ERR_PERMISSION; NDF_ERR_FORMAT when it is of no known format or not of the one
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
		opt.Undo, opt.Sealed = own.undo != 0, own.sealed != 0
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
	out.problem_class = C.uint32_t(p.Class)
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

// ndfgo_seal writes the SHA-256 of every file of a store, or of one file, to PATH.ndf-seal beside it.
//
// ndf_verify with sealed compares: it finds what nothing else can, values that changed silently. The seal is a text that
// sha256sum -c understands, run in the folder around; it is replaced in one step. A change of the store, by this library or
// another program, does not change the seal: seal it again. Temporary files are left out.
//
// C: int32_t ndf_seal(const char *path, const ndf_verify_options *options, int64_t *nfiles, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder, of any format or none
//   - options (in, nullable): follow_symlinks, progress and user count, a step is a byte
//   - nfiles (out): receives the number of files
//
// Returns: NDF_OK; NDF_ERR_NOT_FOUND; NDF_ERR_PERMISSION; NDF_ERR_NOT_SUPPORTED for links that are not followed and for
// what is no file; NDF_ERR_CANCELED; NDF_ERR_BUSY when a file becomes shorter meanwhile; NDF_ERR_IO; NDF_ERR_ARGUMENT.
// After an error the old seal is as it was.
//
// Ownership: nothing is kept.
//
// Threads: any; not beside calls that change the file.
//
// Since: 1.0
//
//export ndfgo_seal
func ndfgo_seal(path *C.char, options *C.ndf_verify_options, nfiles *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*nfiles = 0
	return report(err, seal(textAt(path), options, nfiles))
}

func seal(path string, options *C.ndf_verify_options, nfiles *C.int64_t) error {
	opt := ndfile.SealOptions{}
	if options != nil {
		var own C.ndfgo_verify_options
		if err := input("ndf_verify_options", options, &own); err != nil {
			return err
		}
		opt.FollowSymlinks, opt.Progress = own.follow_symlinks != 0, progressAt(own.progress, own.user)
	}
	n, err := ndfile.Seal(context.Background(), strings.Clone(path), opt)
	*nfiles = C.int64_t(n)
	return err
}
