#!/bin/sh
# get-matrices.sh DIR: prints the folder of the headers of Eigen and xtensor, from Debian's packages, which are unpacked into
# DIR. Where they cannot be had it prints nothing, and the test that needs them says that it is skipped.
dir=${1:?usage: get-matrices.sh DIR}
sh "$(dirname "$0")/get-debian.sh" "$dir" libeigen3-dev libxtensor-dev xtl-dev >&2 || exit 0
echo "$(cd "$dir" && pwd)/root/usr/include"
