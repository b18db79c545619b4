#!/bin/sh
# usage: test-install.sh BUILD_DIR MAKE PYTHON: the installed library as its users meet it, each in a clean folder.
set -eu
b=$(cd "$1" && pwd) make=$2 python=$3
root=$(cd "$(dirname "$0")/.." && pwd)
work=$b/install-test
rm -rf "$work" && mkdir -p "$work"

mkdir "$work/source"
cat >"$work/source/main.c" <<'EOC'
#include <ndfile.h>
#include <stdio.h>
int main(void) {
  double x = 1.5, y = 0;
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "f8", .data = &x};
  ndf_load_info info = {.struct_size = sizeof info};
  ndf_error err;
  _Alignas(64) char buf[256];
  int64_t len = sizeof buf, n = 1;
  if (ndf_save("x.ds", NULL, &item, 1, NULL, NULL, &err) || ndf_load("x.ds", NULL, buf, &len, &info, &n, &err))
    return fprintf(stderr, "%s\n", err.message), 1;
  y = *(double *)(buf + info.data_offset);
  printf("ndfile %s: %g\n", ndf_version(), y);
  return y != x;
}
EOC
check() { # HOW PROGRAM
	(cd "$work" && "$2" >out.txt) && grep -q '^ndfile [0-9.]*: 1.5$' "$work/out.txt" || { echo "test-install: $1: failed" >&2; exit 1; }
	echo "install: $1: ok"
}

# make install into a staging folder, which is then moved: nothing may know where it was made
"$make" -s -C "$root" install B="$b" PREFIX=/opt/made DESTDIR="$work/stage" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
mv "$work/stage/opt/made" "$work/moved"
grep -q ndfile "$work/moved/share/bash-completion/completions/ndfile"
bash -n "$work/moved/share/bash-completion/completions/ndfile"
test "$("$work/moved/bin/ndfile" formats | head -n 1 | cut -d' ' -f1)" = ds

mkdir "$work/find" && cp "$work/source/main.c" "$work/find/"
cat >"$work/find/CMakeLists.txt" <<'EOC'
cmake_minimum_required(VERSION 3.21)
project(consumer C)
find_package(ndfile 1.0 REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE ndfile::ndfile)
EOC
cmake -S "$work/find" -B "$work/find/build" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/find.log" 2>&1 &&
	cmake --build "$work/find/build" >>"$work/find.log" 2>&1 || { cat "$work/find.log"; exit 1; }
check find_package "$work/find/build/consumer"

if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH="$work/moved/lib/pkgconfig" pkg-config --cflags --libs ndfile)
	# shellcheck disable=SC2086 # a list of flags
	cc -std=c11 "$work/source/main.c" $flags -Wl,-rpath,"$work/moved/lib" -o "$work/by-pkg-config"
	check pkg-config "$work/by-pkg-config"
else
	echo '*** SKIPPED: pkg-config, which is not here (Debian: pkg-config) ***'
fi

mkdir "$work/fetch" && cp "$work/source/main.c" "$work/fetch/"
cat >"$work/fetch/CMakeLists.txt" <<EOC
cmake_minimum_required(VERSION 3.21)
project(consumer C)
include(FetchContent)
FetchContent_Declare(ndfile SOURCE_DIR "$root")
FetchContent_MakeAvailable(ndfile)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE ndfile::ndfile)
EOC
cmake -S "$work/fetch" -B "$work/fetch/build" >"$work/fetch.log" 2>&1 &&
	cmake --build "$work/fetch/build" >>"$work/fetch.log" 2>&1 || { cat "$work/fetch.log"; exit 1; }
check FetchContent "$work/fetch/build/consumer"

# pip install into an empty environment, from a source distribution, then the README's example
"$python" -m venv "$work/venv"
pip="$work/venv/bin/python -m pip --disable-pip-version-check -q"
$pip install build hatchling

# The example in Rust, whose bindgen needs a libclang: that of PyPI
if command -v cargo >/dev/null; then
	$pip install libclang
	cp -R "$root/docs/examples/rust" "$work/rust"
	(cd "$work/rust" && NDFILE_PREFIX="$work/moved" LIBCLANG_PATH=$(echo "$work"/venv/lib/python*/site-packages/clang/native) \
		cargo run --quiet --locked >out.txt 2>err.txt) && grep -q '^last day: \[272.5, 270.5\]$' "$work/rust/out.txt" ||
		{ cat "$work/rust/err.txt" >&2; echo 'test-install: Rust: failed' >&2; exit 1; }
	echo 'install: Rust: ok'
else
	echo '*** SKIPPED: the example in Rust, since cargo is not here ***'
fi

(cd "$root" && "$work/venv/bin/python" -m build --sdist --no-isolation --outdir "$work/dist" . >"$work/sdist.log" 2>&1) || { cat "$work/sdist.log"; exit 1; }
"$python" -m venv "$work/empty"
"$work/empty/bin/python" -m pip --disable-pip-version-check -q install "$work"/dist/ndfile-*.tar.gz
sed -n '/^```python$/,/^```$/p' "$root/README.md" | grep -v '^```' >"$work/example.py"
(cd "$work" && env -u NDFILE_LIB -u PYTHONPATH "$work/empty/bin/python" example.py)
test "$("$work/empty/bin/ndfile" formats | head -n 1 | cut -d' ' -f1)" = ds
ls "$work"/empty/lib/python*/site-packages/ndfile-*.dist-info/sboms/ndfile.cdx.json >/dev/null
echo 'install: pip install of the source distribution, then the README example and the command: ok'
