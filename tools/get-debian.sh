#!/bin/sh
# get-debian.sh DIR PACKAGE...: Debian packages for tests, unpacked into DIR/root without root and with package lists of
# their own. What is there already is not fetched again.
set -eu
dir=${1:?usage: get-debian.sh DIR PACKAGE...}
shift
mkdir -p "$dir"
cd "$dir"
wanted=
for package; do
	[ -e "root/.$package" ] || wanted="$wanted $package"
done
[ -n "$wanted" ] || exit 0
mkdir -p root apt/lists/partial apt/cache/archives/partial
options="-qq -o Dir::State::lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt/cache -o APT::Sandbox::User=$(id -un)
	-o Acquire::Languages=none -o Acquire::Retries=3"
# shellcheck disable=SC2086 # lists of words
apt-get $options update >&2
for package in $wanted; do
	# shellcheck disable=SC2086
	apt-get $options download "$package" >&2
	dpkg-deb -x "$package"_*.deb root
	touch "root/.$package"
done
rm -rf apt ./*.deb
