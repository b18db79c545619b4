#!/bin/sh
# get-netcdf.sh DIR: Debian's libnetcdf and the NetCDF files of GMT's coast lines and borders, unpacked into DIR. Prints the settings
# for the tests, for eval: they hold LD_LIBRARY_PATH, since libnetcdf's own libraries are not in the system's folder.
set -eu
dir=${1:?usage: get-netcdf.sh DIR}
sh "$(dirname "$0")/../../../tools/get-debian.sh" "$dir" libnetcdf19 libhdf5-103-1 libhdf5-hl-100 libsz2 libaec0 gmt-gshhg-low gmt-dcw
root=$(cd "$dir" && pwd)/root
set -- "$root"/usr/lib/*/libnetcdf.so.19
echo "export LD_LIBRARY_PATH='$(dirname "$1")' NDFILE_TEST_LIBNETCDF='$1' NDFILE_TEST_GSHHG='$root/usr/share/gmt-gshhg' NDFILE_TEST_DCW='$root/usr/share/gmt-dcw/dcw-gmt.nc'"
