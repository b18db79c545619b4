package edit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Unchanged fails with ErrBusy when a document is not what it was when it was read
// or written here: programs that take no locks exist, and what they did must not
// be undone. was is nil for a document that was not there.
func Unchanged(ctx context.Context, files *metafile.Files, path string, was []byte) error {
	now, err := files.Read(ctx, path)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if err != nil && !gone {
		return err
	}
	if gone == (was == nil) && bytes.Equal(now, was) {
		return nil
	}
	return ndfile.NewError(ndfile.ErrBusy, "another program, which takes no locks, has changed it since it was read here; nothing was written: open the store again").On(path)
}
