package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// files lists a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fails is call that must fail with a status and one line that says something.
func fails(t *testing.T, status int, says string, args ...string) {
	t.Helper()
	got, _, errs := call(t, args...)
	if got != status || !strings.Contains(errs, says) || strings.Count(errs, "\n") != 1 {
		t.Errorf("ndfile %v: status %d (want %d), stderr %q", args, got, status, errs)
	}
}

// same fails the test unless diff finds two arguments equal.
func same(t *testing.T, a, b string) {
	t.Helper()
	if out := ok(t, "diff", a, b); out != "" {
		t.Errorf("%s and %s: %s", a, b, out)
	}
}

func TestConvertRefusesLoss(t *testing.T) {
	src := demoFile(t)
	dir := filepath.Dir(src)
	dst := filepath.Join(dir, "t.ra")
	for _, loss := range []string{"mask", "dims", "attributes", "file attributes"} {
		fails(t, exitBad, loss, "convert", src+":temperature", dst)
	}
	fails(t, exitUsage, "name the one", "convert", src, dst)
	plan := ok(t, "convert", "--plan", src, dst, "--name", "temperature")
	if strings.Count(plan, "would lose") != 4 || !strings.Contains(plan, `array "temperature": mask`) {
		t.Errorf("plan:\n%s", plan)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"demo.ds"}) {
		t.Errorf("left: %v", got)
	}
	var done []convertJSON
	if err := json.Unmarshal([]byte(ok(t, "convert", "--json", "--allow-loss", src+":temperature", dst)), &done); err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 || !done[0].Done || len(done[0].Losses) != 4 || string(done[0].Destination) != dst {
		t.Errorf("%+v", done)
	}
	if got := ok(t, "cat", dst); got != "271.25 272.5 0\n268 269.75 270.5\n" {
		t.Errorf("got %q", got)
	}
	fails(t, exitIO, "t.ra", "convert", "--allow-loss", src+":rain", dst)
	ok(t, "convert", "--allow-loss", "--force", src+":rain", dst)
	if got := ok(t, "cat", dst); got != "0 1 1\n0 0 1\n" {
		t.Errorf("got %q", got)
	}
	if got := ok(t, "convert", "--plan", dst, filepath.Join(dir, "again.ds")); !strings.Contains(got, "nothing would be lost") {
		t.Errorf("plan: %s", got)
	}
}

func TestConvertTable(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.ds")
	words := ndfile.Item{Name: "day", Data: int64s([]int64{3}, 5, 6, 7)}
	if err := ndfile.Save(context.Background(), all.Formats, src, []ndfile.Item{words,
		{Name: "price", Data: float32s([]int64{3, 2}, 1, 2, 3, 4, 5, 6)}}, ndfile.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	ok(t, "convert", src, filepath.Join(dir, "x.bcolz"), "--to", "bcolz")
	if info := ok(t, "info", filepath.Join(dir, "x.bcolz")); !strings.Contains(info, "bcolz table, 2 arrays") {
		t.Errorf("info: %s", info)
	}
	same(t, src+":price", filepath.Join(dir, "x.bcolz:price"))
}

// A store goes from bcolz to early zarr and, in place, to zarr 2.
func TestConvertChain(t *testing.T) {
	dir := t.TempDir()
	src, store := bcolzDir+"nd3", filepath.Join(dir, "x.zarr")
	ok(t, "convert", src, store, "--to", "zarr0")
	same(t, src, store)
	ok(t, "convert", store, store, "--to", "zarr2", "--force")
	if info := ok(t, "info", store); !strings.Contains(info, "zarr2 array") {
		t.Errorf("info: %s", info)
	}
	same(t, src, store)
	fails(t, exitUsage, "in place", "convert", "--plan", store, store, "--to", "zarr0")
	fails(t, exitUsage, "overwritten", "convert", store+"[0]", store, "--to", "zarr2", "--force")
}

func TestConvertMany(t *testing.T) {
	dir := t.TempDir()
	fails(t, exitBad, "no type for <i16", "convert", raDir+"i*_1d.ra", dir, "--to", "ds")
	if got := files(t, dir); !slices.Equal(got, []string{"i16_1d.ds", "i32_1d.ds", "i64_1d.ds", "i8_1d.ds"}) {
		t.Errorf("wrote %v", got)
	}
	same(t, raDir+"i64_1d.ra", filepath.Join(dir, "i64_1d.ds:data"))
	fails(t, exitUsage, "--to", "convert", raDir+"i*_1d.ra", dir)
	fails(t, exitUsage, "folder", "convert", raDir+"i*_1d.ra", filepath.Join(dir, "one.ds"))
}

func TestConvertSlice(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "x.ds")
	ok(t, "convert", raDir+"i4_3d_2x3x4.ra[1:3,::-2,-1]", dst)
	if got := ok(t, "cat", dst); got != "data:\n10 2\n11 3\n" && got != "10 2\n11 3\n" {
		t.Errorf("got %q", got)
	}
	same(t, raDir+"i4_3d_2x3x4.ra[1:3,::-2,-1]", dst)
}

// onEvery ends a context when it was asked for its end n times.
type onEvery struct {
	context.Context
	cancel context.CancelFunc
	n      int
}

func (c *onEvery) Err() error {
	if c.n--; c.n == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// A conversion that is interrupted, at any moment, leaves nothing.
func TestConvertInterrupted(t *testing.T) {
	dir := t.TempDir()
	src := bcolzDir + "t_bars"
	canceled := 0
	for n := 1; ; n++ {
		inner, cancel := context.WithCancel(context.Background())
		ctx := &onEvery{inner, cancel, n}
		var out, errs bytes.Buffer
		status := run(ctx, []string{"convert", src, filepath.Join(dir, "x.ds")}, &out, &errs)
		cancel()
		if status == exitOK {
			break
		}
		written := files(t, dir)
		if status != exitIO || strings.Count(errs.String(), "\n") != 1 {
			t.Fatalf("ended at %d: status %d, %s", n, status, errs.String())
		}
		// the new file may be there when only the comparison was cut short
		if len(written) > 1 || len(written) == 1 && written[0] != "x.ds" {
			t.Fatalf("ended at %d: left %v", n, written)
		}
		os.Remove(filepath.Join(dir, "x.ds"))
		canceled++
	}
	if canceled < 5 {
		t.Errorf("interrupted only %d times", canceled)
	}
	same(t, src+":open", filepath.Join(dir, "x.ds:open"))
}

func TestProgressOnTerminalsOnly(t *testing.T) {
	var errs bytes.Buffer
	root := newRoot()
	root.SetErr(&errs)
	root.SetContext(context.Background())
	p := newProgress(root, "x.ds", countBytes)
	if !p.set(1, 2) || errs.Len() != 0 {
		t.Errorf("printed %q", errs.String())
	}
	p.w = &errs
	for done := range int64(5) {
		p.set(done<<20, 4<<20)
	}
	p.stop()
	if !strings.Contains(errs.String(), "x.ds") || !strings.Contains(errs.String(), "0 B") {
		t.Errorf("printed %q", errs.String())
	}
}

// tree is the content of all files below a path.
func tree(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		all[p] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
