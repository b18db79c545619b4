package chunk

import (
	"bytes"
	"context"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// TestStreamMemory reads a chunk that is a stream in all ways: the elements are right,
// and no request for memory is as large as the chunk.
func TestStreamMemory(t *testing.T) {
	const rows, columns = 1 << 12, 1 << 11 // 32 MiB of 4 bytes
	d := ndarray.DType{Kind: ndarray.Uint, Order: ndarray.Little, Size: 4}
	for _, order := range [][]int{nil, {1, 0}} {
		form, err := codec.Elements(d, []int64{rows, columns}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := codec.NewChain(codec.V2, []codec.Spec{{Name: "zlib"}}, form)
		if err != nil {
			t.Fatal(err)
		}
		a := &Array{FS: vfs.NewMem(), Folder: "/a", DType: d, Chunks: []int64{rows, columns}, Order: order, Codec: OfChain(c), Sparse: true,
			AppendPath: func(dst []byte, _ []int64) []byte { return append(dst, "/a/0"...) }}
		if err := a.Init([]int64{rows, columns}); err != nil {
			t.Fatal(err)
		}
		want := ndarray.Buffer{DType: d, Shape: a.Chunks, Data: make([]byte, 4*rows*columns)}
		for i := range rows * columns {
			want.Data[4*i], want.Data[4*i+1] = byte(i>>8), byte(i>>16)
		}
		if err := a.FS.Mkdir("/a"); err != nil {
			t.Fatal(err)
		}
		if err := a.WriteBox(context.Background(), ndarray.Full(a.Chunks), want); err != nil {
			t.Fatal(err)
		}
		most := 0
		mem.SetFault(func(n int) bool { most = max(most, n); return false })
		defer mem.SetFault(nil)
		for _, box := range []ndarray.Box{
			ndarray.Full(a.Chunks),
			{Start: []int64{0, 1}, Count: []int64{rows, 500}, Step: []int64{1, 3}},
			{Start: []int64{3, 0}, Count: []int64{rows/7 - 1, columns}, Step: []int64{7, 1}},
			{Start: []int64{100, 100}, Count: []int64{1, 1}},
			{Start: []int64{rows - 1, columns - 1}, Count: []int64{1, 1}},
			{Start: []int64{100, 101}, Count: []int64{2, 3}},
		} {
			n, _ := ndarray.Count(box.Count)
			got := ndarray.Buffer{DType: d, Shape: box.Count, Data: make([]byte, 4*n)}
			part, err := want.Sub(box)
			if err != nil {
				t.Fatal(err)
			}
			same := ndarray.Buffer{DType: d, Shape: box.Count, Data: make([]byte, 4*n)}
			if err := ndarray.Copy(same, part); err != nil {
				t.Fatal(err)
			}
			if err := a.ReadBox(context.Background(), box, got); err != nil || !bytes.Equal(got.Data, same.Data) {
				t.Errorf("order %v, box %v: other elements: %v", order, box, err)
			}
		}
		if err := a.CheckChunk(context.Background(), []int64{0, 0}); err != nil {
			t.Error(err)
		}
		if most > 8<<20 {
			t.Errorf("order %v: %d bytes of memory at once", order, most)
		}
	}
}
