package ndfile_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// pointArrays are arrays of 7 x 11 x 5 elements 0, 1, ... in several formats.
func pointArrays(t *testing.T, masked bool) map[string]ndfile.Array {
	shape := []int64{7, 11, 5}
	data := make([]byte, 4*7*11*5)
	mask := make([]byte, 7*11*5)
	for i := range mask {
		data[4*i], data[4*i+1] = byte(i), byte(i>>8)
		if i%3 == 0 && masked {
			mask[i], data[4*i], data[4*i+1] = 1, 0, 0
		}
	}
	le, _ := ndarray.Parse("<i4")
	be, _ := ndarray.Parse(">i4")
	found := map[string]ndfile.Array{}
	for _, c := range []struct {
		path   string
		stored ndarray.DType
	}{{"a.ds", le}, {"b.ds", be}, {"c.npy", le}, {"d.ra", le}, {"e.zarr", le}} {
		if masked && c.path > "c" {
			continue
		}
		path := filepath.Join(t.TempDir(), c.path)
		opt := ndfile.CreateOptions{}
		name := ""
		spec := ndfile.Spec{DType: c.stored, Shape: shape, Masked: masked}
		switch filepath.Ext(path) {
		case ".zarr":
			opt.Format, spec.Chunks = "zarr2", []int64{3, 4, 2}
		case ".ds":
			name = "x"
		}
		w, err := ndfile.Create(t.Context(), all.Formats, path, opt)
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.Add(t.Context(), name, spec)
		src := ndarray.Buffer{DType: le, Shape: shape, Data: data}
		if err == nil && masked {
			err = a.(ndfile.Masked).WriteMasked(t.Context(), ndarray.Full(shape), src, mask)
		} else if err == nil {
			err = a.WriteBox(t.Context(), ndarray.Full(shape), src)
		}
		if err == nil {
			err = w.Close(t.Context())
		}
		if err != nil {
			t.Fatal(path, err)
		}
		r, err := ndfile.Open(t.Context(), all.Formats, path, ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Abort() })
		if found[c.path], err = r.Array(name); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestReadPoints(t *testing.T) {
	le, _ := ndarray.Parse("<i4")
	r := rand.New(rand.NewPCG(1, 2))
	for _, masked := range []bool{false, true} {
		for path, a := range pointArrays(t, masked) {
			for axes := 1; axes <= 3; axes++ {
				elems := []int{0, 55, 5, 1}[axes]
				for _, n := range []int{0, 1, 3, 40, 500} {
					points := make([]int64, n)
					for i := range points {
						points[i] = r.Int64N(int64(7 * 11 * 5 / elems))
					}
					shape := append([]int64{int64(n)}, []int64{7, 11, 5}[axes:]...)
					gaps := n%2 == 1
					size := 4 * n * elems
					dst := ndarray.Buffer{DType: le, Shape: shape, Data: make([]byte, size)}
					if gaps { // in reverse
						dst.Strides = make([]int64, len(shape))
						for axis, stride := len(shape)-1, int64(4); axis >= 0; axis-- {
							dst.Strides[axis] = stride
							stride *= shape[axis]
						}
						dst.Strides[0] *= -1
						dst.Offset = int64(size - 4*elems)
					}
					var mask []byte
					if masked {
						mask = slices.Repeat([]byte{9}, n*elems)
					}
					if err := ndfile.ReadPoints(t.Context(), a, axes, points, dst, mask); err != nil {
						t.Fatal(path, axes, n, err)
					}
					for k, p := range points {
						for e := range elems {
							want, at := int(p)*elems+e, k
							gone := masked && want%3 == 0
							if masked && (mask[k*elems+e] != 0) != gone {
								t.Fatalf("%s: %d axes: mask of position %d: %d", path, axes, p, mask[k*elems+e])
							}
							if gaps {
								at = n - 1 - k
							}
							if got := int(dst.Data[4*(at*elems+e)]) | int(dst.Data[4*(at*elems+e)+1])<<8; got != want && !gone {
								t.Fatalf("%s: %d axes, %d points: position %d: %d, expected %d", path, axes, n, p, got, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestReadPointsErrors(t *testing.T) {
	le, _ := ndarray.Parse("<i4")
	for path, a := range pointArrays(t, false) {
		dst := ndarray.Buffer{DType: le, Shape: []int64{1}, Data: make([]byte, 4)}
		for _, c := range []struct {
			axes  int
			point int64
			want  error
		}{{3, 385, ndfile.ErrBounds}, {3, -1, ndfile.ErrBounds}, {0, 0, ndfile.ErrShape}, {4, 0, ndfile.ErrShape}, {2, 0, ndfile.ErrShape}} {
			if err := ndfile.ReadPoints(t.Context(), a, c.axes, []int64{c.point}, dst, nil); !errors.Is(err, c.want) {
				t.Errorf("%s: point %d along %d axes: %v, expected %v", path, c.point, c.axes, err, c.want)
			}
		}
	}
	for path, a := range pointArrays(t, true) {
		dst := ndarray.Buffer{DType: le, Shape: []int64{2}, Data: make([]byte, 8)}
		if err := ndfile.ReadPoints(t.Context(), a, 3, []int64{1, 3}, dst, nil); !errors.Is(err, ndfile.ErrMasked) {
			t.Errorf("%s: a missing element without a mask: %v", path, err)
		}
	}
}
