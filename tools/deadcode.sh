#!/bin/sh
# deadcode.sh GO: names the functions that nothing reaches, tests included, and fails when there are any.
set -eu
found=$("$1" run golang.org/x/tools/cmd/deadcode@v0.52.0 -test ./... ./cmd/... ./benchmarks/... | grep -v " _cgoexp_" || true)
[ -z "$found" ] || { echo "$found"; exit 1; }
