#!/bin/sh
# Build the shared library: build.sh OUT [arguments of go build, such as -asan or -tags x]
#
# OUT is the file to make. Its soname is libndfile.so.1; unless OUT has that name a link of that name is put beside it.
# GO and CC choose the tools. NDFILE_DEBUG=1 keeps the symbols, for profiles.
set -eu
[ $# -ge 1 ] || { echo 'usage: build.sh OUT [go build arguments]' >&2; exit 2; }
soname=libndfile.so.1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
dir=$(cd "$(dirname "$1")" && pwd)
out=$dir/$(basename "$1")
shift

strip='-s -w '
[ -z "${NDFILE_DEBUG:-}" ] || strip='-compressdwarf=false ' # not empty: go wants no quote first

# The linker's own words go through -extldflags, in quotes for blanks in the path: #cgo LDFLAGS refuses them.
# A flag given here wins over the same one in GOFLAGS. Go's threads would not survive an unloading: nodelete. What is wrapped
# is in stackbound.c and reload.c.
cd "$here/.."
CGO_ENABLED=1 "${GO:-go}" build -buildmode=c-shared -trimpath -buildvcs=false -race=false \
  "-ldflags=$strip'-extldflags=-Wl,-soname,$soname -Wl,-z,relro,-z,now,-z,nodelete,--wrap=pthread_getattr_np,--wrap=pthread_key_create \"-Wl,--version-script=$here/ndfile.map\" -ldl'" \
  "$@" -o "$out" ./capi
rm -f "${out%.*}.h"
[ "$(basename "$out")" = $soname ] || ln -sf "$(basename "$out")" "$dir/$soname"
