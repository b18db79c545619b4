#!/bin/sh
# abi.sh DIR TOOLS [BASE]: describes the types of a debug build of the library in DIR/libndfile.abi, from its DWARF, and proves
# that abidiff sees all functions of capi/abi.txt and a function that is lost. With BASE, the description of an earlier
# release, a change of what it has is an error. TOOLS is the folder of abidw and abidiff; "" skips all of it.
set -eu
[ $# -ge 2 ] || { echo 'usage: abi.sh DIR TOOLS [BASE]' >&2; exit 2; }
dir=$1 tools=$2 base=${3:-}
if [ -z "$tools" ]; then
	printf '\n*** SKIPPED: the comparison of types, since abidiff is not here and could not be fetched ***\n\n'
	exit 0
fi
mkdir -p "$dir"
NDFILE_DEBUG=1 sh capi/build.sh "$dir/libndfile.so"
"$tools/abidw" --headers-dir include --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs \
	"$dir/libndfile.so" >"$dir/libndfile.abi"
for f in $(sed -n 's/^function .*[ *]\(ndf_[a-z_]*\)(.*/\1/p' capi/abi.txt); do
	grep -q "<function-decl name='$f' " "$dir/libndfile.abi" || { echo "abi: no types of $f" >&2; exit 1; }
done
sed "/<elf-symbol name='ndf_load' /d; /<function-decl name='ndf_load' /,/<\/function-decl>/d" "$dir/libndfile.abi" >"$dir/lost.abi"
if "$tools/abidiff" "$dir/libndfile.abi" "$dir/lost.abi" >"$dir/lost.txt"; then
	echo 'abi: abidiff does not see that ndf_load is lost' >&2
	exit 1
fi
grep -q ndf_load "$dir/lost.txt"
if [ -n "$base" ]; then
	# Functions may be added. A struct that has grown at its end is shown too, for a human to say that it has not more.
	"$tools/abidiff" --no-added-syms "$base" "$dir/libndfile.abi" || { echo "abi: look whether programs of $base break" >&2; exit 1; }
fi
echo 'abi: ok'
