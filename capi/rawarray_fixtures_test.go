package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every good RawArray file holds for a C program the data that its description has the hash of.
func TestRawArrayFixturesInC(t *testing.T) {
	paths, err := filepath.Glob("../pkg/rawarray/testdata/valid/*.json")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	program := dumper(t)
	for _, path := range paths {
		var f struct {
			File   string
			Header struct{ Dims []int64 }
			Data   string `json:"decoded_data_sha256"`
		}
		readJSON(t, path, &f)
		arrays, failure := dump(t, program, filepath.Join(filepath.Dir(path), f.File))
		if failure != "" {
			t.Errorf("%s: %s", f.File, failure)
			continue
		}
		slices.Reverse(f.Header.Dims) // the library's shapes are row-major
		if a := arrays[0]; a.shape != shapeText(f.Header.Dims) {
			t.Errorf("%s: shape %s, expected %v", f.File, a.shape, f.Header.Dims)
		}
		if sum := sha256.Sum256(arrays[0].data); hex.EncodeToString(sum[:]) != f.Data {
			t.Errorf("%s: the data have sha256 %x, expected %s", f.File, sum, f.Data)
		}
	}
}

// Every bad one gives a C program a status and a message that names the file and the place.
func TestRawArrayMalformedInC(t *testing.T) {
	var all []struct{ File, Expect string }
	readJSON(t, "../pkg/rawarray/testdata/malformed/expected.json", &all)
	if len(all) < 15 {
		t.Fatalf("only %d fixtures", len(all))
	}
	program := dumper(t)
	for _, f := range all {
		path := filepath.Join("../pkg/rawarray/testdata/malformed", f.File)
		_, failure := dump(t, program, path)
		if f.Expect == "error" && !(strings.HasPrefix(failure, "NDF_ERR_") && strings.Contains(failure, path) && strings.Contains(failure, "at byte ")) {
			t.Errorf("%s: an error with path and place is expected, found %q", f.File, failure)
		}
	}
}
