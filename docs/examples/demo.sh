#!/bin/sh
# usage: demo.sh BUILD_DIR CC: the command writes a ds file; C and Python read it, and a map is drawn.
set -eu
b=$1 cc=$2
dir=$b/demo
rm -rf "$dir" && mkdir -p "$dir"
show() { # COMMAND...: what it prints, indented; it fails when the command does
	"$@" >"$dir/out.txt"
	sed 's/^/   /' "$dir/out.txt"
}
echo "1. The command writes $dir/demo.ds:"
show "$b/ndfile" demo "$dir/demo.ds"
echo "2. A C program reads it (docs/examples/demo.c):"
"$cc" -std=c11 -Wall -Wextra -Iinclude docs/examples/demo.c -L"$b/lib" -lndfile -Wl,-rpath,"$(cd "$b/lib" && pwd)" -o "$dir/demo"
show "$dir/demo" "$dir/demo.ds"
echo "3. Python reads it and writes $dir/python.ds (docs/examples/demo.py):"
PYTHONPATH=bindings/python show "$b/demo-venv/bin/python" docs/examples/demo.py "$dir/demo.ds" "$dir/python.ds"
echo "4. The command shows what Python wrote:"
show "$b/ndfile" cat "$dir/python.ds" celsius station
echo "5. and draws the map, here and as $dir/sst.png:"
"$b/ndfile" plot "$dir/python.ds:sst" --out "$dir/sst.png"
"$b/ndfile" plot "$dir/python.ds:sst" --preview
