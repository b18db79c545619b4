package vfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ndfile/ndfile/pkg/store"
)

// TestReadParts reads parts in any order, close and far, many and empty ones; a part
// behind the end is io.ErrUnexpectedEOF.
func TestReadParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	path := t.TempDir() + "/f"
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := OS.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 100 {
		var parts, want []store.Part
		at, most := int64(0), 1+rng.IntN(1<<(4+i%12))
		for range rng.IntN(2000) {
			if at += rng.Int64N(int64(1 + most)); rng.IntN(20) == 0 {
				at = rng.Int64N(int64(len(data)))
			}
			n := rng.IntN(most)
			if at+int64(n) > int64(len(data)) {
				break
			}
			p := store.Part{Off: at, Dst: make([]byte, n)}
			parts, want = append(parts, p), append(want, p)
			at += int64(n)
		}
		if err := store.ReadParts(context.Background(), f, parts); err != nil {
			t.Fatal(err)
		}
		for _, p := range want {
			if !bytes.Equal(p.Dst, data[p.Off:][:len(p.Dst)]) {
				t.Fatalf("round %d: %d bytes from byte %d on are other ones", i, len(p.Dst), p.Off)
			}
		}
	}
	for _, off := range []int64{1<<20 - 3, 1 << 21} {
		parts := []store.Part{{Off: 5, Dst: make([]byte, 3)}, {Off: off, Dst: make([]byte, 4)}}
		if err := store.ReadParts(context.Background(), f, parts); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("behind the end: %v", err)
		}
	}
	f.Close()
	if err := store.ReadParts(context.Background(), f, []store.Part{{Dst: make([]byte, 1)}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}
