#!/bin/sh
# One-element ds files against the raw system calls: run.sh BUILD_FOLDER CC PYTHON
#
# GO is the go command; TINY_FLAGS go to the driver (see main.go), as -rounds 100.
set -eu
[ $# = 3 ] || { echo 'usage: run.sh BUILD_FOLDER CC PYTHON' >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
lib=$build/lib/libndfile.so
cd "$root"
"$2" -O2 -Wall -Iinclude -x c benchmarks/tiny/tiny.c -x none "$lib" -Wl,-rpath,"$build/lib" -o "$build/tiny"
"${GO:-go}" build -o "$build/tiny-driver" ./benchmarks/tiny
echo 'From C:'
# shellcheck disable=SC2086
"$build/tiny-driver" ${TINY_FLAGS:-} "$build/tiny"
echo 'From Python:'
NDFILE_LIB=$lib PYTHONPATH=bindings/python "$3" benchmarks/tiny_python/bench_tiny.py
