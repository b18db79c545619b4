package ndfile

import (
	"math/big"
	"strings"
)

// isoTime is a moment as ISO 8601 text gives it, in the proleptic Gregorian
// calendar and without leap seconds, as in NumPy.
type isoTime struct {
	month  int64    // since January 1970
	second *big.Rat // since the month began
}

// parseISO reads "2020", "2020-03", "2020-03-15" and, behind a T or a blank,
// "hh", "hh:mm", "hh:mm:ss" or "hh:mm:ss.fff" with any number of digits and
// optionally a Z. Other time zones are refused.
func parseISO(s string) (t isoTime, ok bool) {
	year, s, ok := cutDigits(s, 4)
	month, day := int64(1), int64(1)
	if s != "" && ok {
		month, s, ok = cutField(s, '-', 1, 12)
		if s != "" && ok {
			day, s, ok = cutField(s, '-', 1, monthDays(year, month))
		}
	}
	second := new(big.Rat)
	if s != "" && ok {
		second, ok = parseClock(s)
	}
	if !ok {
		return t, false
	}
	return isoTime{12*(year-1970) + month - 1, second.Add(second, big.NewRat((day-1)*86400, 1))}, true
}

// parseClock reads the part of a time of day, with the T before it.
func parseClock(s string) (second *big.Rat, ok bool) {
	sep := s[0]
	if sep != 'T' && sep != ' ' {
		return nil, false
	}
	s = strings.TrimSuffix(s, "Z")
	whole, unit := int64(0), int64(3600)
	for _, last := range [...]int64{23, 59, 59} {
		var n int64
		if n, s, ok = cutField(s, sep, 0, last); !ok {
			return nil, false
		}
		whole, unit, sep = whole+n*unit, unit/60, ':'
		if s == "" {
			return big.NewRat(whole, 1), true
		}
	}
	if len(s) < 2 || len(s) > 30 || s[0] != '.' || strings.Trim(s[1:], "0123456789") != "" {
		return nil, false
	}
	second, ok = new(big.Rat).SetString("0" + s)
	return second.Add(second, big.NewRat(whole, 1)), ok
}

// cutField cuts a separator and two digits of a value in bounds.
func cutField(s string, sep byte, least, most int64) (n int64, rest string, ok bool) {
	if s == "" || s[0] != sep {
		return 0, s, false
	}
	n, rest, ok = cutDigits(s[1:], 2)
	return n, rest, ok && n >= least && n <= most
}

func cutDigits(s string, n int) (v int64, rest string, ok bool) {
	if len(s) < n {
		return 0, s, false
	}
	for _, c := range []byte(s[:n]) {
		if c < '0' || c > '9' {
			return 0, s, false
		}
		v = 10*v + int64(c-'0')
	}
	return v, s[n:], true
}

func monthDays(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysBefore is the number of days from 1970 to the first of a month, counted from
// January 1970.
func daysBefore(month int64) int64 {
	y, m := 1970+floorDiv(month, 12), month-12*floorDiv(month, 12)+1
	if m <= 2 { // count years from March on, so that a leap day is the last
		y, m = y-1, m+12
	}
	return 365*y + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400) + (153*(m-3)+2)/5 - 719468
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// attoseconds are the units of fixed length.
var attoseconds = map[string]string{
	"W": "604800e18", "D": "86400e18", "h": "3600e18", "m": "60e18", "s": "1e18",
	"ms": "1e15", "us": "1e12", "ns": "1e9", "ps": "1e6", "fs": "1e3", "as": "1",
}

// in gives the time in units since 1970, where unit is that of a dtype ("25s").
// Within a month or a year it is the part of it that has passed. The generic unit
// is not ok.
func (t isoTime) in(unit string) (n *big.Rat, ok bool) {
	base := strings.TrimLeft(unit, "0123456789")
	count := new(big.Rat).SetInt64(1)
	if digits := unit[:len(unit)-len(base)]; digits != "" {
		count.SetString(digits)
	}
	switch base {
	case "":
		return nil, false
	case "Y", "M":
		first, months := t.month, int64(1)
		if base == "Y" {
			months = 12
			first = 12 * floorDiv(t.month, 12)
		}
		begin, end := daysBefore(first), daysBefore(first+months)
		passed := big.NewRat(86400*(daysBefore(t.month)-begin), 1)
		n = passed.Add(passed, t.second)
		n.Quo(n, big.NewRat(86400*(end-begin), 1))
		n.Add(n, big.NewRat(first/months, 1))
	default:
		length, known := attoseconds[base]
		if !known {
			return nil, false
		}
		n = new(big.Rat).Add(t.second, big.NewRat(86400*daysBefore(t.month), 1))
		n.Mul(n, big.NewRat(1e18, 1))
		per, _ := new(big.Rat).SetString(length)
		n.Quo(n, per)
	}
	return n.Quo(n, count), true
}
