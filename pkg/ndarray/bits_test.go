package ndarray

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Bits there and back, from any place on and of any number, as the definition has
// them, and nothing beside them.
func TestBits(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	bothKernels(t, func(t *testing.T) {
		for n := range 700 {
			from := r.IntN(20)
			src := make([]byte, (from+n+7)/8)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			dst := bytes.Repeat([]byte{0x5a}, n+40)
			UnpackBits(dst[:n], src, from)
			count := 0
			for i, b := range dst[:n] {
				if b != src[(from+i)/8]>>(7-(from+i)%8)&1 {
					t.Fatalf("bit %d from %d on of %x is %d", i, from, src, b)
				}
				count += int(b)
			}
			if got := CountBits(src, from+n) - CountBits(src, from); got != count {
				t.Fatalf("%d ones, expected %d", got, count)
			}
			whole := n &^ 7
			for i := range whole { // anything but 0 is a 1
				dst[i] *= byte(1 + r.IntN(255))
			}
			head := bytes.Repeat([]byte{7}, r.IntN(3))
			packed := AppendBits(head, dst[:whole])
			again := make([]byte, whole)
			UnpackBits(again, packed[len(head):], 0)
			for i := range whole {
				if (again[i] != 0) != (dst[i] != 0) {
					t.Fatalf("bit %d of %d", i, whole)
				}
			}
			if len(packed) != len(head)+whole/8 || !bytes.Equal(dst[n:], bytes.Repeat([]byte{0x5a}, 40)) || !bytes.Equal(packed[:len(head)], head) {
				t.Fatal("bytes beside those asked for")
			}
		}
	})
}

// Elements go to the places that a mask leaves free, and back, for masks with few,
// many, all and no missing ones, in runs and by chance.
func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 3000 {
		size := 1 << r.IntN(4)
		mask := make([]byte, r.IntN(100))
		few := r.IntN(12)
		present := len(mask)
		for i := range mask {
			if few == 0 || few < 11 && r.IntN(few) == 0 || few == 11 && i/20%2 == 0 {
				mask[i] = 1
				present--
			}
		}
		values := make([]byte, present*size)
		for i := range values {
			values[i] = byte(1 + r.IntN(255))
		}
		data := append(bytes.Repeat([]byte{0x5a}, (len(mask)-present)*size), values...)
		Spread(data, mask, present, size)
		want := []byte{}
		rest := values
		for _, missing := range mask {
			if missing == 0 {
				want, rest = append(want, rest[:size]...), rest[size:]
			} else {
				want = append(want, make([]byte, size)...)
			}
		}
		if !bytes.Equal(data, want) {
			t.Fatalf("mask %v, size %d: %x, expected %x", mask, size, data, want)
		}
		for i, missing := range mask {
			mask[i] = missing * byte(1+r.IntN(255))
		}
		if n := Squeeze(data, mask, size); !bytes.Equal(data[:n], values) {
			t.Fatalf("mask %v, size %d: %x comes back, expected %x", mask, size, data[:n], values)
		}
	}
}
