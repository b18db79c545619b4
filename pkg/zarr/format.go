package zarr

import (
	"context"
	"errors"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format0 is the layout of zarr release 0.4, name "zarr0", extension ".zarr".
// Beside the methods of [ndfile.Format] it has those of [ndfile.Verifier].
//
// A file is one array, called "". Its attributes are those of the file and of the
// array: File.Attrs and Array.Attrs are the same object. Chunks are written when
// WriteBox is called, attributes at Flush and Close. A region write is old or new
// chunk by chunk; all other changes are old or new as a whole. An open file keeps
// some of what it decoded for small reads, and does not see what others change
// there.
var Format0 ndfile.Format = format{&version0}

// format is the ndfile.Format of a version.
type format struct{ version *version }

const commonCaps = ndfile.CapCreate | ndfile.CapUpdate | ndfile.CapFileAttrs | ndfile.CapArrayAttrs | ndfile.CapChunked | ndfile.CapResize | ndfile.CapVerify

func (f format) Name() string         { return f.version.format }
func (f format) Extensions() []string { return extensions }
func (f format) Caps() ndfile.Caps    { return f.version.caps }

var extensions = []string{".zarr"}

// Detect is Certain about a folder with the metadata document, whatever that
// holds.
func (f format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if err := ctx.Err(); err != nil {
		return ndfile.NoMatch, err
	}
	found, err := vfs.HasFile(fsys, path+"/"+f.version.meta)
	switch {
	case err != nil:
		return ndfile.NoMatch, err
	case found && !f.version.replaced(fsys, path):
		return ndfile.Certain, nil
	case found:
		return ndfile.NoMatch, nil
	}
	group, err := f.version.isGroup(fsys, path)
	if err == nil && group && f.version.replaced(fsys, path) {
		return ndfile.NoMatch, nil
	}
	if err != nil || group {
		return ndfile.Certain, err
	}
	_, err = fsys.Stat(path)
	return ndfile.NoMatch, err
}

// Open reads the metadata and the attributes; that is all, however many chunks
// there are. With opt.Shared each write of a chunk holds a lock of that chunk; in early
// zarr that, and those of metadata and of attributes, are the locks that writers
// of release 0.4 take too (README.md).
//
// A group is a dataset of the arrays below it, see group.
func (f format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	file, err := f.openArray(ctx, fsys, path, opt)
	if err == nil {
		return file, nil
	}
	if errors.Is(err, errIsGroup) {
		group, err := f.openGroup(ctx, fsys, path, opt)
		if err == nil {
			return group, nil
		}
		return nil, err
	}
	return nil, err
}

// openArray is Open for a path that is no group.
func (f format) openArray(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (*file, error) {
	file := &file{}
	fsys, err := file.Open(ctx, fsys, path, &opt, f.version.meta)
	if file.store = newStore(f.version, fsys, file.Root, opt.FollowSymlinks, opt.Limits); err == nil {
		err = file.open(ctx)
	}
	if err = file.Opened(err, &opt); err != nil {
		return nil, err
	}
	return file, nil
}

// LockStore implements [ndfile.StoreLocker].
func (format) LockStore(ctx context.Context, fsys ndfile.FS, path string) (release func(), err error) {
	return edit.HoldStore(ctx, fsys, path)
}
