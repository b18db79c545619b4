package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestConvertStorage(t *testing.T) {
	dir := t.TempDir()
	demo := demoFile(t) // temperature (station 2, time 3), height without axes, a mask
	zarr := filepath.Join(dir, "x.zarr")
	for _, c := range []struct{ args, want []string }{
		{[]string{"--chunks", "time=1,station=all", "--codecs", "zstd:5"}, []string{`"name":"temperature","dtype":"<f4","shape":[2,3],"dims":["station","time"],"masked":false,"chunks":[2,1]`, `"chunks":[1]`}},
		{[]string{"--chunks", "1,2", "--codecs", "none"}, []string{`"chunks":[1,2]`, `"chunks":[3]`}},
		{[]string{"--codecs", `[{"name": "gzip", "level": 9}]`}, []string{`"chunks":[2,3]`}},
	} {
		ok(t, append([]string{"convert", demo, zarr, "--to", "zarr3", "--force", "--allow-loss"}, c.args...)...)
		out := ok(t, "info", "--json", zarr)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %s in %s", c.args, want, out)
			}
		}
	}
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, "above 0", []string{zarr, "--chunks", "0,1"}},
		{2, "not both", []string{zarr, "--chunks", "a=1,2"}},
		{2, "NAME:LEVEL", []string{zarr, "--codecs", "zstd:x"}},
		{1, "nosuch", []string{zarr, "--codecs", "nosuch"}},
		{1, "npy stores no chunks", []string{filepath.Join(dir, "y.npy"), "--name", "temperature", "--to", "npy", "--chunks", "1,1"}},
	} {
		args := append([]string{"convert", demo, "--force", "--allow-loss"}, c.args...)
		if c.args[0] == zarr {
			args = append(args, "--to", "zarr3")
		}
		fails(t, c.status, c.says, args...)
	}
}
