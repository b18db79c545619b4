package metafile

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Files is a file system with the rules for what lies inside a folder: a symbolic
// link is ErrNotSupported unless Follow is set, and what should be a file or a
// folder and is not is ErrCorrupt.
type Files struct {
	ndfile.FS // without symbolic links, unless Follow
	Follow    bool
	Limits    ndfile.Limits
}

// NewFiles gives the files of fsys.
func NewFiles(fsys ndfile.FS, follow bool, limits ndfile.Limits) Files {
	if !follow {
		fsys = vfs.NoFollow(fsys)
	}
	return Files{fsys, follow, limits}
}

// Expect checks what there is at path, without opening it. Nothing there is
// fs.ErrNotExist. Of a store all is well: reading tells what is missing.
func (f *Files) Expect(path string, mode vfs.FileMode) error {
	if vfs.IsStore(f.FS) {
		return nil // it has no folders, and a list for each would cost a request
	}
	look := f.Lstat
	if f.Follow {
		look = f.Stat
	}
	info, err := look(path)
	switch {
	case err != nil:
		return err
	case info.Mode == vfs.Symlink:
		return f.Explain(syscall.ELOOP, path)
	case info.Mode != mode:
		return ndfile.NewError(ndfile.ErrCorrupt, "expected "+modeNames[mode]+", found "+modeNames[info.Mode]).On(path)
	}
	return nil
}

var modeNames = [...]string{vfs.Other: "a FIFO, socket or device", vfs.Regular: "a file", vfs.Dir: "a folder", vfs.Symlink: "a symbolic link"}

// Explain says what is wrong where a file cannot be opened because it is none.
// Other errors stay as they are.
func (f *Files) Explain(err error, path string) error {
	switch {
	case errors.Is(err, syscall.ELOOP) && !f.Follow:
		return ndfile.NewError(ndfile.ErrNotSupported, "a symbolic link in a store; following them has to be asked for").On(path)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ESPIPE):
		return ndfile.NewError(ndfile.ErrCorrupt, "expected a file, found a folder or a special file").On(path)
	}
	return err
}

// texts is memory to read files into.
var texts = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// Read reads a file of at most Limits.Header() bytes: more is ErrLimit. One that
// is not there is fs.ErrNotExist.
func (f *Files) Read(ctx context.Context, path string) ([]byte, error) {
	buf := texts.Get().(*[16 << 10]byte)
	defer texts.Put(buf)
	n, rest, err := f.ReadSmall(ctx, path, buf[:])
	if err != nil {
		return nil, f.Explain(err, path)
	}
	size := int64(n)
	if rest != nil {
		defer rest.Close()
		if size, err = rest.Size(); err != nil {
			return nil, err
		}
	}
	if most := f.Limits.Header(); size > most {
		return nil, ndfile.NewError(ndfile.ErrLimit, "expected at most "+strconv.FormatInt(most, 10)+" bytes of metadata, found "+strconv.FormatInt(size, 10)).On(path)
	}
	if rest == nil {
		return bytes.Clone(buf[:n]), nil
	}
	text, err := ndfile.NewBytes(int(size))
	if err != nil {
		return nil, err
	}
	return text, flat.ReadFull(ctx, rest, text, 0)
}
