//go:build !cgo

package netcdf

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// openLibrary is ndfile.ErrNotSupported in a build without cgo.
func (f *file) openLibrary(context.Context, ndfile.FS, vfs.File, int64, ndfile.OpenOptions) error {
	return errNoCgo()
}

// newLibrary is ndfile.ErrNotSupported in a build without cgo.
func (d *created) newLibrary(model) (ndfile.File, error) { return nil, errNoCgo() }

func errNoCgo() error {
	return ndfile.NewError(ndfile.ErrNotSupported, "this build of ndfile has only classic NetCDF: loading libnetcdf for NetCDF-4 takes cgo, and it was built with CGO_ENABLED=0")
}
