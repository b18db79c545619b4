//go:build cgo

package crosstest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ds"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/netcdf"
)

var (
	ctx     = context.Background()
	formats = []ndfile.Format{netcdf.Format, ds.Format}
)

// python is the interpreter of the peer. The test is skipped loudly where there is
// none, or no libnetcdf, and fails in CI, which must not skip.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("NDFILE_TEST_PYTHON")
	why := ""
	if path == "" {
		why = "NDFILE_TEST_PYTHON does not name a Python with netCDF4 and numpy"
	}
	if lib := os.Getenv("NDFILE_TEST_LIBNETCDF"); lib != "" {
		os.Setenv("NDFILE_LIBNETCDF", lib)
	}
	mem := ndfile.NewMem()
	if f, err := netcdf.Format.Create(ctx, mem, "/f.nc", ndfile.CreateOptions{}); err != nil {
		why = err.Error()
	} else {
		f.Abort()
	}
	if why != "" && os.Getenv("CI") != "" {
		t.Fatal(why)
	} else if why != "" {
		fmt.Fprintln(os.Stderr, "*** SKIPPED: pkg/netcdf is NOT compared with netCDF4-python: "+why+" ***")
		t.Skip(why)
	}
	return path
}

// peer runs peer.py.
func peer(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(python(t), append([]string{"peer.py"}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "LD_LIBRARY_PATH=") })
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("peer.py %v: %v", args, err)
	}
	return out
}

// dumped is a file as peer.py dumps it.
type dumped struct {
	Attrs map[string]any       `json:"attrs"`
	Vars  map[string]*variable `json:"vars"`
}

type variable struct {
	DType   string         `json:"dtype"`
	Shape   []int64        `json:"shape"`
	Dims    []string       `json:"dims"`
	Data    string         `json:"data"`
	Mask    string         `json:"mask"`
	Strings []string       `json:"strings"`
	Attrs   map[string]any `json:"attrs"`
}

// parse reads a dump. NaN, which JSON has not, becomes a text.
func parse(t *testing.T, text []byte) *dumped {
	t.Helper()
	for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
		for _, before := range []string{": ", ", ", "["} {
			text = bytes.ReplaceAll(text, []byte(before+word), []byte(before+`"`+word+`"`))
		}
	}
	d := new(dumped)
	if err := json.Unmarshal(text, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// dump reads a file with this library.
func dump(t *testing.T, path string) *dumped {
	t.Helper()
	f, err := ndfile.Open(ctx, formats, path, ndfile.OpenOptions{Format: "netcdf"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	out := &dumped{Vars: map[string]*variable{}}
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		out.Vars[name] = dumpArray(t, a)
		out.Vars[name].Attrs = plain(t, a.Attrs())
	}
	out.Attrs = plain(t, f.Attrs())
	tree := f.(interface {
		Groups() []string
		GroupAttrs(context.Context, string) (*ndfile.Attrs, error)
	})
	for _, g := range tree.Groups() { // the peer has them under path and name
		attrs, err := tree.GroupAttrs(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range plain(t, attrs) {
			out.Attrs[g+"/"+name] = value
		}
	}
	return out
}

func plain(t *testing.T, attrs *ndfile.Attrs) map[string]any {
	return parse(t, append(ndfile.AppendJSON([]byte(`{"attrs": `), attrs), '}')).Attrs
}

func dumpArray(t *testing.T, a ndfile.Array) *variable {
	t.Helper()
	s := a.Spec()
	v := &variable{DType: s.DType.String(), Shape: append([]int64{}, s.Shape...), Dims: append([]string{}, s.Dims...)}
	n, err := ndarray.Count(s.Shape)
	if err != nil {
		t.Fatal(err)
	}
	box := ndarray.Full(s.Shape)
	if s.DType.IsVar() {
		offsets := make([]int64, n+1)
		data, err := ndfile.ReadAllStrings(ctx, a, box, offsets, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			v.Strings = append(v.Strings, string(data[offsets[i]:offsets[i+1]]))
		}
		return v
	}
	b, err := ndarray.NewBuffer(s.DType, s.Shape)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := a.(ndfile.Masked); ok {
		mask := make([]byte, n)
		err = m.ReadMasked(ctx, box, b, mask)
		v.Mask = hex.EncodeToString(mask)
	} else {
		err = a.ReadBox(ctx, box, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.Data = hex.EncodeToString(b.Data)
	return v
}

// same compares dumps. Our own marks in a file are not looked at, nor the names of
// axes that have none here.
func same(t *testing.T, got, want *dumped) {
	t.Helper()
	if !reflect.DeepEqual(got.Attrs, want.Attrs) {
		t.Errorf("attributes of the file: got %v, want %v", got.Attrs, want.Attrs)
	}
	if len(got.Vars) != len(want.Vars) {
		t.Errorf("got %d variables, want %d", len(got.Vars), len(want.Vars))
	}
	for name, w := range want.Vars {
		if g := got.Vars[name]; g == nil {
			t.Errorf("no variable %q", name)
		} else if !reflect.DeepEqual(g, w) {
			t.Errorf("variable %q: got\n%v\nwant\n%v", name, *g, *w)
		}
	}
}

// TestRead reads what netCDF4-python wrote, in all formats.
func TestRead(t *testing.T) {
	for _, format := range []string{"NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC", "NETCDF4"} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.nc")
			peer(t, "write", format, path)
			want := parse(t, peer(t, "dump", path))
			same(t, dump(t, path), want)
			viaDS(t, path, want)
		})
	}
}

// viaDS converts a file to ds and back, which must lose nothing.
func viaDS(t *testing.T, path string, want *dumped) {
	t.Helper()
	dir := t.TempDir()
	there, back := filepath.Join(dir, "f.ds"), filepath.Join(dir, "back.nc")
	if losses, err := ndfile.Convert(ctx, formats, path, there, ndfile.ConvertOptions{AllowLoss: true}); err != nil || len(unexpected(losses)) > 0 {
		t.Fatalf("to ds: %v, %v", losses, err)
	}
	if losses, err := ndfile.Convert(ctx, formats, there, back, ndfile.ConvertOptions{AllowLoss: true}); err != nil {
		t.Fatalf("from ds: %v, %v", losses, err)
	}
	got := parse(t, peer(t, "dump", back))
	for name, v := range got.Vars {
		w := want.Vars[name]
		if w == nil || strings.HasPrefix(w.DType, "|S") { // ds has no strings of fixed length
			delete(want.Vars, name)
			delete(got.Vars, name)
			continue
		}
		delete(v.Attrs, "_ndfile")
	}
	for name, w := range want.Vars {
		if strings.HasPrefix(w.DType, "|S") {
			delete(want.Vars, name)
		}
	}
	same(t, got, want)
}

// unexpected leaves out the losses of strings of fixed length, which ds does not have, and what is named of elements
// that have netcdf's default fill value: the values themselves are compared.
func unexpected(losses []ndfile.Loss) []ndfile.Loss {
	return slices.DeleteFunc(slices.Clone(losses), func(l ndfile.Loss) bool {
		return l.What == "dtype" && strings.HasPrefix(l.Why, "|S") || l.What == "default fill"
	})
}

// TestGSHHG converts files made by others.
func TestGSHHG(t *testing.T) {
	python(t)
	dir := os.Getenv("NDFILE_TEST_GSHHG")
	if dir == "" {
		fmt.Fprintln(os.Stderr, "*** SKIPPED: NDFILE_TEST_GSHHG does not name a folder of NetCDF files ***")
		t.Skip("no files")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*_[cl].nc"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want := parse(t, peer(t, "dump", path))
			same(t, dump(t, path), want)
			viaDS(t, path, want)
			converted := filepath.Join(t.TempDir(), "f.ds")
			if _, err := ndfile.Convert(ctx, formats, path, converted, ndfile.ConvertOptions{AllowLoss: true}); err != nil {
				t.Fatal(err)
			}
			peer(t, "ds", path, converted) // ds-format reads the same
		})
	}
}

// TestDCW converts a file of a thousand variables, made by others, to ds and back. netCDF4-python and ds-format
// compare all values.
func TestDCW(t *testing.T) {
	python(t)
	path := os.Getenv("NDFILE_TEST_DCW")
	if path == "" {
		fmt.Fprintln(os.Stderr, "*** SKIPPED: NDFILE_TEST_DCW does not name a NetCDF file ***")
		t.Skip("no file")
	}
	dir := t.TempDir()
	there, back := filepath.Join(dir, "f.ds"), filepath.Join(dir, "back.nc")
	for _, way := range [][2]string{{path, there}, {there, back}} {
		if losses, err := ndfile.Convert(ctx, formats, way[0], way[1], ndfile.ConvertOptions{AllowLoss: true}); err != nil || len(unexpected(losses)) > 0 {
			t.Fatalf("%s: %v, %v", way[1], losses, err)
		}
	}
	for _, nc := range []string{path, back} {
		if n, err := strconv.Atoi(strings.TrimSpace(string(peer(t, "ds", nc, there)))); err != nil || n < 1000 {
			t.Errorf("%s: %d variables were compared (%v)", nc, n, err)
		}
	}
}

// TestWrite lets netCDF4-python read what this library wrote, masks included.
func TestWrite(t *testing.T) {
	python(t)
	path := filepath.Join(t.TempDir(), "f.nc")
	f, err := ndfile.Create(ctx, formats, path, ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.Attrs().Set("title", ndfile.StringValue("naïve"))
	f.Attrs().Set("count", ndfile.IntValue(math.MaxInt64))
	rng := rand.New(rand.NewPCG(1, 2))
	for i, name := range []string{"|b1", "|i1", "<i2", ">i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8"} {
		for _, masked := range []bool{false, true} {
			write(t, f, rng, fmt.Sprintf("g%d/v%v", i%2, strings.Trim(name, "<>|")+fmt.Sprint(masked)), ndarray.MustParse(name), masked)
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	got, ours := parse(t, peer(t, "dump", path)), dump(t, path)
	for name, v := range got.Vars {
		delete(v.Attrs, "_ndfile")
		delete(v.Attrs, "_FillValue") // chosen here, and not shown
		ours.Vars[name].Dims = v.Dims
		if v.Mask != ours.Vars[name].Mask {
			t.Errorf("%s: the masks differ", name)
		}
	}
	same(t, ours, got)
}

// write adds an array of random numbers, a third of them missing if masked; the
// others include what libnetcdf has as its own fill value.
func write(t *testing.T, f ndfile.File, rng *rand.Rand, name string, d ndarray.DType, masked bool) {
	t.Helper()
	shape := []int64{7, 11}
	a, err := f.Add(ctx, name, ndfile.Spec{DType: d, Shape: shape, Masked: masked})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ndarray.NewBuffer(d, shape)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Data {
		b.Data[i] = byte(rng.Uint32())
		if d.Kind == ndarray.Bool {
			b.Data[i] &= 1
		}
	}
	if !masked {
		err = a.WriteBox(ctx, ndarray.Full(shape), b)
	} else {
		mask := make([]byte, 77)
		for i := range mask {
			mask[i] = byte(rng.UintN(3) / 2)
		}
		err = a.(ndfile.Masked).WriteMasked(ctx, ndarray.Full(shape), b, mask)
	}
	if err != nil {
		t.Fatal(err)
	}
}
