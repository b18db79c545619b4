package main

import (
	"encoding/json"
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = goflag.Bool("update", false, "write the golden files again")

// Folders of fixtures, which tests give to the command as they are.
const (
	dsDir    = "../../pkg/ds/testdata/valid/"
	raDir    = "../../pkg/rawarray/testdata/valid/"
	bcolzDir = "../../pkg/bcolz/testdata/roots/"
	zarrDir  = "../../pkg/zarr/testdata/zarr0/valid/"
)

// golden compares text with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look at the change, then: go test ./cmd/ndfile -run %s -update\ngot\n%s", path, t.Name(), got)
	}
}

// The output of commands on fixtures, as text and as JSON.
func TestGolden(t *testing.T) {
	for name, commands := range map[string][]string{
		"ls": {
			"ls " + dsDir + " " + raDir + "c*.ra " + bcolzDir + "t_*",
			"ls ../../pkg/ds/testdata/malformed/header_cut.ds " + zarrDir + "i1_1d",
		},
		"info": {
			"info " + dsDir + "attrs.ds " + dsDir + "dims.ds " + dsDir + "no_data.ds",
			"info " + dsDir + "masked_numeric.ds " + raDir + "test.ra " + bcolzDir + "t_bars " + zarrDir + "attrs_rich",
			"info " + bcolzDir + "t_bars:" + "nosuch",
			"info " + bcolzDir + "nd3 no/such.ds",
		},
		"cat": {
			"cat " + dsDir + "masked_numeric.ds",
			"cat " + dsDir + "unicode.ds",
			"cat " + dsDir + "bytes.ds",
			"cat " + dsDir + "dims.ds",
			"cat " + dsDir + "no_data.ds",
			"cat " + dsDir + "bool_odd.ds",
			"cat " + raDir + "i4_3d_2x3x4.ra[1:3,::-2,-1]",
			"cat " + raDir + "i4_3d_2x3x4.ra[...,0]",
			"cat " + raDir + "c8_2d_4x5.ra[0]",
			"cat " + raDir + "c32_complexf16_3x2.ra",
			"cat " + raDir + "i128_1d.ra",
			"cat " + raDir + "bf16_1d.ra",
			"cat " + raDir + "user12_numpy_struct.ra",
			"cat " + zarrDir + "struct_nested[0]",
			"cat " + zarrDir + "struct[:3]",
			"cat " + zarrDir + "m8_ns[:4]",
			"cat " + zarrDir + "td_s[:4]",
			"cat " + zarrDir + "U5[::-1]",
			"cat " + zarrDir + "f8_nan_missing[:6]",
			"cat " + bcolzDir + "dt_day",
			"cat " + bcolzDir + "t_basic",
			"cat " + raDir + "f8_0d.ra[0]",
			"cat " + raDir + "i32_1d.ra[5]",
			"cat " + raDir + "i32_1d.ra[1:x]",
			"cat " + dsDir + "dims.ds[0]",
		},
		"diff": {
			"diff " + dsDir + "dims.ds " + dsDir + "dims.ds",
			"diff " + dsDir + "dims.ds " + dsDir + "masked_numeric.ds",
			"diff " + raDir + "be_i4_2x3.ra " + raDir + "i4_3d_2x3x4.ra[0]",
			"diff " + raDir + "i4_3d_2x3x4.ra[0] " + raDir + "i4_3d_2x3x4.ra[1] --first 2",
			"diff " + raDir + "f32_1d.ra " + raDir + "f64_1d.ra",
			"diff " + bcolzDir + "t_basic " + bcolzDir + "t_bars",
			"diff " + bcolzDir + "t_basic no/such",
		},
		"verify": {
			"verify " + dsDir + "dims.ds " + raDir + "test.ra " + bcolzDir + "t_bars " + zarrDir + "appended",
			"verify ../../pkg/bcolz/testdata/malformed/chunk_cut ../../pkg/bcolz/testdata/malformed/chunk_missing",
			"verify ../../pkg/zarr/testdata/zarr0/malformed/chunk_truncated ../../pkg/zarr/testdata/zarr0/malformed/chunk_nbytes",
			"verify ../../pkg/ds/testdata/malformed/str_past_end.ds ../../pkg/ds/testdata/malformed/header_cut.ds",
		},
		"stats": {
			"stats " + dsDir + "masked_numeric.ds " + dsDir + "dims.ds " + dsDir + "unicode.ds " + dsDir + "empty_arrays.ds " + dsDir + "no_data.ds",
			"stats " + raDir + "c8_2d_4x5.ra " + raDir + "f32_1d.ra " + raDir + "u64_1d.ra " + raDir + "i128_1d.ra " + raDir + "bf16_1d.ra",
			"stats " + bcolzDir + "t_bars " + bcolzDir + "dt_day " + zarrDir + "td_s " + zarrDir + "struct " + raDir + "i4_3d_2x3x4.ra[::-2,1]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, c := range commands {
				for _, args := range [][]string{strings.Fields(c), append(strings.Fields(c), "--json")} {
					status, out, errs := call(t, args...)
					fmt.Fprintf(&b, "$ ndfile %s\n%s%s", strings.Join(args, " "), out, errs)
					if status != 0 {
						fmt.Fprintf(&b, "status %d\n", status)
					}
					b.WriteString("\n")
					if n := len(args); args[n-1] == "--json" && out != "" && !json.Valid([]byte(out)) {
						t.Errorf("%s: no JSON", args)
					}
				}
			}
			golden(t, name, b.String())
		})
	}
}

// docs/cli.md is what the commands give.
func TestDocs(t *testing.T) {
	const path = "../../docs/cli.md"
	if *update {
		ok(t, "docs", path)
	}
	ok(t, "docs", "--check", path)
	other := filepath.Join(t.TempDir(), "cli.md")
	if err := os.WriteFile(other, []byte("# other\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := call(t, "docs", "--check", other); status != exitBad || !strings.Contains(errs, "go run ./cmd/ndfile docs") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// Every command that prints JSON says what.
func TestSchemas(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		if c.Annotations[schemaKey] == "" || c.Long == "" && c.Name() != "formats" {
			t.Errorf("%s has no schema or help", c.Name())
		}
	}
}

// Damaged files of all formats give errors of one line each, whatever the command.
func TestMalformed(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"ds/testdata/malformed/*.ds", "rawarray/testdata/malformed/*.ra", "bcolz/testdata/malformed/*", "zarr/testdata/*/malformed/*"} {
		found, err := filepath.Glob("../../pkg/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d fixtures, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	dir := t.TempDir()
	for _, path := range paths {
		if filepath.Ext(path) == ".json" || filepath.Base(path) == "huge_lazy" {
			continue // no store; one that is whole, but takes hours
		}
		for _, args := range [][]string{{"ls"}, {"info"}, {"cat"}, {"stats"}, {"verify"}, {"diff", path},
			{"plot", "-o", filepath.Join(dir, "x.png"), "--force"}, {"convert", "--to", "ds", "--force", filepath.Join(dir, "x.ds")}} {
			args = append([]string{args[0], path}, args[1:]...)
			status, _, errs := call(t, args...)
			if status < exitOK || status > exitIO {
				t.Errorf("%v: status %d", args, status)
			}
			for line := range strings.Lines(errs) {
				if !strings.HasPrefix(line, "ndfile: ") || strings.Contains(line, "internal error") {
					t.Errorf("%v: %s", args, line)
				}
			}
		}
	}
}
