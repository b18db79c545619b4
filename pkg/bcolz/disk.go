package bcolz

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// disk is what the files of a root are read and written with.
type disk struct{ metafile.Files }

func newDisk(fsys ndfile.FS, follow bool, limits ndfile.Limits) disk {
	return disk{metafile.NewFiles(fsys, follow, limits)}
}

// document reads a metadata file that must be there.
func (d *disk) document(ctx context.Context, path string) (*metafile.Document, error) {
	text, err := d.Read(ctx, path)
	if err != nil {
		return nil, missing(err, path)
	}
	doc, err := metafile.Parse(text, d.Limits)
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
