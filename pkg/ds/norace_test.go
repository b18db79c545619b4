//go:build !race

package ds

const raceEnabled = false

const thin = 1
