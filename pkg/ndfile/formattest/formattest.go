package formattest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Config says what to test.
type Config struct {
	// Format is the format under test. It must have CapCreate: the suite writes
	// its own files.
	Format ndfile.Format
	// Formats are the formats that Open, Load and Detect choose from; nil is
	// Format alone.
	Formats []ndfile.Format
	// DTypes names the dtypes that the format stores, in any byte order. The
	// suite tests both orders of each, and that every other dtype is refused.
	DTypes []string
	// Kind is the kind of the files to test, for formats that have several
	// (CapRows, CapGroups): each kind is a run of its own. 0 is the kind of a new
	// file, which is Table or Dataset in these formats.
	Kind ndfile.Kind
	// Ext is the extension of the files, with the dot; "" is the usual one.
	Ext string
	// Quirks are the format's peculiarities.
	Quirks Quirks
}

// Quirks are peculiarities of a format that no bit of Caps tells.
type Quirks struct {
	// Weak: the format has no signature, its own files are Possible.
	Weak bool
	// Guesses: some old files of the format have no signature, so that foreign
	// ones can be Possible.
	Guesses bool
	// OneOrder: the format keeps values but not the byte order asked for.
	OneOrder bool
	// DimsInAttrs: names of axes are stored with the attributes, and lost with them.
	DimsInAttrs bool
	// SortedAttrs: attributes come back with their keys sorted, at all depths.
	SortedAttrs bool
	// StoredAs maps the names of dtypes that come back as another one ("|b1" as
	// "|u1"); byte order does not count. Fixed strings may come back as ones of
	// variable length ("|S3" as "bytes", "<U3" as "str") and are then not in
	// DTypes.
	StoredAs map[string]string
	// Shapes tells the shapes that the format stores; nil: all.
	Shapes func(shape []int64) bool
	// Names are ordinary names of arrays, which must work; nil: a list with
	// spaces, dots and letters beyond ASCII.
	Names []string
}

// TB is the part of testing.TB that the checks use. Fatalf does not return.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	TempDir() string
}

// Run runs the whole suite, one subtest a check.
func Run(t *testing.T, c Config) {
	for _, ck := range checks {
		t.Run(ck.name, func(t *testing.T) {
			if missing := ck.needs &^ c.Format.Caps(); missing != 0 {
				t.Skipf("the format cannot: %v", missing.Names())
			}
			ck.run(newSuite(t, c, ck.name))
		})
	}
}

// RunOne runs one check of the suite, in a subtest, for files that differ little from
// those that Run has.
func RunOne(t *testing.T, c Config, name string) {
	i := slices.IndexFunc(checks, func(ck check) bool { return ck.name == name })
	t.Run(name, func(t *testing.T) { checks[i].run(newSuite(t, c, name)) })
}

// check is one test of the suite.
type check struct {
	name  string
	needs ndfile.Caps // skipped without
	run   func(s *suite)
}

var checks = []check{
	{"Caps", 0, checkCaps},
	{"Kinds", ndfile.CapRows, checkKinds},
	{"Detect", 0, checkDetect},
	{"RoundTrip", 0, checkRoundTrip},
	{"Shapes", 0, checkShapes},
	{"Boxes", 0, checkBoxes},
	{"Large", 0, checkLarge},
	{"Widening", 0, checkWidening},
	{"OtherDTypes", 0, checkOtherDTypes},
	{"Load", 0, checkLoad},
	{"Masks", ndfile.CapMasked, checkMasks},
	{"MaskedGarbage", ndfile.CapMasked, checkMaskedGarbage},
	{"Strings", ndfile.CapStrings, checkStrings},
	{"Map", ndfile.CapMap, checkMap},
	{"Attrs", 0, checkAttrs},
	{"Dims", 0, checkDims},
	{"Names", 0, checkNames},
	{"NoData", 0, checkNoData},
	{"Trailing", 0, checkTrailing},
	{"Copy", 0, checkCopy},
	{"Errors", 0, checkErrors},
	{"BadSpecs", 0, checkBadSpecs},
	{"WriteOrder", ndfile.CapWriteOnce, checkWriteOrder},
	{"ReadWhileWriting", 0, checkReadWhileWriting},
	{"Chunks", ndfile.CapChunked, checkChunks},
	{"Compression", ndfile.CapChunked, checkCompression},
	{"Fill", ndfile.CapChunked, checkFill},
	{"RawChunks", ndfile.CapChunked, checkRawChunks},
	{"Resize", ndfile.CapResize, checkResize},
	{"Append", ndfile.CapResize, checkAppend},
	{"Rows", ndfile.CapRows, checkRows},
	{"Update", 0, checkUpdate},
	{"Flush", ndfile.CapUpdate, checkFlush},
	{"UpdateRules", ndfile.CapUpdate, checkUpdateRules},
	{"Remove", ndfile.CapUpdate | ndfile.CapRemove, checkRemove},
	{"Verify", ndfile.CapVerify, checkVerify},
	{"Split", ndfile.CapSplit, checkSplit},
	{"Lifecycle", 0, checkLifecycle},
	{"Closed", 0, checkClosed},
	{"Exclusive", 0, checkExclusive},
	{"Folder", 0, checkFolder},
	{"Foreign", 0, checkForeign},
	{"Links", 0, checkLinks},
	{"Holes", 0, checkHoles},
	{"FIFOs", 0, checkFIFOs},
	{"Cancel", 0, checkCancel},
	{"OS", 0, checkOS},
	{"WriteFaults", 0, checkWriteFaults},
	{"UpdateFaults", ndfile.CapUpdate, checkUpdateFaults},
	{"FullDisk", 0, checkFullDisk},
	{"ReadFaults", 0, checkReadFaults},
	{"NoMemory", 0, checkNoMemory},
	{"Crash", 0, checkCrash},
	{"PowerCuts", 0, checkPowerCuts},
	{"Truncate", 0, checkTruncate},
	{"Flip", 0, checkFlip},
	{"Concurrent", 0, checkConcurrent},
	{"Metamorphic", 0, checkMetamorphic},
}

// suite is the state of one check: where it reports, what it tests, and its
// source of random numbers, the same in every run.
type suite struct {
	tb     TB
	cfg    Config
	format ndfile.Format
	caps   ndfile.Caps
	kind   ndfile.Kind
	dtypes []ndarray.DType // one of each, in native order
	rng    *rand.Rand
	where  string // what is being tried, for messages
	synced bool   // files are opened for changes with Sync
	errs   *int
}

var ctx = context.Background()

// maxErrors ends a check that keeps failing.
const maxErrors = 20

func newSuite(tb TB, c Config, name string) *suite {
	tb.Helper()
	if c.Formats == nil {
		c.Formats = []ndfile.Format{c.Format}
	}
	if c.Ext == "" {
		c.Ext = c.Format.Extensions()[0]
	}
	if c.Quirks.Names == nil {
		c.Quirks.Names = []string{"t", "long name", "a.b", "naïve ☃ 😀", "UPPER_lower-9"}
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	s := &suite{tb: tb, cfg: c, format: c.Format, caps: c.Format.Caps(), rng: rand.New(rand.NewPCG(1, h.Sum64())), errs: new(int)}
	for _, n := range c.DTypes {
		d, err := ndarray.Parse(n)
		if err != nil {
			tb.Fatalf("Config.DTypes: %v", err)
		}
		s.dtypes = append(s.dtypes, d.Native())
	}
	f, err := s.format.Create(ctx, ndfile.NewMem(), s.path("probe"), ndfile.CreateOptions{})
	if err != nil || f == nil {
		tb.Fatalf("Create: file %v, error %v", f, err)
	}
	s.kind = f.Kind()
	f.Abort()
	switch {
	case c.Kind == ndfile.Single && (s.kind == ndfile.Table && s.has(ndfile.CapRows) || s.kind == ndfile.Dataset && s.has(ndfile.CapGroups)):
		s.kind = ndfile.Single // once the first array has the name ""
	case c.Kind != 0 && c.Kind != s.kind:
		tb.Fatalf("Config.Kind is %v, a new file is of kind %v", c.Kind, s.kind)
	}
	return s
}

// path is where a file of the format goes on a file system in memory.
func (s *suite) path(base string) string { return "/" + base + s.cfg.Ext }

// in gives a suite whose messages begin with what is being tried.
func (s *suite) in(format string, args ...any) *suite {
	c := *s
	c.where += fmt.Sprintf(format, args...) + ": "
	return &c
}

func (s *suite) errorf(format string, args ...any) {
	s.tb.Helper()
	if *s.errs++; *s.errs > maxErrors {
		s.tb.Fatalf("more than %d errors", maxErrors)
	}
	s.tb.Errorf("%s%s", s.where, fmt.Sprintf(format, args...))
}

func (s *suite) fatalf(format string, args ...any) {
	s.tb.Helper()
	s.tb.Fatalf("%s%s", s.where, fmt.Sprintf(format, args...))
}

// ok ends the check unless err is nil.
func (s *suite) ok(err error) {
	s.tb.Helper()
	if err != nil {
		s.fatalf("%v", err)
	}
}

// fails reports an error that is missing or of none of the kinds.
func (s *suite) fails(err error, kinds ...*ndfile.ErrorKind) {
	s.tb.Helper()
	switch {
	case err == nil:
		s.errorf("no error, expected %v", kindNames(kinds))
	case !slices.Contains(kinds, ndfile.KindOf(err)):
		s.errorf("error of kind %s, expected %v: %v", ndfile.KindOf(err).C, kindNames(kinds), err)
	}
}

func kindNames(kinds []*ndfile.ErrorKind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.C)
	}
	return names
}

// refusals are the kinds with which a format turns down what it cannot store.
var refusals = []*ndfile.ErrorKind{ndfile.ErrNotSupported, ndfile.ErrDType, ndfile.ErrValue, ndfile.ErrLoss, ndfile.ErrName,
	ndfile.ErrShape, ndfile.ErrLimit, ndfile.ErrArgument, ndfile.ErrMasked}

func (s *suite) has(c ndfile.Caps) bool { return s.caps&c == c }

// oneAttrs tells that a file and its only array have the same attributes.
func (s *suite) oneAttrs() bool {
	return s.kind == ndfile.Single && s.has(ndfile.CapFileAttrs|ndfile.CapArrayAttrs)
}
