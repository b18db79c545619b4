//go:build race

package ds

// raceEnabled: sync.Pool drops things at random, so that allocations cannot be
// counted.
const raceEnabled = true

// thin: every how many of many similar cases are tried.
const thin = 13
