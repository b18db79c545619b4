package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// dumped is one array as ctest/fixtures.c prints it.
type dumped struct {
	kind  string // "array" or "huge"
	name  string
	dtype ndarray.DType
	shape string // "(2,3)"
	data  []byte // in the byte order of dtype
}

// dump runs ctest/fixtures.c on a path. failure is what follows "error ".
func dump(t *testing.T, program, path string) (arrays []dumped, failure string) {
	t.Helper()
	out, err := exec.Command(program, path).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, err.(*exec.ExitError).Stderr)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")[1:] {
		kind, rest, isHead := strings.Cut(line, " ")
		switch {
		case !isHead:
			b, err := hex.DecodeString(line)
			if err != nil {
				t.Fatalf("%s: %q: %v", path, line, err)
			}
			last := &arrays[len(arrays)-1]
			last.data = append(last.data, b...)
		case kind == "error":
			failure = rest
		default:
			arrays = append(arrays, parseHead(t, kind, rest))
		}
	}
	for i := range arrays {
		a := &arrays[i]
		if a.dtype.Size == 0 || a.dtype.IsVar() {
			continue
		}
		// C prints the byte order of the machine.
		shape := []int64{int64(len(a.data) / a.dtype.Size)}
		stored := ndarray.Buffer{DType: a.dtype, Shape: shape, Data: make([]byte, len(a.data))}
		if err := ndarray.Copy(stored, ndarray.Buffer{DType: a.dtype.Native(), Shape: shape, Data: a.data}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		a.data = stored.Data
	}
	return arrays, failure
}

// parseHead reads "NAME-IN-HEX DTYPE SHAPE MASKED", in which only the dtype can hold blanks.
func parseHead(t *testing.T, kind, text string) dumped {
	t.Helper()
	name, text, _ := strings.Cut(text, " ")
	text = strings.TrimSuffix(text, " plain")
	blank := strings.LastIndex(text, " ")
	a := dumped{kind: kind, shape: text[blank+1:]}
	b, err := hex.DecodeString(name)
	if err == nil {
		a.name = string(b)
		a.dtype, err = ndarray.Parse(text[:blank])
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return a
}

// shapeText is a shape as ctest/fixtures.c prints it.
func shapeText(shape []int64) string {
	return "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ","), "[]") + ")"
}

// expectedArray is what descriptions of fixtures say of an array: the dtype is a typestring or a JSON list.
type expectedArray struct {
	DType json.RawMessage
	Shape []int64
	Raw   string // file with the elements
}

// check compares an array with its description, whose files lie in dir.
func (e *expectedArray) check(t *testing.T, where, dir string, got *dumped) {
	t.Helper()
	name := string(e.DType)
	if s, err := strconv.Unquote(name); err == nil {
		name = s
	}
	d, err := ndarray.Parse(name)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	want, err := os.ReadFile(filepath.Join(dir, e.Raw))
	if err != nil {
		t.Fatal(err)
	}
	if !got.dtype.Equal(d) || got.shape != shapeText(e.Shape) || !bytes.Equal(got.data, want) {
		t.Errorf("%s holds %s %s %x, expected %s %v %x", where, got.dtype, got.shape, got.data[:min(64, len(got.data))], d, e.Shape, want[:min(64, len(want))])
	}
}

// readJSON reads a description.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Every bcolz root holds for a C program what the reference has stored in it.
func TestBcolzFixturesInC(t *testing.T) {
	const dir = "../pkg/bcolz/testdata"
	var f struct {
		Roots []struct {
			Root, Expect string
			Names        []string
			Columns      map[string]expectedArray
			expectedArray
		}
	}
	readJSON(t, dir+"/expected.json", &f)
	if len(f.Roots) < 80 {
		t.Fatalf("only %d roots", len(f.Roots))
	}
	program := dumper(t)
	for _, r := range f.Roots {
		arrays, failure := dump(t, program, filepath.Join(dir, r.Root))
		if r.Expect == "refuse" {
			if !strings.HasPrefix(failure, "NDF_ERR_NOT_SUPPORTED") {
				t.Errorf("%s: %q", r.Root, failure)
			}
			continue
		}
		names, columns := r.Names, r.Columns
		if columns == nil {
			names, columns = []string{""}, map[string]expectedArray{"": r.expectedArray}
		}
		if failure != "" || len(arrays) != len(names) {
			t.Errorf("%s: %d arrays of %d: %s", r.Root, len(arrays), len(names), failure)
			continue
		}
		for i, name := range names {
			if arrays[i].name != name {
				t.Errorf("%s: column %d is %q, expected %q", r.Root, i, arrays[i].name, name)
			}
			e := columns[name]
			e.check(t, r.Root+" "+name, dir, &arrays[i])
		}
	}
}

// Every early zarr array holds for a C program what its source data were.
func TestZarrFixturesInC(t *testing.T) {
	const dir = "../pkg/zarr/testdata/zarr0/valid"
	var f struct {
		Cases []struct {
			Name, Expected string
			expectedArray
		}
	}
	readJSON(t, dir+"/manifest.json", &f)
	if len(f.Cases) < 40 {
		t.Fatalf("only %d cases", len(f.Cases))
	}
	program := dumper(t)
	for _, c := range f.Cases {
		arrays, failure := dump(t, program, filepath.Join(dir, c.Name))
		if failure != "" || len(arrays) != 1 {
			t.Errorf("%s: %d arrays: %s", c.Name, len(arrays), failure)
			continue
		}
		c.Raw = c.Expected
		c.check(t, c.Name, dir, &arrays[0])
	}
}

// Every broken store gives a C program a status and a message that names it.
func TestMalformedStoresInC(t *testing.T) {
	program := dumper(t)
	refused := func(path string) {
		t.Helper()
		if _, failure := dump(t, program, path); !strings.HasPrefix(failure, "NDF_ERR_") || !strings.Contains(failure, path) {
			t.Errorf("%s: an error that names it is expected, found %q", path, failure)
		}
	}
	var bcolz struct {
		Roots []struct{ Root, Expect, Note string }
	}
	readJSON(t, "../pkg/bcolz/testdata/malformed.json", &bcolz)
	var zarr struct {
		Cases []struct{ Name, Expect string }
	}
	readJSON(t, "../pkg/zarr/testdata/zarr0/malformed/manifest.json", &zarr)
	if len(bcolz.Roots) < 30 || len(zarr.Cases) < 10 {
		t.Fatalf("only %d and %d stores", len(bcolz.Roots), len(zarr.Cases))
	}
	for _, f := range bcolz.Roots {
		path := filepath.Join("../pkg/bcolz/testdata", f.Root)
		switch {
		case strings.Contains(f.Note, "the shortest length"):
			if arrays, failure := dump(t, program, path); failure != "" || len(arrays) != 2 || arrays[0].shape != arrays[1].shape {
				t.Errorf("%s: columns of one length are expected, found %v %s", path, arrays, failure)
			}
		case f.Expect == "error":
			refused(path)
		}
	}
	for _, f := range zarr.Cases {
		path := filepath.Join("../pkg/zarr/testdata/zarr0/malformed", f.Name)
		switch f.Name {
		case "huge_lazy":
			if arrays, failure := dump(t, program, path); failure != "" || len(arrays) != 1 || arrays[0].kind != "huge" {
				t.Errorf("%s: %v %s", path, arrays, failure)
			}
		case "names_outside": // has no fault
			if arrays, failure := dump(t, program, path); failure != "" || len(arrays) != 1 {
				t.Errorf("%s: %v %s", path, arrays, failure)
			}
		default:
			refused(path)
		}
	}
}
