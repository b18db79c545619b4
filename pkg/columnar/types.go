package columnar

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// elementType is what becomes of a dtype.
type elementType struct {
	format string
	// fill makes the buffers of values, of which there are n, of the rows from at on.
	fill   func(ctx context.Context, c *column, values Memory, at, rows, n int64) error
	factor int64 // what units of time are multiplied by
}

// typeOf is the type that a dtype has in Arrow.
func typeOf(d ndarray.DType) (elementType, error) {
	switch d.Kind {
	case ndarray.Bool:
		return elementType{format: "b", fill: fillBools}, nil
	case ndarray.Int, ndarray.Uint, ndarray.Float:
		// the letters of sizes 1, 2, 4 and 8
		letters := map[ndarray.Kind]string{ndarray.Int: "csil", ndarray.Uint: "CSIL", ndarray.Float: "?efg"}[d.Kind]
		if i := slices.Index([]int{1, 2, 4, 8}, d.Size); i >= 0 {
			return elementType{format: letters[i : i+1], fill: fillSame}, nil
		}
	case ndarray.Bytes:
		return elementType{format: "z", fill: fillBytes}, nil
	case ndarray.Unicode:
		return elementType{format: "u", fill: fillTexts}, nil
	case ndarray.Raw:
		return elementType{format: "w:" + strconv.Itoa(d.Size), fill: fillSame}, nil
	case ndarray.Datetime, ndarray.Timedelta:
		if t, ok := timeType(d); ok {
			return t, nil
		}
	}
	return elementType{}, ndfile.NewError(ndfile.ErrDType, "Arrow has no type for elements of "+d.String())
}

// timeType is the type of a time, whose unit can have a factor, as in "25s".
func timeType(d ndarray.DType) (elementType, bool) {
	unit := strings.TrimLeft(d.Unit, "0123456789")
	t := elementType{fill: fillTimes, factor: 1}
	if digits := d.Unit[:len(d.Unit)-len(unit)]; digits != "" {
		var err error
		if t.factor, err = strconv.ParseInt(digits, 10, 32); err != nil || t.factor == 0 {
			return t, false
		}
	}
	const day = 24 * 60 * 60
	seconds := map[string]int64{"m": 60, "h": 60 * 60, "D": day, "W": 7 * day}[unit]
	switch {
	case unit == "s" || unit == "ms" || unit == "us" || unit == "ns":
		t.format = unit[:1]
	case seconds >= day && d.Kind == ndarray.Datetime:
		t.format, t.factor, t.fill = "tdD", t.factor*(seconds/day), fillDates
		return t, true
	case seconds > 0:
		t.format, t.factor = "s", t.factor*seconds
	default:
		return t, false
	}
	if d.Kind == ndarray.Datetime {
		t.format = "ts" + t.format + ":"
	} else {
		t.format = "tD" + t.format
	}
	return t, true
}
