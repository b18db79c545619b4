# Sourced by what builds the library and the command, with $here in a folder below the top: the commit that is stamped into
# both, and what keeps symbols out of them. No path of this machine and no name of a tool may change a byte: no build ID.
# NDFILE_VCS=true has Go stamp the repository's state too (go version -m), for what is given to others.
if [ -z "${NDFILE_COMMIT+set}" ]; then
  NDFILE_COMMIT=
  # Where this is its repository, and not a folder in another one.
  [ ! -e "$here/../.git" ] || NDFILE_COMMIT=$(git -C "$here/.." rev-parse --short=12 HEAD 2>/dev/null) || NDFILE_COMMIT=
fi
strip='-s -w -buildid= ' extstrip=-Wl,--strip-all # zig's linker does not know -s
[ -z "${NDFILE_DEBUG:-}" ] || { strip='-s=false -w=false -compressdwarf=false '; extstrip=; } # "go run" would leave them out
