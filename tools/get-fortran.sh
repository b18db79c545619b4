#!/bin/sh
# get-fortran.sh DIR: prints the command of a gfortran: the machine's own, or Debian's, unpacked into DIR, which goes with the
# gcc 12 of the machine. Where there is none it prints nothing, and the tests that need it say that they are skipped.
dir=${1:?usage: get-fortran.sh DIR}
command -v gfortran && exit 0
sh "$(dirname "$0")/get-debian.sh" "$dir" gfortran-12 libgfortran-12-dev libgfortran5 libquadmath0 >&2 || exit 0
root=$(cd "$dir" && pwd)/root/usr
for gfortran in "$root"/bin/*-gfortran-12; do
  libs=$(dirname "$("$gfortran" -print-file-name=libgfortran.spec)")
  so=$(dirname "$(ls "$root"/lib/*/libgfortran.so.5)")
  gcc=$(dirname "$(gcc -print-prog-name=collect2)")
  echo "$gfortran -B$libs -B$gcc -fno-use-linker-plugin -L$libs -L$so -Wl,-rpath,$so"
done
