package main

import (
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	path := demoFile(t)
	if got := ok(t, "cat", "--decode", path, "time"); got != "2026-01-01T00:00:00.000000 2026-01-02T00:00:00.000000 2026-01-03T00:00:00.000000\n" {
		t.Errorf("times: %q", got)
	}
	for _, kv := range []string{"scale_factor=0.5", "add_offset=10", "_FillValue=268", "valid_max=272"} {
		ok(t, "set", "--in-place", path+":temperature", kv)
	}
	if got := ok(t, "cat", "--decode", path, "temperature"); got != "145.625 -- --\n-- 144.875 145.25\n" {
		t.Errorf("numbers: %q", got)
	}
	if got := ok(t, "cat", path, "temperature"); got != "271.25 272.5 --\n268 269.75 270.5\n" {
		t.Errorf("as stored: %q", got)
	}
	got := ok(t, "stats", "--decode", path+":temperature")
	if f := strings.Fields(got[strings.Index(got, "\n"):]); strings.Join(f[len(f)-5:], " ") != "3 3 144.875 145.625 145.25" {
		t.Errorf("stats: %q", got)
	}
	if got := ok(t, "cat", "--decode", path, "height"); got != "2\n" {
		t.Errorf("nothing to decode: %q", got)
	}
}
