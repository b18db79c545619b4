#!/bin/sh
# usage: wheels.sh BUILD_DIR PYTHON [MACHINE...]: the source distribution and a wheel for each machine (x86_64, aarch64) in
# BUILD_DIR/dist, checked. zig is the C compiler, against glibc 2.17. The same commit gives the same bytes.
set -eu
b=$(mkdir -p "$1" && cd "$1" && pwd) python=$2
shift 2
[ $# -gt 0 ] || set -- x86_64 aarch64
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=$b/wheel-venv
if [ ! -e "$venv/ok" ] || [ "$root/tools/packaging/requirements.txt" -nt "$venv/ok" ]; then
	"$python" -m venv "$venv"
	"$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$root/tools/packaging/requirements.txt"
	touch "$venv/ok"
fi
export ZIG_GLOBAL_CACHE_DIR="$b/zig" ZIG_LOCAL_CACHE_DIR="$b/zig" NDFILE_VCS=true
[ -e "$root/.git" ] || NDFILE_VCS=false
dist=$b/dist
rm -rf "$dist" && mkdir -p "$dist"
"$venv/bin/python" -m build -q --no-isolation --sdist --outdir "$dist" "$root"
for machine; do
	case $machine in
	x86_64) goarch=amd64 ;;
	aarch64) goarch=arm64 ;;
	*) echo "wheels.sh: no wheel is made for $machine" >&2 && exit 2 ;;
	esac
	cc=$b/zigcc-$machine
	printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-gnu.2.17 "$@"\n' "$venv/bin/python" "$machine" >"$cc"
	chmod +x "$cc"
	GOARCH=$goarch CC=$cc NDFILE_PLAT=manylinux_2_17_$machine.manylinux2014_$machine \
		"$venv/bin/python" -m build -q --no-isolation --wheel --outdir "$dist" "$root"
	# auditwheel asks for the platform in a sentence, which it breaks into lines
	"$venv/bin/python" -m auditwheel show "$dist"/*_"$machine".whl | tr '\n' ' ' | grep -Eq "following platform tag: +\"manylinux_2_(5|12|17)_$machine\"" ||
		{ "$venv/bin/python" -m auditwheel show "$dist"/*_"$machine".whl >&2; exit 1; }
done
"$venv/bin/python" -m twine check --strict "$dist"/*
(cd "$dist" && sha256sum ./*)
