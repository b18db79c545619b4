# Sourced by what builds the library and the command: the parts in C, which see a stranger's bytes, check their buffers.
# One set of flags, so that libzstd is compiled once for both.
export CGO_CFLAGS="-O3 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 ${CGO_CFLAGS:-}"
