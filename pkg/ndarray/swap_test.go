package ndarray

import (
	"bytes"
	"testing"
)

// Of some records only some fields are in the other byte order: swapping all
// words would be wrong, and copying must look at each field.
func TestMixedRecords(t *testing.T) {
	little := MustParse(`[["a", "<i4"], ["b", [["c", "<u2"], ["d", "|S2"]]]]`)
	big := MustParse(`[["a", ">i4"], ["b", [["c", ">u2"], ["d", "|S2"]]]]`)
	mixed := MustParse(`[["a", "<i4"], ["b", [["c", ">u2"], ["d", "|S2"]]]]`)
	for _, c := range []struct {
		a, b DType
		want bool
	}{
		{little, big, true}, {big, little, true}, {little, little, false}, {little, mixed, false}, {mixed, big, false},
		{MustParse("<f8"), MustParse(">f8"), true}, {MustParse("<f8"), MustParse(">f4"), false}, {MustParse("<f8"), MustParse("<f8"), false},
	} {
		if got := c.a.IsSwapOf(c.b); got != c.want {
			t.Errorf("%v.IsSwapOf(%v) is %v", c.a, c.b, got)
		}
	}
	data := map[*DType][]byte{
		&little: {1, 2, 3, 4, 5, 6, 'x', 'y'},
		&big:    {4, 3, 2, 1, 6, 5, 'x', 'y'},
		&mixed:  {1, 2, 3, 4, 6, 5, 'x', 'y'},
	}
	for from, src := range data {
		for to, want := range data {
			dst := make([]byte, 8)
			err := Copy(Buffer{DType: *to, Shape: []int64{1}, Data: dst}, Buffer{DType: *from, Shape: []int64{1}, Data: src})
			if err != nil || !bytes.Equal(dst, want) {
				t.Errorf("%v to %v: %v, expected %v (%v)", from, to, dst, want, err)
			}
		}
	}
}
