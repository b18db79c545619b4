package main

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

func TestDecode(t *testing.T) {
	path := demoFile(t)
	if got := ok(t, "cat", path, "time"); got != "2026-01-01T00:00:00 2026-01-02T00:00:00 2026-01-03T00:00:00\n" {
		t.Errorf("times: %q", got)
	}
	for _, kv := range []string{"scale_factor=0.5", "add_offset=10", "_FillValue=268", "valid_max=272"} {
		ok(t, "set", "--in-place", path+":temperature", kv)
	}
	if got := ok(t, "cat", path, "temperature"); got != "145.625 -- --\n-- 144.875 145.25\n" {
		t.Errorf("numbers: %q", got)
	}
	if got := ok(t, "cat", "--raw", path, "temperature"); got != "271.25 272.5 --\n268 269.75 270.5\n" {
		t.Errorf("as stored: %q", got)
	}
	got := ok(t, "stats", path+":temperature")
	if f := strings.Fields(got[strings.Index(got, "\n"):]); strings.Join(f[len(f)-6:], " ") != "3 3 144.875 145.625 145.25 K" {
		t.Errorf("stats: %q", got)
	}
	if got := ok(t, "cat", path, "height"); got != "2\n" {
		t.Errorf("nothing to decode: %q", got)
	}
}

// packedFile holds packed temperatures of two days at three places.
func packedFile(t *testing.T) string {
	t.Helper()
	attrs := func(pairs ...any) *ndfile.Attrs {
		a := ndfile.NewAttrs()
		for i := 0; i < len(pairs); i += 2 {
			switch v := pairs[i+1].(type) {
			case string:
				a.Set(pairs[i].(string), ndfile.StringValue(v))
			case float64:
				a.Set(pairs[i].(string), ndfile.FloatValue(v))
			}
		}
		return a
	}
	packed := ndarray.Buffer{DType: ndarray.MustParse("i2"), Shape: []int64{2, 3}}
	for _, v := range []int16{100, -9, 300, 400, 500, 30000} {
		packed.Data = binary.NativeEndian.AppendUint16(packed.Data, uint16(v))
	}
	path := filepath.Join(t.TempDir(), "packed.ds")
	err := ndfile.Save(t.Context(), all.Formats, path, []ndfile.Item{
		{Name: "time", Dims: []string{"time"}, Attrs: attrs("units", "hours since 2026-01-01"), Data: int64s([]int64{2}, 0, 36)},
		{Name: "t", Dims: []string{"time", "x"}, Data: packed,
			Attrs: attrs("units", "degree_Celsius", "scale_factor", 0.5, "add_offset", 10.0, "missing_value", -9.0, "valid_max", 1000.0)},
	}, ndfile.SaveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPacked(t *testing.T) {
	path := packedFile(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"cat", path}, "t [degree_Celsius]:\n60 -- 160\n210 260 --\ntime:\n2026-01-01T00:00:00 2026-01-02T12:00:00\n"},
		{[]string{"cat", "--raw", path}, "t:\n100 -9 300\n400 500 30000\ntime:\n0 36\n"},
		{[]string{"cat", "--json", path + ":t[1, ::-1]"}, `{"t": [null, 260, 210]}` + "\n"},
	} {
		if got := ok(t, c.args...); got != c.want {
			t.Errorf("%v\n got %q\nwant %q", c.args, got, c.want)
		}
	}
	for _, c := range []struct {
		args []string
		want string // words of the last line
	}{
		{[]string{"stats", path + ":t"}, path + ":t <f8 (2, 3) 4 2 60 260 172.5 degree_Celsius"},
		{[]string{"stats", "--raw", path + ":t"}, path + ":t <i2 (2, 3) 6 0 -9 30000 5215.166666666667 -"},
		{[]string{"stats", "--by", "time", path}, path + ":t 2026-01-02T12:00:00 (1, 3) 2 1 210 260 235 degree_Celsius"},
	} {
		lines := strings.Split(strings.TrimSpace(ok(t, c.args...)), "\n")
		if got := strings.Join(strings.Fields(lines[len(lines)-1]), " "); got != c.want {
			t.Errorf("%v\n got %q\nwant %q", c.args, got, c.want)
		}
	}
	fails(t, 2, "no array has the axis level", "stats", "--by", "level", path)
}
