package zarr

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// problems verifies a folder and gives what was found: path below the folder,
// kind, and whether it can be, or was, repaired.
func problems(t testing.TB, fsys ndfile.FS, path string, repair bool) []string {
	t.Helper()
	var found []string
	err := Format0.(ndfile.Verifier).Verify(ctx, fsys, path, ndfile.VerifyOptions{Repair: repair}, func(p ndfile.Problem) {
		state := ""
		if p.Repair != "" {
			state = " repair"
		}
		if p.Repaired {
			state = " repaired"
		}
		if p.Msg == "" {
			t.Errorf("%+v has no message", p)
		}
		found = append(found, strings.TrimPrefix(strings.TrimPrefix(p.Path, path), "/")+" "+p.Kind.C[len("NDF_ERR_"):]+state)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func TestVerifyFixtures(t *testing.T) {
	want := map[string][]string{
		"leftovers": {"__zdata__/1.blosc.abc123.partial VALUE repair"},
		"shrunk": {"__zdata__/0.1.blosc LOSS", "__zdata__/1.1.blosc LOSS", "__zdata__/2.0.blosc LOSS",
			"__zdata__/2.1.blosc LOSS", "__zdata__/3.0.blosc LOSS", "__zdata__/3.1.blosc LOSS"},
		"chunk_codec_unknown": {"__zdata__/1.blosc CORRUPT"},
		"chunk_nbytes":        {"__zdata__/1.blosc CORRUPT"},
		"chunk_truncated":     {"__zdata__/1.blosc CORRUPT"},
		"chunks_rank":         {"__zmeta__ CORRUPT"},
		"chunks_zero":         {"__zmeta__ CORRUPT"},
		"dtype_garbage":       {"__zmeta__ CORRUPT"},
		"fill_list":           {"__zmeta__ CORRUPT"},
		"meta_cut":            {"__zmeta__ CORRUPT"},
		"meta_no_cname":       {"__zmeta__ CORRUPT"},
		"pickle_meta":         {"__zmeta__ CORRUPT"},
		"shape_negative":      {"__zmeta__ CORRUPT"},
		"names_outside": {"__zdata__/-1.blosc VALUE", "__zdata__/0.0.blosc VALUE", "__zdata__/00.blosc VALUE", "__zdata__/9.blosc VALUE repair",
			"__zdata__/x.blosc VALUE"},
	}
	for _, kind := range []string{"valid", "malformed"} {
		for _, c := range fixtures(t, kind) {
			mem, path := ndfile.NewMem(), filepath.ToSlash(fixturePath(kind, c.Name))
			putFiles(t, mem, "/a", listFiles(t, ndfile.OS, path, "", files{}))
			newer := listFiles(t, mem, "/a", "", files{}) // chunks newer than the metadata, as a copy can have them, are no evidence
			maps.DeleteFunc(newer, func(path, _ string) bool { return !strings.HasPrefix(path, data0+"/") || path == data0+"/" })
			for path, text := range newer {
				mem.WriteFile("/a/"+path, [][]byte{[]byte(text)}, ndfile.WriteOptions{})
			}
			got := problems(t, mem, "/a", false)
			if !slices.Equal(got, want[c.Name]) {
				t.Errorf("%s: %q, expected %q", c.Name, got, want[c.Name])
			}
		}
	}
}

// TestRepair removes what is certain to be garbage, when asked to, and leaves the
// rest.
func TestRepair(t *testing.T) {
	mem := plant(t, map[string]string{meta0: document0(`"<i4"`, "7"), attrs0: "{", "notes": "x", "__zmeta__.ndf-tmp-a-b-c": "x", "__zmeta__.lock": "",
		data0 + "/3.blosc": "", data0 + "/4.blosc.lock": "", data0 + "/1.blosc.abc.partial": "x", data0 + "/2.blosc.ndf-tmp-1-2-3": "x", data0 + "/01.blosc": ""})
	mem.Mkdir("/x.zarr/other")
	bad := []string{"__zattr__ CORRUPT", "__zdata__/01.blosc VALUE", "notes VALUE", "other VALUE", " VALUE"}
	garbage := []string{"__zdata__/1.blosc.abc.partial VALUE", "__zdata__/2.blosc.ndf-tmp-1-2-3 VALUE", "__zdata__/3.blosc VALUE", "__zmeta__.ndf-tmp-a-b-c VALUE"}
	with := func(state string) []string {
		all := slices.Clone(bad)
		for _, g := range garbage {
			all = append(all, g+state)
		}
		slices.Sort(all)
		return all
	}
	if got := problems(t, mem, "/x.zarr", false); !slices.Equal(got, with(" repair")) {
		t.Errorf("found %q", got)
	}
	if got := problems(t, mem, "/x.zarr", true); !slices.Equal(got, with(" repaired")) {
		t.Errorf("repaired %q", got)
	}
	slices.Sort(bad)
	if got := problems(t, mem, "/x.zarr", true); !slices.Equal(got, bad) {
		t.Errorf("afterwards %q", got)
	}
}

func TestVerifyProgress(t *testing.T) {
	var seen []string
	opt := ndfile.VerifyOptions{Progress: func(done, total int64) bool { seen = append(seen, fmt.Sprint(done, "/", total)); return done < 2 }}
	err := Format0.(ndfile.Verifier).Verify(ctx, ndfile.OS, fixturePath("valid", "i1_1d"), opt, func(ndfile.Problem) {})
	if ndfile.KindOf(err) != ndfile.ErrCanceled || strings.Join(seen, " ") != "0/4 1/4 2/4" {
		t.Errorf("%q, %v", seen, err)
	}
	err = Format0.(ndfile.Verifier).Verify(ctx, ndfile.OS, "testdata/none", ndfile.VerifyOptions{}, func(ndfile.Problem) {})
	if ndfile.KindOf(err) != ndfile.ErrNotFound {
		t.Errorf("nothing there: %v", err)
	}
	err = Format0.(ndfile.Verifier).Verify(ctx, ndfile.OS, "testdata", ndfile.VerifyOptions{}, func(ndfile.Problem) {})
	if ndfile.KindOf(err) != ndfile.ErrFormat {
		t.Errorf("another folder: %v", err)
	}
}
