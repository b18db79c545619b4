package ds

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// BenchmarkLoad and BenchmarkSave are of what is stored otherwise than in memory:
// bits, masks and texts.
func benchItems() map[string]ndfile.Item {
	const n = 100_000
	shape := []int64{n}
	bools, mask := make([]byte, n), make([]byte, n)
	for i := range n {
		bools[i], mask[i] = byte(i*i>>3&1), byte(i%97/96)
	}
	texts := ndfile.Item{Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: shape}, Offsets: []int64{0}}
	for i := range n {
		texts.Data.Data = fmt.Appendf(texts.Data.Data, "text %d", i)
		texts.Offsets = append(texts.Offsets, int64(len(texts.Data.Data)))
	}
	return map[string]ndfile.Item{
		"bool":   {Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("|b1"), Shape: shape, Data: bools}},
		"masked": {Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("<f8"), Shape: shape, Data: make([]byte, 8*n)}, Mask: mask},
		"str":    texts,
	}
}

func BenchmarkLoad(b *testing.B) {
	for name, item := range benchItems() {
		b.Run(name, func(b *testing.B) {
			mem := ndfile.NewMem()
			if err := save(mem, "x.ds", []ndfile.Item{item}, nil); err != nil {
				b.Fatal(err)
			}
			sink := ndfile.Sink{Buf: make([]byte, 4<<20), Infos: make([]ndfile.LoadInfo, 1)}
			for b.Loop() {
				sink.N, sink.Need = 0, 0
				if err := (format{}).Load(context.Background(), mem, "x.ds", &sink); err != nil {
					b.Fatal(err)
				}
			}
			if name == "str" {
				last := binary.NativeEndian.Uint64(sink.Buf[sink.Infos[0].OffsetsOffset+800_000:])
				if last != uint64(len(item.Data.Data)) {
					b.Fatal(last)
				}
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	for name, item := range benchItems() {
		b.Run(name, func(b *testing.B) {
			mem := ndfile.NewMem()
			for b.Loop() {
				if err := save(mem, "x.ds", []ndfile.Item{item}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
