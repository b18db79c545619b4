// Package all is the one list of the formats that ndfile ships.
package all

import (
	"github.com/ndfile/ndfile/pkg/bcolz"
	"github.com/ndfile/ndfile/pkg/ds"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/netcdf"
	"github.com/ndfile/ndfile/pkg/npy"
	"github.com/ndfile/ndfile/pkg/rawarray"
	"github.com/ndfile/ndfile/pkg/zarr"
)

// Formats are tried in this order when a file is opened by content.
var Formats = []ndfile.Format{
	ds.Format,
	rawarray.Format,
	bcolz.Format,
	zarr.Format0,
	zarr.Format2,
	zarr.Format3,
	npy.Format,
	npy.Archive,
	netcdf.Format,
}
