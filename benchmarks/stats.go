package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// samples is how often the bootstrap draws.
const samples = 5000

// An Estimate is a median with the interval that holds 95 % of the medians of samples drawn from the values with
// replacement.
type Estimate struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// estimate is the Estimate of the median of values, of which there is at least one.
func estimate(values []float64) Estimate {
	low, high := bootstrap(len(values), func(draw []int) float64 {
		drawn := make([]float64, len(draw))
		for i, k := range draw {
			drawn[i] = values[k]
		}
		return median(drawn)
	})
	return Estimate{median(slices.Clone(values)), low, high}
}

// ratios gives a[i]/b[i]: both were measured in round i.
func ratios(a, b []float64) []float64 {
	return floats.DivTo(make([]float64, min(len(a), len(b))), a[:min(len(a), len(b))], b[:min(len(a), len(b))])
}

// median sorts values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return stat.Mean(values[n/2-1:n/2+1], nil)
}

// bootstrap gives the interval that holds 95 % of what statistic says of draws of n numbers below n, with replacement.
// The draws are the same every time.
func bootstrap(n int, statistic func(draw []int) float64) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 2))
	all, draw := make([]float64, samples), make([]int, n)
	for i := range all {
		for j := range draw {
			draw[j] = random.IntN(n)
		}
		all[i] = statistic(draw)
	}
	slices.Sort(all)
	return stat.Quantile(0.025, stat.Empirical, all, nil), stat.Quantile(0.975, stat.Empirical, all, nil)
}

// A Fit is the power law cost = Factor * size^Exponent, fitted to the logarithms by least squares.
type Fit struct {
	Factor   float64 `json:"factor"` // nanoseconds of size 1
	Exponent float64 `json:"exponent"`
	Low      float64 `json:"low"`  // 95 % bootstrap interval of the exponent, over the rounds
	High     float64 `json:"high"` // of it
	R2       float64 `json:"r2"`
}

// fit fits a power law to costs[i][round] of sizes[i], all above 0. There are as many rounds of each size.
func fit(sizes []float64, costs [][]float64) Fit {
	rounds := len(costs[0])
	every := make([]int, rounds)
	for i := range every {
		every[i] = i
	}
	x, y := logs(sizes, costs, every)
	alpha, beta := stat.LinearRegression(x, y, nil, false)
	low, high := bootstrap(rounds, func(draw []int) float64 {
		x, y := logs(sizes, costs, draw)
		_, beta := stat.LinearRegression(x, y, nil, false)
		return beta
	})
	return Fit{math.Exp(alpha), beta, low, high, stat.RSquared(x, y, nil, alpha, beta)}
}

// logs gives the logarithms of sizes and of the costs of the rounds drawn.
func logs(sizes []float64, costs [][]float64, draw []int) (x, y []float64) {
	for i, size := range sizes {
		for _, round := range draw {
			x, y = append(x, math.Log(size)), append(y, math.Log(costs[i][round]))
		}
	}
	return x, y
}
