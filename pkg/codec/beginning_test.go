package codec

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestBeginning decodes beginnings of frames with blocks of all kinds and sizes. What is
// done is right; frames with a checksum, several of them and cut ones are for Decode.
func TestBeginning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plain := make([]byte, 1<<20)
	for i := range plain {
		switch part := i >> 16; {
		case part%5 == 0:
			plain[i] = byte(r.Uint32()) // stored blocks
		case part%5 == 1:
			plain[i] = 7 // repeated bytes
		case i > 0:
			plain[i] = plain[i-1] + byte(r.IntN(3))
		}
	}
	for _, level := range []int{-5, 1, 3, 19} {
		for _, size := range []int{len(plain), 300_001, 100} {
			z := zstdCodec{level: level}
			var raw, summed Buffer
			if err := z.Encode(&raw, plain[:size]); err != nil {
				t.Fatal(err)
			}
			early := 0
			for range 20 {
				dst := make([]byte, 1+r.IntN(size))
				done, err := z.beginning(dst, raw.B, int64(size))
				if err != nil || done && !bytes.Equal(dst, plain[:len(dst)]) {
					t.Fatalf("level %d: %d of %d bytes: %v", level, len(dst), size, err)
				}
				if done {
					early++
				}
			}
			if early == 0 && size == len(plain) {
				t.Errorf("level %d: everything was decoded each time", level)
			}
			if err := (zstdCodec{level: level, checksum: true}).Encode(&summed, plain[:size]); err != nil {
				t.Fatal(err)
			}
			twice := append(bytes.Clone(raw.B), raw.B...)
			for _, other := range [][]byte{summed.B, twice, raw.B[:len(raw.B)-1], append(bytes.Clone(raw.B), 0), nil} {
				if done, err := z.beginning(make([]byte, 10), other, int64(size)); done || err != nil {
					t.Errorf("level %d: %d bytes: done %v, %v", level, len(other), done, err)
				}
			}
		}
	}
}
