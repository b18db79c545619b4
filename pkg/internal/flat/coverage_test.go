package flat

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestCoverage compares with a list of what was written.
func TestCoverage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		shape := []int64{1 + rnd.Int64N(9), 1 + rnd.Int64N(40)}
		count := shape[0] * shape[1]
		var c Coverage
		written := make([]bool, count)
		for range 12 {
			box := ndarray.Full(shape)
			box.Step = []int64{1 + rnd.Int64N(3), 1 + rnd.Int64N(3)}
			for i, n := range shape {
				box.Start[i] = rnd.Int64N(n)
				box.Count[i] = 1 + rnd.Int64N((n-1-box.Start[i])/box.Step[i]+1)
			}
			if err := c.Add(box, shape); err != nil {
				t.Fatal(err)
			}
			for i := range box.Count[0] {
				for k := range box.Count[1] {
					written[(box.Start[0]+i*box.Step[0])*shape[1]+box.Start[1]+k*box.Step[1]] = true
				}
			}
			want := int64(-1)
			for i, w := range written {
				if !w {
					want = int64(i)
					break
				}
			}
			if got := c.FirstMissing(count); got != want {
				t.Fatalf("shape %v, box %v: first missing %d, want %d", shape, box, got, want)
			}
		}
	}
}

// TestCoverageLimit: bits that would take too much memory are refused.
func TestCoverageLimit(t *testing.T) {
	var c Coverage
	shape := []int64{2, MaxScattered}
	last := ndarray.Box{Start: []int64{1, 0}, Count: []int64{1, 1}}
	if err := c.Add(last, shape); !errors.Is(err, ndfile.ErrLimit) {
		t.Errorf("out of order: %v", err)
	}
	if err := c.Add(ndarray.Full(shape), shape); err != nil || c.FirstMissing(2*MaxScattered) != -1 {
		t.Errorf("in order: %v", err)
	}
}
