//go:build !cgo

package netcdf

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open is ndfile.ErrNotSupported in a build without cgo.
func (format) Open(context.Context, ndfile.FS, string, ndfile.OpenOptions) (ndfile.File, error) {
	return nil, errNoCgo()
}

// Create is ndfile.ErrNotSupported in a build without cgo.
func (format) Create(context.Context, ndfile.FS, string, ndfile.CreateOptions) (ndfile.File, error) {
	return nil, errNoCgo()
}

func errNoCgo() error {
	return ndfile.NewError(ndfile.ErrNotSupported, "this build of ndfile has no NetCDF: loading libnetcdf takes cgo, and it was built with CGO_ENABLED=0")
}
