package ndarray

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
)

// numbers are what arithmetic goes wrong on.
var numbers = []int64{0, 1, 2, 3, 7, -1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 1 << 31, 1 << 32, 1<<32 - 1, 1 << 62, 3037000499, 3037000500}

func TestMulAdd(t *testing.T) {
	check := func(what string, a, b, got int64, ok bool, exact *big.Int) {
		if want := a >= 0 && b >= 0 && exact.IsInt64(); ok != want || ok && got != exact.Int64() {
			t.Errorf("%s(%d, %d) = %d, %v", what, a, b, got, ok)
		}
	}
	for _, a := range numbers {
		for _, b := range numbers {
			x, y := big.NewInt(a), big.NewInt(b)
			got, ok := Mul(a, b)
			check("Mul", a, b, got, ok, new(big.Int).Mul(x, y))
			got, ok = Add(a, b)
			check("Add", a, b, got, ok, new(big.Int).Add(x, y))
		}
	}
}

func TestCountAndStrides(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		shape   []int64
		size    int
		count   int64
		strides []int64
		err     error // of Count
		sizeErr error // of NBytes and AppendStrides
	}{
		{nil, 8, 1, nil, nil, nil},
		{[]int64{}, 8, 1, nil, nil, nil},
		{[]int64{5}, 8, 5, []int64{8}, nil, nil},
		{[]int64{2, 3, 4}, 4, 24, []int64{48, 16, 4}, nil, nil},
		{[]int64{2, 3, 4}, 0, 24, []int64{0, 0, 0}, nil, nil},
		{[]int64{3, 0, 2}, 8, 0, []int64{0, 0, 0}, nil, nil},
		{[]int64{most, most, 0}, 8, 0, []int64{0, 0, 0}, nil, nil},
		{[]int64{0, -1}, 8, 0, nil, ErrShape, ErrShape},
		{[]int64{-1}, 8, 0, nil, ErrShape, ErrShape},
		{[]int64{1 << 32, 1 << 32}, 1, 0, nil, ErrOverflow, ErrOverflow},
		{[]int64{most, 2}, 1, 0, nil, ErrOverflow, ErrOverflow},
		{[]int64{most}, 1, most, []int64{1}, nil, nil},
		{[]int64{most}, 2, most, nil, nil, ErrOverflow},
		{[]int64{2}, -1, 2, nil, nil, ErrOverflow},
		{[]int64{1 << 31, 1 << 31}, 2, 0, nil, nil, ErrOverflow},
		{slices.Repeat([]int64{1}, 64), 1, 1, slices.Repeat([]int64{1}, 64), nil, nil},
		{slices.Repeat([]int64{1}, 65), 1, 0, nil, ErrShape, ErrShape},
		{append(slices.Repeat([]int64{1}, 64), 0), 1, 0, nil, ErrShape, ErrShape},
	} {
		n, err := Count(c.shape)
		if !errors.Is(err, c.err) || err == nil && c.count != 0 && n != c.count {
			t.Errorf("Count(%v) = %d, %v", c.shape, n, err)
		}
		size, err := NBytes(c.shape, c.size)
		if !errors.Is(err, c.sizeErr) || err == nil && size != n*int64(c.size) {
			t.Errorf("NBytes(%v, %d) = %d, %v", c.shape, c.size, size, err)
		}
		strides, err := AppendStrides([]int64{42}, c.shape, c.size)
		if !errors.Is(err, c.sizeErr) || strides[0] != 42 || !slices.Equal(strides[1:], c.strides) {
			t.Errorf("AppendStrides(%v, %d) = %v, %v", c.shape, c.size, strides, err)
		}
		if low, high, err := Extent(c.shape, nil, c.size); !errors.Is(err, c.sizeErr) || low != 0 || high != size {
			t.Errorf("Extent(%v, nil, %d) = %d, %d, %v", c.shape, c.size, low, high, err)
		}
		if _, err := NewBuffer(MustParse("<f8"), c.shape); c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("NewBuffer(%v): %v", c.shape, err)
		}
	}
	if _, err := NewBuffer(MustParse("|i1"), []int64{math.MaxInt64}); !errors.Is(err, ErrOverflow) {
		t.Errorf("NewBuffer of all memory: %v", err)
	}
}

func TestExtent(t *testing.T) {
	for _, c := range []struct {
		shape, strides []int64
		low, high      int64
		err            error
	}{
		{[]int64{}, []int64{}, 0, 8, nil},
		{[]int64{3, 4}, []int64{-100, 8}, -200, 32, nil},
		{[]int64{3, 4}, []int64{0, 0}, 0, 8, nil},
		{[]int64{1, 0}, []int64{math.MinInt64, math.MaxInt64}, 0, 0, nil},
		{[]int64{1, 2}, []int64{math.MinInt64, math.MaxInt64 - 8}, 0, math.MaxInt64, nil},
		{[]int64{2}, []int64{math.MaxInt64 - 7}, 0, 0, ErrOverflow},
		{[]int64{2}, []int64{math.MinInt64}, 0, 0, ErrOverflow},
		{[]int64{2}, []int64{math.MinInt64 + 1}, -math.MaxInt64, 8, nil},
		{[]int64{2, 2}, []int64{math.MinInt64 + 1, -1}, 0, 0, ErrOverflow},
		{[]int64{1 << 40}, []int64{1 << 40}, 0, 0, ErrOverflow},
		{[]int64{2, 2}, []int64{8}, 0, 0, ErrShape},
		{[]int64{0}, []int64{8, 8}, 0, 0, ErrShape},
	} {
		low, high, err := Extent(c.shape, c.strides, 8)
		if !errors.Is(err, c.err) || low != c.low || high != c.high {
			t.Errorf("Extent(%v, %v) = %d, %d, %v", c.shape, c.strides, low, high, err)
		}
	}
}
