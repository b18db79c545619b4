# A recipe for BinaryBuilder: libndfile and the command as the Julia package NDFile_jll. It has not been run.
# usage: julia build_tarballs.jl --verbose
using BinaryBuilder

name = "NDFile"
version = v"1.0.0"
sources = [DirectorySource(joinpath(@__DIR__, "..", "..", ".."))]

script = raw"""
cd ${WORKSPACE}/srcdir
export CGO_ENABLED=1
sh capi/build.sh ${libdir}/libndfile.${dlext}
sh cmd/build.sh ${bindir}/ndfile
install -Dm 644 -t ${includedir} include/ndfile.h include/ndfile.hpp
install_license LICENSE
"""

# As the wheels; others were not tried.
platforms = [Platform("x86_64", "linux"; libc="glibc"), Platform("aarch64", "linux"; libc="glibc")]

products = [LibraryProduct("libndfile", :libndfile), ExecutableProduct("ndfile", :ndfile)]

build_tarballs(ARGS, name, version, sources, script, platforms, products, Dependency[];
               compilers=[:c, :go], julia_compat="1.5", preferred_gcc_version=v"8")
