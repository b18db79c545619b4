package main

import (
	"math"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

// julianEpoch is noon of the first day of the Julian dates, which ds counts from, in
// seconds since 1970.
const julianEpoch = -210866760000

// timeUnit reads units such as "hours since 2026-11-22 06:00": how many seconds one of
// them has, and the epoch in seconds since 1970. Only the calendars that agree with
// that of today are known, and the epoch of Julian dates.
func timeUnit(units, calendar string) (seconds, epoch float64, ok bool) {
	word, since, found := strings.Cut(units, " since ")
	seconds = map[string]float64{"day": 86400, "hour": 3600, "minute": 60, "second": 1, "d": 86400, "h": 3600, "hr": 3600, "min": 60, "s": 1, "sec": 1,
		"millisecond": 1e-3, "msec": 1e-3, "ms": 1e-3, "microsecond": 1e-6}[strings.TrimSuffix(strings.ToLower(strings.TrimSpace(word)), "s")]
	if word == "s" {
		seconds = 1
	}
	switch strings.ToLower(calendar) {
	case "", "standard", "gregorian", "proleptic_gregorian":
	default:
		return 0, 0, false
	}
	if !found || seconds == 0 {
		return 0, 0, false
	}
	since = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(since), "UTC"), "Z"))
	if day, clock, _ := strings.Cut(strings.Replace(since, "T", " ", 1), " "); day == "-4712-01-01" && strings.HasPrefix(clock, "12:00") {
		return seconds, julianEpoch, true
	}
	for _, layout := range []string{"2006-1-2", "2006-1-2 15:4", "2006-1-2 15:4:5", "2006-1-2T15:4:5", "2006-1-2 15:4:5 -07:00"} {
		if t, err := time.Parse(layout, since); err == nil && t.Year() >= 1583 {
			return seconds, float64(t.Unix()) + float64(t.Nanosecond())/1e9, true
		}
	}
	return 0, 0, false
}

// timeTicks are the marks of an axis of seconds since 1970, at round times of UTC: as
// many as there is room for.
type timeTicks struct{ room int }

// timeSteps are the distances between marks, in seconds or months, and how the times
// are written.
var timeSteps = []struct {
	seconds float64
	months  int
	layout  string
}{
	{1, 0, "15:04:05"}, {5, 0, "15:04:05"}, {15, 0, "15:04:05"}, {30, 0, "15:04:05"}, {60, 0, "15:04"}, {300, 0, "15:04"}, {900, 0, "15:04"},
	{1800, 0, "15:04"}, {3600, 0, "01-02 15:04"}, {10800, 0, "01-02 15:04"}, {21600, 0, "01-02 15:04"}, {43200, 0, "01-02 15:04"},
	{86400, 0, "2006-01-02"}, {2 * 86400, 0, "2006-01-02"}, {7 * 86400, 0, "2006-01-02"}, {14 * 86400, 0, "2006-01-02"},
	{0, 1, "2006-01"}, {0, 3, "2006-01"}, {0, 6, "2006-01"}, {0, 12, "2006"}, {0, 24, "2006"}, {0, 60, "2006"}, {0, 120, "2006"}, {0, 240, "2006"},
	{0, 600, "2006"}, {0, 1200, "2006"},
}

// Ticks implements plot.Ticker.
func (t timeTicks) Ticks(least, most float64) []plot.Tick {
	for _, step := range timeSteps {
		seconds := step.seconds + float64(step.months)*30.44*86400
		if (most-least)/seconds > float64(max(1, t.room)) {
			continue
		}
		var ticks []plot.Tick
		if step.months == 0 {
			for at := math.Ceil(least/seconds) * seconds; at <= most; at += seconds {
				ticks = append(ticks, plot.Tick{Value: at, Label: time.Unix(int64(at), 0).UTC().Format(step.layout)})
			}
		} else {
			first := time.Unix(int64(least), 0).UTC()
			month := (first.Year()*12 + int(first.Month()) - 1) / step.months * step.months
			for ; ; month += step.months {
				at := time.Date(month/12, time.Month(month%12+1), 1, 0, 0, 0, 0, time.UTC)
				if float64(at.Unix()) > most {
					break
				}
				if float64(at.Unix()) >= least {
					ticks = append(ticks, plot.Tick{Value: float64(at.Unix()), Label: at.Format(step.layout)})
				}
			}
		}
		if len(ticks) > 0 {
			return ticks
		}
	}
	return plot.DefaultTicks{}.Ticks(least, most)
}

// nameTicks are the marks of an axis whose elements have names.
type nameTicks struct {
	names []string
	down  bool
}

// Ticks implements plot.Ticker.
func (t nameTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	for i, name := range t.names {
		at := float64(i)
		if t.down {
			at = -at
		}
		if at >= least && at <= most {
			ticks = append(ticks, plot.Tick{Value: at, Label: name})
		}
	}
	return ticks
}

// logTicks are the marks of an axis of decimal logarithms.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = formatNumber(math.Pow(10, ticks[i].Value))
		}
	}
	return ticks
}
