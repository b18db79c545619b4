#!/bin/sh
# Build the command: build.sh OUT [arguments of go build]
#
# OUT is the file to make. GO and CC choose the tools. NDFILE_DEBUG=1 keeps the symbols. NDFILE_COMMIT names the commit that is built.
set -eu
[ $# -ge 1 ] || { echo 'usage: build.sh OUT [go build arguments]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
. "$here/../capi/stamp.sh"
. "$here/../capi/cflags.sh"
# pie, and the workspace: the library's objects are used again. A source distribution has no benchmarks, so no workspace.
[ -e "$here/../benchmarks/go.mod" ] || export GOWORK=off
cd "$here"
CGO_ENABLED=1 "${GO:-go}" build -buildmode=pie -trimpath -buildvcs=${NDFILE_VCS:-false} \
  "-ldflags=$strip-X=main.buildCommit=$NDFILE_COMMIT '-extldflags=$extstrip'" "$@" -o "$out" ./ndfile
