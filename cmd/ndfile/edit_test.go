package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	src := demoFile(t)
	dst := filepath.Join(filepath.Dir(src), "x.ds")
	ok(t, "select", src, "te*", "time", "-d", "time=::-2", "-d", "station=1", "-o", dst)
	if got, want := ok(t, "cat", "--raw", dst), "temperature:\n270.5 268\ntime:\n2 0\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if info := ok(t, "info", dst); !strings.Contains(info, "temperature <f4 (time 2)") || !strings.Contains(info, "two stations") {
		t.Errorf("info: %s", info)
	}
	fails(t, exitIO, "x.ds", "select", src, "time", "-o", dst)
	fails(t, exitUsage, "nosuch", "select", src, "nosuch", "--force", "-o", dst)
	fails(t, exitUsage, "axis", "select", src, "-d", "depth=0", "--force", "-o", dst)
	fails(t, exitUsage, "outside", "select", src, "-d", "time=3", "--force", "-o", dst)
	fails(t, exitUsage, "DIM=INDEX", "select", src, "-d", "time", "--force", "-o", dst)
	fails(t, exitUsage, "--out", "select", src)
	fails(t, exitUsage, "--out", "select", src, "--in-place", "-o", dst)

	ok(t, "select", bcolzDir+"t_bars", "open", "day", "-d", "0=10:20", "-o", filepath.Join(filepath.Dir(src), "t.bcolz"), "--to", "bcolz")
	same(t, bcolzDir+"t_bars:day[10:20]", filepath.Join(filepath.Dir(src), "t.bcolz:day"))
}

func TestRename(t *testing.T) {
	src := demoFile(t)
	before := ok(t, "cat", src, "temperature")
	ok(t, "rename", src, "temperature=rain", "rain=temperature", "-d", "time=day", "--in-place")
	if got := ok(t, "cat", src, "rain"); got != before {
		t.Errorf("got %q, want %q", got, before)
	}
	if info := ok(t, "info", src); !strings.Contains(info, "time <i8 (day 3)") || strings.Contains(info, "time 3") {
		t.Errorf("info: %s", info)
	}
	if got := files(t, filepath.Dir(src)); !slices.Equal(got, []string{"demo.ds"}) {
		t.Errorf("left: %v", got)
	}
	old := tree(t, src)
	fails(t, exitBad, "exists", "rename", src, "rain=time", "--in-place")
	fails(t, exitUsage, "nosuch", "rename", src, "nosuch=x", "--in-place")
	fails(t, exitUsage, "axis", "rename", src, "-d", "nosuch=x", "--in-place")
	fails(t, exitUsage, "OLD=NEW", "rename", src, "rain", "--in-place")
	if !maps.Equal(old, tree(t, filepath.Dir(src))) {
		t.Error("a refused edit changed something")
	}
}

// copyStore copies a fixture that is a folder.
func copyStore(t *testing.T, src string) string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), filepath.Base(src))
	if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	return dst
}

func TestRm(t *testing.T) {
	src := demoFile(t)
	dst := filepath.Join(filepath.Dir(src), "x.ds")
	ok(t, "rm", src, "t*", "rain", "-o", dst)
	if got := ok(t, "cat", dst); got != "height:\n2\nstation:\n\"Praha-Libuš\" \"Reykjavík\"\n" {
		t.Errorf("got %q", got)
	}
	fails(t, exitUsage, "nosuch", "rm", src, "nosuch", "--in-place")

	// a table is changed directly
	store := copyStore(t, bcolzDir+"t_bars")
	old := tree(t, filepath.Join(store, "open"))
	ok(t, "rm", store, "high", "l*", "--in-place")
	if info := ok(t, "info", store); !strings.Contains(info, "5 arrays") || strings.Contains(info, "low") {
		t.Errorf("info: %s", info)
	}
	if !maps.Equal(old, tree(t, filepath.Join(store, "open"))) {
		t.Error("another column was written again")
	}
}

func TestSet(t *testing.T) {
	src := demoFile(t)
	dst := filepath.Join(filepath.Dir(src), "x.ds")
	ok(t, "set", src, "title=new title", "version=3", `list=[1, "a", NaN]`, "-o", dst)
	info := ok(t, "info", dst)
	for _, want := range []string{"  title: \"new title\"\n", "  version: 3\n", "  list: [1, \"a\", NaN]\n"} {
		if !strings.Contains(info, want) {
			t.Errorf("no %q in %s", want, info)
		}
	}
	ok(t, "set", dst+":temperature", "units=degC", "--dims", "place,day", "--in-place")
	ok(t, "set", dst, "--unset", "title", "--in-place")
	info = ok(t, "info", dst)
	if !strings.Contains(info, "(place 2, day 3) masked\n    units: \"degC\"") || strings.Contains(info, "new title") {
		t.Errorf("info: %s", info)
	}
	same(t, src+":station", dst+":station")
	fails(t, exitUsage, "no attribute", "set", dst, "--unset", "title", "--in-place")
	fails(t, exitUsage, "axes", "set", dst+":temperature", "--dims", "x", "--in-place")
	fails(t, exitUsage, "belong to an array", "set", dst, "--dims", "x", "--in-place")
	fails(t, exitUsage, "nothing", "set", dst, "--in-place")
	fails(t, exitBad, "attributes", "set", raDir+"test.ra", "a=1", "-o", filepath.Join(filepath.Dir(src), "x.ra"))

	// stores are changed directly, attributes of an array and its file are the same
	for _, store := range []string{copyStore(t, zarrDir+"attrs_rich"), copyStore(t, bcolzDir+"nd3")} {
		ok(t, "set", store, "a=1", "--in-place")
		ok(t, "set", store+":", "b=2", "--in-place")
		if info := ok(t, "info", store); !strings.Contains(info, "a: 1\n") || !strings.Contains(info, "b: 2\n") {
			t.Errorf("info: %s", info)
		}
	}
	copied := filepath.Join(filepath.Dir(src), "copy.zarr")
	ok(t, "set", zarrDir+"attrs_rich", "a=1", "-o", copied, "--to", "zarr0")
	if info := ok(t, "info", copied); !strings.Contains(info, "a: 1\n") || !strings.Contains(info, "tiny: 5e-324") {
		t.Errorf("info: %s", info)
	}
}

func TestMerge(t *testing.T) {
	src := demoFile(t)
	dir := filepath.Dir(src)
	dst := filepath.Join(dir, "x.ds")
	early, late := filepath.Join(dir, "1-early.ds"), filepath.Join(dir, "2-late.ds")
	ok(t, "select", src, "-d", "time=:1", "-o", early)
	ok(t, "select", src, "-d", "time=1:", "-o", late)
	ok(t, "merge", "-d", "time", filepath.Join(dir, "?-*.ds"), "-o", dst)
	same(t, src, dst)

	ok(t, "merge", "-d", "run", early, early, "--force", "-o", dst)
	if info := ok(t, "info", dst); !strings.Contains(info, "temperature <f4 (run 2, station 2, time 1)") || !strings.Contains(info, "height <i8 (run 2)") {
		t.Errorf("info: %s", info)
	}
	same(t, early+":temperature[0]", dst+":temperature[1,0]")

	ok(t, "merge", src, raDir+"f64_1d.ra", raDir+"i4_3d_2x3x4.ra", bcolzDir+"nd3", "--force", "-o", dst)
	same(t, raDir+"f64_1d.ra", dst+":f64_1d")
	same(t, bcolzDir+"nd3", dst+":nd3")
	same(t, src+":temperature", dst+":temperature")

	ok(t, "merge", "-d", "0", bcolzDir+"nd3", bcolzDir+"nd3", "-o", filepath.Join(dir, "x.bcolz"), "--to", "bcolz")
	same(t, bcolzDir+"nd3", filepath.Join(dir, "x.bcolz[7:]"))

	ok(t, "merge", "-d", "run", dsDir+"no_data.ds", dsDir+"no_data.ds", "--force", "-o", dst)
	if got := ok(t, "cat", dst); got != "typed:\nno data\nuntyped:\nno data\nx:\n1 1\n" {
		t.Errorf("got %q", got)
	}
	part := filepath.Join(dir, "part.ds")
	ok(t, "select", src, "-d", "station=:1", "-o", part)
	fails(t, exitBad, "expected (2, 3) as in the first file", "merge", "-d", "time", src, part, "-o", filepath.Join(dir, "y.ds"))
	fails(t, exitUsage, "of the kind", "merge", "-d", "0", src, bcolzDir+"nd3", "--force", "-o", dst)

	fails(t, exitBad, "another of the files", "merge", early, late, "-o", filepath.Join(dir, "y.ds"))
	fails(t, exitBad, "nd2: expected <i2 as in the first file", "merge", "-d", "0", bcolzDir+"nd3", bcolzDir+"nd2", "-o", filepath.Join(dir, "y.bcolz"), "--to", "bcolz")
	fails(t, exitUsage, "cannot be one of", "merge", src, raDir+"c64_1d.ra", "-o", src, "--force")
}

// Links lead to the file that is edited, and stay.
func TestInPlaceThroughLink(t *testing.T) {
	src := demoFile(t)
	link := filepath.Join(t.TempDir(), "link.ds")
	if err := os.Symlink(src, link); err != nil {
		t.Fatal(err)
	}
	ok(t, "rm", link, "rain", "--in-place")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if got := ok(t, "info", src); strings.Contains(got, "rain") {
		t.Errorf("info: %s", got)
	}
	if got := files(t, filepath.Dir(link)); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}
