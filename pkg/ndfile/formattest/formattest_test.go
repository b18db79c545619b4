package formattest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

const (
	fullCaps = ndfile.CapCreate | ndfile.CapWriteOnce | ndfile.CapFileAttrs | ndfile.CapArrayAttrs | ndfile.CapDims | ndfile.CapMasked |
		ndfile.CapStrings | ndfile.CapOneShot
	plainCaps = ndfile.CapCreate | ndfile.CapUpdate | ndfile.CapMap | ndfile.CapTrailing
)

func fixedDTypes() (names []string) {
	for _, n := range allDTypes {
		if d := ndarray.MustParse(n); !d.IsVar() && d.Kind != ndarray.Record {
			names = append(names, n)
		}
	}
	return names
}

// full is a toy dataset that can do everything a write-once format can.
func full(bug string) Config {
	return Config{Format: oneShotToy{toy{ndfile.Dataset, fullCaps, bug}}, DTypes: append(fixedDTypes(), "bytes", "str")}
}

// plain is a toy of one array that can be updated and mapped, and nothing else.
func plain(bug string) Config {
	return Config{Format: toy{ndfile.Single, plainCaps, bug}, DTypes: fixedDTypes()}
}

// table and single are the two kinds of shelves.
func table(bug string) Config  { return shelves(bug, ndfile.Table) }
func single(bug string) Config { return shelves(bug, ndfile.Single) }

func shelves(bug string, kind ndfile.Kind) Config {
	return Config{Format: shelf{bug: bug}, Kind: kind, DTypes: fixedDTypes(), Quirks: Quirks{
		Shapes: func(shape []int64) bool { return len(shape) > 0 },
	}}
}

// without takes abilities from a shelf.
func without(c Config, caps ndfile.Caps) Config {
	f := c.Format.(shelf)
	f.without = caps
	c.Format = f
	return c
}

// sortedOnes says that a format sorts attributes.
func sortedOnes(c Config) Config {
	c.Quirks.SortedAttrs = true
	return c
}

// TestSorted runs what has to do with attributes on a format that sorts them.
func TestSorted(t *testing.T) {
	for _, check := range []string{"Attrs", "Update", "Flush", "UpdateFaults"} {
		for _, err := range failures(t, sortedOnes(single("sorts attrs")), check) {
			t.Errorf("%s: %s", check, err)
		}
	}
}

func TestTable(t *testing.T)  { Run(t, table("")) }
func TestSingle(t *testing.T) { Run(t, single("")) }
func TestFull(t *testing.T)   { Run(t, full("")) }
func TestPlain(t *testing.T)  { Run(t, plain("")) }

// recorder is a TB that keeps errors to itself.
type recorder struct {
	t    *testing.T
	errs []string
}

func (r *recorder) Helper()         {}
func (r *recorder) TempDir() string { return r.t.TempDir() }
func (r *recorder) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failures runs one check and gives what it reports.
func failures(t *testing.T, c Config, name string) []string {
	i := slices.IndexFunc(checks, func(ck check) bool { return ck.name == name })
	if i < 0 {
		t.Fatalf("no check %s", name)
	}
	r := &recorder{t: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		checks[i].run(newSuite(r, c, name))
	}()
	<-done
	return r.errs
}

// TestSuiteFails runs the suite against toys that are broken in one way each: the
// check that is there for it must say so, in words that tell what is wrong.
func TestSuiteFails(t *testing.T) {
	if sparse > 1 {
		t.Skip("under the race detector the sweeps leave out places")
	}
	with := func(c Config, caps ndfile.Caps) Config {
		switch f := c.Format.(type) {
		case toy:
			f.caps = caps
			c.Format = f
		case oneShotToy:
			f.caps = caps
			c.Format = f
		}
		return c
	}
	for _, test := range []struct {
		name  string
		cfg   Config
		check string
		says  string
	}{
		{"announces masks", with(plain(""), plainCaps|ndfile.CapMasked), "Caps", "Masked implemented: false"},
		{"hides masks", with(full(""), fullCaps&^ndfile.CapMasked), "Caps", "Masked implemented: true"},
		{"announces strings", with(plain(""), plainCaps|ndfile.CapStrings), "Caps", "CapStrings"},
		{"hides strings", with(full(""), fullCaps&^ndfile.CapStrings), "Caps", "CapStrings"},
		{"hides one-shot", with(full(""), fullCaps&^ndfile.CapOneShot), "Caps", "OneShot implemented: true"},
		{"announces one-shot", with(plain(""), plainCaps|ndfile.CapOneShot), "Caps", "OneShot implemented: false"},
		{"hides map", with(plain(""), plainCaps&^ndfile.CapMap), "Caps", "Mapper implemented: true"},
		{"hides trailing", with(plain(""), plainCaps&^ndfile.CapTrailing), "Caps", "Trailer implemented: true"},
		{"announces trailing", with(full(""), fullCaps|ndfile.CapTrailing), "Caps", "Trailer implemented: false"},
		{"loses trailing", plain("loses trailing"), "Trailing", "trailing bytes"},
		{"announces update", with(full(""), fullCaps|ndfile.CapUpdate), "Caps", "exclude each other"},
		{"hides a dtype", Config{Format: plain("").Format, DTypes: []string{"<f8"}}, "OtherDTypes", "no error"},
		{"announces a dtype", Config{Format: plain("").Format, DTypes: []string{"str"}}, "RoundTrip", "cannot store"},
		{"detects everything", full("detects everything"), "Detect", "expected 0"},
		{"forgets names", full("forgets names"), "Errors", "does not name the array"},
		{"leaves temp", full("leaves temp"), "WriteFaults", "left behind"},
		{"torn", full("torn"), "WriteFaults", "file"},
		{"torn, plain", plain("torn"), "WriteFaults", "file"},
		{"never syncs", full("never syncs"), "Crash", "power cut"},
		{"torn", full("torn"), "Crash", "killed"},
		{"never syncs", full("never syncs"), "PowerCuts", "sync: true"},
		{"torn", full("torn"), "PowerCuts", "sync: true"},
		{"never syncs", table("never syncs"), "PowerCuts", "sync: true"},
		{"leaves temp", full("leaves temp"), "FullDisk", "left behind"},
		{"fills the disk", table("fills the disk"), "FullDisk", "a stale file"},
		{"torn metadata", table("torn metadata"), "PowerCuts", "does not open"},
		{"commits early", table("commits early"), "PowerCuts", "wrong values"},
		{"two commits", table("two commits"), "PowerCuts", "wrong values"},
		{"overwrites", full("overwrites"), "Exclusive", "NDF_ERR_EXISTS"},
		{"swallows write errors", full("swallows write errors"), "WriteFaults", "no error"},
		{"swallows read errors", full("swallows read errors"), "ReadFaults", ""},
		{"leaks", full("leaks"), "ReadFaults", "still open"},
		{"leaks", full("leaks"), "Lifecycle", "still open"},
		{"ignores byte order", full("ignores byte order"), "RoundTrip", "expected"},
		{"ignores byte order", plain("ignores byte order"), "RoundTrip", "expected"},
		{"ignores steps", full("ignores steps"), "Boxes", "expected"},
		{"loses masks", full("loses masks"), "Masks", "missing"},
		{"reads missing elements", full("reads missing elements"), "Masks", "NDF_ERR_MASKED"},
		{"stores garbage", full("stores garbage"), "MaskedGarbage", "under the mask is stored"},
		{"stores garbage", full("stores garbage"), "Masks", "not zero"},
		{"loses attrs", full("loses attrs"), "Attrs", "attributes {}"},
		{"loses attrs", plain("loses attrs"), "Attrs", "no error"},
		{"sorts attrs", full("sorts attrs"), "Attrs", "attributes"},
		{"loses dims", full("loses dims"), "Dims", "dims"},
		{"loses dims", plain("loses dims"), "Dims", "dims"},
		{"counts badly", full("counts badly"), "Load", "needed"},
		{"unaligned", full("unaligned"), "Load", "multiple of 64"},
		{"stores where it likes", full("stores where it likes"), "WriteOrder", "expected"},
		{"fills with zeros", full("fills with zeros"), "WriteOrder", "not written"},
		{"aborts what is closed", full("aborts what is closed"), "Lifecycle", ""},
		{"answers when closed", full("answers when closed"), "Closed", "File.Abort: no error"},
		{"stays open", single("stays open"), "Closed", "Array.ReadBox"},
		{"early", full("early"), "Lifecycle", "before Close"},
		{"keeps path", full("keeps path"), "Lifecycle", ""},
		{"panics", full("panics"), "Truncate", "panic"},
		{"trusts lengths", full("trusts lengths"), "Flip", "bytes allocated"},
		{"trusts lengths", full("trusts lengths"), "Truncate", "expected"},
		{"loses masks", full("loses masks"), "Metamorphic", "seed"},
		{"shares state", full("shares state"), "Concurrent", ""},

		{"is always an array", table("is always an array"), "Kinds", "Config.Kind"},
		{"uneven columns", table("uneven columns"), "Kinds", "no error"},
		{"uneven columns", table("uneven columns"), "Rows", "no error"},
		{"wrong kind", shelves("", ndfile.Dataset), "Kinds", "Config.Kind"},
		{"two sets of attrs", single("two sets of attrs"), "Attrs", "attributes"},
		{"sorts attrs", single("sorts attrs"), "Attrs", "attributes"},
		{"does not sort attrs", sortedOnes(single("")), "Attrs", "attributes"},
		{"refuses slashes", single("refuses slashes"), "Folder", "a slash"},
		{"detects folders", single("detects folders"), "Folder", "Detect"},
		{"replaces anything", table("replaces anything"), "Foreign", "is gone"},
		{"follows links", table("follows links"), "Links", "no error"},
		{"follows no links", table("follows no links"), "Links", "with FollowSymlinks"},
		{"writes through links", single("writes through links"), "Links", "written through"},
		{"holes are ones", single("holes are ones"), "Holes", "element"},
		{"reads FIFOs", single("reads FIFOs"), "FIFOs", "no error"},
		{"ignores chunks", single("ignores chunks"), "Chunks", "chunks"},
		{"takes any chunks", single("takes any chunks"), "Chunks", ""},
		{"lists chunks", single("lists chunks"), "Chunks", "lists a folder"},
		{"opens all chunks", single("opens all chunks"), "Chunks", "calls for one chunk"},
		{"bends levels", single("bends levels"), "Compression", "the file has"},
		{"takes any codec", single("takes any codec"), "Compression", "no error"},
		{"loses fill", table("loses fill"), "Fill", "fill value"},
		{"takes any fill", single("takes any fill"), "Fill", "no error"},
		{"holes are ones", table("holes are ones"), "Fill", "expected"},
		{"ignores the buffer", single("ignores the buffer"), "RawChunks", "is not used"},
		{"takes any bytes", single("takes any bytes"), "RawChunks", "no error"},
		{"takes any index", single("takes any index"), "RawChunks", "ReadChunk [-1"},
		{"old values come back", single("old values come back"), "Resize", "expected"},
		{"old values come back", table("old values come back"), "Rows", "expected"},
		{"changes ranks", single("changes ranks"), "Resize", ""},
		{"appends anything", single("appends anything"), "Resize", "other extents"},
		{"forgets the end", single("forgets the end"), "Append", "expected"},
		{"appends unevenly", table("appends unevenly"), "Rows", "other lengths"},
		{"columns resize", table("columns resize"), "Rows", "a column on its own"},
		{"sorts columns", table("sorts columns"), "Rows", "expected [\"zz\""},
		{"forgets attrs", table("forgets attrs"), "Update", "attributes"},
		{"stays open", single("stays open"), "Update", "after the end succeeds"},
		{"rewrites all", single("rewrites all"), "Update", "changed"},
		{"writes at Close", single("writes at Close"), "Flush", "regions written, then Abort"},
		{"never flushes", table("never flushes"), "Flush", "attributes"},
		{"flushes in Abort", table("flushes in Abort"), "Flush", "attrs: abort"},
		{"appears early", table("appears early"), "Flush", "before Close"},
		{"changes what is read", table("changes what is read"), "UpdateRules", "no error"},
		{"removes nothing", table("removes nothing"), "UpdateRules", "no error"},
		{"removes names only", table("removes names only"), "Remove", "stale"},
		{"removes names only", without(table("removes names only"), ndfile.CapVerify), "Remove", "still there"},
		{"removed arrays live", table("removed arrays live"), "Remove", "can be written"},
		{"sees nothing", single("sees nothing"), "Verify", "does not report"},
		{"sees nothing", single("sees nothing"), "Truncate", "finds nothing wrong"},
		{"sees ghosts", single("sees ghosts"), "Verify", "healthy"},
		{"repairs nothing", single("repairs nothing"), "Verify", "is not repaired"},
		{"removes in repair", single("removes in repair"), "Verify", "cannot be undone"},
		{"repairs too much", single("repairs too much"), "Truncate", "a repair changed"},
		{"repairs foreign files", single("repairs foreign files"), "Verify", "a repair removed it"},
		{"removes names only", table("removes names only"), "Metamorphic", "healthy"},
		{"cuts chunks", table("cuts chunks"), "Split", "no error"},
		{"forgets rows", table("forgets rows"), "Split", "no error"},
		{"shuffles parts", table("shuffles parts"), "Split", "expected"},
		{"loses attrs", table("loses attrs"), "Split", "attributes"},
		{"torn metadata", table("torn metadata"), "UpdateFaults", ""},
		{"torn chunks", single("torn chunks"), "UpdateFaults", ""},
		{"commits early", single("commits early"), "UpdateFaults", "neither"},
		{"commits early", table("commits early"), "UpdateFaults", "neither"},
		{"cleans late", single("cleans late"), "UpdateFaults", "afterwards changed"},
		{"swallows errors", table("swallows errors"), "UpdateFaults", "no error"},
		{"leaks", table("leaks"), "UpdateFaults", "still open"},
		{"appends half", table("appends half"), "UpdateFaults", "read through the open file"},
		{"two commits", table("two commits"), "UpdateFaults", "neither"},
		{"loses updates", single("loses updates"), "Concurrent", "expected"},
		{"slowly torn chunks", single("slowly torn chunks"), "Concurrent", "neither old nor new"},
	} {
		t.Run(test.name+"/"+test.check, func(t *testing.T) {
			errs := failures(t, test.cfg, test.check)
			if len(errs) == 0 {
				t.Fatal("the suite finds nothing wrong")
			}
			if !strings.Contains(strings.Join(errs, "\n"), test.says) {
				t.Errorf("expected %q, found %q", test.says, errs)
			}
		})
	}
}
