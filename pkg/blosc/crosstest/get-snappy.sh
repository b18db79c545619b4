#!/bin/sh
# get-snappy.sh DIR: Debian's libblosc1, the C-Blosc that has snappy, unpacked into DIR without root and with package
# lists of its own. Prints the path of the library.
set -eu
dir=${1:?usage: get-snappy.sh DIR}
mkdir -p "$dir"
cd "$dir"
if ! ls root/usr/lib/*/libblosc.so.1 >/dev/null 2>&1; then
	mkdir -p apt/lists/partial apt/cache/archives/partial
	options="-qq -o Dir::State::lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt/cache -o APT::Sandbox::User=$(id -un)
		-o Acquire::Languages=none -o Acquire::Retries=3"
	# shellcheck disable=SC2086 # a list of words
	apt-get $options update >&2
	# shellcheck disable=SC2086
	apt-get $options download libblosc1 libsnappy1v5 >&2
	for deb in libblosc1_*.deb libsnappy1v5_*.deb; do
		dpkg-deb -x "$deb" root
	done
	rm -rf apt ./*.deb
fi
set -- "$PWD"/root/usr/lib/*/libblosc.so.1
echo "$1"
