package blosc

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

// guarded gives n bytes that end where reading or writing one more is a fault.
func guarded(t *testing.T, n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	if err := syscall.Mprotect(b[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return b[size-n : size : size]
}

// TestGuardPages encodes and decodes between memory that must not be touched:
// the kernels have no bounds checks of their own.
func TestGuardPages(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 250 {
		name, data, p := randomCase(r)
		data = data[:min(len(data), 150_000)]
		p.Level = min(p.Level, 7)
		src := guarded(t, len(data))
		copy(src, data)
		room := guarded(t, EncodeBound(len(src)))
		n, err := Encode(room, src, p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		chunk := guarded(t, n)
		copy(chunk, room[:n])
		dst := guarded(t, len(src))
		if _, err := (Decoder{}).Decode(dst, chunk); err != nil || !bytes.Equal(dst, src) {
			t.Fatalf("%s: data differ, %v", name, err)
		}
		for range min(20, n-HeaderSize) {
			chunk[HeaderSize+r.IntN(n-HeaderSize)] ^= byte(1 << r.IntN(8))
			_, _ = Decoder{}.Decode(dst, chunk) // an error or other data; a fault ends the test
		}
	}
}
