package zarr

import (
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/isotime"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// notATime is NumPy's NaT.
const notATime = math.MinInt64

// parseTime reads a text as NumPy does for a datetime or timedelta: the count of
// the dtype's unit. "" and "nat" in any case are NaT. A timedelta is an integer, a
// datetime ISO 8601; what is finer than the unit is cut towards the past. Not ok:
// anything else, "today" and "now", and dates that the unit cannot count.
func parseTime(text string, d *ndarray.DType) (count int64, ok bool) {
	if text == "" || strings.EqualFold(text, "nat") {
		return notATime, true
	}
	if d.Kind == ndarray.Timedelta {
		count, err := strconv.ParseInt(text, 10, 64)
		return count, err == nil
	}
	t, ok := isotime.Parse(text)
	if !ok {
		return 0, false
	}
	return t.Floor(d.Unit)
}
