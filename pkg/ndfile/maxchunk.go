package ndfile

import "sync/atomic"

// DefaultMaxChunk is the setting of SetMaxChunk where it is 0.
const DefaultMaxChunk = 512 << 20

var maxChunk atomic.Int64

// SetMaxChunk sets how large a chunk, in bytes of elements, a change may need as a
// whole in memory; more is ErrLimit before memory is taken. 0 is 512 MiB, which is
// the default. Reading works piece by piece and has no such limit, but for
// compressed blocks of more than 16 MiB which are larger than their file: these are
// read where this limit was set and allows them.
//
// It is for the whole process, may be called at any time from any goroutine, and
// counts from the next call on.
func SetMaxChunk(n int64) { maxChunk.Store(max(n, 0)) }

// MaxChunk is the setting of SetMaxChunk, or its default.
func MaxChunk() int64 {
	if n := maxChunk.Load(); n > 0 {
		return n
	}
	return DefaultMaxChunk
}

// MaxBlock is the setting of SetMaxChunk, or 0.
func MaxBlock() int64 { return maxChunk.Load() }
