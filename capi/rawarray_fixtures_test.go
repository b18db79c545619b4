package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Every good RawArray file holds for a C program the data that its description has the hash of.
func TestRawArrayFixturesInC(t *testing.T) {
	paths, err := filepath.Glob("../pkg/rawarray/testdata/valid/*.json")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	program := dumper(t)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			File, Support string
			Header        struct{ Dims []int64 }
			Data          string `json:"decoded_data_sha256"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out, err := exec.Command(program, filepath.Join(filepath.Dir(path), f.File)).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", f.File, err, err.(*exec.ExitError).Stderr)
		}
		if _, message, failed := strings.Cut(string(out), "\nerror "); failed {
			if !strings.HasPrefix(f.Support, "optional") || !strings.HasPrefix(message, "NDF_ERR_NOT_SUPPORTED") {
				t.Errorf("%s (%s): %s", f.File, f.Support, message)
			}
			continue
		}
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		slices.Reverse(f.Header.Dims) // the library's shapes are row-major
		shape := "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Header.Dims), " ", ","), "[]") + ")"
		if !strings.Contains(lines[1], " "+shape+" ") {
			t.Errorf("%s: %q, expected the shape %s", f.File, lines[1], shape)
		}
		data, err := hex.DecodeString(strings.Join(lines[2:], ""))
		if err != nil {
			t.Fatalf("%s: %v", f.File, err)
		}
		// The hash is that of the bytes in the file, C has them in the byte order of the machine.
		d, err := ndarray.Parse(strings.Fields(lines[1])[1]) // the name is empty
		if err != nil {
			t.Fatalf("%s: %q: %v", f.File, lines[1], err)
		}
		if d.Swapped() {
			ndarray.SwapBytes(data, d)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.Data {
			t.Errorf("%s: the data have sha256 %x, expected %s", f.File, sum, f.Data)
		}
	}
}

// Every bad one gives a C program a status and a message that names the file and the place.
func TestRawArrayMalformedInC(t *testing.T) {
	text, err := os.ReadFile("../pkg/rawarray/testdata/malformed/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ File, Expect string }
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 15 {
		t.Fatalf("%d fixtures: %v", len(all), err)
	}
	program := dumper(t)
	for _, f := range all {
		path := filepath.Join("../pkg/rawarray/testdata/malformed", f.File)
		out, err := exec.Command(program, path).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", f.File, err, err.(*exec.ExitError).Stderr)
		}
		_, message, failed := strings.Cut(string(out), "\nerror NDF_ERR_")
		if f.Expect == "error" && (!failed || !strings.Contains(message, path) || !strings.Contains(message, "at byte ")) {
			t.Errorf("%s: an error with path and place is expected, found\n%s", f.File, out)
		}
	}
}
