//go:build !race

package formattest

// sparse divides the number of places that the sweeps try.
const sparse = 1
