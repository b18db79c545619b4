package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMedian(t *testing.T) {
	if m := median([]float64{3, 1, 2}); m != 2 {
		t.Errorf("median of three: %g", m)
	}
	if m := median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Errorf("median of four: %g", m)
	}
}

// The interval of an estimate has to hold the true median about 95 times in 100.
func TestEstimateCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const trials = 200
	covered := 0
	for range trials {
		values := make([]float64, 25)
		for i := range values {
			values[i] = math.Exp(random.NormFloat64()) // median 1, skewed as times are
		}
		e := estimate(values)
		if e.Low > e.Median || e.Median > e.High {
			t.Fatalf("the median %g is not in [%g, %g]", e.Median, e.Low, e.High)
		}
		if e.Low <= 1 && 1 <= e.High {
			covered++
		}
	}
	if covered < trials*88/100 || covered == trials {
		t.Errorf("%d of %d intervals hold the true median", covered, trials)
	}
}

func TestEstimateLeavesValues(t *testing.T) {
	values := []float64{3, 1, 2}
	estimate(values)
	if values[0] != 3 || values[1] != 1 {
		t.Errorf("the rounds were put in another order: %v", values)
	}
}

func TestFit(t *testing.T) {
	sizes := []float64{1, 10, 100, 1000}
	for _, want := range []float64{0.5, 1, 1.7} {
		costs := make([][]float64, len(sizes))
		for i, size := range sizes {
			c := 250 * math.Pow(size, want)
			costs[i] = []float64{c * 0.9, c, c * 1.1}
		}
		f := fit(sizes, costs)
		if math.Abs(f.Exponent-want) > 1e-9 || f.Low > want+1e-9 || f.High < want-1e-9 {
			t.Errorf("exponent %g in [%g, %g], expected %g", f.Exponent, f.Low, f.High, want)
		}
		if f.Factor < 240 || f.Factor > 260 || f.R2 < 0.99 {
			t.Errorf("factor %g, R² %g", f.Factor, f.R2)
		}
	}
}

func TestRatiosPairRounds(t *testing.T) {
	// The machine was slow in round 1: the ratios do not see it.
	r := ratios([]float64{10, 100, 10}, []float64{5, 50, 5, 5})
	if len(r) != 3 || r[0] != 2 || r[1] != 2 || r[2] != 2 {
		t.Errorf("ratios %v", r)
	}
}
