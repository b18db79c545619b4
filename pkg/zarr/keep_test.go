package zarr

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestGrowKeeps: a shape that is too small looks like an append that was stopped.
// An array that grows over it, or is cut, moves aside what nobody counts.
func TestGrowKeeps(t *testing.T) {
	full := ndarray.Full([]int64{97})
	values, err := ndarray.NewBuffer(ndarray.MustParse("<i4"), full.Count)
	if err != nil {
		t.Fatal(err)
	}
	for i := range values.Data {
		values.Data[i] = byte(1 + i%251)
	}
	changes := map[string]func(a ndfile.Array, rows int64) error{
		"append": func(a ndfile.Array, rows int64) error {
			part, err := values.Sub(ndarray.Box{Start: []int64{0}, Count: []int64{15}})
			if err != nil {
				return err
			}
			return a.(ndfile.Resizer).Append(ctx, 0, part)
		},
		"grow":           func(a ndfile.Array, rows int64) error { return a.(ndfile.Resizer).Resize(ctx, []int64{95}) },
		"shrink to grow": func(a ndfile.Array, rows int64) error { return resizeTwice(a, rows/10*10, 95) },
	}
	for _, version := range []ndfile.Format{Format0, Format2, Format3} {
		for name, do := range changes {
			for _, rows := range []int64{0, 20, 23, 88} {
				at := fmt.Sprintf("%s, %s, %d rows", version.Name(), name, rows)
				mem := ndfile.NewMem()
				mem.Mkdir("/d")
				f, err := version.Create(ctx, mem, "/d/a", ndfile.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				a, err := f.Add(ctx, "", ndfile.Spec{DType: values.DType, Shape: full.Count, Chunks: []int64{10}})
				if err == nil {
					err = a.WriteBox(ctx, full, values)
				}
				if err == nil {
					err = f.Close(ctx)
				}
				if err != nil {
					t.Fatal(at, err)
				}
				before := listFiles(t, mem, "/d", "", files{})
				for path, text := range before {
					if strings.HasSuffix(path, meta0) || strings.HasSuffix(path, ".zarray") || strings.HasSuffix(path, "zarr.json") {
						smaller := strings.Replace(text, "97", fmt.Sprint(rows), 1)
						if err := mem.WriteFile("/d/"+path, [][]byte{[]byte(smaller)}, ndfile.WriteOptions{}); err != nil {
							t.Fatal(err)
						}
						delete(before, path)
					}
				}
				f, err = version.Open(ctx, mem, "/d/a", ndfile.OpenOptions{Mode: ndfile.Update})
				if err != nil {
					t.Fatal(at, err)
				}
				a, err = f.Array("")
				if err == nil {
					err = do(a, rows)
				}
				if err == nil {
					err = f.Close(ctx)
				}
				if err != nil {
					t.Fatal(at, err)
				}
				after := slices.Collect(maps.Values(listFiles(t, mem, "/d", "", files{})))
				lost := 0
				for path, text := range before {
					number := strings.Trim(path[strings.LastIndexAny(path[:len(path)-len(".blosc")*strings.Count(path, ".blosc")], "/")+1:], ".blosc")
					var k int64
					if _, err := fmt.Sscan(number, &k); err == nil && k >= rows/10 && !slices.Contains(after, text) {
						lost++
					}
				}
				if lost > 0 {
					t.Errorf("%s: %d chunks are lost", at, lost)
				}
			}
		}
	}
}

// resizeTwice shrinks an array, then lets it grow.
func resizeTwice(a ndfile.Array, small, large int64) error {
	r := a.(ndfile.Resizer)
	if err := r.Resize(ctx, []int64{small}); err != nil {
		return err
	}
	return r.Resize(ctx, []int64{large})
}

// TestGrowKeepsNothing: what the array itself has cut off, or written behind the end
// and given up, is gone: nothing is moved aside for it.
func TestGrowKeepsNothing(t *testing.T) {
	for _, version := range []ndfile.Format{Format0, Format2, Format3} {
		mem := ndfile.NewMem()
		mem.Mkdir("/d")
		f, err := version.Create(ctx, mem, "/d/a", ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ones := ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{25, 25}, Data: slices.Repeat([]byte{1}, 625)}
		a, err := f.Add(ctx, "", ndfile.Spec{DType: ones.DType, Shape: ones.Shape, Chunks: []int64{10, 10}})
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full(ones.Shape), ones)
		}
		if err == nil {
			err = f.Close(ctx)
		}
		for _, shape := range [][]int64{{13, 25}, {31, 7}, {25, 25}, {0, 0}, {12, 12}} {
			if err != nil {
				t.Fatal(err)
			}
			if f, err = version.Open(ctx, mem, "/d/a", ndfile.OpenOptions{Mode: ndfile.Update}); err != nil {
				t.Fatal(err)
			}
			if a, err = f.Array(""); err == nil {
				err = a.(ndfile.Resizer).Resize(ctx, shape)
			}
			if err == nil {
				err = f.Close(ctx)
			}
		}
		for path := range listFiles(t, mem, "/d", "", files{}) {
			if strings.Contains(path, ".ndf-removed-") {
				t.Errorf("%s: %s", version.Name(), path)
			}
		}
	}
}
