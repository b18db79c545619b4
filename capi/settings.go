package main

// // The types of the shims, for abidiff; the linker leaves them out of libraries that are shipped.
// #cgo CFLAGS: -g
// #include "native.h"
import "C"

import (
	"math"
	"strconv"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The settings lie in C's memory, where they outlive a fork (see reload.c).

// epoch counts the forks between this process and the one that loaded the library.
func epoch() uint8 { return uint8(C.ndfile_shared.epoch) }

// limits are the limits where a call has none of its own.
func limits() ndfile.Limits {
	return ndfile.Limits{MaxHeader: atomic.LoadInt64((*int64)(&C.ndfile_shared.max_header))}
}

// limitsAt are the limits of a call. name is that of the struct that max_header is from.
func limitsAt(name string, maxHeader C.int64_t) (ndfile.Limits, error) {
	l := limits()
	if maxHeader < 0 {
		return l, badArgument(name + ": max_header is " + strconv.FormatInt(int64(maxHeader), 10) + ", expected 0 or more")
	}
	if maxHeader > 0 {
		l.MaxHeader = int64(maxHeader)
	}
	return l, nil
}

// ndfgo_set_threads sets how many threads a call uses at most.
//
// It is for the calls that work in parallel; a call that has started is not affected. The setting lasts in children of
// fork().
//
// C: int32_t ndf_set_threads(int32_t threads, ndf_error *err)
//
// Parameters:
//   - threads: number of threads; 1: no parallel work; 0: as many as the process has processors, which is the default
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT for a negative number.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_set_threads
func ndfgo_set_threads(threads C.int32_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	if threads < 0 {
		return report(err, badArgument("threads is "+strconv.Itoa(int(threads))+", expected 0 or more"))
	}
	atomic.StoreInt32((*int32)(&C.ndfile_shared.threads), int32(threads))
	ndfile.SetThreads(int(threads))
	return report(err, nil)
}

// ndfgo_set_limits sets how much a file can make the library allocate.
//
// It is for calls without a limit among their options, and for options that are 0. The settings last in children of
// fork().
//
// Chunks are read piece by piece, whatever their size. To change one it is held in memory as a whole, decoded and encoded: that
// is where max_chunk counts, and for chunks that are one compressed block of more than 16 MiB and larger than the file,
// which are read only where max_chunk was set and allows them. Beyond it is NDF_ERR_LIMIT, before memory is taken.
//
// C: int32_t ndf_set_limits(int64_t max_header, int64_t max_chunk, ndf_error *err)
//
// Parameters:
//   - max_header: longest metadata text of a file in bytes; 0: 64 MiB, which is the default
//   - max_chunk: largest chunk that is changed, in bytes of its elements; 0: 512 MiB, which is the default
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT for a negative number.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_set_limits
func ndfgo_set_limits(max_header C.int64_t, max_chunk C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	for _, limit := range []struct {
		name  string
		value C.int64_t
	}{{"max_header", max_header}, {"max_chunk", max_chunk}} {
		if limit.value < 0 {
			return report(err, badArgument(limit.name+" is "+strconv.FormatInt(int64(limit.value), 10)+", expected 0 or more"))
		}
	}
	atomic.StoreInt64((*int64)(&C.ndfile_shared.max_header), int64(max_header))
	atomic.StoreInt64((*int64)(&C.ndfile_shared.max_chunk), int64(max_chunk))
	ndfile.SetMaxChunk(int64(max_chunk))
	return report(err, nil)
}

// ndfgo_set_cache_limit sets how much the process keeps of decoded chunks, for all open arrays together.
//
// Reads of parts of a chunk are served from it, so that elements that lie close together are decoded once. What is beyond the
// limit goes at once, what was used least recently first. What is kept of an array goes when its file is closed, or when it is
// changed through this handle; changes by others are not noticed. The setting lasts in children of fork().
//
// C: int32_t ndf_set_cache_limit(int64_t bytes, ndf_error *err)
//
// Parameters:
//   - bytes: of elements; 0: nothing is kept; -1: 64 MiB, which is the default
//
// Returns: NDF_OK; NDF_ERR_ARGUMENT for any other negative number.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_set_cache_limit
func ndfgo_set_cache_limit(bytes C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	if bytes < -1 || bytes == math.MaxInt64 {
		return report(err, badArgument("bytes is "+strconv.FormatInt(int64(bytes), 10)+", expected 0 or more, or -1"))
	}
	limit := int64(bytes)
	if bytes == -1 {
		limit = ndfile.DefaultCacheLimit
	}
	// In C's memory 0 is the default: what nobody set.
	atomic.StoreInt64((*int64)(&C.ndfile_shared.cache_limit), limit+1)
	ndfile.SetCacheLimit(limit)
	return report(err, nil)
}

// ndfgo_get_cache tells what is kept of decoded chunks, see ndf_set_cache_limit.
//
// C: int32_t ndf_get_cache(int64_t *limit, int64_t *used, int64_t *hits, int64_t *misses, ndf_error *err)
//
// Parameters:
//   - limit (out, nullable): receives the limit in bytes
//   - used (out, nullable): receives the bytes that are kept now
//   - hits (out, nullable): receives how many reads of parts of chunks were served from what is kept, in this process
//   - misses (out, nullable): receives how many were not
//
// Returns: NDF_OK.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_get_cache
func ndfgo_get_cache(limit, used, hits, misses *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	c := ndfile.Cache()
	for _, out := range []struct {
		p *C.int64_t
		n int64
	}{{limit, c.Limit}, {used, c.Used}, {hits, c.Hits}, {misses, c.Misses}} {
		if out.p != nil {
			*out.p = C.int64_t(out.n)
		}
	}
	return report(err, nil)
}

// ndfgo_set_interrupt sets a function that long calls of this thread ask whether they shall end.
//
// It is for languages whose own handlers of signals have to run: Ctrl-C during a read. Calls that read, reduce, take or look
// for rows and take longer than 50 ms call it about every 50 ms, with steps that are 0. A value other than 0 ends the call with
// NDF_ERR_CANCELED; what it was to fill is undefined then, and files are as they were. Calls that have a progress function in
// their options go by that.
//
// C: int32_t ndf_set_interrupt(ndf_progress ask, void *user, ndf_error *err)
//
// Parameters:
//   - ask (nullable): called on the thread of the call, as every ndf_progress; NULL: none, which is the default
//   - user (opaque): handed to ask
//
// Returns: NDF_OK.
//
// Ownership: ask and user are kept until they are replaced, or the thread ends. They are not kept in children of fork().
//
// Threads: any; it is for the calling one alone.
//
// Since: 1.0
//
//export ndfgo_set_interrupt
func ndfgo_set_interrupt(ask C.ndf_progress, user C.uintptr_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	C.ndfile_set_interrupt(ask, user)
	return report(err, nil)
}
