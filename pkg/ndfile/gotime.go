package ndfile

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// unitNanoseconds is a unit of a dtype ("25s") in nanoseconds; 0 where it has no fixed
// length, is finer, or longer than 292 years.
func unitNanoseconds(unit string) int64 {
	base := strings.TrimLeft(unit, "0123456789")
	ns := map[string]time.Duration{"W": 7 * 24 * time.Hour, "D": 24 * time.Hour, "h": time.Hour, "m": time.Minute,
		"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": 1}[base]
	if base == unit {
		return int64(ns)
	}
	factor, err := strconv.ParseInt(unit[:len(unit)-len(base)], 10, 64)
	n, ok := ndarray.Mul(factor, int64(ns))
	if err != nil || !ok {
		return 0
	}
	return n
}

// timeOf is a count of units of so many nanoseconds since 1970, in UTC.
func timeOf(count, unit int64) (time.Time, error) {
	if count == nat {
		return time.Time{}, nil
	}
	size, sign := uint64(count), int64(1)
	if count < 0 {
		size, sign = -size, -1
	}
	hi, lo := bits.Mul64(size, uint64(unit))
	if hi < 1e9 {
		if sec, ns := bits.Div64(hi, lo, 1e9); sec <= mostSeconds {
			return time.Unix(sign*int64(sec), sign*int64(ns)).UTC(), nil
		}
	}
	return time.Time{}, NewError(ErrValue, "a time.Time cannot hold "+strconv.FormatInt(count, 10)+" units of "+time.Duration(unit).String()+" since 1970")
}

// mostSeconds since 1970, on either side, have a time.Time that computes rightly.
const mostSeconds = 1 << 62

// countOf is a time in units of so many nanoseconds since 1970; what is not a whole
// number of them is ErrValue.
func countOf(t time.Time, unit int64) (int64, error) {
	if t.IsZero() {
		return nat, nil
	}
	sec, ns := t.Unix(), int64(t.Nanosecond())
	sign := int64(1)
	if sec < 0 { // both parts towards the past
		if ns > 0 {
			sec, ns = sec+1, 1e9-ns
		}
		sec, sign = -sec, -1
	}
	hi, lo := bits.Mul64(uint64(sec), 1e9)
	lo, carry := bits.Add64(lo, uint64(ns), 0)
	if hi += carry; hi < uint64(unit) {
		if n, rest := bits.Div64(hi, lo, uint64(unit)); rest == 0 && n <= math.MaxInt64 {
			return sign * int64(n), nil
		}
	}
	return 0, NewError(ErrValue, t.Format(time.RFC3339Nano)+" is no whole number of units of "+time.Duration(unit).String())
}
