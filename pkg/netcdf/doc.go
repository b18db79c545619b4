// Package netcdf reads and writes NetCDF files (.nc): the classic formats CDF-1,
// CDF-2 and CDF-5 by itself, NetCDF-4, which is HDF5, by the machine's own
// libnetcdf. That is loaded when the first such file is opened: nothing here links
// it, and everything else works without. README.md in this folder says what becomes
// of every type, name and attribute.
//
// It writes NetCDF-4 unless another data model is asked for. A file is written once; it
// appears when it is closed. Changing one in place (mode r+) is
// ndfile.ErrNotSupported.
//
// libnetcdf is not safe for concurrent use, so that all calls of it take turns,
// whatever the file. A program that uses the very same library in another way
// must not do so at the same time. After a fork the child's own copy of this
// library loads libnetcdf anew; the dynamic linker gives it the parent's, so a
// process must not fork while another thread is inside a call.
//
// libnetcdf and the HDF5 library below it are not made for files from people you
// do not trust: a damaged or malicious NetCDF-4 file can crash them.
package netcdf
