package zarr

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// notATime is NumPy's NaT.
const notATime = math.MinInt64

// parseTime reads a text as NumPy does for a datetime or timedelta: the count of
// the dtype's unit. "" and "nat" in any case are NaT. A timedelta is an integer, a
// datetime ISO 8601 with a year of four digits and a fraction of up to nine; what
// is finer than the unit is cut towards the past. Not ok: anything else, "today"
// and "now", and dates that the unit cannot count.
func parseTime(text string, d *ndarray.DType) (count int64, ok bool) {
	if text == "" || strings.EqualFold(text, "nat") {
		return notATime, true
	}
	if d.Kind == ndarray.Timedelta {
		count, err := strconv.ParseInt(text, 10, 64)
		return count, err == nil
	}
	const date = "2006-01-02"
	if len(text) > len(date) && text[len(date)] == ' ' {
		text = text[:len(date)] + "T" + text[len(date)+1:]
	}
	for _, layout := range []string{"2006", "2006-01", date, date + "T15", date + "T15:04", date + "T15:04:05"} {
		for _, zone := range []string{"", "Z07:00", "Z0700"} {
			// What comes behind the seconds as a fraction is read too.
			if t, err := time.Parse(layout+zone, text); err == nil && (zone == "" || len(layout) > len(date)) {
				return countTime(t.UTC(), d.Unit)
			}
		}
	}
	return 0, false
}

// perSecond is how many of a unit there are in a second; secondsIn how many
// seconds there are in one.
var (
	perSecond = map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12, "fs": 1e15, "as": 1e18}
	secondsIn = map[string]int64{"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60}
)

// countTime gives a time as a count of a unit of NumPy: "ns", "25s".
func countTime(t time.Time, unit string) (count int64, ok bool) {
	base := strings.TrimLeft(unit, "0123456789")
	multiple := int64(1)
	if base != unit {
		multiple, _ = strconv.ParseInt(unit[:len(unit)-len(base)], 10, 64)
	}
	sec := t.Unix()
	switch {
	case base == "Y":
		count = int64(t.Year()) - 1970
	case base == "M":
		count = (int64(t.Year())-1970)*12 + int64(t.Month()) - 1
	case secondsIn[base] != 0:
		count = floorDiv(sec, secondsIn[base])
	case perSecond[base] != 0:
		per := perSecond[base]
		hi, lo := bits.Mul64(uint64(max(sec, -sec)), uint64(per))
		if hi != 0 || lo > math.MaxInt64-1e18 {
			return 0, false
		}
		if count = int64(lo); sec < 0 {
			count = -count
		}
		if nano := int64(t.Nanosecond()); per > 1e9 {
			count += nano * (per / 1e9)
		} else {
			count += nano / (1e9 / per)
		}
	default: // the generic unit counts nothing
		return 0, false
	}
	return floorDiv(count, multiple), true
}

// floorDiv rounds towards the past.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
