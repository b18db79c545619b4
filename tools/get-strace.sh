#!/bin/sh
# get-strace.sh DIR: prints the path of a strace: the machine's own, or Debian's, unpacked into DIR. Where there is none it
# prints nothing, and the tests that need it say that they are skipped.
dir=${1:?usage: get-strace.sh DIR}
command -v strace && exit 0
sh "$(dirname "$0")/get-debian.sh" "$dir" strace >&2 || exit 0
echo "$(cd "$dir" && pwd)/root/usr/bin/strace"
