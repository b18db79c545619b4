// Package isotime reads dates in ISO 8601 as counts of NumPy's units.
package isotime

import (
	"math/big"
	"strings"
	"time"
)

// Time is a moment in the proleptic Gregorian calendar, without leap seconds, as
// in NumPy.
type Time struct {
	whole    time.Time // in UTC, to the second
	fraction *big.Rat  // of a second
}

// Parse reads "2020", "2020-03", "2020-03-15" and, behind a T or a blank, "hh",
// "hh:mm", "hh:mm:ss" or "hh:mm:ss.fff" with up to 30 digits. Behind a time of day
// there may be Z, +hh, +hhmm or +hh:mm, the zone; else it is UTC.
func Parse(text string) (t Time, ok bool) {
	const (
		layout = "2006-01-02T15:04:05"
		date   = len("2006-01-02")
	)
	rest := ""
	if len(text) > date {
		if end := strings.IndexAny(text[date:], ".Z+-"); end >= 0 {
			text, rest = text[:date+end], text[date+end:]
		}
		if text[date:] != "" && text[date] == ' ' {
			text = text[:date] + "T" + text[date+1:]
		}
	}
	switch len(text) {
	case len("2006"), len("2006-01"), date, date + len("T15"), date + len("T15:04"), len(layout):
	default:
		return t, false
	}
	t.fraction = new(big.Rat)
	if strings.HasPrefix(rest, ".") {
		zone := strings.TrimLeft(rest[1:], "0123456789")
		digits := len(rest) - len(zone)
		if len(text) != len(layout) || digits == len(".") || digits > len(".")+30 {
			return t, false
		}
		t.fraction.SetString("0" + rest[:digits])
		rest = zone
	}
	offset, ok := parseZone(rest)
	if !ok || rest != "" && len(text) == date {
		return t, false
	}
	whole, err := time.Parse(layout[:len(text)], text)
	t.whole = whole.Add(-offset)
	return t, err == nil
}

func parseZone(text string) (offset time.Duration, ok bool) {
	if text == "" {
		return 0, true
	}
	for _, layout := range []string{"Z07:00", "Z0700", "Z07"} {
		if t, err := time.Parse(layout, text); err == nil {
			_, seconds := t.Zone()
			return time.Duration(seconds) * time.Second, true
		}
	}
	return 0, false
}

// attoseconds are the units of fixed length.
var attoseconds = map[string]string{
	"W": "604800e18", "D": "86400e18", "h": "3600e18", "m": "60e18", "s": "1e18",
	"ms": "1e15", "us": "1e12", "ns": "1e9", "ps": "1e6", "fs": "1e3", "as": "1",
}

// In gives the time in units since 1970, where unit is that of a dtype ("25s").
// Within a month or a year it is the part of it that has passed. The generic unit
// is not ok.
func (t Time) In(unit string) (n *big.Rat, ok bool) {
	base := strings.TrimLeft(unit, "0123456789")
	count := big.NewRat(1, 1)
	if digits := unit[:len(unit)-len(base)]; digits != "" {
		count.SetString(digits)
	}
	year, month, _ := t.whole.Date()
	switch base {
	case "Y":
		n = t.within(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), 12)
		n.Add(n, big.NewRat(int64(year)-1970, 1))
	case "M":
		n = t.within(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC), 1)
		n.Add(n, big.NewRat(12*(int64(year)-1970)+int64(month)-1, 1))
	default:
		length, known := attoseconds[base]
		if !known {
			return nil, false
		}
		per, _ := new(big.Rat).SetString(length)
		n = t.since(0)
		n.Mul(n, big.NewRat(1e18, 1))
		n.Quo(n, per)
	}
	return n.Quo(n, count), true
}

// since is the number of seconds from another moment on.
func (t Time) since(unix int64) *big.Rat {
	n := big.NewRat(t.whole.Unix()-unix, 1)
	return n.Add(n, t.fraction)
}

// within is the part that has passed of the months that begin at a moment.
func (t Time) within(begin time.Time, months int) *big.Rat {
	n := t.since(begin.Unix())
	return n.Quo(n, big.NewRat(begin.AddDate(0, months, 0).Unix()-begin.Unix(), 1))
}

// Floor gives the time as a whole count of units: what is finer is cut towards the
// past. It is not ok where an int64 cannot hold the count.
func (t Time) Floor(unit string) (count int64, ok bool) {
	n, ok := t.In(unit)
	if !ok {
		return 0, false
	}
	floor := new(big.Int).Div(n.Num(), n.Denom()) // Euclidean, by a positive number
	return floor.Int64(), floor.IsInt64()
}
