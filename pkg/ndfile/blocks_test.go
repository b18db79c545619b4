package ndfile

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

func TestRowBlocks(t *testing.T) {
	for _, test := range []struct {
		shape    []int64
		itemsize int
		maxBytes int64
		want     []int64 // rows of each block
	}{
		{[]int64{10}, 8, 32, []int64{4, 4, 2}},
		{[]int64{10}, 8, 80, []int64{10}},
		{[]int64{10}, 8, 1 << 40, []int64{10}},
		{[]int64{3, 100}, 8, 10, []int64{1, 1, 1}},
		{[]int64{5, 2, 2}, 1, 9, []int64{2, 2, 1}},
		{[]int64{4}, 0, 32, []int64{2, 2}},
		{[]int64{2}, 1, 0, []int64{1, 1}},
		{[]int64{}, 8, 1, []int64{-1}},
		{[]int64{0}, 8, 100, nil},
		{[]int64{3, 0}, 8, 100, nil},
		{[]int64{-1}, 8, 100, nil},
		{[]int64{2, math.MaxInt64 / 2}, 8, 100, []int64{1, 1}}, // a row takes more than 2^63 bytes
	} {
		var got []int64
		next := int64(0)
		for box := range RowBlocks(test.shape, test.itemsize, test.maxBytes) {
			if err := box.Check(test.shape); err != nil {
				t.Fatal(err)
			}
			if len(test.shape) == 0 {
				got = append(got, -1)
				continue
			}
			if box.Start[0] != next || !slices.Equal(box.Count[1:], test.shape[1:]) {
				t.Errorf("%v: block %v after row %d", test.shape, box, next)
			}
			got, next = append(got, box.Count[0]), next+box.Count[0]
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v of %d bytes in %d: %v, expected %v", test.shape, test.itemsize, test.maxBytes, got, test.want)
		}
	}
	for range RowBlocks([]int64{5}, 1, 1) {
		break // the walk ends when asked to
	}
}

func TestReadAllStrings(t *testing.T) {
	ctx := context.Background()
	a := &fakeArray{spec: Spec{DType: ndarray.MustParse("str"), Shape: []int64{2}}, data: []byte("abc"), offsets: []int64{0, 1, 3}}
	offsets := make([]int64, 3)
	data, err := ReadAllStrings(ctx, a, ndarray.Full(a.spec.Shape), offsets, nil)
	if err != nil || string(data) != "abc" || !slices.Equal(offsets, a.offsets) {
		t.Errorf("%q, %v, %v", data, offsets, err)
	}
	a.data = nil
	if data, err = ReadAllStrings(ctx, a, ndarray.Full(a.spec.Shape), offsets, nil); err != nil || len(data) != 0 {
		t.Errorf("empty: %q, %v", data, err)
	}
	a.err = ErrMasked
	if _, err = ReadAllStrings(ctx, a, ndarray.Full(a.spec.Shape), offsets, nil); KindOf(err) != ErrMasked {
		t.Errorf("masked: %v", err)
	}
	if _, err = ReadAllStrings(ctx, struct{ Array }{a}, ndarray.Full(a.spec.Shape), offsets, nil); KindOf(err) != ErrDType {
		t.Errorf("not strings: %v", err)
	}
}
