package all_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

var update = flag.Bool("update", false, "write docs/conversion.md")

const table = "../../../docs/conversion.md"

// fixtures are the files of each format that the tests of the formats hold to be good.
var fixtures = []struct {
	format   string
	patterns []string
}{
	{"ds", []string{"ds/testdata/valid/*.ds"}},
	{"rawarray", []string{"rawarray/testdata/valid/*.ra"}},
	{"bcolz", []string{"bcolz/testdata/roots/*"}},
	{"zarr0", []string{"zarr/testdata/zarr0/valid/*"}},
	{"npy", []string{"npy/testdata/valid/*.npy"}},
	{"npz", []string{"npy/testdata/stored.npz", "npy/testdata/deflated.npz"}},
	{"netcdf", []string{"netcdf/testdata/*.nc"}},
}

// reasons are why a file cannot be in a format at all.
var reasons = map[*ndfile.ErrorKind]string{
	ndfile.ErrArgument:     "not one array",
	ndfile.ErrDType:        "no such dtype",
	ndfile.ErrShape:        "no such shape",
	ndfile.ErrValue:        "no such value",
	ndfile.ErrNotSupported: "not supported",
}

// cell counts what became of the files of one format in another.
type cell struct {
	equal, losing, refused int
	why                    map[string]int // kinds of what would be lost
}

func (c *cell) String() string {
	switch {
	case c.losing+c.refused == 0:
		return fmt.Sprintf("all %d", c.equal)
	case c.equal == 0:
		return "none"
	}
	return fmt.Sprintf("%d of %d", c.equal, c.equal+c.losing+c.refused)
}

// TestMatrix converts every fixture into every format and back. A file is carried exactly, and then comes back exactly
// as far as its own format can hold what the other has made of it; or it is refused with everything named that would be
// lost; or it cannot be there at all (two arrays in a format of one).
func TestMatrix(t *testing.T) {
	ctx := context.Background()
	f, err := ndfile.Open(ctx, all.Formats, "../../netcdf/testdata/cdf1.nc", ndfile.OpenOptions{})
	if errors.Is(err, ndfile.ErrNotSupported) {
		fmt.Fprintln(os.Stderr, "*** SKIPPED: conversions are not tried and docs/conversion.md is not checked: "+err.Error()+" ***")
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	f.Abort()
	var targets []string
	for _, f := range all.Formats {
		if f.Caps()&ndfile.CapCreate != 0 {
			targets = append(targets, f.Name())
		}
	}
	cells, files := map[[2]string]*cell{}, map[string]int{}
	for _, set := range fixtures {
		var paths []string
		for _, pattern := range set.patterns {
			found, err := filepath.Glob("../../" + pattern)
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: %v", pattern, err)
			}
			paths = append(paths, found...)
		}
		for _, path := range paths {
			if !readable(ctx, path) {
				continue
			}
			files[set.format]++
			for _, to := range targets {
				c := cells[[2]string{set.format, to}]
				if c == nil {
					c = &cell{why: map[string]int{}}
					cells[[2]string{set.format, to}] = c
				}
				convert(t, ctx, path, set.format, to, c)
			}
		}
	}
	text := document(targets, cells, files)
	if *update {
		if err := os.WriteFile(table, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(table); err != nil || string(old) != string(text) {
		t.Errorf("%s is not what the conversions give (%v); write it again with: go test ./pkg/ndfile/all -run Matrix -update", table, err)
	}
}

// readable reports whether a fixture can be read at all; those that are there to be refused, and .gitkeep, are not.
func readable(ctx context.Context, path string) bool {
	found := false
	err := ndfile.Verify(ctx, all.Formats, path, ndfile.VerifyOptions{}, func(p ndfile.Problem) {
		found = found || p.Kind != ndfile.ErrValue
	})
	return err == nil && !found
}

func convert(t *testing.T, ctx context.Context, path, from, to string, c *cell) {
	t.Helper()
	if from == to {
		c.equal++
		return
	}
	dir := t.TempDir()
	there, back := filepath.Join(dir, "there"), filepath.Join(dir, "back")
	losses, err := ndfile.Convert(ctx, all.Formats, path, there, ndfile.ConvertOptions{To: to})
	switch {
	case err == nil:
		c.equal++
		if len(losses) > 0 {
			t.Errorf("%s to %s: done, with losses %v", path, to, losses)
		}
	case errors.Is(err, ndfile.ErrLoss):
		c.losing++
		if len(losses) == 0 {
			t.Errorf("%s to %s: refused without a name: %v", path, to, err)
		}
		kinds := map[string]bool{}
		for _, l := range losses {
			kinds[l.What] = true
		}
		for kind := range kinds {
			c.why[kind]++
		}
		_, err := ndfile.Convert(ctx, all.Formats, path, there, ndfile.ConvertOptions{To: to, AllowLoss: true})
		if left, _ := os.ReadDir(dir); err != nil && len(left) > 0 || err == nil && len(left) != 1 {
			t.Errorf("%s to %s with losses: %v, and %v is there", path, to, err, left)
		}
		return
	default:
		c.refused++
		why, ok := reasons[ndfile.KindOf(err)]
		if text := err.Error(); !ok || !strings.HasPrefix(text, path+": ") && !strings.HasPrefix(text, there+": ") {
			t.Errorf("%s to %s: %v", path, to, err)
		}
		c.why[why]++
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s to %s: refused, but %v is there", path, to, left)
		}
		return
	}
	// Back again. Convert itself compares all values with the source, each time.
	if from == "npz" {
		return
	}
	if _, err := ndfile.Convert(ctx, all.Formats, there, back, ndfile.ConvertOptions{To: from}); err != nil {
		// Strings of variable length cannot go back, nor records to bcolz, which only reads them.
		if !errors.Is(err, ndfile.ErrLoss) && !errors.Is(err, ndfile.ErrDType) {
			t.Errorf("%s to %s and back: %v", path, to, err)
		}
		return
	}
	same(t, ctx, path, back, to)
}

// same compares the arrays of two files of one format. Their values were compared on each way by Convert.
func same(t *testing.T, ctx context.Context, path, back, via string) {
	t.Helper()
	a, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Abort()
	b, err := ndfile.Open(ctx, all.Formats, back, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	names := slices.Clone(a.Names())
	if len(names) != len(b.Names()) {
		t.Errorf("%s via %s: %d arrays came back of %d", path, via, len(b.Names()), len(names))
		return
	}
	for i, name := range names {
		x, err := a.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Array(b.Names()[i])
		if len(names) > 1 {
			y, err = b.Array(name)
		}
		if err != nil {
			t.Errorf("%s via %s: %v", path, via, err)
			continue
		}
		if s, u := x.Spec(), y.Spec(); !slices.Equal(s.Shape, u.Shape) || !s.DType.Native().Equal(u.DType.Native()) {
			t.Errorf("%s via %s: %q came back as %s %v, it was %s %v", path, via, name, u.DType, u.Shape, s.DType, s.Shape)
		}
	}
}

// document is docs/conversion.md.
func document(targets []string, cells map[[2]string]*cell, files map[string]int) []byte {
	var b strings.Builder
	b.WriteString("# What converts into what\n\n")
	b.WriteString("<!-- Generated by \"go test ./pkg/ndfile/all -run Matrix -update\". Do not edit. -->\n\n")
	b.WriteString("How many of the test files of a format (rows) another format (columns) holds exactly, attributes, dimensions and dtypes included.\n")
	b.WriteString("The others are refused with everything named that would be lost; `allow_loss` (`--allow-loss`) converts them nevertheless, where the\n")
	b.WriteString("values can be held at all. Many of the files are there to be unusual.\n\n| from | files |")
	for _, to := range targets {
		b.WriteString(" " + to + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(targets)) + "\n")
	for _, set := range fixtures {
		fmt.Fprintf(&b, "| **%s** | %d |", set.format, files[set.format])
		for _, to := range targets {
			b.WriteString(" " + cells[[2]string{set.format, to}].String() + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\nWhat stands against the rest:\n\n| from | to | what would be lost, or cannot be held, and in how many files |\n|---|---|---|\n")
	for _, set := range fixtures {
		for _, to := range targets {
			c := cells[[2]string{set.format, to}]
			if len(c.why) == 0 {
				continue
			}
			var reasons []string
			for why, n := range c.why {
				reasons = append(reasons, fmt.Sprintf("%s %d", why, n))
			}
			slices.Sort(reasons)
			fmt.Fprintf(&b, "| %s | %s | %s |\n", set.format, to, strings.Join(reasons, ", "))
		}
	}
	return []byte(b.String())
}
