#!/bin/sh
# deadcode.sh GO: names the functions that nothing reaches, tests included, and fails when there are any. What only C calls
# is left out: cgo's own wrappers, and the library that the benchmarks of Blosc load.
set -eu
found=$("$1" run golang.org/x/tools/cmd/deadcode@v0.52.0 -test ./... ./cmd/... ./benchmarks/... ./pkg/ndarrow/... ./pkg/ndmat/... | grep -v -e " _cgoexp_" -e "^benchmarks/blosc/shim/" || true)
[ -z "$found" ] || { echo "$found"; exit 1; }
