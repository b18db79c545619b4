// Package crosstest compares pkg/npy with NumPy: each reads what the other
// writes, and both write the same bytes. Its test drives peer.py by
// NDFILE_TEST_PYTHON, a Python with NumPy.
package crosstest
