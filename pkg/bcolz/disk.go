package bcolz

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// disk is a file system with the rules for what lies inside a root, which may
// come from a stranger: unless follow is set, a symbolic link is ErrNotSupported.
type disk struct {
	ndfile.FS
	follow bool
	limits ndfile.Limits
}

func newDisk(fsys ndfile.FS, follow bool, limits ndfile.Limits) disk {
	if !follow {
		fsys = vfs.NoFollow(fsys)
	}
	return disk{fsys, follow, limits}
}

func symlink(path string) error {
	return ndfile.NewError(ndfile.ErrNotSupported, "a symbolic link inside a store; following them has to be asked for").On(path)
}

// folder checks that there is a folder. Nothing there is fs.ErrNotExist.
func (d *disk) folder(path string) error {
	look := d.Lstat
	if d.follow {
		look = d.Stat
	}
	info, err := look(path)
	switch {
	case err != nil:
		return err
	case info.Mode == vfs.Symlink:
		return symlink(path)
	case info.Mode != vfs.Dir:
		return ndfile.NewError(ndfile.ErrCorrupt, "expected a folder, found a file").On(path)
	}
	return nil
}

// texts is memory to read metadata files into.
var texts = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// read reads a metadata file. One that is not there is fs.ErrNotExist.
func (d *disk) read(ctx context.Context, path string) ([]byte, error) {
	buf := texts.Get().(*[16 << 10]byte)
	defer texts.Put(buf)
	n, rest, err := d.ReadSmall(path, buf[:])
	if err != nil {
		return nil, d.notFile(err, path)
	}
	if rest == nil {
		return bytes.Clone(buf[:n]), nil
	}
	defer rest.Close()
	size, err := rest.Size()
	if err != nil {
		return nil, err
	}
	if most := d.limits.Header(); size > most {
		return nil, ndfile.NewError(ndfile.ErrLimit, "expected at most "+strconv.FormatInt(most, 10)+" bytes of metadata, found "+strconv.FormatInt(size, 10)).On(path)
	}
	text := make([]byte, size)
	return text, flat.ReadFull(ctx, rest, text, 0)
}

// notFile says what is wrong where a file cannot be opened because it is none.
func (d *disk) notFile(err error, path string) error {
	switch {
	case errors.Is(err, syscall.ELOOP) && !d.follow:
		return symlink(path)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ESPIPE):
		return ndfile.NewError(ndfile.ErrCorrupt, "expected a file, found a folder or a special file").On(path)
	}
	return err
}

// document reads a metadata file that must be there.
func (d *disk) document(ctx context.Context, path string) (*document, error) {
	text, err := d.read(ctx, path)
	if err != nil {
		return nil, missing(err, path)
	}
	doc, err := parseDocument(text, d.limits)
	return doc, ndfile.Locate(err, path, "", false)
}

// missing makes ErrCorrupt of what should be there and is not.
func missing(err error, path string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return ndfile.NewError(ndfile.ErrCorrupt, "it is missing").On(path)
}

// write writes a metadata file.
func (d *disk) write(path string, text []byte, opt ndfile.WriteOptions) error {
	return d.WriteFile(path, [][]byte{text}, opt)
}
