package ndarray

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// fits says by exact arithmetic whether the box lies in the shape.
func fits(b Box, shape []int64) bool {
	for axis, n := range shape {
		if n < 0 || b.Start[axis] < 0 || b.Count[axis] < 0 || b.step(axis) < 1 || b.Start[axis] > n {
			return false
		}
		last := new(big.Int).Mul(big.NewInt(b.Count[axis]-1), big.NewInt(b.step(axis)))
		last.Add(last, big.NewInt(b.Start[axis]))
		if b.Count[axis] > 0 && last.Cmp(big.NewInt(n)) >= 0 {
			return false
		}
	}
	_, err := Count(shape)
	return err == nil
}

// flatten lists the flat indices of a box, axis by axis from the definition.
func flatten(b Box, shape []int64) []int64 {
	if slices.Contains(b.Count, 0) { // before another axis is written out in full
		return nil
	}
	flat := []int64{0}
	for axis := range shape {
		var finer []int64
		for _, f := range flat {
			for i := range b.Count[axis] {
				finer = append(finer, f*shape[axis]+b.Start[axis]+i*b.step(axis))
			}
		}
		flat = finer
	}
	return flat
}

// checkBox compares everything a box can tell with the list of its flat indices.
func checkBox(t *testing.T, b Box, shape []int64) {
	t.Helper()
	want := flatten(b, shape)
	var got []int64
	var lastFirst, lastN, lastStep int64
	err := b.Runs(shape, func(first, n, step, k int64) error {
		if k != int64(len(got)) || n < 1 || step < 1 || n == 1 && step != 1 {
			t.Fatalf("%v in %v: run %d %d %d at %d after %d elements", b, shape, first, n, step, k, len(got))
		}
		if k > 0 && step == lastStep && first == lastFirst+lastN*lastStep {
			t.Fatalf("%v in %v: run %d %d %d continues the one before", b, shape, first, n, step)
		}
		for i := range n {
			got = append(got, first+i*step)
		}
		lastFirst, lastN, lastStep = first, n, step
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v in %v: runs give %v, %v; want %v", b, shape, got, err, want)
	}
	first, n, ok := b.Contiguous(shape)
	isRun := true
	for i := range want {
		isRun = isRun && want[i] == want[0]+int64(i)
	}
	if ok != isRun || ok && (n != int64(len(want)) || n > 0 && first != want[0]) {
		t.Fatalf("%v in %v: Contiguous gives %d, %d, %v for %v", b, shape, first, n, ok, want)
	}
	low, high, ok := b.Span(shape)
	if ok != (len(want) > 0) || ok && (low != slices.Min(want) || high != slices.Max(want)) {
		t.Fatalf("%v in %v: Span gives %d, %d, %v for %v", b, shape, low, high, ok, want)
	}
}

func randomShape(r *rand.Rand) []int64 {
	shape := make([]int64, r.IntN(6))
	for axis := range shape {
		shape[axis] = int64(r.IntN(6))
		if r.IntN(4) > 0 {
			shape[axis]++
		}
	}
	return shape
}

func randomBox(r *rand.Rand, shape []int64) Box {
	b := Full(shape)
	if r.IntN(2) == 0 {
		b.Step = make([]int64, len(shape))
	}
	for axis, n := range shape {
		if b.Step != nil {
			b.Step[axis] = 1 + r.Int64N(3)
		}
		if r.IntN(3) > 0 {
			b.Start[axis] = r.Int64N(n + 1)
		}
		most := (n - b.Start[axis] + b.step(axis) - 1) / b.step(axis)
		if b.Count[axis] = most; r.IntN(3) == 0 {
			b.Count[axis] = r.Int64N(most + 1)
		}
	}
	return b
}

func TestBoxModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		shape := randomShape(r)
		b := randomBox(r, shape)
		if err := b.Check(shape); err != nil {
			t.Fatalf("%v in %v: %v", b, shape, err)
		}
		checkBox(t, b, shape)
		checkBox(t, Full(shape), shape)
	}
}

func TestBoxRuns(t *testing.T) {
	type run struct{ first, n, step, k int64 }
	for _, c := range []struct {
		box   Box
		shape []int64
		runs  []run
	}{
		{Box{}, nil, []run{{0, 1, 1, 0}}},
		{Full([]int64{3, 4, 5}), []int64{3, 4, 5}, []run{{0, 60, 1, 0}}},
		{Box{[]int64{1, 0}, []int64{2, 5}, nil}, []int64{4, 5}, []run{{5, 10, 1, 0}}},
		{Box{[]int64{0, 2}, []int64{4, 1}, nil}, []int64{4, 5}, []run{{2, 4, 5, 0}}},                                                      // a column
		{Box{[]int64{0, 0}, []int64{2, 2}, []int64{1, 2}}, []int64{2, 4}, []run{{0, 4, 2, 0}}},                                            // evens
		{Box{[]int64{0, 1}, []int64{2, 2}, nil}, []int64{2, 4}, []run{{1, 2, 1, 0}, {5, 2, 1, 2}}},                                        // part of rows
		{Box{[]int64{0, 0, 0}, []int64{2, 2, 4}, []int64{1, 3, 1}}, []int64{2, 4, 4}, []run{{0, 4, 1, 0}, {12, 8, 1, 4}, {28, 4, 1, 12}}}, // slabs meet
	} {
		var got []run
		err := c.box.Runs(c.shape, func(first, n, step, k int64) error {
			got = append(got, run{first, n, step, k})
			return nil
		})
		if err != nil || !slices.Equal(got, c.runs) {
			t.Errorf("%v in %v: %v, %v; want %v", c.box, c.shape, got, err, c.runs)
		}
	}
	stop, calls := errors.New("stop"), 0
	err := Box{[]int64{0, 0}, []int64{3, 1}, nil}.Runs([]int64{3, 2}, func(_, _, _, _ int64) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("stopped after %d calls: %v", calls, err)
	}
}

func TestBoxCheckErrors(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		box   Box
		shape []int64
		err   error
	}{
		{Box{}, []int64{1}, ErrShape},
		{Box{[]int64{0}, []int64{1, 1}, nil}, []int64{1}, ErrShape},
		{Box{[]int64{0}, []int64{1}, []int64{}}, []int64{1}, ErrShape},
		{Box{[]int64{0}, []int64{1}, nil}, []int64{-1}, ErrShape},
		{Box{[]int64{0, 0}, []int64{1, 1}, nil}, []int64{most, 2}, ErrOverflow},
		{Box{[]int64{-1}, []int64{1}, nil}, []int64{5}, ErrBounds},
		{Box{[]int64{0}, []int64{-1}, nil}, []int64{5}, ErrBounds},
		{Box{[]int64{0}, []int64{1}, []int64{0}}, []int64{5}, ErrBounds},
		{Box{[]int64{0}, []int64{1}, []int64{-1}}, []int64{5}, ErrBounds},
		{Box{[]int64{5}, []int64{1}, nil}, []int64{5}, ErrBounds},
		{Box{[]int64{6}, []int64{0}, nil}, []int64{5}, ErrBounds},
		{Box{[]int64{5}, []int64{0}, nil}, []int64{5}, nil},
		{Box{[]int64{4}, []int64{1}, []int64{most}}, []int64{5}, nil},
		{Box{[]int64{0}, []int64{2}, []int64{most}}, []int64{5}, ErrBounds},
		{Box{[]int64{1}, []int64{3}, []int64{1<<63 - 2}}, []int64{most}, ErrBounds},
		{Box{[]int64{most}, []int64{most}, []int64{most}}, []int64{most}, ErrBounds},
		{Box{[]int64{0}, []int64{most}, nil}, []int64{most}, nil},
		{Box{[]int64{1}, []int64{most}, nil}, []int64{most}, ErrBounds},
		{Box{[]int64{0}, []int64{1}, nil}, []int64{0}, ErrBounds},
	} {
		err := c.box.Check(c.shape)
		if !errors.Is(err, c.err) {
			t.Errorf("%v in %v: %v, want %v", c.box, c.shape, err, c.err)
		}
		if err != nil {
			_, _, contiguous := c.box.Contiguous(c.shape)
			_, _, spans := c.box.Span(c.shape)
			runs := c.box.Runs(c.shape, func(_, _, _, _ int64) error { t.Error("called"); return nil })
			if contiguous || spans || !errors.Is(runs, c.err) {
				t.Errorf("%v in %v: used without check", c.box, c.shape)
			}
		}
	}
}

// FuzzBox decodes a shape and a box; checks must agree with exact arithmetic and
// what passes must stay inside.
func FuzzBox(f *testing.F) {
	f.Add([]byte{2, 4, 0, 2, 1, 5, 1, 2, 2})
	f.Add([]byte{3, 2, 0, 2, 1, 4, 0, 2, 3, 4, 0, 4, 1})
	f.Add([]byte{1, 128, 0, 128, 1})
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() int64 {
			if len(data) == 0 {
				return 1
			}
			c := data[0]
			data = data[1:]
			switch {
			case c < 128:
				return int64(c) - 3
			case c < 240 || len(data) < 8:
				return numbers[int(c)%len(numbers)]
			}
			x := int64(binary.LittleEndian.Uint64(data))
			data = data[8:]
			return x
		}
		rank := int(uint64(next()) % 6)
		shape, b := make([]int64, rank), Box{make([]int64, rank), make([]int64, rank), make([]int64, rank)}
		for i := range rank {
			shape[i], b.Start[i], b.Count[i], b.Step[i] = next(), next(), next(), next()
		}
		err := b.Check(shape)
		if (err == nil) != fits(b, shape) {
			t.Fatalf("%v in %v: Check gives %v", b, shape, err)
		}
		if err != nil {
			return
		}
		if n, err := Count(b.Count); err == nil && n <= 5000 {
			checkBox(t, b, shape)
		}
		total, _ := Count(shape)
		end, calls := int64(0), 0
		enough := errors.New("enough")
		err = b.Runs(shape, func(first, n, step, k int64) error {
			reach, ok := Mul(n-1, step)
			if last, ok2 := Add(first, reach); !ok || !ok2 || last >= total || k != end || first < 0 || n < 1 || step < 1 {
				t.Fatalf("%v in %v: run %d %d %d %d", b, shape, first, n, step, k)
			}
			end += n
			if calls++; calls == 1000 {
				return enough
			}
			return nil
		})
		if err != nil && err != enough {
			t.Fatal(err)
		}
	})
}
