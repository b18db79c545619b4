package isotime

import (
	"math/big"
	"strings"
	"testing"
)

// TestIn: what NumPy gives, and the exact part behind it.
func TestIn(t *testing.T) {
	for _, c := range []struct {
		text, unit, in string
		floor          int64
	}{
		{"1970", "s", "0", 0}, {"1969", "Y", "-1", -1}, {"2000-03", "M", "362", 362}, {"2000-07-02", "Y", "61/2", 30}, {"1969-12-16T12", "M", "-1/2", -1},
		{"2000-02-29", "D", "11016", 11016}, {"0000-02-29", "D", "-719469", -719469}, {"9999-12-31T23:59:59.999999999", "ns", "253402300799999999999", 0},
		{"1969-12-31 23:59:59.999", "s", "-1/1000", -1}, {"2016-04-14T12:34:56", "25s", "1460637296/25", 58425491}, {"2016-04-14T12:34", "W", "", 2415},
		{"2016-04-14T12:00+01:30", "h", "811461/2", 405730}, {"2016-04-14T12:00-0130", "m", "24344010", 24344010}, {"2016-01-01T00+02", "Y", "", 45},
		{"2016-01-01T00+02", "M", "", 551}, {"1970-01-01T00:00:00.000000000000000001Z", "as", "1", 1}, {"1970-01-01T00:00:01.5Z", "100ms", "15", 15},
	} {
		at, ok := Parse(c.text)
		if !ok {
			t.Errorf("%q is no time", c.text)
			continue
		}
		n, ok := at.In(c.unit)
		if c.in != "" && (!ok || n.RatString() != c.in) {
			t.Errorf("%s in %s: %v, expected %s", c.text, c.unit, n, c.in)
		}
		floor, ok := at.Floor(c.unit)
		if fits := c.unit != "ns"; ok != fits || fits && floor != c.floor {
			t.Errorf("%s in %s: %d, %t; expected %d", c.text, c.unit, floor, ok, c.floor)
		}
		if n.Cmp(new(big.Rat).SetInt64(floor)) < 0 && ok {
			t.Errorf("%s in %s: %d is above %v", c.text, c.unit, floor, n)
		}
	}
	at, _ := Parse("1970")
	for _, unit := range []string{"", "7", "B", "month"} {
		if n, ok := at.In(unit); ok {
			t.Errorf("unit %q: %v", unit, n)
		}
	}
}

func TestNoTime(t *testing.T) {
	for _, text := range []string{"", "19", "1970-", "1970-13", "1970-00", "1970-1-1", "1970-02-29", "1900-02-29", "1970-01-01T24", "1970-01-01T00:60",
		"1970-01-01T00:00:60", "1970-01-01T00:00:00.", "1970-01-01T00:00:00.1x", "1970-01-01T", "1970-01-01T1", "1970-01-01T00:00+01:", "1970-01-01x", "now", "+1970", "1970Z",
		"1970-01-01T00:00:00." + strings.Repeat("1", 40), "1970-01-01:00", "1970-01-01Z", "1970-01-01+01", "1970-01-01T00:00:00,5", "1970-01-01T00:00.5", "1970-01-01T00:00 Z", "1970-01-01 "} {
		if _, ok := Parse(text); ok {
			t.Errorf("%q is a time", text)
		}
	}
}
