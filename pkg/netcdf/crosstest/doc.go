// Package crosstest compares pkg/netcdf with netCDF4-python: what the one writes the
// other must read, value by value. Its test drives peer.py by NDFILE_TEST_PYTHON, a
// Python with the packages netCDF4 and numpy, and needs a libnetcdf, which
// NDFILE_TEST_LIBNETCDF can name; get-netcdf.sh gets one. Where NDFILE_TEST_GSHHG
// names the folder of Debian's gmt-gshhg-low (get-netcdf.sh gets it too), its files
// are converted to ds and back.
package crosstest
