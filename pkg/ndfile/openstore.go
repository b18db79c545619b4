package ndfile

import (
	"context"
	"errors"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/disk"
)

// OpenStore is Open of a file or folder in a store: key is its key, "" the whole store.
// Anything with a Get will do ([store.Reader]); what a store can do beside makes it
// faster, and groups without consolidated metadata need a [store.Lister]. opt.FS does
// not count. The contexts of calls that read reach the store. Reading a chunk is one
// request; opening is one for each document, which is one or two where opt.Format is
// given, and some more to find out by content.
//
// Mode Update needs a store that is a [store.Writer] and a [store.Lister]. There are no
// locks: one program at a time changes what lies in a store. A chunk that is changed in
// part is read and put; each change is visible when it is put, and chunks before the
// documents that tell of them.
func OpenStore(ctx context.Context, formats []Format, r store.Reader, key string, opt OpenOptions) (File, error) {
	key, opt.FS = inStore(r, key)
	return Open(ctx, formats, key, opt)
}

// CreateStore is Create of a file or folder in a store, which is a [store.Writer] and a
// [store.Lister]. Formats of chunks put each when it is written, and their documents
// when the file is closed, so that until then there is nothing to be opened; what they
// replace is removed when it is begun, its documents first. Formats of one file put it
// when it is closed, and hold it in memory until then.
func CreateStore(ctx context.Context, formats []Format, r store.Reader, key string, opt CreateOptions) (File, error) {
	key, opt.FS = inStore(r, key)
	return Create(ctx, formats, key, opt)
}

// inStore gives the path of a key and the file system that it is in: of a folder on the
// disk it is that of the machine, with its locks, maps and renames.
func inStore(r store.Reader, key string) (path string, fsys FS) {
	if key == "" {
		key = "."
	}
	if d, ok := r.(*disk.Store); ok {
		return d.Path() + "/" + key, OS
	}
	return key, OfStore(r)
}

// writable says where a file system cannot be changed.
func writable(fsys FS, path string) error {
	err := vfs.Writable(fsys)
	switch {
	case err == nil:
		return nil
	case isZip(path):
		err = NewError(ErrNotSupported, "zip files are read, not written: write a folder and pack it")
	case errors.Is(err, vfs.ErrNoList):
		err = NewError(ErrNotSupported, "the store cannot list what it holds, which changes need")
	default:
		err = NewError(ErrNotSupported, "the store is for reading only")
	}
	return Locate(err, path, "", false)
}
