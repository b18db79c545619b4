package ndfile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Tiles cover every element of a box once, lie in one cell each, and take no more
// room than they may, unless that is one unit.
func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		ndim := rng.IntN(4)
		shape, unit := make([]int64, ndim), make([]int64, ndim)
		box := ndarray.Box{Start: make([]int64, ndim), Count: make([]int64, ndim), Step: make([]int64, ndim)}
		unitTakes := int64(1)
		for i := range shape {
			shape[i], unit[i] = rng.Int64N(12), 1+rng.Int64N(6)
			box.Step[i] = 1 + rng.Int64N(4)
			if shape[i] > 0 {
				box.Start[i] = rng.Int64N(shape[i])
				box.Count[i] = rng.Int64N((shape[i]-1-box.Start[i])/box.Step[i] + 2)
			}
		}
		if rng.IntN(3) == 0 {
			box.Step = nil
		}
		for i := range unit {
			unitTakes *= (unit[i]-1)/(&tiling{box: box}).step(i) + 1
		}
		if rng.IntN(4) == 0 {
			unit, unitTakes = nil, 1
		}
		itemsize := rng.IntN(5)
		most := rng.Int64N(200)
		tiles := newTiling(box, unit, itemsize, most)
		if itemsize == 0 {
			itemsize = varItemSize
		}
		count, err := ndarray.Count(shape)
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]int, count)
		n, last := int64(0), int64(-1)
		for tile := range tiles.all() {
			n++
			if err := tile.Check(shape); err != nil {
				t.Fatal(err)
			}
			elems, _ := ndarray.Count(tile.Count)
			if elems == 0 || elems*int64(itemsize) > most && elems > unitTakes {
				t.Fatalf("box %v, unit %v, %d bytes of %d: tile %v", box, unit, most, itemsize, tile)
			}
			for axis, start := range tile.Start {
				end := start
				if tile.Count[axis] > 1 {
					end += (tile.Count[axis] - 1) * tiles.step(axis)
				}
				if start/tiles.cell[axis] != end/tiles.cell[axis] {
					t.Fatalf("cells %v: tile %v", tiles.cell, tile)
				}
				if unit != nil && tiles.cell[axis] != math.MaxInt64 && tiles.cell[axis]%unit[axis] != 0 {
					t.Fatalf("unit %v: cells %v", unit, tiles.cell)
				}
			}
			tile.Runs(shape, func(first, n, step, _ int64) error {
				for i := range n {
					seen[first+i*step]++
				}
				return nil
			})
			if first, _, _ := tile.Span(shape); ndim < 2 && first <= last {
				t.Fatalf("tile %v is out of order", tile)
			} else {
				last = first
			}
		}
		if n != tiles.count() {
			t.Fatalf("%d tiles, count says %d", n, tiles.count())
		}
		want := make([]int, count)
		box.Runs(shape, func(first, n, step, _ int64) error {
			for i := range n {
				want[first+i*step]++
			}
			return nil
		})
		if !slices.Equal(seen, want) {
			t.Fatalf("box %v of %v: seen %v", box, shape, seen)
		}
	}
}

// Blocks are large where there is room: the walk over an array takes few of them.
func TestTilesAreLarge(t *testing.T) {
	for _, test := range []struct {
		shape, unit []int64
		itemsize    int
		want        int64
	}{
		{[]int64{1000}, nil, 1, 10},
		{[]int64{1000}, []int64{30}, 1, 12}, // 90 a tile
		{[]int64{1000}, []int64{300}, 1, 4},
		{[]int64{100, 10}, nil, 1, 10},
		{[]int64{10, 1000}, nil, 1, 100},
		{[]int64{20, 20}, []int64{5, 5}, 1, 4},
		{[]int64{math.MaxInt64}, nil, 8, math.MaxInt64/12 + 1},
		{[]int64{1 << 20, 1 << 20, 1 << 22}, []int64{1 << 19, 1 << 20, 1 << 21}, 8, 4},
		{[]int64{}, nil, 1, 1},
		{[]int64{5, 0}, nil, 1, 0},
		{[]int64{0, 1 << 62}, nil, 2, 0}, // a walk along the second axis would not end
		{[]int64{1 << 62, 0}, []int64{1, 1}, 2, 0},
		{[]int64{1 << 40, 1 << 22, 1, 1, 1}, []int64{1, 1, 1, 1, 1}, 100, 1 << 62},
	} {
		tiles := newTiling(ndarray.Full(test.shape), test.unit, test.itemsize, 100)
		if len(test.shape) == 1 && test.shape[0] == math.MaxInt64 {
			if end := tiles.end(0, math.MaxInt64-3); tiles.cell[0] != 12 || end != math.MaxInt64 {
				t.Errorf("%v: cell %v, the last one ends at %d", test.shape, tiles.cell, end)
			}
		}
		if n := tiles.count(); n != test.want {
			t.Errorf("%v by %v: %d tiles of %v, expected %d", test.shape, test.unit, n, tiles.cell, test.want)
		}
	}
}
