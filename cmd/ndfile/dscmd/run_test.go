package dscmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exceptions are examples in which ds-format itself is wrong, and what is right.
var exceptions = map[string]string{
	// Percentiles of missing elements.
	"stats gaps more.ds": "count: 3 min: 1 max: 3 mean: 2.000000 median: 2.000000 std: 1.000000 p68: { 1.320000 2.680000 } " +
		"p95: { 1.050000 2.950000 } p99: { 1.010000 2.990000 }\n",
	// It cannot read the bool that it wrote, nor set texts.
	"set flag bool time { true false true } dataset.ds o.ds": "flag\ntrue\nfalse\ntrue\n",
	"set name unicode time { a b c } dataset.ds o.ds":        "name\na\nb\nc\nunicode\n",
}

// TestExamples: the examples of ds-format's user guide print what they print there.
func TestExamples(t *testing.T) {
	raw, err := os.ReadFile("testdata/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Lines  [][]string
		Output string
	}
	if err := json.Unmarshal(raw, &examples); err != nil {
		t.Fatal(err)
	}
	if len(examples) < 75 {
		t.Errorf("%d examples", len(examples))
	}
	files, err := filepath.Glob("testdata/*.ds")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(file)), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	for _, e := range examples {
		var out bytes.Buffer
		for _, line := range e.Lines {
			outcome(t, &out, line)
		}
		first := strings.Join(e.Lines[0][1:], " ")
		want, wrong := exceptions[first]
		if !wrong {
			want = e.Output
		} else if want == e.Output {
			t.Errorf("%s is no exception", first)
		}
		if out.String() != want {
			t.Errorf("%q\ngot  %q\nwant %q", e.Lines, out.String(), want)
		}
	}
}

// outcome runs one line: ds, or cat of a file that it made.
func outcome(t *testing.T, out *bytes.Buffer, line []string) {
	if line[0] == "cat" {
		content, err := os.ReadFile(line[1])
		if err != nil {
			t.Error(err)
		}
		out.Write(content)
		return
	}
	var stderr bytes.Buffer
	if status := Run(context.Background(), line[1:], out, &stderr); status != 0 {
		text, _, _ := strings.Cut(stderr.String(), "\n")
		fmt.Fprintf(out, "status %d: %s\n", status, text)
	}
}

// FuzzArguments: whatever the arguments, nothing panics, and the status is 0 or 1.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{"ls\x00{\x00a:\x00}", "set\x00{\x00x\x00none\x00}\x00}}\x00{{\x00none\x00o", "cat\x00\"\x00\\7", "-l\x00--\x00x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		list := strings.Split(args, "\x00")
		for _, arg := range list {
			if strings.Contains(arg, ".") || strings.Contains(arg, "/") {
				return // no files are to be made
			}
		}
		if status := Run(context.Background(), append(list, "missing.ds"), &bytes.Buffer{}, &bytes.Buffer{}); status != 0 && status != 1 {
			t.Errorf("status %d", status)
		}
	})
}
