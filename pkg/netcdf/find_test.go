//go:build cgo

package netcdf

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCandidates: the library that is named is the only one; else those of the
// environment's Python come before the system's.
func TestCandidates(t *testing.T) {
	t.Setenv("NDFILE_LIBNETCDF", "/somewhere/libnetcdf.so")
	if got := candidates(); !slices.Equal(got, []string{"/somewhere/libnetcdf.so"}) {
		t.Errorf("named: %q", got)
	}
	t.Setenv("NDFILE_LIBNETCDF", "")
	for _, from := range []string{"VIRTUAL_ENV", "PATH", "HOME", "PYTHONPATH"} {
		t.Run(from, func(t *testing.T) {
			dir := t.TempDir()
			value, packages := dir, filepath.Join(dir, "lib", "python3.99", "site-packages")
			switch from {
			case "PATH":
				value = filepath.Join(dir, "bin")
				if err := os.MkdirAll(value, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(value, "python3"), nil, 0o755); err != nil {
					t.Fatal(err)
				}
			case "HOME":
				packages = filepath.Join(dir, ".local", "lib", "python3.99", "site-packages")
			case "PYTHONPATH":
				packages = dir
			}
			want := filepath.Join(packages, "netcdf4.libs", "libnetcdf-1234.so.22")
			if err := os.MkdirAll(filepath.Dir(want), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(want, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Setenv(from, value)
			got := candidates()
			wheel, system := slices.Index(got, want), slices.Index(got, systemNames[0])
			if wheel < 0 || wheel > system {
				t.Errorf("expected %s before %s, found %q", want, systemNames[0], got)
			}
		})
	}
}
