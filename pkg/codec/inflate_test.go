package codec

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"
)

// TestGzipMembers decodes members with every field of a header, into memory of the
// right size and into none, and damaged ones, as the gzip and zlib of Go do.
func TestGzipMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	text := func() string { return string(bytes.Repeat([]byte("name"), r.IntN(3))) }
	for i := range 300 {
		var raw, plain bytes.Buffer
		isZlib := i%5 == 0
		for range 1 + r.IntN(3) {
			data := bytes.Repeat([]byte{byte(r.Uint32()), byte(i)}, r.IntN(1<<r.IntN(17)))
			for j := range len(data) / (1 + r.IntN(50)) {
				data[j] = byte(r.Uint32())
			}
			plain.Write(data)
			if isZlib {
				w, _ := zlib.NewWriterLevel(&raw, r.IntN(10))
				w.Write(data)
				w.Close()
				break
			}
			w, _ := gzip.NewWriterLevel(&raw, r.IntN(10))
			w.Name, w.Comment, w.Extra = text(), text(), []byte(text())
			w.Write(data)
			w.Close()
		}
		stage, read := Stage(gzipCodec(1)), func(p io.Reader) (io.Reader, error) { return gzip.NewReader(p) }
		if isZlib {
			stage, read = zlibCodec(1), func(p io.Reader) (io.Reader, error) { return zlib.NewReader(p) }
		}
		for _, room := range []int{0, 10, plain.Len()} {
			to := Buffer{B: append(make([]byte, 0, 2+room), 7, 8)}
			err := stage.Decode(&to, raw.Bytes(), int64(plain.Len()))
			if err != nil || !bytes.Equal(to.B[2:], plain.Bytes()) || to.B[0] != 7 {
				t.Fatalf("%d: %d bytes in memory of %d: %v", i, len(to.B)-2, room, err)
			}
		}
		if plain.Len() > 0 {
			if err := stage.Decode(new(Buffer), raw.Bytes(), int64(plain.Len()-1)); err == nil {
				t.Fatalf("%d: more than the limit was decoded", i)
			}
		}
		for range 10 {
			bad := bytes.Clone(raw.Bytes())
			if r.IntN(2) == 0 {
				bad = bad[:r.IntN(len(bad))]
			} else {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			var want []byte
			in := bytes.NewReader(bad)
			from, wrong := read(in)
			if wrong == nil {
				want, wrong = io.ReadAll(from)
			}
			if len(want) > plain.Len() || isZlib && in.Len() > 0 {
				continue
			}
			var got Buffer
			err := stage.Decode(&got, bad, int64(plain.Len()))
			if (err == nil) != (wrong == nil) || err == nil && !bytes.Equal(got.B, want) {
				t.Fatalf("%d, damaged: %d bytes, %v; Go's decoder has %d, %v", i, len(got.B), err, len(want), wrong)
			}
		}
	}
}
