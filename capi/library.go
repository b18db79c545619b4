package main

// #include "native.h"
import "C"

import (
	"runtime"
	"sync"
)

// ndfgo_version gives the version of the library.
//
// It can differ from NDF_VERSION, the version of the header that a program was compiled with. Equal major versions
// are compatible.
//
// C: const char *ndf_version(void)
//
// Returns: "MAJOR.MINOR.PATCH".
//
// Ownership: the text is static; do not free it.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_version
func ndfgo_version() (text *C.char) {
	defer guard(nil, nil)
	return C.ndfile_version()
}

// buildText says what was built, in memory of the C side: what the Go side alone points to, a checker of leaks takes
// for lost.
var buildText = sync.OnceValue(func() *C.char {
	text := "ndfile " + version
	if buildCommit != "" {
		text += " commit " + buildCommit
	}
	setName(C.ndfile_build_text[:], text+" "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	return &C.ndfile_build_text[0]
})

// ndfgo_build tells which build of the library this is.
//
// It is for reports of bugs. Compare ndf_version, not this.
//
// C: const char *ndf_build(void)
//
// Returns: one line: "ndfile", the version, where it is known "commit" and the commit, the version of Go, the system.
//
// Ownership: the text is static; do not free it.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_build
func ndfgo_build() (text *C.char) {
	defer guard(nil, nil)
	return buildText()
}

// ndfgo_status_name gives the name of a status, as "NDF_ERR_MASKED".
//
// C: const char *ndf_status_name(int32_t status)
//
// Parameters:
//   - status: what a function returned
//
// Returns: the name; "NDF_ERR_UNKNOWN" for numbers that are no status of this version.
//
// Ownership: the text is static; do not free it.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_status_name
func ndfgo_status_name(status C.int32_t) (text *C.char) {
	defer guard(nil, nil)
	return C.ndfile_status_name(status)
}

// ndfgo_status_text gives the meaning of a status in a few words.
//
// The message in ndf_error says more.
//
// C: const char *ndf_status_text(int32_t status)
//
// Parameters:
//   - status: what a function returned
//
// Returns: one line of English; "unknown status" for numbers that are no status of this version.
//
// Ownership: the text is static; do not free it.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_status_text
func ndfgo_status_text(status C.int32_t) (text *C.char) {
	defer guard(nil, nil)
	return C.ndfile_status_text(status)
}

// ndfgo_handle_count counts the open handles of this process: files, arrays, maps and Arrow streams.
//
// It is for tests and for finding leaks.
//
// C: int32_t ndf_handle_count(int64_t *count, ndf_error *err)
//
// Parameters:
//   - count (out): receives the number of open handles
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_handle_count
func ndfgo_handle_count(count *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*count = C.int64_t(handles().count())
	return report(err, nil)
}
