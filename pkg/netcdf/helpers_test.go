//go:build cgo

package netcdf

import (
	"fmt"
	"os"
	"testing"
)

// needLibrary skips the test loudly where there is no libnetcdf, and fails it in
// CI, which must not skip. get-netcdf.sh gets one.
func needLibrary(t testing.TB) {
	t.Helper()
	if path := os.Getenv("NDFILE_TEST_LIBNETCDF"); path != "" {
		os.Setenv("NDFILE_LIBNETCDF", path)
	}
	err := load()
	switch {
	case err == nil:
	case os.Getenv("CI") != "" || os.Getenv("NDFILE_TEST_LIBNETCDF") != "":
		t.Fatal(err)
	default:
		fmt.Fprintf(os.Stderr, "*** SKIPPED: no libnetcdf: pkg/netcdf is NOT tested (%v) ***\n", err)
		t.Skip(err)
	}
}
