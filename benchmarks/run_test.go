package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets this program be the worker for Go, as the real one is.
func TestMain(m *testing.M) {
	if os.Getenv("NDFILE_BENCH_SERVE") != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// goWorker gives the command of the worker for Go.
func goWorker(t *testing.T) string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "env NDFILE_BENCH_SERVE=1 '" + program + "'"
}

// A whole run with the worker for Go: results, plots and the page are there, and no folder is left.
func TestRun(t *testing.T) {
	top := t.TempDir()
	page := filepath.Join(top, "page.md")
	if err := os.WriteFile(page, []byte("head\n"+beginMark+"old\n"+endMark+"\ntail\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	e := quick
	e.tiny, e.small, e.large, e.largeShape, e.fileRounds, e.maxFiles, e.maxVariables, e.maxChunks, e.storeBytes = 6, 6, 1, "2x3", 2, 100, 10, 10, 1<<16
	o := options{workers: map[string]string{"go": goWorker(t)}, tmpfs: filepath.Join(top, "a"), disk: filepath.Join(top, "b"),
		out: filepath.Join(top, "out"), readme: page, effort: e}
	var printed strings.Builder
	if err := run(o, &printed); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(printed.String(), "exponent") {
		t.Errorf("printed: %s", printed.String())
	}
	for _, place := range []string{o.tmpfs, o.disk} {
		if left, _ := filepath.Glob(filepath.Join(place, "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	for _, name := range []string{"results.json", "tiny-write-tmpfs.png", "tiny-write-disk.svg", "files-read.svg", "large-write-tmpfs.png"} {
		if s, err := os.Stat(filepath.Join(o.out, name)); err != nil || s.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, _ := os.ReadFile(page)
	if s := string(text); !strings.HasPrefix(s, "head\n") || !strings.HasSuffix(s, "\ntail\n") || strings.Contains(s, "old") || !strings.Contains(s, "go/ds") {
		t.Errorf("the page is now\n%s", s)
	}
	all, _ := os.ReadFile(filepath.Join(o.out, "results.md"))
	for _, want := range []string{"Without a worker, and so without figures: c, c-wheel, julia, python, rust", "| go/zarr0 |", "| go/ds-many |", "go1."} {
		if !strings.Contains(string(all), want) {
			t.Errorf("results.md does not say %q", want)
		}
	}
}

func TestWorkerErrors(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"echo ready a=1; read r; echo error no such file", "no such file"},
		{"echo ready; read r; echo ok -5 3", "unexpected times"},
		{"echo ready; read r; echo perhaps", "unexpected answer"},
		{"echo ready; read r", "has ended"},
		{"echo hello", "expected ready"},
		{"true", "has ended"},
	} {
		w, err := startWorker("test", "sh -c '"+test.script+"'")
		if err == nil {
			_, err = w.do(request{"ds", "write", "int64:1", "/tmp", 1})
			if stopped := w.stop(); stopped != nil {
				t.Errorf("%s: %v", test.script, stopped)
			}
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected %q", test.script, err, test.want)
		}
	}
	w, err := startWorker("test", "sh -c 'echo ready a=1 b=2.0; read r; echo skip too large; read r; echo ok 7 5'")
	if err != nil {
		t.Fatal(err)
	}
	if w.versions["a"] != "1" || w.versions["b"] != "2.0" {
		t.Errorf("versions %v", w.versions)
	}
	if _, err := w.do(request{"ds", "write", "int64:1", "/tmp", 1}); !errors.Is(err, errSkipped) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a skip: %v", err)
	}
	if got, err := w.do(request{"ds", "write", "int64:1", "/tmp", 1}); err != nil || got != (timing{7, 5}) {
		t.Errorf("an answer: %v, %v", got, err)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// The worker must see when what it reads is not what has been written.
func TestGoWorkerChecks(t *testing.T) {
	dir := t.TempDir()
	if got := answer("ds-direct write int64:5 " + dir + " 2"); !strings.HasPrefix(got, "ok ") {
		t.Fatal(got)
	}
	if got := answer("ds-direct read int64:5 " + dir + " 2"); !strings.HasPrefix(got, "ok ") {
		t.Fatal(got)
	}
	path := filepath.Join(dir, "000001.ds")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := answer("ds-direct read int64:5 " + dir + " 2"); !strings.HasPrefix(got, "error the values read differ") {
		t.Error(got)
	}
	for _, bad := range []string{"x write int64:1 " + dir + " 1", "ds write int65:1 " + dir + " 1", "ds write int64:a " + dir + " 1", "ds", "ds fly int64:1 " + dir + " 1"} {
		if got := answer(bad); !strings.HasPrefix(got, "error ") {
			t.Errorf("%q: %s", bad, got)
		}
	}
}

func TestParseFlags(t *testing.T) {
	o, err := parse([]string{"-quick", "-tiny", "7", "-worker", "c=./a b=c"})
	if err != nil || o.effort.tiny != 7 || o.effort.small != quick.small || o.workers["c"] != "./a b=c" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := parse([]string{"-worker", "c"}); err == nil {
		t.Error("a worker without a command was taken")
	}
	if _, err := parse([]string{"file"}); err == nil {
		t.Error("an argument was taken")
	}
}
