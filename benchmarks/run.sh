#!/bin/sh
# Builds the workers and runs the benchmarks: run.sh BUILD_FOLDER [FLAGS OF THE DRIVER]
#
# GO, CC, PYTHON (with the test environment) and JULIA (a command) come from the environment. A worker whose language is not
# there is left out, and the results say so; with CI set that is an error.
set -eu
[ $# -ge 1 ] || { echo 'usage: run.sh BUILD_FOLDER [FLAGS]' >&2; exit 2; }
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift
export NDFILE_LIB="$build/lib/libndfile.so"
mkdir -p "$build/bench"

missing() {
	[ -z "${CI:-}" ] || { echo "benchmarks: $1 is missing, and CI may not leave it out" >&2; exit 1; }
	echo "benchmarks: no figures of $2, since $1 is missing" >&2
}

"${GO:-go}" build -trimpath -buildvcs=false -o "$build/bench/benchmarks" ./benchmarks
set -- "$@" -worker "go=$build/bench/benchmarks -serve"

# C, with two versions of netCDF-C: Debian's, and the one inside the Python package netCDF4.
sh benchmarks/workers/c/build.sh "$build" "$build/bench/worker-c"
sh pkg/netcdf/crosstest/get-netcdf.sh "$build/debian" >"$build/bench/netcdf.env"
debian=$(. "$build/bench/netcdf.env"; echo "LD_LIBRARY_PATH=$LD_LIBRARY_PATH NDFILE_BENCH_LIBNETCDF=$NDFILE_TEST_LIBNETCDF")
set -- "$@" -worker "c=env $debian $build/bench/worker-c"
wheel=$("$PYTHON" -c 'import glob, os, netCDF4; print(*glob.glob(os.path.join(os.path.dirname(netCDF4.__file__), "..", "netcdf4.libs", "libnetcdf-*")))')
set -- "$@" -worker "c-wheel=env NDFILE_BENCH_LIBNETCDF=$wheel $build/bench/worker-c"

set -- "$@" -worker "python=env PYTHONPATH=bindings/python $PYTHON benchmarks/workers/python/worker.py"

if [ -n "${JULIA:-}" ]; then
	set -- "$@" -worker "julia=env JULIA_DEPOT_PATH=$build/julia-depot JULIA_NUM_THREADS=2 $JULIA --startup-file=no --project=bindings/julia/NDFile benchmarks/workers/julia/worker.jl"
else
	missing Julia Julia
fi

if command -v cargo >/dev/null; then
	cargo build --quiet --release --locked --manifest-path benchmarks/workers/rust/Cargo.toml --target-dir "$build/bench-rust"
	set -- "$@" -worker "rust=$build/bench-rust/release/ndfile-bench-worker"
else
	missing cargo 'the crate rawarray'
fi

exec "$build/bench/benchmarks" "$@"
