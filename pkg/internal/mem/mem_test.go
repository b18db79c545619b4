package mem

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
)

// Blocks hold what was written to them, beside each other, whatever is freed and
// kept meanwhile, and everything is given back.
func TestBlocks(t *testing.T) {
	before := InUse()
	rng := rand.New(rand.NewPCG(1, 2))
	var blocks [20]Block
	var sizes [20]int
	for round := range 2000 {
		i := rng.IntN(len(blocks))
		if sizes[i] > 0 {
			p, err := blocks[i].Grown(sizes[i], sizes[i])
			if err != nil || p[0] != byte(i) || p[sizes[i]/2] != byte(i) || p[sizes[i]-1] != byte(i) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if sizes[i] = 0; rng.IntN(3) == 0 {
			blocks[i].Free()
			continue
		}
		n := 1 + rng.IntN(3*Large)
		p, err := blocks[i].Sized(n)
		if err != nil || len(p) != n || blocks[i].Cap() < n {
			t.Fatal(err)
		}
		p[0], p[n/2], p[n-1] = byte(i), byte(i), byte(i)
		sizes[i] = n
	}
	for i := range blocks {
		blocks[i].FreeLarge()
	}
	if n := InUse() - before; n != 0 {
		t.Errorf("%d bytes are in use", n)
	}
}

// What cannot be had is an error, and a grown block is as before.
func TestNoMemory(t *testing.T) {
	var b Block
	defer b.Free()
	p, err := b.Sized(2 * Large)
	if err != nil {
		t.Fatal(err)
	}
	p[0] = 7
	if _, err := b.Grown(1<<50, len(p)); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("1 PiB: %v", err)
	}
	SetFault(func(n int) bool { return n == 3*Large })
	defer SetFault(nil)
	if _, err := b.Grown(3*Large, len(p)); !errors.Is(err, syscall.ENOMEM) || p[0] != 7 {
		t.Errorf("injected: %v", err)
	}
	if _, err := Make[int64](1<<50, 8); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("8 PiB: %v", err)
	}
	if s, err := Make[int64](Large, 8); err != nil || len(s) != Large {
		t.Error(err)
	}
}
