#!/bin/sh
# get-snappy.sh DIR: Debian's libblosc1, the C-Blosc that has snappy, unpacked into DIR. Prints the path of the library.
set -eu
dir=${1:?usage: get-snappy.sh DIR}
sh "$(dirname "$0")/../../../tools/get-debian.sh" "$dir" libblosc1 libsnappy1v5
set -- "$(cd "$dir" && pwd)"/root/usr/lib/*/libblosc.so.1
echo "$1"
