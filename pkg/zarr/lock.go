package zarr

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The locks of release 0.4 between processes: an empty file beside the one that
// is written, with ".lock" behind its name, which stays for ever. The reference
// implementation takes them for chunks and attributes only, and only in arrays
// opened with lazy=True; metadata are ours.

// useLocks turns the locks of a file system on.
func (f *file) useLocks(fsys ndfile.FS) error {
	if !f.version.locks {
		return ndfile.NewError(ndfile.ErrNotSupported, f.version.format+" has no locks between processes")
	}
	if f.mode != updating {
		return ndfile.NewError(ndfile.ErrArgument, "locks are for writers: open the file for changes (mode r+)")
	}
	var ok bool
	if f.locker, ok = fsys.(vfs.Locker); !ok {
		return ndfile.NewError(ndfile.ErrNotSupported, "the file system has no locks")
	}
	return nil
}

// lockChunk is chunk.Array.Lock.
func (f *file) lockChunk(ctx context.Context, index []int64) (unlock func() error, err error) {
	return f.locker.Lock(ctx, string(append(f.chunkPath(nil, index), lockSuffix...)))
}

// lockName locks a document of the folder.
func (f *file) lockName(ctx context.Context, name string) (unlock func() error, err error) {
	return f.locker.Lock(ctx, f.path(name)+lockSuffix)
}
