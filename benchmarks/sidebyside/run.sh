#!/bin/sh
# What the small calls cost now and at an earlier commit, both libraries in one process: run.sh BUILD_FOLDER BASE [PAIRS [OPERATION]]
set -eu
[ $# -ge 2 ] || { echo 'usage: run.sh BUILD_FOLDER BASE [PAIRS [OPERATION]]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(cd "$1" && pwd) base=$2
shift 2
out=$build/sidebyside
rm -rf "$out"
mkdir -p "$out"
data=$(mktemp -d "${TMPDIR:-/dev/shm}/sidebyside.XXXXXX")
git -C "$root" worktree add -q --detach "$out/base" "$base"
trap 'git -C "$root" worktree remove --force "$out/base"; rm -rf "$data"' EXIT
(cd "$out/base" && sh capi/build.sh build/lib/libndfile.so)
"${CC:-cc}" -std=c11 -O2 -Wall -Wextra -I"$root/include" -o "$out/sidebyside" "$here/sidebyside.c" -ldl
mkdir "$data/old" "$data/new"
"$out/sidebyside" "$out/base/build/lib/libndfile.so" "$build/lib/libndfile.so" "$data" "$@"
