package blosc

import (
	"bytes"
	"fmt"
	"hash/adler32"
	"io"
	"math/rand/v2"
	"testing"

	"compress/flate"
)

// Streams of Go's own encoder, of few to many symbols with few to many bits, come
// back, exactly to their end; what Go's decoder refuses of damaged ones is refused,
// and what it takes is the same.
func TestInflate(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		var z inflater
		for i := range 250 {
			data := make([]byte, r.IntN(1<<r.IntN(18)))
			symbols, runs := 1+r.IntN(1<<r.IntN(9)), 1+r.IntN(1<<r.IntN(10))
			for j := 0; j < len(data); {
				b := byte(r.IntN(symbols) * r.IntN(symbols) >> r.IntN(8))
				for n := 1 + r.IntN(runs); n > 0 && j < len(data); n-- {
					data[j] = b
					j++
				}
				if j > 100 && r.IntN(9) == 0 {
					from := r.IntN(j - 50)
					j += copy(data[j:], data[from:from+r.IntN(50)])
				}
			}
			var stream bytes.Buffer
			w, _ := flate.NewWriter(&stream, r.IntN(12)-2)
			for cut := data; len(cut) > 0; {
				n := 1 + r.IntN(len(cut))
				w.Write(cut[:n])
				if cut = cut[n:]; r.IntN(3) == 0 {
					w.Flush()
				}
			}
			w.Close()
			what := fmt.Sprintf("stream %d, %d bytes", i, len(data))
			whole := append(stream.Bytes(), 1, 2, 3) // what follows is not read
			dst := make([]byte, len(data))
			if m, n, ok := z.inflate(dst, whole); !ok || m != len(data) || n != stream.Len() || !bytes.Equal(dst, data) {
				t.Fatalf("%s: %d of %d read, %v", what, n, stream.Len(), ok)
			}
			for range 5 {
				bad := bytes.Clone(stream.Bytes())
				if r.IntN(2) == 0 {
					bad = bad[:r.IntN(len(bad))]
				} else {
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
				want, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(bad)), int64(len(data)+1)))
				buf := bytes.Repeat([]byte{0x5a}, len(data)+40)
				m, _, ok := z.inflate(buf[:len(data):len(data)], bad)
				ok = ok && m == len(data)
				if ok != (err == nil && len(want) == len(data)) || ok && !bytes.Equal(buf[:len(data)], want) {
					t.Fatalf("%s, damaged: %v, Go's decoder has %d bytes and says %v", what, ok, len(want), err)
				}
				if !bytes.Equal(buf[len(data):], bytes.Repeat([]byte{0x5a}, 40)) {
					t.Fatal("wrote behind dst")
				}
			}
		}
	})
}

func TestAdler32(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bothKernels(t, func(t *testing.T) {
		for i := range 400 {
			p := bytes.Repeat([]byte{255}, r.IntN(1<<(i%17)+1))
			if i%2 == 0 {
				for j := range p {
					p[j] = byte(r.Uint32())
				}
			}
			if got, want := adler32Sum(p), adler32.Checksum(p); got != want {
				t.Fatalf("%d bytes: %x, expected %x", len(p), got, want)
			}
		}
	})
}
