package blosc

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// Streams of another encoder, whole and damaged: what the other decoder gives is
// given, prefixes agree with the whole, and nothing is written behind them.
func TestLZ4Decode(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var c lz4.Compressor
	for range 400 {
		data := make([]byte, 20+r.IntN(1<<r.IntN(17)))
		symbols, runs := 1+r.IntN(1<<r.IntN(9)), 1+r.IntN(1<<r.IntN(10))
		for j := 0; j < len(data); {
			b := byte(r.IntN(symbols))
			for n := 1 + r.IntN(runs); n > 0 && j < len(data); n-- {
				data[j] = b
				j++
			}
			if j > 100 && r.IntN(9) == 0 {
				from := r.IntN(j - 50)
				j += copy(data[j:], data[from:from+r.IntN(50)])
			}
		}
		stream := make([]byte, lz4.CompressBlockBound(len(data)))
		n, err := c.CompressBlock(data, stream)
		if err != nil || n == 0 {
			continue
		}
		stream = stream[:n]
		dst := make([]byte, len(data))
		if !lz4Decode(nil, dst, stream) || !bytes.Equal(dst, data) {
			t.Fatalf("%d bytes of %d do not come back", len(data), n)
		}
		for range 20 {
			want := 1 + r.IntN(len(data))
			buf := bytes.Repeat([]byte{0x5a}, want+40)
			done, ok := lz4Prefix(buf[:want:want], stream)
			if done && (!ok || !bytes.Equal(buf[:want], data[:want])) || !bytes.Equal(buf[want:], bytes.Repeat([]byte{0x5a}, 40)) {
				t.Fatalf("%d bytes of %d: %v", want, len(data), ok)
			}
		}
		for range 10 {
			bad := bytes.Clone(stream)
			if r.IntN(2) == 0 {
				bad = bad[:r.IntN(len(bad))]
			} else {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			buf := bytes.Repeat([]byte{0x5a}, len(data)+40)
			ok := lz4Decode(nil, buf[:len(data):len(data)], bad)
			if !bytes.Equal(buf[len(data):], bytes.Repeat([]byte{0x5a}, 40)) {
				t.Fatal("wrote behind dst")
			}
			other := make([]byte, len(data))
			m, err := lz4.UncompressBlock(bad, other)
			if ok && err == nil && m == len(data) && !bytes.Equal(buf[:len(data)], other) {
				t.Fatal("decoders differ")
			}
			if !ok && err == nil && m == len(data) {
				t.Fatal("the other decoder takes it")
			}
		}
	}
}
