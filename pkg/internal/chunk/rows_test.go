package chunk

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestRows reads boxes of large plain chunks, of the system's files and of files in
// memory, into buffers of any strides: what a copy out of all elements gives. A file
// that is too short, or too long, is corrupt.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	shape, chunks := []int64{3, 230, 410}, []int64{2, 100, 200}
	dtype := ndarray.DType{Kind: ndarray.Int, Order: ndarray.Little, Size: 4}
	all, _ := ndarray.NewBuffer(dtype, shape)
	for i := range all.Data {
		all.Data[i] = byte(rng.Uint32())
	}
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "mem": vfs.NewMem()} {
		dir := t.TempDir()
		if name == "mem" {
			dir = "/d"
			fsys.Mkdir(dir)
		}
		a := newArray(t, fsys, chunks, shape, func(a *Array) {
			a.Folder, a.AppendPath, a.DType = dir, pathIn(dir, "."), dtype
		})
		box := ndarray.Box{Start: []int64{0, 0, 0}, Count: shape}
		if err := a.WriteBox(ctx, box, all); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			box := ndarray.Box{Start: make([]int64, 3), Count: make([]int64, 3), Step: make([]int64, 3)}
			for axis, n := range shape {
				box.Step[axis] = 1 + rng.Int64N(1+rng.Int64N(3))
				box.Start[axis] = rng.Int64N(n)
				box.Count[axis] = 1 + rng.Int64N((n-box.Start[axis]-1)/box.Step[axis]+1)
			}
			want, _ := ndarray.NewBuffer(dtype, box.Count)
			part, err := all.Sub(box)
			if err == nil {
				err = ndarray.Copy(want, part)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, _ := ndarray.NewBuffer(dtype, box.Count)
			if i%2 > 0 { // with gaps
				wide, _ := ndarray.NewBuffer(dtype, []int64{box.Count[0], box.Count[1], box.Count[2] + 3})
				got, _ = wide.Sub(ndarray.Box{Start: []int64{0, 0, 2}, Count: box.Count})
			}
			if err := a.ReadBox(ctx, box, got); err != nil || !bytes.Equal(packed(t, got), want.Data) {
				t.Fatalf("%s: %v: %v, or other elements", name, box, err)
			}
		}
		if name != "os" {
			continue
		}
		path := string(a.AppendPath(nil, []int64{0, 0, 0}))
		for _, size := range []int64{1000, 2*100*200*4 - 1, 2*100*200*4 + 1} {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			small := ndarray.Box{Start: []int64{0, 0, 0}, Count: []int64{1, 90, 90}}
			dst, _ := ndarray.NewBuffer(dtype, small.Count)
			if err := a.SetShape(shape); err != nil { // forgets what was read
				t.Fatal(err)
			}
			if err := a.ReadBox(ctx, small, dst); !errors.Is(err, ndfile.ErrCorrupt) {
				t.Errorf("a file of %d bytes: %v", size, err)
			}
		}
	}
}
