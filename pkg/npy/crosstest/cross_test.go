package crosstest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/npy"
)

var ctx = context.Background()

// python skips the test loudly where there is no Python to use, and fails it in
// CI, which must not skip.
func python(t *testing.T) string {
	python := os.Getenv("NDFILE_TEST_PYTHON")
	if python == "" {
		const why = "NDFILE_TEST_PYTHON does not name a Python with numpy: pkg/npy is NOT compared with NumPy"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		fmt.Fprintln(os.Stderr, "*** SKIPPED: "+why+" ***")
		t.Skip(why)
	}
	return python
}

// simple are dtypes for arrays and fields; any bytes are values of them. Not
// among them: long doubles, whose padding NumPy does not keep in every copy.
var simple = []string{"|b1", "|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u4", "<u8", "<f2", "<f4", ">f8", "<c8", ">c16", "|S3", "|V5", "<M8[ns]", ">m8[25s]", "<M8"}

// names are names of fields: plain, with quotes, Latin-1, beyond, not printable.
var names = []string{"a", "b c", "it's", `"`, `'"\`, "é", "☃", "😀", "\t", "\x7f", "\u00ad", "\u2028", strings.Repeat("long", 30)}

// dtype is a random one, as JSON.
func dtype(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) > 0 {
		return quoted(simple[r.IntN(len(simple))])
	}
	fields := make([]string, 1+r.IntN(4))
	order := r.Perm(len(names))
	for i := range fields {
		fields[i] = "[" + quoted(names[order[i]]) + "," + dtype(r, depth-1)
		if r.IntN(3) == 0 {
			fields[i] += "," + []string{"[2]", "[2,3]", "[1]"}[r.IntN(3)]
		}
		fields[i] += "]"
	}
	return "[" + strings.Join(fields, ",") + "]"
}

func quoted(s string) string { return string(ndfile.AppendJSONString(nil, s)) }

// sample is a case of peer.py.
type sample struct {
	DType json.RawMessage `json:"dtype"`
	Shape []int64         `json:"shape"`
	Data  string          `json:"data"`
	array ndarray.Buffer
}

func samples(t *testing.T) (all []sample) {
	r := rand.New(rand.NewPCG(1, 1))
	types := []string{manyFields()}
	for _, s := range simple {
		types = append(types, quoted(s))
	}
	for range 80 {
		types = append(types, dtype(r, 3))
	}
	for i, text := range types {
		d, err := ndarray.Parse(strings.Trim(text, `"`))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		shape := make([]int64, i%5)
		for axis := range shape {
			shape[axis] = r.Int64N(5)
		}
		b, err := ndarray.NewBuffer(d, shape)
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.Data {
			b.Data[k] = byte(r.IntN(2)) // a bool in any place
		}
		all = append(all, sample{json.RawMessage(text), shape, hex.EncodeToString(b.Data), b})
	}
	return all
}

// manyFields needs version 2.0.
func manyFields() string {
	fields := make([]string, 4000)
	for i := range fields {
		fields[i] = fmt.Sprintf(`["field%d","|u1"]`, i)
	}
	return "[" + strings.Join(fields, ",") + "]"
}

func TestNumPy(t *testing.T) {
	program := python(t)
	dir := t.TempDir()
	cases := samples(t)
	for i, c := range cases {
		path := filepath.Join(dir, fmt.Sprint(i)+".npy")
		if err := ndfile.Save(ctx, []ndfile.Format{npy.Format}, path, []ndfile.Item{{Data: c.array}}, ndfile.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "cases.json")
	if err := os.WriteFile(list, text, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "peer.py", dir, list).CombinedOutput()
	if err != nil || !bytes.HasPrefix(out, fmt.Appendf(nil, "%d cases", len(cases))) {
		t.Fatalf("%s\n%v", out, err)
	}
	t.Logf("%s", out)
	for i, c := range cases {
		compare(t, filepath.Join(dir, fmt.Sprint(i)+"-fortran.npy"), []string{""}, []sample{c})
	}
	members := make([]string, len(cases))
	for i := range cases {
		members[i] = fmt.Sprint("m", i)
	}
	compare(t, filepath.Join(dir, "stored.npz"), members, cases)
	compare(t, filepath.Join(dir, "deflated.npz"), members, cases)
}

// compare reads what NumPy wrote.
func compare(t *testing.T, path string, names []string, want []sample) {
	t.Helper()
	f, err := ndfile.Open(ctx, []ndfile.Format{npy.Format, npy.Archive}, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if !slices.Equal(f.Names(), names) {
		t.Errorf("%s: %q, expected %q", path, f.Names(), names)
	}
	for i, name := range names {
		a, err := f.Array(name)
		if err != nil {
			t.Error(err)
			continue
		}
		w := want[i].array
		got, err := ndarray.NewBuffer(a.Spec().DType, a.Spec().Shape)
		if err == nil {
			err = a.ReadBox(ctx, ndarray.Full(got.Shape), got)
		}
		if err != nil || !got.DType.Equal(w.DType) || !slices.Equal(got.Shape, w.Shape) || !bytes.Equal(got.Data, w.Data) {
			t.Errorf("%s, array %q: %.300s %v, expected %.300s %v, %v", path, name, got.DType, got.Shape, w.DType, w.Shape, err)
		}
	}
}
