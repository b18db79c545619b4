#!/bin/sh
# The C tests with the address sanitizer in the programs and in the library: asan.sh FOLDER
#
# The library is built with -tags ndfpanic, so that a panic is among the tests.
set -eu
[ $# = 1 ] || { echo 'usage: asan.sh FOLDER' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/../build.sh" "$1/libndfile.so" -asan -tags ndfpanic
# Memory of the Go runtime is not C's to free.
# The sanitizer's own locks do not survive a fork() beside other threads.
PANIC=1 SKIP=fork CFLAGS='-g -fsanitize=address' ASAN_OPTIONS=detect_leaks=0 sh "$here/run.sh" "$1" "$1/libndfile.so"
