package ndfile

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// probe is the file system of one Detect. The formats all ask what there is at
// path; it looks once, and knows that a folder cannot be read. In a store, what has
// no value counts as a folder: whether there is anything in it is looked at last.
type probe struct {
	FS
	path  string
	info  vfs.Info // of path
	known bool
	dir   bool // path is a folder, as reading it told
}

// Inner implements [vfs.Around].
func (p *probe) Inner() FS { return p.FS }

func (p *probe) Stat(path string) (vfs.Info, error) {
	if path != p.path {
		return p.FS.Stat(path)
	}
	if p.known {
		return p.info, nil
	}
	if vfs.IsStore(p.FS) {
		return vfs.Info{Mode: vfs.Dir}, nil
	}
	var err error
	p.info, err = p.FS.Stat(path)
	p.known = err == nil
	return p.info, err
}

func (p *probe) Lstat(path string) (vfs.Info, error) {
	if path == p.path && vfs.IsStore(p.FS) {
		return p.Stat(path)
	}
	return p.FS.Lstat(path)
}

func (p *probe) ReadSmall(ctx context.Context, path string, buf []byte) (int, vfs.File, error) {
	if path != p.path {
		return p.FS.ReadSmall(ctx, path, buf)
	}
	if !p.dir && !(p.known && p.info.Mode == vfs.Dir) {
		n, rest, err := p.FS.ReadSmall(ctx, path, buf)
		p.dir = errors.Is(err, syscall.EISDIR)
		if p.dir || !errors.Is(err, fs.ErrNotExist) || !vfs.IsStore(p.FS) {
			return n, rest, err
		}
	}
	return 0, nil, &vfs.PathError{Op: "read", Path: strings.Clone(path), Errno: syscall.EISDIR}
}
