package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// dumper builds ctest/fixtures.c against the library that NDFILE_LIB names.
func dumper(t *testing.T) string {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	lib := os.Getenv("NDFILE_LIB")
	if lib == "" {
		t.Skip("NDFILE_LIB names no library: make test-go builds one")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "fixtures")
	out, err := exec.Command(cc, "-std=c11", "-I../include", "-o", program, "ctest/fixtures.c", lib, "-Wl,-rpath,"+filepath.Dir(lib)).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	return program
}

// fixture is what testdata/README.md says of a file.
type fixture struct {
	Variables []struct {
		Name, Type, Encoding string
		Endian               *string
		Shape                *[]int64
		Mask                 []int
		Values               []any
	}
}

// Every good file holds for a C program what its description says.
func TestFixturesInC(t *testing.T) {
	paths, err := filepath.Glob("../pkg/ds/testdata/valid/*.ds")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	out, err := exec.Command(dumper(t), paths...).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	files := strings.Split("\n"+string(out), "\nfile ")[1:]
	if len(files) != len(paths) {
		t.Fatalf("%d files of %d", len(files), len(paths))
	}
	for i, path := range paths {
		text, err := os.ReadFile(path + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var f fixture
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_, got, _ := strings.Cut(files[i], "\n")
		if want := expected(t, &f); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%s holds\n%s\nexpected\n%s", path, got, want)
		}
	}
}

// expected is what ctest/fixtures.c should print.
func expected(t *testing.T, f *fixture) string {
	t.Helper()
	var b strings.Builder
	for _, v := range f.Variables {
		if v.Shape == nil {
			fmt.Fprintf(&b, "nodata %x\n", v.Name)
			continue
		}
		kind := "plain"
		if v.Mask != nil {
			kind = "masked"
		}
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(*v.Shape), " ", ","), "[]")
		fmt.Fprintf(&b, "array %x %s (%s) %s\n", v.Name, dtypeName(t, v.Type, v.Endian), shape, kind)
		for i, value := range v.Values {
			if v.Mask != nil && v.Mask[i] == 1 {
				b.WriteString("-\n")
				continue
			}
			b.WriteString(hex.EncodeToString(elementBytes(t, v.Type, v.Encoding, value)) + "\n")
		}
	}
	return b.String()
}

// bits is the size of a number in its ds type.
func bits(t *testing.T, ds string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimLeft(ds, "uintfloa"))
	if err != nil {
		t.Fatalf("type %q", ds)
	}
	return n
}

func dtypeName(t *testing.T, ds string, endian *string) string {
	switch ds {
	case "bool":
		return "|b1"
	case "str":
		return "bytes"
	case "unicode":
		return "str"
	}
	size, order := bits(t, ds)/8, "<"
	switch {
	case size == 1:
		order = "|"
	case endian == nil || *endian == "b":
		order = ">"
	}
	return order + ds[:1] + strconv.Itoa(size)
}

// elementBytes are the bytes of a value in native byte order.
func elementBytes(t *testing.T, ds, encoding string, value any) []byte {
	t.Helper()
	text := fmt.Sprint(value)
	var number uint64
	switch encoding {
	case "utf8":
		return []byte(text)
	case "base64":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	case "bool":
		if text == "true" || text == "1" {
			return []byte{1}
		}
		return []byte{0}
	}
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		number = uint64(i)
	} else if number, err = strconv.ParseUint(text, 0, 64); err != nil {
		t.Fatal(err)
	}
	b := binary.NativeEndian.AppendUint64(nil, number)
	if size := bits(t, ds) / 8; binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return b[:size]
	} else {
		return b[8-size:]
	}
}

// Every bad file gives a C program a status and a message that names it, or, where the description allows it, data.
func TestMalformedInC(t *testing.T) {
	paths, err := filepath.Glob("../pkg/ds/testdata/malformed/*.ds")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	program := dumper(t)
	for _, path := range paths {
		text, err := os.ReadFile(path + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var f struct{ Accept []string }
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, path).Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, err.(*exec.ExitError).Stderr)
		}
		only := len(f.Accept) == 1 && f.Accept[0] == "error"
		_, message, failed := strings.Cut(string(out), "\nerror NDF_ERR_")
		if only && !failed || failed && !strings.Contains(message, path) {
			t.Errorf("%s: accepted is %q, found\n%s", path, f.Accept, out)
		}
	}
}
