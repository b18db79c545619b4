package ndarray

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Runs long enough for the kernels, at any distance, of any bits: each element is
// as the definition of the types has it, and the kernels of the processor and the
// portable ones agree.
func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	types := copyTypes()
	specials := []uint64{0, 1 << 63, 0x7f800001, 0xffc00001, 0x7f800000, 0xff812345, 0x7ff0000000000001, 0xfff8000000000001, 1, 0x807fffff, ^uint64(0)}
	for _, from := range types {
		for _, to := range types {
			if !CanConvert(from, to) || from.Size == 0 {
				continue
			}
			n := 1 + r.IntN(70)
			if r.IntN(3) == 0 {
				n += 500
			}
			ds, ss := to.Size, from.Size
			if r.IntN(2) == 0 {
				ds += r.IntN(9)
			}
			if r.IntN(2) == 0 {
				ss += r.IntN(9)
			}
			if r.IntN(4) == 0 {
				ss = -ss
			}
			src := make([]byte, n*max(ss, -ss)+8)
			for i := 0; i < len(src)-8; i += 4 {
				x := r.Uint64()
				if r.IntN(3) == 0 {
					x = specials[r.IntN(len(specials))]
				}
				if r.IntN(2) == 0 {
					binary.BigEndian.PutUint64(src[i:], x)
				} else {
					binary.LittleEndian.PutUint64(src[i:], x)
				}
			}
			var results [][]byte
			bothKernels(t, func(t *testing.T) {
				dst := bytes.Repeat([]byte{0x5a}, n*ds+80)
				if err := CopyRun(dst[:n*ds], int64(ds), to, src, int64(ss), from, int64(n)); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(dst[n*ds:], bytes.Repeat([]byte{0x5a}, 80)) {
					t.Fatal("wrote behind the last element")
				}
				results = append(results, dst)
			})
			what := fmt.Sprintf("%d of %v, %d apart, from %v, %d apart", n, to, ds, from, ss)
			if !bytes.Equal(results[0], results[len(results)-1]) {
				t.Fatalf("%s: kernels differ", what)
			}
			first, _ := runStart(len(src), int64(ss), from.Size, int64(n))
			for i := range n {
				a, b := src[first+i*ss:][:from.Size], results[0][i*ds:][:to.Size]
				if same := sameValue(from, a, to, b); !same && !(from.Equal(to) && bytes.Equal(a, b)) {
					t.Fatalf("%s: element %d: %x from %x", what, i, b, a)
				}
			}
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	const rows, cols = 1024, 1024
	for _, c := range []struct {
		to, from string
		ds, ss   int64 // elements from one column to the next; 0: the axes are turned
	}{
		{"<f4", "<f4", 1, 1}, {"<f8", "<f4", 1, 1}, {"<i8", "<i4", 1, 1}, {"<f8", "<i4", 1, 1}, {"<f8", "<i2", 1, 1}, {"<f4", "|u1", 1, 1}, {"<f8", ">f4", 1, 1}, {">f4", "<f4", 1, 1},
		{">f8", "<f8", 1, 1}, {"<f4", "<f4", 2, 1}, {"<f4", "<f4", 1, 2}, {"<f8", "<f8", 2, 1}, {">f4", "<f4", 2, 1},
		{"|u1", "|u1", 0, 1}, {"<f4", "<f4", 0, 1}, {"<f8", "<f8", 0, 1}, {"<c16", "<c16", 0, 1}, {"<f8", "<f4", 0, 1},
	} {
		b.Run(fmt.Sprintf("%s_%s_%d_%d", c.to, c.from, c.ds, c.ss), func(b *testing.B) {
			shape := []int64{rows, cols}
			make2 := func(name string, step int64) Buffer {
				d := MustParse(name)
				size := int64(d.Size)
				strides := []int64{cols * step * size, step * size}
				if step == 0 {
					strides, step = []int64{size, rows * size}, 1
				}
				return Buffer{DType: d, Shape: shape, Strides: strides, Data: make([]byte, rows*cols*step*size)}
			}
			dst, src := make2(c.to, c.ds), make2(c.from, c.ss)
			b.SetBytes(rows * cols * int64(dst.DType.Size))
			for b.Loop() {
				if err := Copy(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
