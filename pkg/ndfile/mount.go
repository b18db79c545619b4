package ndfile

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/zipstore"
)

// isZip tells whether a path has the ending of zip files.
func isZip(path string) bool {
	const ending = ".zip"
	return len(path) > len(ending) && strings.EqualFold(path[len(path)-len(ending):], ending)
}

// mounted gives the file system to find path in: of a zip file ("x.zarr.zip") one in
// which it is a folder, else fsys.
func mounted(ctx context.Context, fsys FS, path string, lim Limits) (FS, error) {
	if !isZip(path) {
		return fsys, nil
	}
	zip, err := zipstore.Open(ctx, vfs.Keys(fsys), path, zipstore.Options{MaxDirectory: lim.Header(), MaxInflated: MaxChunk()})
	switch {
	case err == nil:
		return vfs.Mount(zip, path), nil
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ESPIPE):
		return fsys, nil
	case errors.Is(err, store.ErrCorrupt):
		err = NewError(ErrCorrupt, "the zip file").Because(err)
	}
	return nil, Locate(err, path, "", false)
}
