package main

// #include "native.h"
import "C"

import (
	"runtime"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// status is one status as the C side sees it: memory that lives as long as the process.
type status struct{ name, text *C.char }

// statuses are the known statuses and, under the key unknownStatus, what stands for all others.
var statuses = sync.OnceValue(func() map[C.int32_t]status {
	m := map[C.int32_t]status{
		0:             {C.CString("NDF_OK"), C.CString("success")},
		unknownStatus: {C.CString("NDF_ERR_UNKNOWN"), C.CString("unknown status")},
	}
	for _, k := range ndfile.ErrorKinds {
		m[C.int32_t(k.Code)] = status{C.CString(k.C), C.CString(k.Text)}
	}
	return m
})

// unknownStatus is no status.
const unknownStatus = 1

func statusOf(code C.int32_t) status {
	all := statuses()
	if s, ok := all[code]; ok {
		return s
	}
	return all[unknownStatus]
}

// versionText is the version as the C side sees it.
var versionText = sync.OnceValue(func() *C.char { return C.CString(version) })

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
	return versionText()
}

// buildText says what was built, as the C side sees it.
var buildText = sync.OnceValue(func() *C.char {
	text := "ndfile " + version
	if buildCommit != "" {
		text += " commit " + buildCommit
	}
	return C.CString(text + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH)
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
	return statusOf(status).name
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
	return statusOf(status).text
}

// ndfgo_handle_count counts the open handles of this process: files, arrays, maps and Arrow streams.
//
// It is for tests and for finding leaks.
//
// C: int32_t ndf_handle_count(int64_t *count, ndf_error *err)
//
// Parameters:
//   - count: receives the number of open handles
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

// ndfgo_stack_misses counts how often the bounds of a thread's stack had to be found out.
//
// It is for tests: the library remembers the bounds of every thread, since finding them out is slow. In a child of
// fork() the count begins at 0.
//
// C: int32_t ndf_stack_misses(int64_t *count, ndf_error *err)
//
// Parameters:
//   - count: receives the number
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_stack_misses
func ndfgo_stack_misses(count *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	*count = C.int64_t(stackMisses())
	return report(err, nil)
}
