#!/bin/sh
# What leaves the library is what abi.txt lists, no more and no less: check_symbols.sh LIBRARY
set -eu
[ $# = 1 ] || { echo 'usage: check_symbols.sh LIBRARY' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
wanted=$(sed -n 's/^function .*[ *]\(ndf_[a-z_]*\)(.*/\1/p; s/^private //p' "$here/abi.txt" | sort)
found=$(nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
if [ "$wanted" != "$found" ]; then
  echo "$1: wanted, then found:" >&2
  printf '%s\n\n%s\n' "$wanted" "$found" >&2
  exit 1
fi
# Nothing of the machine that built it may stay in it.
if readelf -d "$1" | grep -E 'RPATH|RUNPATH|TEXTREL'; then
  echo "$1: has what no library should have" >&2
  exit 1
fi
echo 'symbols: ok'
