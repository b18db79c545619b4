package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Datetimes look as NumPy shows them.
func TestDatetimesGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/datetimes.golden")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := isoTime(n, strings.Trim(f[1], "-")); got != f[2] {
			t.Errorf("%s %s: got %s, want %s", f[0], f[1], got, f[2])
		}
	}
}

// Whatever bytes an element has, it has a spelling, and in JSON a valid one.
func FuzzElement(f *testing.F) {
	for _, d := range []string{"|b1", "<i2", "u16", "i16", "f2", "bfloat16", "f8", "f16", "c4", "c16", "c32", "S5", "U3", "M8[ns]", "M8[7M]", "M8", "m8[s]", "V3",
		`[["a", "<i4"], ["b", "<f2", [2, 2]], ["c", "|S3"]]`} {
		f.Add(d, []byte("\x00\xff\x7f\xd8\x00\x00\xfe\x80 123456789abcdefghijklmnopqrstuvwxyz"))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		d, err := ndarray.Parse(name)
		if err != nil || d.Size > len(data) || d.Size == 0 && !d.IsVar() {
			return
		}
		if !d.IsVar() {
			data = data[:d.Size]
		}
		if text := appendElement(nil, d.Native(), data, true); !json.Valid(text) {
			t.Errorf("%s: %q is no JSON", d, text)
		}
		if text := appendElement(nil, d.Native(), data, false); len(text) == 0 || strings.ContainsAny(string(text), "\x00\n\x1b") {
			t.Errorf("%s: %q", d, text)
		}
	})
}
