package features

import (
	"flag"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "write "+document)

// The page is what the tests of the languages make of it.
func TestPage(t *testing.T) {
	page, err := Page(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	file := "../../" + document
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != page {
		t.Errorf("%s is not what the tests give (%v); write it again with: go test ./tools/features -update", document, err)
	}
	if strings.Contains(page, "``") {
		t.Error("an empty call")
	}
}

// A call that no test makes is found, and so is a language without an entry.
func TestMissing(t *testing.T) {
	tree := fstest.MapFS{header: {Data: []byte("ndf_file_open")}, module: {}}
	for _, l := range languages {
		for _, f := range l.folder {
			tree[f+"/x"+l.suffix[0]] = &fstest.MapFile{Data: []byte("nothing")}
		}
	}
	_, err := Page(tree)
	for _, want := range []string{`Go: open; nothing is read yet: no test has "ndfile.Open"`, `Fortran: save in one call: no test has "C"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	for _, r := range rows {
		for i, c := range r.calls {
			if c == "" {
				t.Errorf("%s has nothing for %s", r.feature, languages[i].name)
			}
		}
	}
}
