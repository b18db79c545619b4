package netcdf

import (
	"strconv"
)

// unnamedPrefix begins the dimensions of axes without a name, which NetCDF does not
// have: the length follows.
const unnamedPrefix = "_unnamed_"

func unnamedDim(length int64) string { return unnamedPrefix + strconv.FormatInt(length, 10) }

// unnamed reports whether all axes have the names that axes without name get.
func unnamed(dims []string, shape []int64) bool {
	for i := range dims {
		if dims[i] != unnamedDim(shape[i]) {
			return false
		}
	}
	return true
}

// textDimName is the dimension of the characters of strings: "string5", as xarray
// calls it.
func textDimName(length int64) string { return "string" + strconv.FormatInt(length, 10) }
