package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// Slices select what they do in Python.
func TestSlicesGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/slices.golden")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		n, _ := strconv.ParseInt(f[0], 10, 64)
		s, err := parseSubscript(f[1])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		a, err := s.on(n)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var got []string
		for i := range a.count {
			got = append(got, strconv.FormatInt(a.start+i*a.step, 10))
		}
		if want := strings.Join(got, ","); want != strings.TrimSuffix(f[2], "-") {
			t.Errorf("%s of %d: got %q, want %q", f[1], n, want, f[2])
		}
	}
}

func TestSubscriptsRefused(t *testing.T) {
	for _, arg := range []string{"x[]", "x[1.5]", "x[::0]", "x[1,,2]", "x[1:2:3:4]", "x[...,...]", "x[9223372036854775808]"} {
		if _, _, err := cutIndex(arg); err == nil {
			t.Errorf("%s: no error", arg)
		}
	}
	for list, shape := range map[string][]int64{"[1,2]": {5}, "[5]": {5}, "[-6]": {5}, "[0]": {}} {
		_, index, err := cutIndex(list)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resolve(index, shape); err == nil {
			t.Errorf("%s of %v: no error", list, shape)
		}
	}
}

// viewFile is a ds file with a masked array and texts of one shape.
func viewFile(t *testing.T, shape []int64) ndfile.File {
	t.Helper()
	n, _ := ndarray.Count(shape)
	numbers := ndfile.Item{Name: "n", Data: ndarray.Buffer{DType: ndarray.MustParse("i4"), Shape: shape}}
	words := ndfile.Item{Name: "s", Offsets: []int64{0}, Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: shape}}
	for i := range n {
		numbers.Data.Data = binary.NativeEndian.AppendUint32(numbers.Data.Data, uint32(i))
		words.Data.Data = fmt.Appendf(words.Data.Data, "%d", i)
		words.Offsets = append(words.Offsets, int64(len(words.Data.Data)))
		missing := byte(0)
		if i%5 == 3 {
			missing = 1
		}
		numbers.Mask = append(numbers.Mask, missing)
	}
	path := t.TempDir() + "/x.ds"
	if err := ndfile.Save(context.Background(), all.Formats, path, []ndfile.Item{numbers, words}, ndfile.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.Open(context.Background(), all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Abort() })
	return f
}

// randomSelection selects along axes of that shape.
func randomSelection(r *rand.Rand, shape []int64) []along {
	sel := make([]along, len(shape))
	for axis, n := range shape {
		s := along{start: r.Int64N(n), count: 1, step: 1, drop: r.IntN(4) == 0}
		if !s.drop {
			s.step = 1 + r.Int64N(3)
			room := (n-1-s.start)/s.step + 1
			if r.IntN(2) == 0 {
				room = s.start/s.step + 1
				s.step = -s.step
			}
			s.count = r.Int64N(room + 1)
		}
		sel[axis] = s
	}
	return sel
}

// randomBox is a box within a shape.
func randomBox(r *rand.Rand, shape []int64) ndarray.Box {
	b := ndarray.Full(shape)
	b.Step = make([]int64, len(shape))
	for axis, n := range shape {
		b.Step[axis] = 1 + r.Int64N(2)
		if n > 0 {
			b.Start[axis] = r.Int64N(n)
			b.Count[axis] = r.Int64N((n-1-b.Start[axis])/b.Step[axis] + 2)
		}
	}
	return b
}

// checkArray reads a box of numbers or texts and compares element i with the number
// that want gives, and a mask of every fifth from the fourth.
func checkArray(t *testing.T, a ndfile.Array, box ndarray.Box, want func(at []int64) int64) {
	t.Helper()
	d := a.Spec().DType
	b, err := readBlock(context.Background(), a, box, d)
	if err != nil {
		t.Fatalf("%v: %v", box, err)
	}
	for i := range b.n {
		at := unravel(i, box.Count)
		for axis := range at {
			at[axis] = box.Start[axis] + at[axis]*box.Step[axis]
		}
		n := want(at)
		if !d.IsVar() && n%5 == 3 {
			if !b.missing(i) {
				t.Fatalf("element %v is not missing", at)
			}
			continue
		}
		got := bytes.Trim(appendElement(nil, d, b.element(i), true), `"`)
		if b.missing(i) || string(got) != strconv.FormatInt(n, 10) {
			t.Fatalf("element %v: got %s, want %d", at, got, n)
		}
	}
}

// Boxes of views are those of the array below.
func TestViewModel(t *testing.T) {
	shape := []int64{4, 3, 5}
	f := viewFile(t, shape)
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		for _, name := range f.Names() {
			a, err := f.Array(name)
			if err != nil {
				t.Fatal(err)
			}
			sel := randomSelection(r, shape)
			v := selected(a, sel)
			checkArray(t, v, randomBox(r, v.spec.Shape), func(at []int64) int64 {
				flat := int64(0)
				for axis, s := range sel {
					place := s.start
					if !s.drop {
						place += at[0] * s.step
						at = at[1:]
					}
					flat = flat*shape[axis] + place
				}
				return flat
			})
		}
	}
}

// Boxes of joined arrays are those of the parts, one after the other.
func TestJointModel(t *testing.T) {
	shape := []int64{4, 3, 5}
	f := viewFile(t, shape)
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		for _, name := range f.Names() {
			a, err := f.Array(name)
			if err != nil {
				t.Fatal(err)
			}
			axis := r.IntN(3)
			cut := 1 + r.Int64N(shape[axis]-1)
			low, high := whole(a).sel, whole(a).sel
			low[axis].count = cut
			high[axis].start, high[axis].count = cut, shape[axis]-cut
			j := newJoint([]ndfile.Array{selected(a, low), selected(a, high)}, axis)
			checkArray(t, j, randomBox(r, shape), func(at []int64) int64 {
				return (at[0]*shape[1]+at[1])*shape[2] + at[2]
			})
			s := stacked(a, "new")
			checkArray(t, s, randomBox(r, s.spec.Shape), func(at []int64) int64 {
				return (at[1]*shape[1]+at[2])*shape[2] + at[3]
			})
		}
	}
}
