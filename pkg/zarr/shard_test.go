package zarr

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// shardedFile makes an array of int32 in shards, in a file that is open for changes.
func shardedFile(t *testing.T, m ndfile.FS, spec ndfile.Spec) ndfile.File {
	t.Helper()
	f, err := Format3.Create(ctx, m, "/s", ndfile.CreateOptions{})
	if err == nil {
		_, err = f.Add(ctx, "", spec)
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err == nil {
		f, err = Format3.Open(ctx, m, "/s", ndfile.OpenOptions{Mode: ndfile.Update})
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestShards writes and reads random boxes, with steps and out of order in memory,
// and changes the shape, beside a model in memory; a second handle reads the same.
func TestShards(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	int32s := ndarray.MustParse("<i4")
	for _, codecs := range [][]codec.Spec{{}, {{Name: "zstd"}}, {{Name: "transpose"}, {Name: "crc32c"}}, nil} {
		shape, chunks, shards := []int64{23, 17}, []int64{3, 2}, []int64{6, 8}
		m := ndfile.NewMem()
		f := shardedFile(t, m, ndfile.Spec{DType: int32s, Shape: shape, Chunks: chunks, Shards: shards, Codecs: codecs, Fill: []byte{7, 0, 0, 0}})
		a, err := f.Array("")
		if err != nil {
			t.Fatal(err)
		}
		if s := a.Spec(); !slices.Equal(s.Chunks, chunks) || !slices.Equal(s.Shards, shards) {
			t.Errorf("chunks %v, shards %v", s.Chunks, s.Shards)
		}
		model, err := ndarray.NewBuffer(int32s, shape)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(model.Data) / 4 {
			model.Data[4*i] = 7
		}
		for range 150 {
			box := ndarray.Box{Start: make([]int64, 2), Count: make([]int64, 2), Step: make([]int64, 2)}
			for axis, n := range shape {
				box.Start[axis], box.Step[axis] = rng.Int64N(n), 1+rng.Int64N(5)
				box.Count[axis] = rng.Int64N((n-1-box.Start[axis])/box.Step[axis] + 2)
			}
			b, err := ndarray.NewBuffer(int32s, box.Count)
			if err != nil {
				t.Fatal(err)
			}
			part, err := model.Sub(box)
			if err != nil {
				t.Fatal(err)
			}
			if rng.IntN(3) == 0 {
				for i := range b.Data {
					b.Data[i] = byte(rng.IntN(3)) * 7
				}
				if err = a.WriteBox(ctx, box, b); err == nil {
					err = ndarray.Copy(part, b)
				}
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := a.ReadBox(ctx, box, b); err != nil {
				t.Fatal(err)
			}
			want, _ := ndarray.NewBuffer(int32s, box.Count)
			if err := ndarray.Copy(want, part); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Data, want.Data) {
				t.Fatalf("%v: box %v: other elements", codecs, box)
			}
		}
		if err := a.(ndfile.Resizer).Resize(ctx, []int64{20, 17}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
		f, err = Format3.Open(ctx, m, "/s", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := ndarray.NewBuffer(int32s, []int64{20, 17})
		a, _ = f.Array("")
		if err := a.ReadBox(ctx, ndarray.Full(got.Shape), got); err != nil || !bytes.Equal(got.Data, model.Data[:len(got.Data)]) {
			t.Errorf("%v: read again: %v", codecs, err)
		}
		if list, err := found(Format3, m, "/s"); err != nil || len(list) > 0 {
			t.Errorf("verify: %q, %v", list, err)
		}
		f.Abort()
	}
}

// TestShardsTogether: goroutines of two handles write disjoint elements of the same
// shards; none is lost.
func TestShardsTogether(t *testing.T) {
	const n, writers = 10_000, 8
	m := ndfile.NewMem()
	u2 := ndarray.MustParse("<u2")
	f := shardedFile(t, m, ndfile.Spec{DType: u2, Shape: []int64{n}, Chunks: []int64{100}, Shards: []int64{2500}, Codecs: []codec.Spec{{Name: "zstd"}}})
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var files [2]ndfile.File
	for i := range files {
		var err error
		if files[i], err = Format3.Open(ctx, m, "/s", ndfile.OpenOptions{Mode: ndfile.Update, Shared: true}); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	errs := make([]error, writers)
	for w := range int64(writers) {
		wait.Go(func() {
			a, err := files[w%2].Array("")
			for at := w * 25; err == nil && at < n; at += 25 * writers {
				b, _ := ndarray.NewBuffer(u2, []int64{25})
				for i := range int64(25) {
					b.Data[2*i], b.Data[2*i+1] = byte(at+i+1), byte((at+i+1)>>8)
				}
				err = a.WriteBox(ctx, ndarray.Box{Start: []int64{at}, Count: []int64{25}}, b)
			}
			errs[w] = err
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	got, _ := ndarray.NewBuffer(u2, []int64{n})
	a, _ := files[0].Array("")
	if err := a.ReadBox(ctx, ndarray.Full(got.Shape), got); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for i := range n {
		if int(got.Data[2*i])|int(got.Data[2*i+1])<<8 != i+1 {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d elements lost", lost, n)
	}
	for _, f := range files {
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestShardsReadRanges: a small read of a large shard reads its index and the chunk,
// and no more; neighbours that are not written keep their bytes.
func TestShardsReadRanges(t *testing.T) {
	m := ndfile.NewMem()
	u1 := ndarray.MustParse("|u1")
	f := shardedFile(t, m, ndfile.Spec{DType: u1, Shape: []int64{1 << 20}, Chunks: []int64{1 << 12}, Shards: []int64{1 << 20}, Codecs: []codec.Spec{}})
	a, _ := f.Array("")
	all, _ := ndarray.NewBuffer(u1, []int64{1 << 20})
	for i := range all.Data {
		all.Data[i] = byte(i>>12) + 1
	}
	if err := a.WriteBox(ctx, ndarray.Full(all.Shape), all); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	counted := &countBytes{FS: m}
	f, err := Format3.Open(ctx, counted, "/s", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ = f.Array("")
	counted.n = 0
	one, _ := ndarray.NewBuffer(u1, []int64{100})
	if err := a.ReadBox(ctx, ndarray.Box{Start: []int64{500_000}, Count: []int64{100}}, one); err != nil || one.Data[0] != byte(500_000>>12)+1 {
		t.Errorf("%d, %v", one.Data[0], err)
	}
	if counted.n > 256*16+4+1<<12 {
		t.Errorf("%d bytes are read for 100", counted.n)
	}
	f.Abort()
}

// countBytes counts what is read of files that are open.
type countBytes struct {
	ndfile.FS
	n int
}

func (c *countBytes) Open(path string) (file vfs.File, err error) {
	file, err = c.FS.Open(path)
	return countedFile{file, c}, err
}

type countedFile struct {
	vfs.File
	c *countBytes
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	f.c.n += len(p)
	return f.File.ReadAt(p, off)
}
