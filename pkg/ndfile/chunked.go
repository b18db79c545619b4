package ndfile

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Chunked is an Array stored in chunks on a regular grid: chunk i along an axis
// begins at element i * Spec.Chunks of that axis. A chunk has all of its shape
// in storage, also where it reaches beyond the array, unless the format
// stores only the rows that there are.
type Chunked interface {
	// ChunkEncoding names how the stored bytes of a chunk are made ("blosc1").
	// Arrays of equal encoding, dtype and Spec.Chunks can exchange chunks.
	ChunkEncoding() string
	// ReadChunk gives the stored bytes of a chunk, without what the format puts
	// around them, in buf if it is long enough, and the number of bytes that
	// they decode to. index has one number an axis. raw is nil for a chunk that
	// was never written. The bytes are checked as far as their header goes.
	ReadChunk(ctx context.Context, index []int64, buf []byte) (raw []byte, size int64, err error)
	// WriteChunk stores the bytes of a whole chunk as they are. Bytes that
	// decode to another size, or that other programs of the format could not
	// read, are ErrNotSupported: write the elements instead.
	WriteChunk(ctx context.Context, index []int64, raw []byte) error
}

// Resizer is an Array whose shape can change, in a file open for changes or
// being created. Its calls exclude all others on the file.
type Resizer interface {
	// Resize sets the shape; the number of axes stays. Elements that come into
	// being have the fill value, those that fall outside are gone for good.
	Resize(ctx context.Context, shape []int64) error
	// Append grows the array along an axis by the extent that src has there and
	// stores src behind what was there. The other extents are the array's.
	// Formats may keep appended elements in memory until a chunk is full; Flush
	// and Close write them.
	Append(ctx context.Context, axis int, src ndarray.Buffer) error
}

// Flusher is a File whose changes can be made visible to others before Close.
type Flusher interface {
	// Flush writes what is still in memory. Afterwards the file on disk holds
	// everything up to here.
	Flush(ctx context.Context) error
}

// Locked tells whether a file open for changes keeps other writers out, or in a
// shared one those of the same chunk. It is false where the file system has no
// locks, and for other files.
func Locked(f File) bool {
	l, ok := f.(interface{ Locked() bool })
	return ok && l.Locked()
}

// Shared tells whether a file is open for changes with OpenOptions.Shared.
func Shared(f File) bool {
	s, ok := f.(interface{ Shared() bool })
	return ok && s.Shared()
}

// Remover is a File that can lose arrays.
type Remover interface {
	// Remove deletes an array and its data at once. The Array is unusable
	// afterwards. An unknown name is ErrName.
	Remove(ctx context.Context, name string) error
}
