package bcolz

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

func verify(t testing.TB, fsys ndfile.FS, path string, repair bool) (problems []ndfile.Problem) {
	t.Helper()
	ok(t, Format.(ndfile.Verifier).Verify(ctx, fsys, path, ndfile.VerifyOptions{Repair: repair}, func(p ndfile.Problem) { problems = append(problems, p) }))
	return problems
}

// TestVerifyFixtures: good roots are good, but for what their makers left lying
// about; bad ones are bad for the reason in their name.
func TestVerifyFixtures(t *testing.T) {
	stale := map[string]string{"trimmed_stale": "data/__3.blp"}
	for _, fx := range fixtures(t, "expected.json") {
		path, name := "testdata/"+fx.Root, filepath.Base(fx.Root)
		problems := verify(t, ndfile.OS, path, false)
		if name == "object" {
			if len(problems) != 1 || problems[0].Kind != ndfile.ErrCorrupt || problems[0].Path != path+"/"+storageFile {
				t.Errorf("%s: %+v", name, problems)
			}
			continue
		}
		if name == "foreign_files" {
			for _, p := range problems {
				if p.Kind != ndfile.ErrValue || p.Class != ndfile.Foreign || p.Repair != "" {
					t.Errorf("%s: %+v", name, p)
				}
			}
			continue
		}
		for _, p := range problems {
			if p.Kind != ndfile.ErrValue || p.Class != ndfile.Stale || p.Path != path+"/"+stale[name] || p.Repair == "" || p.Repaired {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if _, is := stale[name]; is != (len(problems) > 0) {
			t.Errorf("%s: %d problems", name, len(problems))
		}
	}
	mended := map[string]string{"last_missing": "cut to the last row that is whole in all columns: 30 of 35 rows", "sizes_missing": "count 35 rows", "sizes_empty": "count 35 rows",
		"sizes_not_json": "count 35 rows", "last_short": "count 35 rows", "shape_longer": "count 35 rows", "shape_neg": "count 35 rows", "shape_huge": "count 35 rows",
		"shape_empty": "count 35 rows", "shape_string": "count 35 rows"}
	for _, fx := range fixtures(t, "malformed.json") {
		path, name := "testdata/"+fx.Root, filepath.Base(fx.Root)
		read := readRoot(path)
		problems := verify(t, ndfile.OS, path, false)
		if name == "t_uneven" {
			if len(problems) != 1 || problems[0].Kind != ndfile.ErrLoss || problems[0].Path != path+"/b/"+sizesFile || problems[0].Array != "b" {
				t.Errorf("%s: %+v", name, problems)
			}
			continue
		}
		repair, mended := mended[name]
		reported := slices.ContainsFunc(problems, func(p ndfile.Problem) bool {
			return p.Kind == ndfile.ErrCorrupt && p.Class == ndfile.Damage && strings.HasPrefix(p.Repair, repair) && (repair == "") == (p.Repair == "") && p.Msg != "" &&
				(mended || strings.Contains(read.Error(), p.Path))
		})
		if !reported {
			t.Errorf("%s: %v\n%+v", name, read, problems)
		}
	}
}

// TestRepair repairs what is certain, and nothing else.
func TestRepair(t *testing.T) {
	mem := load(t, "testdata/malformed/t_uneven", "/t")
	want := ourRows(t, mem)
	put(t, mem, "/t/notes", "mine")
	put(t, mem, "/t/a/data/__4.blp", "stale")
	put(t, mem, mem.TempName("/t/__attrs__"), "half")
	put(t, mem, mem.TempName("/t/b/meta/sizes"), "half")
	put(t, mem, mem.TempName("/t/b/data/__0.blp"), "half")
	ok(t, mem.Mkdir("/t/gone.ndf-tmp-1-2-3"))
	ok(t, mem.Mkdir("/t/gone.ndf-tmp-1-2-3/data"))
	ok(t, mem.Mkdir("/t/unlisted"))
	ok(t, mem.Mkdir("/t/unlisted/data"))
	ok(t, mem.Mkdir("/t/other"))
	before := files(t, mem, "/t")
	problems := verify(t, mem, "/t", false)
	if len(problems) != 9 {
		t.Errorf("%d problems: %+v", len(problems), problems)
	}
	for path, text := range files(t, mem, "/t") {
		if before[path] != text {
			t.Errorf("%s changed without a repair", path)
		}
	}
	for _, p := range verify(t, mem, "/t", true) {
		if p.Repaired == slices.Contains([]string{"/t/unlisted", "/t/notes", "/t/other"}, p.Path) {
			t.Errorf("%+v", p)
		}
	}
	if problems := verify(t, mem, "/t", true); len(problems) != 3 {
		t.Errorf("afterwards: %+v", problems)
	}
	if got := ourRows(t, mem); got != want {
		t.Error("the repair changed what there is")
	}
	noLeftovers(t, mem, "/t")
	after := files(t, mem, "/t")
	for _, path := range []string{"notes", "unlisted/", "unlisted/data/", "other/"} {
		if _, there := after[path]; !there {
			t.Errorf("%s is gone", path)
		}
	}
	undo(t, mem, "/t")
	if !maps.Equal(before, files(t, mem, "/t")) {
		t.Error("undone, it is not as before")
	}
}

func undo(t testing.TB, fsys ndfile.FS, path string) {
	t.Helper()
	ok(t, ndfile.Verify(ctx, nil, path, ndfile.VerifyOptions{FS: fsys, Undo: true}, func(ndfile.Problem) {}))
}

// TestVerifyMany: what is missing of very many chunks is few problems.
func TestVerifyMany(t *testing.T) {
	mem := load(t, "testdata/roots/exact", "/c")
	update(t, mem, "/c/"+sizesFile, "[40]", "[4000000000000]")
	ok(t, mem.Remove("/c/data/__0.blp"))
	problems := verify(t, mem, "/c", true)
	if len(problems) != 3 || problems[0].Path != "/c/meta/sizes" || problems[1].Path != "/c/data/__0.blp" || problems[2].Path != "/c/data/__2.blp" || !strings.Contains(problems[2].Msg, "2 to 199999999999") {
		t.Errorf("%+v", problems)
	}
	// A writer is told, and told what.
	g := open(t, mem, "/c", ndfile.Update)
	err := array(t, g, "").(ndfile.Resizer).Resize(ctx, []int64{0})
	is(t, err, ndfile.ErrCorrupt, "/c/meta/sizes")
	if !strings.Contains(err.Error(), "4000000000000") || !strings.Contains(err.Error(), "nbytes says 40") {
		t.Error(err)
	}
	ok(t, g.Close(ctx))
	// Cutting such an array takes no longer than looking at the folder.
	update(t, mem, "/c/"+sizesFile, `"nbytes": 160`, `"nbytes": 16000000000000`)
	f := open(t, mem, "/c", ndfile.Update)
	ok(t, array(t, f, "").(ndfile.Resizer).Resize(ctx, []int64{0}))
	ok(t, f.Close(ctx))
	if problems := verify(t, mem, "/c", false); len(problems) != 0 {
		t.Errorf("%+v", problems)
	}
}

// TestVerifyBroken: all problems are found, not only the first, and what cannot be
// repaired stays as it is.
func TestVerifyBroken(t *testing.T) {
	mem := load(t, "testdata/roots/t_basic", "/t")
	put(t, mem, "/t/__attrs__", "{")
	put(t, mem, "/t/zz/__attrs__", "{")
	put(t, mem, "/t/zz/meta/sizes", "{")
	put(t, mem, "/t/zz/meta/storage", "{")
	put(t, mem, "/t/a/data/__1.blp", "")
	ok(t, mem.Remove("/t/m/data/__0.blp"))
	put(t, mem, "/t/m/data/__3.blp", "stale")
	var got []string
	for _, p := range verify(t, mem, "/t", true) {
		got = append(got, p.Path)
		if (p.Kind == ndfile.ErrValue) != p.Repaired {
			t.Errorf("%+v", p)
		}
	}
	slices.Sort(got)
	want := []string{"/t/__attrs__", "/t/a/data/__1.blp", "/t/m/data/__0.blp", "/t/m/data/__3.blp", "/t/zz/__attrs__", "/t/zz/meta/sizes", "/t/zz/meta/storage"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// Without a list of columns, their folders are looked at all the same.
	put(t, mem, "/t/__rootdirs__", "")
	if n := len(verify(t, mem, "/t", false)); n != 8 {
		t.Errorf("%d problems", n)
	}
	calls := 0
	err := Format.(ndfile.Verifier).Verify(ctx, mem, "/t", ndfile.VerifyOptions{Progress: func(done, total int64) bool { calls++; return false }}, func(ndfile.Problem) {})
	is(t, err, ndfile.ErrCanceled, "")
	is(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/missing", ndfile.VerifyOptions{}, nil), ndfile.ErrNotFound, "")
	ok(t, mem.Mkdir("/empty"))
	is(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/empty", ndfile.VerifyOptions{}, nil), ndfile.ErrFormat, "/empty")
	put(t, mem, "/file", "")
	is(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/file", ndfile.VerifyOptions{}, nil), ndfile.ErrFormat, "/file")
}
