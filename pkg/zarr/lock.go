package zarr

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// The locks of release 0.4 between processes: an empty file beside the one that
// is written, with ".lock" behind its name, which stays for ever. The reference
// implementation takes them for chunks and attributes only, and only in arrays
// opened with lazy=True; metadata are ours.

// protocol tells whether the file shares the store by the protocol of release 0.4.
func (f *file) protocol() bool { return f.Shared() && f.version.locks }

// lockChunk is chunk.Array.Lock of a shared store.
func (f *file) lockChunk(ctx context.Context, index []int64) (unlock func() error, err error) {
	if f.protocol() {
		return vfs.Lock(ctx, f.files.FS, string(append(f.chunkPath(nil, index), lockSuffix...)))
	}
	return f.LockChunk(ctx, f.array.chunks.Number(index))
}

// lockName locks a document of the folder.
func (f *file) lockName(ctx context.Context, name string) (unlock func() error, err error) {
	return vfs.Lock(ctx, f.files.FS, f.path(name)+lockSuffix)
}
