package ndmat_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/ndmat"
)

// saved gives the arrays of a new file.
func saved(t *testing.T, path string, items ...ndfile.Item) func(name string) ndfile.Array {
	t.Helper()
	mem := ndfile.NewMem()
	if err := ndfile.Save(t.Context(), all.Formats, path, items, ndfile.SaveOptions{FS: mem}); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.Open(t.Context(), all.Formats, path, ndfile.OpenOptions{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Abort() })
	return func(name string) ndfile.Array {
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// Matrices of every kind come back, also those that lie in others or are computed.
func TestThereAndBack(t *testing.T) {
	m := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	matrices := map[string]mat.Matrix{
		"whole": m, "part": m.Slice(1, 3, 1, 3), "turned": m.T(), "diagonal": mat.NewDiagDense(2, []float64{5, 6}),
		"symmetric": mat.NewSymDense(2, []float64{1, 2, 2, 3}), "row": m.Slice(0, 1, 0, 4), "triangle": mat.NewTriDense(2, mat.Upper, []float64{1, 2, 0, 3}),
	}
	vectors := map[string]mat.Vector{"v": mat.NewVecDense(3, []float64{1, 2, 3}), "column": m.ColView(2)}
	items := []ndfile.Item{ndmat.Item("empty", &mat.Dense{})}
	for name, m := range matrices {
		items = append(items, ndmat.Item(name, m))
	}
	for name, v := range vectors {
		items = append(items, ndmat.Item(name, v))
	}
	get := saved(t, "x.ds", items...)
	for name, m := range matrices {
		if got, err := ndmat.Dense(t.Context(), get(name)); err != nil || !mat.Equal(got, m) {
			t.Error(name, got, err)
		}
	}
	for name, v := range vectors {
		if got, err := ndmat.Vec(t.Context(), get(name)); err != nil || !mat.Equal(got, v) {
			t.Error(name, got, err)
		}
	}
	if got, err := ndmat.Dense(t.Context(), get("empty")); err != nil || !got.IsEmpty() {
		t.Error(got, err)
	}
	c := saved(t, "x.npy", ndfile.Item{Data: ndmat.CBuffer(mat.NewCDense(1, 2, []complex128{1i, 2}))})
	if got, err := ndmat.CDense(t.Context(), c("")); err != nil || got.At(0, 0) != 1i || got.At(0, 1) != 2 {
		t.Error(got, err)
	}
}

func TestBoxes(t *testing.T) {
	values := make([]int16, 2*3*4)
	for i := range values {
		values[i] = int16(i)
	}
	get := saved(t, "x.ds", ndfile.Item{Name: "a", Data: ndarray.Of(values, 2, 3, 4)}, ndfile.Item{Name: "m", Data: ndarray.Of([]float32{1, 2}), Mask: []byte{0, 1}})
	a := get("a")
	m, err := ndmat.DenseOf(t.Context(), a, ndarray.Box{Start: []int64{1, 0, 0}, Count: []int64{1, 3, 2}})
	if err != nil || !mat.Equal(m, mat.NewDense(3, 2, []float64{12, 13, 16, 17, 20, 21})) {
		t.Error(m, err)
	}
	m, err = ndmat.DenseOf(t.Context(), a, ndarray.Box{Start: []int64{1, 2, 0}, Count: []int64{1, 1, 4}})
	if err != nil || !mat.Equal(m, mat.NewDense(1, 4, []float64{20, 21, 22, 23})) {
		t.Error(m, err)
	}
	v, err := ndmat.VecOf(t.Context(), a, ndarray.Box{Start: []int64{0, 0, 1}, Count: []int64{1, 3, 1}})
	if err != nil || !mat.Equal(v, mat.NewVecDense(3, []float64{1, 5, 9})) {
		t.Error(v, err)
	}
	if _, err := ndmat.Dense(t.Context(), a); !errors.Is(err, ndfile.ErrShape) {
		t.Error(err)
	}
	if _, err := ndmat.Vec(t.Context(), get("m")); !errors.Is(err, ndfile.ErrMasked) {
		t.Error(err)
	}
}
