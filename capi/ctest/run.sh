#!/bin/sh
# Build the C tests against a library and run them: run.sh FOLDER LIBRARY
#
# FOLDER is for programs and files; CC, CXX, CFLAGS and LDFLAGS are used. With PANIC=1 the library was built with
# -tags ndfpanic. SKIP names tests to leave out.
set -eu
[ $# = 2 ] || { echo 'usage: run.sh FOLDER LIBRARY' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
lib=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
strict='-Wall -Wextra -Werror -pedantic'

compile() { # SOURCE PROGRAM COMPILER FLAGS...
  source=$here/$1 program=$dir/$2
  shift 2
  # shellcheck disable=SC2086
  "$@" $strict ${CFLAGS:--g} -I"$here/../../include" -o "$program" "$source" \
    "$lib" -Wl,-rpath,"$(dirname "$lib")" -pthread -ldl ${LDFLAGS:-}
}

sh "$here/../check_symbols.sh" "$lib"
compile header.c header99 "${CC:-cc}" -std=c99
compile header.c header11 "${CC:-cc}" -std=c11
compile header.cpp header17 "${CXX:-c++}" -std=c++17
for t in header99 header11 header17; do "$dir/$t"; done
echo 'header: ok'

for t in contract roundtrip prepared threads blosc rawarray resize groups chunks table arrow verify convert fork two_copies pthreads1000 coroutine map many \
  ${PANIC:+panic}; do
  case " ${SKIP:-} " in *" $t "*) continue ;; esac
  compile $t.c $t "${CC:-cc}" -std=c11
  files=$dir/$t.files
  rm -rf "$files"
  mkdir "$files"
  "$dir/$t" "$files"
done
compile signals.c signals "${CC:-cc}" -std=c11 -Wl,--as-needed # loads the library itself
"$dir/signals" "$dir" "$lib"
compile fixtures.c fixtures "${CC:-cc}" -std=c11
"$dir/fixtures" "$here"/../../pkg/*/testdata/*/*.ds "$here"/../../pkg/bcolz/testdata/roots/* \
  "$here"/../../pkg/zarr/testdata/zarr0/valid/*/ >/dev/null
echo 'fixtures: ok'

for std in 17 20; do
  compile cpp_test.cpp cpp_test$std "${CXX:-c++}" -std=c++$std
  rm -rf "$dir/cpp_test$std.files"
  mkdir "$dir/cpp_test$std.files"
  "$dir/cpp_test$std" "$dir/cpp_test$std.files"
done
