package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// call runs the command in this process.
func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

// ok is call that must succeed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := call(t, args...)
	if status != exitOK || errs != "" {
		t.Fatalf("ndfile %v: status %d, %s", args, status, errs)
	}
	return out
}

// demoFile writes the demonstration file into a folder of its own.
func demoFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.ds")
	ok(t, "demo", path)
	return path
}

func TestInfoText(t *testing.T) {
	path := demoFile(t)
	want := path + `: ds dataset, 5 arrays
  title: "two stations, three days"
  height <i8 ()
  rain |b1 (station 2, time 3)
  station str (station 2)
  temperature <f4 (station 2, time 3) masked
    units: "K"
  time <i8 (time 3)
    units: "days since 2026-01-01"
`
	if got := ok(t, "info", path); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCatText(t *testing.T) {
	path := demoFile(t)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"temperature"}, "271.25 272.5 --\n268 269.75 270.5\n"},
		{[]string{"rain"}, "false true true\nfalse false true\n"},
		{[]string{"station"}, "\"Praha-Libuš\" \"Reykjavík\"\n"},
		{[]string{"height", "time"}, "height:\n2\ntime:\n2026-01-01T00:00:00 2026-01-02T00:00:00 2026-01-03T00:00:00\n"},
	} {
		if got := ok(t, append([]string{"cat", path}, c.names...)...); got != c.want {
			t.Errorf("%v: got %q, want %q", c.names, got, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	path := demoFile(t)
	var values map[string]any
	if err := json.Unmarshal([]byte(ok(t, "cat", "--json", path)), &values); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(values)
	want := `{"height":2,"rain":[[false,true,true],[false,false,true]],"station":["Praha-Libuš","Reykjavík"],` +
		`"temperature":[[271.25,272.5,null],[268,269.75,270.5]],"time":["2026-01-01T00:00:00","2026-01-02T00:00:00","2026-01-03T00:00:00"]}`
	if string(got) != want {
		t.Errorf("cat --json:\n%s\nwant\n%s", got, want)
	}

	var infos []struct {
		Path, Format, Kind string
		Attrs              map[string]any
		Arrays             []struct {
			Name, DType string
			Shape       []int64
			Dims        []string
			Masked      bool
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "info", "--json", path)), &infos); err != nil || len(infos) != 1 {
		t.Fatal(err)
	}
	info := infos[0]
	if info.Path != path || info.Format != "ds" || info.Kind != "dataset" || info.Attrs["title"] != "two stations, three days" || len(info.Arrays) != 5 {
		t.Errorf("info --json: %+v", info)
	}
	if a := info.Arrays[3]; a.Name != "temperature" || a.DType != "<f4" || len(a.Shape) != 2 || a.Dims[1] != "time" || !a.Masked {
		t.Errorf("info --json: %+v", a)
	}

	var several []any
	if err := json.Unmarshal([]byte(ok(t, "info", "--json", path, path)), &several); err != nil || len(several) != 2 {
		t.Errorf("info --json of two files: %d entries, %v", len(several), err)
	}
	var formats []formatJSON
	if err := json.Unmarshal([]byte(ok(t, "formats", "--json")), &formats); err != nil || formats[0].Name != "ds" {
		t.Errorf("formats --json: %+v, %v", formats, err)
	}
}

// NaN, the infinities and large integers keep strict JSON readers happy.
func TestJSONIsStrict(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.ds")
	header := `{"x": {".size": [2], ".offset": 0, ".len": 16, ".type": "float64", ".missing": false, ".endian": "l"}, ".": {"fill": NaN, "big": 1180591620717411303424}}`
	body := "\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\xf0\xff"
	if err := os.WriteFile(path, []byte("ds-1.0\n"+header+"\n"+body), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := ok(t, "cat", "--json", path), "{\"x\": [\"NaN\", \"-Infinity\"]}\n"; got != want {
		t.Errorf("cat: got %q, want %q", got, want)
	}
	out := ok(t, "info", "--json", path)
	if !strings.Contains(out, `"attrs":{"fill":"NaN","big":1180591620717411303424}`) || !json.Valid([]byte(out)) {
		t.Errorf("info: %s", out)
	}
}

func TestExitStatus(t *testing.T) {
	path := demoFile(t)
	dir := filepath.Dir(path)
	bad := filepath.Join(dir, "bad.ds")
	if err := os.WriteFile(bad, []byte("ds-1.0\n{\"x\": {\".size\": [-1]}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"info", bad}, exitBad, "bad.ds"},
		{[]string{"info", os.DevNull}, exitBad, os.DevNull},
		{[]string{"info"}, exitUsage, "arg"},
		{[]string{"nonsense"}, exitUsage, "nonsense"},
		{[]string{"info", "--nonsense", path}, exitUsage, "nonsense"},
		{[]string{"cat", path, "nosuch"}, exitUsage, `"nosuch"`},
		{[]string{"info", filepath.Join(dir, "absent.ds")}, exitIO, "absent.ds"},
		{[]string{"demo", path}, exitIO, "demo.ds"},
		{[]string{"ls", filepath.Join(dir, "*.none")}, exitIO, "*.none"},
		{[]string{"stats", path + ":nosuch"}, exitUsage, "nosuch"},
		{[]string{"diff", path + ":station", path + ":time"}, exitBad, ""},
		{[]string{"verify", bad}, exitBad, ""},
		{[]string{"convert", path, filepath.Join(dir, "x.unknown")}, exitBad, "names no format"},
	} {
		status, _, errs := call(t, c.args...)
		if status != c.status || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != min(1, len(c.says)) {
			t.Errorf("ndfile %v: status %d (want %d), stderr %q", c.args, status, c.status, errs)
		}
	}
	ok(t, "demo", "--force", path)
}

func TestEdges(t *testing.T) {
	// brackets of a 2 x 3 array: two open before element 0, one before element 3
	for i, want := range []int{2, 0, 0, 1, 0, 0, 2} {
		if got := edges([]int64{2, 3}, int64(i)); got != want {
			t.Errorf("edges at %d: %d, want %d", i, got, want)
		}
	}
}

// full is an output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What cannot be printed fails the command, once.
func TestOutputFails(t *testing.T) {
	path := demoFile(t)
	for _, args := range [][]string{{"info", path}, {"ls", path}, {"cat", path}, {"stats", path}, {"verify", path},
		{"formats"}, {"diff", path + ":rain", path + ":time"}, {"info", "--json", path}} {
		var errs bytes.Buffer
		status := run(context.Background(), args, full{}, &errs)
		if status != exitIO || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: status %d, %q", args, status, errs.String())
		}
	}
}
