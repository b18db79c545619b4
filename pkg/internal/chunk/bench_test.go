package chunk

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// benchArray is n int32 in chunks, in files in memory.
func benchArray(b *testing.B, n, chunk int64) (*Array, ndarray.Buffer) {
	dir, err := os.MkdirTemp("/dev/shm", "chunk")
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	a := newArray(b, vfs.OS, []int64{chunk}, []int64{n}, func(a *Array) {
		a.Folder, a.AppendPath = dir, pathIn(dir, ".")
		a.DType = ndarray.MustParse("<i4")
		a.Codec = Blosc{Codec: blosc.LZ4, Level: 5, Shuffle: blosc.ByteShuffle, TypeSize: 4}
	})
	data, err := ndarray.NewBuffer(a.DType, []int64{n})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		binary.LittleEndian.PutUint32(data.Data[4*i:], uint32(i*7%1000))
	}
	if err := a.WriteBox(ctx, ndarray.Full(a.Shape()), data); err != nil {
		b.Fatal(err)
	}
	return a, data
}

func BenchmarkBox(b *testing.B) {
	for _, c := range []struct {
		name     string
		n, chunk int64
	}{{"64MiB in 1MiB", 16 << 20, 256 << 10}, {"20000 tiny", 20000 * 10, 10}, {"one of 64MiB", 16 << 20, 16 << 20}} {
		a, data := benchArray(b, c.n, c.chunk)
		all := ndarray.Full(a.Shape())
		b.Run(c.name+"/read", func(b *testing.B) {
			b.SetBytes(4 * c.n)
			for b.Loop() {
				a.ReadBox(ctx, all, data)
			}
		})
		b.Run(c.name+"/write", func(b *testing.B) {
			b.SetBytes(4 * c.n)
			for b.Loop() {
				a.WriteBox(ctx, all, data)
			}
		})
	}
}

// BenchmarkItem reads a few items of 1 MiB chunks: kept ones, and ones that have
// to be decoded.
func BenchmarkItem(b *testing.B) {
	a, _ := benchArray(b, 16<<20, 256<<10)
	for _, c := range []struct {
		name string
		n    int64
		step int64
	}{{"1 kept", 1, 0}, {"10 kept", 10, 0}, {"1 next", 1, 1}, {"10 of another chunk", 10, 256 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			dst, _ := ndarray.NewBuffer(a.DType, []int64{c.n})
			box := ndarray.Box{Start: []int64{1000}, Count: []int64{c.n}}
			b.ReportAllocs()
			for b.Loop() {
				a.ReadBox(ctx, box, dst)
				box.Start[0] = (box.Start[0] + c.step) % (15 << 20)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	a, data := benchArray(b, 256<<10, 256<<10)
	rows := ndarray.Buffer{DType: data.DType, Shape: []int64{10}, Data: data.Data}
	b.ReportAllocs()
	for b.Loop() {
		a.AppendRows(ctx, rows)
	}
}
