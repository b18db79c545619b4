//go:build race

package formattest

// sparse divides the number of places that the sweeps try: the race detector
// makes each ten times slower.
const sparse = 8
