#!/bin/sh
# Build the shared library: build.sh OUT [arguments of go build, such as -asan or -tags x]
#
# OUT is the file to make. Its soname is libndfile.so.1; unless OUT has that name a link of that name is put beside it.
# GO and CC choose the tools. NDFILE_DEBUG=1 keeps the symbols, for profiles and abidiff. NDFILE_COMMIT names the commit that is built.
set -eu
[ $# -ge 1 ] || { echo 'usage: build.sh OUT [go build arguments]' >&2; exit 2; }
soname=libndfile.so.1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
dir=$(cd "$(dirname "$1")" && pwd)
out=$dir/$(basename "$1")
shift

. "$here/stamp.sh"

# The linker's own words go through -extldflags, in quotes for blanks in the path: #cgo LDFLAGS refuses them.
# A flag given here wins over the same one in GOFLAGS. Go's threads would not survive an unloading: nodelete. What is wrapped
# is in addresses.c, stackbound.c and reload.c.
cd "$here/.."
. "$here/cflags.sh"
# "go build" of a shared library compiles each package with C anew, libzstd for 30 s, since it asks for headers that only capi
# exports. "go run" links the same library from the build cache and hands it to the program named by -exec.
CGO_ENABLED=1 "${GO:-go}" run -exec 'install -m 644' -buildmode=c-shared -trimpath -buildvcs=${NDFILE_VCS:-false} -race=false \
  "-ldflags=$strip-X=main.buildCommit=$NDFILE_COMMIT '-extldflags=$extstrip -Wl,-soname,$soname -Wl,-z,relro,-z,now,-z,nodelete,--wrap=pthread_getattr_np,--wrap=pthread_key_create,--wrap=mmap,--wrap=pthread_attr_init \"-Wl,--version-script=$here/ndfile.map\" -ldl'" \
  "$@" ./capi "$out"
[ "$(basename "$out")" = $soname ] || ln -sf "$(basename "$out")" "$dir/$soname"
