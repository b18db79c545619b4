package zarr

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
)

// intend notes in the lock file that the shape is about to become another one, so
// that what a kill leaves is known to be nobody's loss. What the files hold outside
// of the old shape was cleared or kept aside before.
func (f *file) intend(to []int64) {
	if f.Mode != edit.Updating {
		return
	}
	text := []byte("shape")
	for _, shape := range [][]int64{f.meta.shape, to} {
		text = append(text, ' ')
		for axis, n := range shape {
			if axis > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, n, 10)
		}
	}
	f.Intend(string(text))
}

// leftBehind is the shape up to which a writer, whose intent is given, may have left
// chunks that nobody counts, or nil.
func (f *file) leftBehind(intent string) []int64 {
	words := strings.Fields(intent)
	if len(words) != 3 || words[0] != "shape" {
		return nil
	}
	from, ok1 := shapeOf(words[1])
	to, ok2 := shapeOf(words[2])
	shape := f.meta.shape
	switch {
	case !ok1 || !ok2 || len(from) != len(shape) || len(to) != len(shape):
	case slices.Equal(from, shape):
		return to
	case slices.Equal(to, shape):
		return from
	}
	return nil
}

func shapeOf(word string) ([]int64, bool) {
	var shape []int64
	for _, digits := range strings.Split(word, ",") {
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			return nil, false
		}
		shape = append(shape, int64(n))
	}
	return shape, true
}

// settleLeft clears what a writer before has left, before the first change of the
// shape.
func (a *array) settleLeft(ctx context.Context) error {
	f := a.file
	intent := f.Intended()
	if intent == "" {
		return nil
	}
	if left := f.leftBehind(intent); left != nil {
		if err := a.clear(ctx, f.meta.shape, left, nil, false); err != nil {
			return err
		}
	}
	f.Settle()
	return nil
}
