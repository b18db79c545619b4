#!/bin/sh
# The benchmarks' C worker, with the library in BUILD_FOLDER/lib: build.sh BUILD_FOLDER OUT
#
# The header of netCDF-C is unpacked from Debian's package; libnetcdf itself is loaded at run time, from the path in
# NDFILE_BENCH_LIBNETCDF. CC and CFLAGS are used.
set -eu
[ $# = 2 ] || { echo 'usage: build.sh BUILD_FOLDER OUT' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
build=$(cd "$1" && pwd)
sh "$root/tools/get-debian.sh" "$build/debian" libnetcdf-dev
# shellcheck disable=SC2086
"${CC:-cc}" -std=c11 -O3 -Wall -Wextra ${CFLAGS:-} -I"$root/include" -isystem "$build/debian/root/usr/include" -o "$2" "$here"/*.c \
  "$build/lib/libndfile.so" -Wl,-rpath,"$build/lib" -ldl
