package crosstest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/rawarray"
)

var ctx = context.Background()

// elements is the number of elements of every file that the crate writes.
const elements = 24

// types are the element types of the crate by its names, with their dtypes.
var types = []struct{ name, dtype string }{
	{"i8", "|i1"}, {"i16", "<i2"}, {"i32", "<i4"}, {"i64", "<i8"}, {"i128", "<i16"},
	{"u8", "|u1"}, {"u16", "<u2"}, {"u32", "<u4"}, {"u64", "<u8"}, {"u128", "<u16"},
	{"f16", "<f2"}, {"bf16", "bfloat16"}, {"f32", "<f4"}, {"f64", "<f8"},
	{"c64", "<c8"}, {"c128", "<c16"},
	{"foo", `[["info", "|S12"], ["index", "<u4"], ["v", "<f8", [8]]]`},
}

// nth is element i of every file as it lies on disk.
func nth(name string, d ndarray.DType, i int) (e []byte) {
	le := binary.LittleEndian
	x := float64(i)*0.5 - 3
	switch d.Kind {
	case ndarray.Int, ndarray.Uint:
		n := int64(i)*37 - 100
		e = le.AppendUint64(le.AppendUint64(nil, uint64(n)), uint64(n>>63))
		return e[:d.Size]
	case ndarray.Float:
		switch bits := math.Float32bits(float32(x)); d.Size {
		case 2: // small numbers that need few bits
			if x != 0 {
				e = le.AppendUint16(nil, uint16(bits>>31<<15|(bits>>23&0xff-127+15)<<10|bits>>13&0x3ff))
			} else {
				e = make([]byte, 2)
			}
		case 4:
			e = le.AppendUint32(nil, bits)
		case 8:
			e = le.AppendUint64(nil, math.Float64bits(x))
		}
	case ndarray.BFloat:
		e = le.AppendUint16(nil, uint16(math.Float32bits(float32(x))>>16))
	case ndarray.Complex:
		if d.Size == 8 {
			e = le.AppendUint32(le.AppendUint32(nil, math.Float32bits(float32(x))), math.Float32bits(float32(-x)))
		} else {
			e = le.AppendUint64(le.AppendUint64(nil, math.Float64bits(x)), math.Float64bits(-x))
		}
	case ndarray.Record:
		e = append([]byte("item......."), 'a'+byte(i))
		e = le.AppendUint32(e, uint32(i)*1000)
		for j := range 8 {
			e = le.AppendUint64(e, math.Float64bits(x+float64(j)))
		}
	}
	return e
}

// sample is an array of those elements.
func sample(name string, d ndarray.DType, shape ...int64) ndarray.Buffer {
	b := ndarray.Buffer{DType: d, Shape: shape}
	n, _ := ndarray.Count(shape)
	for i := range int(n) {
		b.Data = append(b.Data, nth(name, d, i)...)
	}
	return b
}

// crate builds the program and gives its path.
func crate(t *testing.T) string {
	t.Helper()
	missing := func(what string, out []byte) {
		t.Helper()
		if os.Getenv("CI") != "" {
			t.Fatalf("%s\n%s", what, out)
		}
		t.Skipf("NOT TESTED against the crate rawarray: %s\n%s", what, out)
	}
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		missing("cargo is not installed", nil)
	}
	if out, err := exec.Command(cargo, "fetch", "--locked").CombinedOutput(); err != nil {
		missing("cargo fetch: "+err.Error(), out)
	}
	target, err := filepath.Abs("../../../build/rawarray-crate")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command(cargo, "build", "--release", "--locked", "--offline", "--target-dir", target)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cargo build: %v\n%s", err, out)
	}
	return filepath.Join(target, "release", "rawarray-crosstest")
}

func TestCrate(t *testing.T) {
	program := crate(t)
	t.Run("CrateReads", func(t *testing.T) { crateReads(t, program) })
	t.Run("CrateWrites", func(t *testing.T) { crateWrites(t, program) })
}

// crateReads: the crate finds the elements and the reversed shape of our files.
func crateReads(t *testing.T, program string) {
	dir := t.TempDir()
	want := map[string]bool{}
	for _, ty := range types {
		d := ndarray.MustParse(ty.dtype)
		for i, shape := range [][]int64{{elements}, {2, 3, 4}, {}, {0}, {3, 0, 2}, {5, 1, 1}} {
			file := fmt.Sprintf("%s-%d.ra", ty.name, i)
			src := sample(ty.name, d, shape...)
			err := ndfile.Save(ctx, []ndfile.Format{rawarray.Format}, filepath.Join(dir, file), []ndfile.Item{{Data: src}}, ndfile.SaveOptions{})
			if err != nil {
				t.Fatal(err)
			}
			dims := slices.Clone(shape)
			slices.Reverse(dims)
			n, _ := ndarray.Count(shape)
			want[fmt.Sprintf("%s %s %d", file, strings.ReplaceAll(fmt.Sprint(dims), " ", ", "), n)] = true
		}
	}
	out, err := exec.Command(program, "read", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if !want[line] {
			t.Errorf("the crate says %s", line)
		}
		delete(want, line)
	}
	for line := range want {
		t.Errorf("the crate did not say %s", line)
	}
}

// crateWrites: we find the elements of the crate's files, and write the same
// bytes.
func crateWrites(t *testing.T, program string) {
	dir := t.TempDir()
	if out, err := exec.Command(program, "write", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, ty := range types {
		d := ndarray.MustParse(ty.dtype)
		path := filepath.Join(dir, ty.name+".ra")
		theirs, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ndfile.Open(ctx, []ndfile.Format{rawarray.Format}, path, ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Array("")
		if err != nil {
			t.Fatal(err)
		}
		want := sample(ty.name, d, elements)
		got, err := ndarray.NewBuffer(d, a.Spec().Shape)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.ReadBox(ctx, ndarray.Full(got.Shape), got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Shape, want.Shape) || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: %v %x, expected %x", ty.name, got.Shape, got.Data, want.Data)
		}
		f.Abort()
		err = ndfile.Save(ctx, []ndfile.Format{rawarray.Format}, path, []ndfile.Item{{Data: want}}, ndfile.SaveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ours, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ours, theirs) {
			t.Errorf("%s: we write\n%x, the crate\n%x", ty.name, ours, theirs)
		}
	}
}
