package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSuggestions(t *testing.T) {
	path := demoFile(t)
	for _, c := range []struct{ arg, want string }{
		{"conver", "unknown command conver; did you mean convert?"},
		{"mrege", "did you mean merge?"},
		{"zzz", "unknown command zzz"},
	} {
		status, _, errs := call(t, c.arg)
		if status != exitUsage || !strings.Contains(errs, c.want) || (c.arg == "zzz" && strings.Contains(errs, "mean")) {
			t.Errorf("%s: status %d: %s", c.arg, status, errs)
		}
	}
	for name, want := range map[string]string{"temprature": "did you mean temperature?", "Time": "did you mean time?"} {
		if _, _, errs := call(t, "cat", path, name); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", name, errs)
		}
	}
	if _, _, errs := call(t, "cat", path, "x"); strings.Contains(errs, "mean") {
		t.Error(errs)
	}
}

func TestLsRecursive(t *testing.T) {
	dir := t.TempDir()
	ok(t, "demo", filepath.Join(dir, "a.ds"))
	deep := filepath.Join(dir, "one", "two")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	ok(t, "demo", filepath.Join(deep, "b.ds"))
	if out := ok(t, "ls", dir); !strings.Contains(out, "a.ds") || strings.Contains(out, "b.ds") {
		t.Error(out)
	}
	if out := ok(t, "ls", "-R", dir); !strings.Contains(out, "a.ds") || !strings.Contains(out, filepath.Join(deep, "b.ds")) {
		t.Error(out)
	}
}

// One short line says that a library is missing, and the files are listed.
func TestLsWithoutLibrary(t *testing.T) {
	t.Setenv("NDFILE_LIBNETCDF", "/does/not/exist.so")
	dir := t.TempDir()
	ok(t, "demo", filepath.Join(dir, "a.ds"))
	for _, name := range []string{"x.nc", "y.nc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("\x89HDF\r\n\x1a\n"+strings.Repeat("\x00", 600)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, out, errs := call(t, "ls", dir)
	if strings.Count(out, "\n") != 3 || strings.Count(errs, "\n") != 1 || len(errs) > 120 || !strings.Contains(errs, "2 files are listed as ?") {
		t.Errorf("%s\n%s", out, errs)
	}
}
