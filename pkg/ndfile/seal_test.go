package ndfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// sealProblems gives what differs from the seal.
func sealProblems(t *testing.T, fsys ndfile.FS, path string) (found []string) {
	t.Helper()
	err := ndfile.Verify(t.Context(), nil, path, ndfile.VerifyOptions{FS: fsys, Sealed: true}, func(p ndfile.Problem) {
		if p.Kind != ndfile.ErrCorrupt || p.Class != ndfile.Damage {
			t.Errorf("%+v", p)
		}
		found = append(found, strings.TrimPrefix(p.Path, path)+" "+strings.SplitN(strings.SplitN(p.Msg, " ", 2)[0], ":", 2)[0])
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestSeal: every file that is changed, missing or added is named; sha256sum agrees.
func TestSeal(t *testing.T) {
	dir := t.TempDir()
	store := dir + "/a store\\\nx"
	for name, text := range map[string]string{"meta": "m", "data/0": "zero", "data/1": "", "data/odd\nname\\": "odd", "data/2.ndf-tmp-1-2-3": "half"} {
		put(t, store+"/"+name, text)
	}
	put(t, dir+"/big", strings.Repeat("x", 3<<20+7))
	for path, want := range map[string]int64{store + "/": 4, dir + "/big": 1} {
		n, err := ndfile.Seal(t.Context(), path, ndfile.SealOptions{})
		if err != nil || n != want {
			t.Fatal(path, n, err)
		}
		if found := sealProblems(t, ndfile.OS, path); found != nil {
			t.Errorf("%q", found)
		}
		if tool, err := exec.LookPath("sha256sum"); err == nil {
			cmd := exec.Command(tool, "--quiet", "-c", filepath.Base(path)+".ndf-seal")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("sha256sum: %v: %s", err, out)
			}
		}
	}
	put(t, store+"/data/0", "zer0")
	put(t, store+"/data/7", "new")
	os.Remove(store + "/data/1")
	want := []string{"/data/0 changed", "/data/1 missing", "/data/7 added"}
	if found := sealProblems(t, ndfile.OS, store); !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
	// It may be moved with its seal, and be named through a link.
	os.Rename(store, dir+"/b")
	os.Rename(store+".ndf-seal", dir+"/b.ndf-seal")
	os.Symlink("b", dir+"/link")
	if found := sealProblems(t, ndfile.OS, dir+"/link"); !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
	t.Chdir(dir + "/b")
	if found := sealProblems(t, ndfile.OS, "."); len(found) != 3 {
		t.Errorf("%q", found)
	}
}

// TestSealRefused: what cannot be sealed or compared says why, and leaves nothing.
func TestSealRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/s/x", "x")
	check := func(path string) error {
		return ndfile.Verify(t.Context(), nil, path, ndfile.VerifyOptions{Sealed: true}, func(p ndfile.Problem) { t.Errorf("%+v", p) })
	}
	is := func(err error, kind *ndfile.ErrorKind, text string) {
		t.Helper()
		if ndfile.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
			t.Errorf("%v", err)
		}
	}
	is(check(dir+"/s"), ndfile.ErrNotFound, "seal it first")
	is(check(dir+"/none"), ndfile.ErrNotFound, dir+"/none")
	os.Symlink("x", dir+"/s/link")
	_, err := ndfile.Seal(t.Context(), dir+"/s", ndfile.SealOptions{})
	is(err, ndfile.ErrNotSupported, "/s/link")
	if n, err := ndfile.Seal(t.Context(), dir+"/s", ndfile.SealOptions{FollowSymlinks: true}); n != 2 || err != nil {
		t.Error(n, err)
	}
	os.Remove(dir + "/s/link")
	os.Symlink(".", dir+"/s/loop")
	_, err = ndfile.Seal(t.Context(), dir+"/s", ndfile.SealOptions{FollowSymlinks: true})
	if err == nil {
		t.Error("a loop")
	}
	os.Remove(dir + "/s/loop")
	if _, err := ndfile.Seal(t.Context(), dir+"/s", ndfile.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(dir + "/s.ndf-seal")
	for _, bad := range []string{"", "x", string(whole[:len(whole)/2]), strings.Replace(string(whole), "  s/x", "  s/y", 1), string(whole) + "more"} {
		put(t, dir+"/s.ndf-seal", bad)
		is(check(dir+"/s"), ndfile.ErrCorrupt, "the seal itself is damaged")
	}
	put(t, dir+"/big", strings.Repeat("x", 8<<20))
	_, err = ndfile.Seal(t.Context(), dir+"/big", ndfile.SealOptions{Progress: func(done, total int64) bool { return total != 8<<20 }})
	is(err, ndfile.ErrCanceled, "")
	if _, err := os.Stat(dir + "/big.ndf-seal"); err == nil {
		t.Error("a seal in spite of the cancellation")
	}
	var last int64
	if _, err := ndfile.Seal(t.Context(), dir+"/big", ndfile.SealOptions{Progress: func(done, total int64) bool { last = done; return done <= total }}); err != nil || last != 8<<20 {
		t.Error(last, err)
	}
	err = ndfile.Verify(t.Context(), nil, dir+"/s", ndfile.VerifyOptions{Sealed: true, Repair: true}, nil)
	is(err, ndfile.ErrArgument, "")
}
