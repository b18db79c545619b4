#!/bin/sh
# usage: get-julia.sh DIR: make DIR/julia a Julia that survives an exception thrown under compiled code.
#
# In this order: $NDFILE_JULIA, julia on PATH, Debian 11's Julia 1.5.3 unpacked into DIR. (Debian 12's own Julia 1.5.3 crashes on
# any exception beside its newer libunwind.) Needs no root and touches nothing outside DIR.
set -eu
dest=$(mkdir -p "${1:?usage: get-julia.sh DIR}" && cd "$1" && pwd)

survives() { "$1" --startup-file=no -e 'f() = error("x"); g() = try; f(); catch; 42; end; exit(g() == 42 ? 0 : 1)' >/dev/null 2>&1; }
say() { echo "get-julia.sh: $*" >&2; }

[ -x "$dest/julia" ] && survives "$dest/julia" && exit 0
if [ -n "${NDFILE_JULIA:-}" ]; then
	survives "$NDFILE_JULIA" || { say "NDFILE_JULIA=$NDFILE_JULIA does not survive an exception"; exit 4; }
	ln -sf "$NDFILE_JULIA" "$dest/julia"
	exit 0
fi
if found=$(command -v julia) && survives "$found"; then
	ln -sf "$found" "$dest/julia"
	exit 0
fi

arch=$(dpkg --print-architecture 2>/dev/null || true)
if [ "$arch" != amd64 ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
	say 'no working julia here, and none can be fetched without apt-get on amd64; install Julia 1.5 or newer and set NDFILE_JULIA'
	exit 3
fi
# The mirror that this machine uses already.
mirror=${NDFILE_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -E '/debian/?$' | head -n 1)}
[ -n "$mirror" ] || { say "no Debian mirror in apt's sources; set NDFILE_DEBIAN_MIRROR"; exit 3; }

apt=$dest/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
: >"$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$apt/sources.list"
options="-qq -o Dir::Etc::sourcelist=$apt/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null
	-o Dir::Etc::preferencesparts=/dev/null -o Dir::State=$apt -o Dir::State::lists=$apt/lists -o Dir::State::status=$apt/status
	-o Dir::Cache=$apt/cache -o APT::Sandbox::User=$(id -un) -o Acquire::Languages=none -o Acquire::Retries=3"
packages='julia julia-common libjulia1 libunwind8 libllvm9 libgit2-1.1 libhttp-parser2.9 libmbedtls12 libmbedcrypto3 libmbedx509-0
	libffi7 libdsfmt-19937-1 libopenlibm3 libutf8proc2 libgfortran5 libquadmath0 libgmp10 libmpfr6 libpcre2-8-0 libpcre3 libssh2-1
	libblas3 liblapack3 libedit2 libtinfo6 libz3-4'
# shellcheck disable=SC2086 # lists of words
apt-get $options update
# shellcheck disable=SC2086
(cd "$apt/debs" && apt-get $options download $packages)
for deb in "$apt"/debs/*.deb; do dpkg-deb -x "$deb" "$dest/root"; done
rm -rf "$apt"

lib=$dest/root/usr/lib/x86_64-linux-gnu
cat >"$dest/julia" <<EOW
#!/bin/sh
LD_LIBRARY_PATH=$lib:$lib/julia:$lib/blas:$lib/lapack\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec "$dest/root/usr/bin/julia" "\$@"
EOW
chmod +x "$dest/julia"
survives "$dest/julia" || { say "the Julia in $dest does not run"; exit 4; }
