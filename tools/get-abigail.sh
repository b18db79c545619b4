#!/bin/sh
# get-abigail.sh DIR: prints the folder of abidw and abidiff: the machine's, or wrappers of Debian's, unpacked into DIR. Where
# there are none it prints nothing.
dir=${1:?usage: get-abigail.sh DIR}
found=$(command -v abidw) && command -v abidiff >/dev/null && dirname "$found" && exit 0
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/get-debian.sh" "$dir" abigail-tools libabigail0 libdw1 libelf1 libctf0 libxml2 >&2 || exit 0
root=$(cd "$dir" && pwd)/root
libs=$(dirname "$(find "$root" -name 'libabigail.so.*' | head -n 1)")
mkdir -p "$root/abigail"
for tool in abidw abidiff; do
	printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/usr/bin/%s "$@"\n' "$libs" "$root" $tool >"$root/abigail/$tool"
	chmod +x "$root/abigail/$tool"
done
"$root/abigail/abidiff" --version >/dev/null 2>&1 && echo "$root/abigail"
