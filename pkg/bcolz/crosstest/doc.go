// Package crosstest holds tests of pkg/bcolz that need the real bcolz
// (bcolz-zipline, from NDFILE_TEST_PYTHON) and strace: a process is killed at
// every system call of a change, and both libraries read what it leaves.
package crosstest
