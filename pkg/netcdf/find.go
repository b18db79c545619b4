//go:build cgo

package netcdf

/*
#include "lib.h"
*/
import "C"

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// systemNames are the names of libnetcdf that the dynamic linker is asked for, after
// all others.
var systemNames = []string{"libnetcdf.so.19", "libnetcdf.so.22", "libnetcdf.so.18", "libnetcdf.so.15", "libnetcdf.so.13", "libnetcdf.so",
	"libnetcdf.dylib", "/opt/homebrew/lib/libnetcdf.dylib", "/usr/local/lib/libnetcdf.dylib"}

// candidates are the libraries to try, the best one first: the one that
// NDFILE_LIBNETCDF names, and then no other; one that the process has loaded already
// (netCDF4-python's, say: two copies of HDF5 would not know of each other's locks);
// those that come with Python's package netCDF4; the system's.
func candidates() []string {
	if own := variable("NDFILE_LIBNETCDF"); own != "" {
		return []string{own}
	}
	var found []string
	var path [4096]C.char
	if C.ndnc_loaded(&path[0], C.size_t(len(path))) != 0 {
		found = append(found, C.GoString(&path[0]))
	}
	for _, folder := range packageFolders() {
		for _, pattern := range []string{"netcdf4.libs/libnetcdf*.so*", "netCDF4.libs/libnetcdf*.so*", "netCDF4/.dylibs/libnetcdf*.dylib"} {
			found = append(found, matches(filepath.Join(folder, pattern))...)
		}
	}
	if conda := variable("CONDA_PREFIX"); conda != "" {
		found = append(found, matches(filepath.Join(conda, "lib", "libnetcdf.so*"))...)
		found = append(found, matches(filepath.Join(conda, "lib", "libnetcdf*.dylib"))...)
	}
	return append(found, systemNames...)
}

// packageFolders are the folders in which the Python of this environment keeps its
// packages, as far as they can be known without asking it: beside our own library,
// in PYTHONPATH, and under the prefixes of the running program, of the active
// environment and of every python3 that PATH leads to.
func packageFolders() []string {
	var folders, prefixes []string
	var own [4096]C.char
	if C.ndnc_own_path(&own[0], C.size_t(len(own))) != 0 {
		folders = append(folders, filepath.Dir(filepath.Dir(C.GoString(&own[0])))) // site-packages/ndfile/libndfile.so
	}
	folders = append(folders, absolute(filepath.SplitList(variable("PYTHONPATH")))...)
	if program := firstArgument(); filepath.IsAbs(program) {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(program)))
	}
	prefixes = append(prefixes, absolute([]string{variable("VIRTUAL_ENV"), variable("CONDA_PREFIX")})...)
	for _, bin := range absolute(filepath.SplitList(variable("PATH"))) {
		if _, err := os.Stat(filepath.Join(bin, "python3")); err == nil {
			prefixes = append(prefixes, filepath.Dir(bin))
		}
	}
	if home := variable("HOME"); filepath.IsAbs(home) {
		prefixes = append(prefixes, filepath.Join(home, ".local"))
	}
	for _, prefix := range prefixes {
		for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages"} {
			folders = append(folders, matches(filepath.Join(prefix, pattern))...)
		}
	}
	return unique(folders)
}

// firstArgument is the name that the running program was started by: for a Python of
// a virtual environment the path inside of that, which is a symbolic link.
func firstArgument() string {
	if runtime.GOOS == "linux" { // os.Args is empty in a library
		if raw, err := os.ReadFile("/proc/self/cmdline"); err == nil {
			name, _, _ := strings.Cut(string(raw), "\x00")
			return name
		}
	}
	return ""
}

// variable is an environment variable as C's getenv has it, which sees what the
// program set after it was started.
func variable(name string) string {
	var text string
	withName(name, func(p *C.char) C.int {
		if value := C.ndnc_getenv(p); value != nil {
			text = C.GoString(value)
		}
		return 0
	})
	return text
}

func absolute(paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
}

// matches are the files of a pattern, the latest version first.
func matches(pattern string) []string {
	found, _ := filepath.Glob(pattern) // the only error is one of the pattern
	slices.Reverse(found)
	return found
}

// unique drops what came before, and keeps the order.
func unique(paths []string) []string {
	var kept []string
	for _, p := range paths {
		if !slices.Contains(kept, p) {
			kept = append(kept, p)
		}
	}
	return kept
}
