// Package crosstest compares pkg/zarr with zarr-python, zarrs, tensorstore and
// numcodecs: they read what ndfile migrates and writes, and ndfile reads what
// they write. Its test drives peer.py by NDFILE_TEST_PYTHON, a Python with these
// packages.
package crosstest
