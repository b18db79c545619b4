package main

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// timeUnits are NumPy's units of up to a week as parts of a second.
var timeUnits = map[string]struct {
	seconds int64 // in one unit, or
	parts   int64 // units in one second
	digits  int
}{
	"W": {seconds: 7 * 86400}, "D": {seconds: 86400}, "h": {seconds: 3600}, "m": {seconds: 60}, "s": {seconds: 1},
	"ms": {parts: 1e3, digits: 3}, "us": {parts: 1e6, digits: 6}, "ns": {parts: 1e9, digits: 9},
	"ps": {parts: 1e12, digits: 12}, "fs": {parts: 1e15, digits: 15}, "as": {parts: 1e18, digits: 18},
}

// isoTime shows a count of units since 1970 as NumPy does: as precisely as the unit
// ("25s", "ns", "M"). Counts without a unit, and years of more than four digits,
// stay numbers.
func isoTime(n int64, unit string) string {
	if n == math.MinInt64 {
		return "NaT"
	}
	number := strconv.FormatInt(n, 10)
	name := strings.TrimLeft(unit, "0123456789")
	if multiple := unit[:len(unit)-len(name)]; multiple != "" {
		m, err := strconv.ParseInt(multiple, 10, 64)
		var ok bool
		if n, ok = times(n, m); err != nil || !ok {
			return number
		}
	}
	switch name {
	case "Y", "M":
		year, month := n, int64(0)
		if name == "M" {
			if year, month = n/12, n%12; month < 0 {
				year, month = year-1, month+12
			}
		}
		if year < -1970 || year > 9999-1970 {
			return number
		}
		if name == "Y" {
			return fmt.Sprintf("%04d", 1970+year)
		}
		return fmt.Sprintf("%04d-%02d", 1970+year, month+1)
	}
	u, ok := timeUnits[name]
	if !ok {
		return number
	}
	fraction := int64(0)
	if u.parts > 0 {
		if n, fraction = n/u.parts, n%u.parts; fraction < 0 {
			n, fraction = n-1, fraction+u.parts
		}
	} else if n, ok = times(n, u.seconds); !ok {
		return number
	}
	if n < -62167219200 || n > 253402300799 { // years 0000 to 9999
		return number
	}
	t := time.Unix(n, 0).UTC()
	switch name {
	case "W", "D":
		return t.Format("2006-01-02")
	case "h":
		return t.Format("2006-01-02T15")
	case "m":
		return t.Format("2006-01-02T15:04")
	}
	s := t.Format("2006-01-02T15:04:05")
	if u.digits > 0 {
		s += fmt.Sprintf(".%0*d", u.digits, fraction)
	}
	return s
}

// times multiplies by a positive number; ok is false where that overflows.
func times(n, by int64) (product int64, ok bool) {
	hi, lo := bits.Mul64(uint64(max(n, -n)), uint64(by))
	return n * by, hi == 0 && lo <= math.MaxInt64
}
