// Package crosstest compares pkg/blosc with C-Blosc: what the one writes the
// other must read. Its test drives peer.py by NDFILE_TEST_PYTHON, a Python with
// the packages blosc and numpy. Snappy, which no wheel has, comes from Debian's
// libblosc1 if get-snappy.sh was run; NDFILE_TEST_LIBBLOSC names its library.
package crosstest
