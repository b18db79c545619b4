#!/bin/sh
# test-fortran.sh BUILD: compiles module ndfile, its tests and README's example with gfortran, and runs them.
set -eu
build=$(cd "$1" && pwd)
fortran=$(sh tools/get-fortran.sh "$build/debian")
[ -n "$fortran" ] || {
  [ -z "${CI:-}" ] || { echo 'test-fortran: no gfortran, and CI may not skip it' >&2; exit 1; }
  printf '\n*** SKIPPED: the Fortran tests, since no gfortran is here and none could be fetched ***\n\n'
  exit 0
}
dir=$build/fortran
rm -rf "$dir"
mkdir -p "$dir/files"
flags="-std=f2018 -Wall -Wextra -Werror -fcheck=all"
# Values that went through a file are compared for equality; gfortran 12 takes texts of deferred length for uninitialized.
lenient="-Wno-compare-reals -Wno-maybe-uninitialized"
# shellcheck disable=SC2086 # lists of words
{
  $fortran $flags -J"$dir" -c include/ndfile.f90 -o "$dir/ndfile.o"
  for program in bindings/fortran/test docs/examples/read; do
    $fortran $flags $lenient -I"$dir" $program.f90 "$dir/ndfile.o" -L"$build/lib" -lndfile -Wl,-rpath,"$build/lib" -o "$dir/$(basename $program)"
  done
}
"$dir/test" "$dir/files"
# README's example, as it stands there, from a folder of its own.
awk '/^```fortran$/ { on = 1; next } /^```$/ { on = 0 } on' README.md > "$dir/example.f90"
# shellcheck disable=SC2086
$fortran $flags $lenient -J"$dir" include/ndfile.f90 "$dir/example.f90" -L"$build/lib" -lndfile -Wl,-rpath,"$build/lib" -o "$dir/example"
(cd "$dir" && ./example)
"$build/ndfile" demo "$dir/demo.ds"
"$dir/read" "$dir/demo.ds"
