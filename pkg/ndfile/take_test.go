package ndfile

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// numbered is an array of which each element is its position.
func numbered(dtype string, chunks []int64, shape ...int64) *toyArray {
	a := newToyArray("", Spec{DType: ndarray.MustParse(dtype), Shape: shape, Chunks: chunks})
	for i := range len(a.mask) {
		var le [8]byte
		binary.LittleEndian.PutUint64(le[:], uint64(i))
		copy(a.data[i*a.spec.DType.Size:(i+1)*a.spec.DType.Size], le[:])
	}
	return a
}

// Any rows, in any order, arrive in memory of any strides, wider than stored or not.
func TestTake(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		shape := []int64{1 + rng.Int64N(40), 1 + rng.Int64N(3), rng.Int64N(4)}[:1+rng.IntN(3)]
		var chunks []int64
		if rng.IntN(2) == 0 {
			chunks = []int64{1 + rng.Int64N(9), 2, 2}[:len(shape)]
		}
		a := numbered("<i4", chunks, shape...)
		rows := make([]int64, rng.IntN(30))
		for i := range rows {
			rows[i] = rng.Int64N(shape[0])
		}
		if rng.IntN(2) == 0 {
			slices.Sort(rows)
			if rng.IntN(2) == 0 {
				rows = slices.Compact(rows)
			}
		}
		out := append([]int64{int64(len(rows))}, shape[1:]...)
		dst, err := ndarray.NewBuffer(ndarray.MustParse([]string{"<i4", "<i8", ">i4"}[rng.IntN(3)]), append(slices.Clone(out), 2))
		if err != nil {
			t.Fatal(err)
		}
		dst.Shape = out
		if rng.IntN(2) == 0 { // every second element
			dst.Strides, _ = ndarray.AppendStrides(nil, out, 2*dst.DType.Size)
		}
		if err := Take(t.Context(), a, rows, dst); err != nil {
			t.Fatal(err)
		}
		want, _ := ndarray.NewBuffer(dst.DType, out)
		for i, row := range rows {
			to, _ := want.Sub(rowBox(out, int64(i), 1))
			from, err := a.all().Sub(rowBox(shape, row, 1))
			if err == nil {
				err = ndarray.Copy(to, from)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, _ := ndarray.NewBuffer(dst.DType, out)
		if err := ndarray.Copy(got, dst); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Fatalf("shape %v, chunks %v, rows %v, strides %v", shape, chunks, rows, dst.Strides)
		}
		// With a mask.
		a.spec.Masked = true
		for i := range a.mask {
			a.mask[i] = byte(rng.IntN(2))
		}
		flat, _ := ndarray.NewBuffer(dst.DType, out)
		elems := len(a.mask) / int(shape[0])
		mask := make([]byte, len(rows)*elems)
		if err := take(t.Context(), a, rows, flat, mask); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if !slices.Equal(mask[i*elems:(i+1)*elems], a.mask[int(row)*elems:(int(row)+1)*elems]) {
				t.Fatalf("the mask of row %d", row)
			}
		}
	}
}

// Chunks are read once, neighbours together, distant rows apart.
func TestTakeReads(t *testing.T) {
	spans := func(a *toyArray, rows ...int64) (spans [][2]int64) {
		t.Helper()
		a.reads = nil
		dst, err := ndarray.NewBuffer(a.spec.DType, append([]int64{int64(len(rows))}, a.spec.Shape[1:]...))
		if err == nil {
			err = Take(t.Context(), a, rows, dst)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if got := binary.LittleEndian.Uint32(dst.Data[4*i:]); int64(got) != row {
				t.Errorf("row %d is %d", row, got)
			}
		}
		for _, b := range a.reads {
			spans = append(spans, [2]int64{b.Start[0], b.Start[0] + b.Count[0]})
		}
		slices.SortFunc(spans, func(a, b [2]int64) int { return int(a[0] - b[0]) })
		return spans
	}
	chunked := numbered("<i4", []int64{10}, 100)
	flat := numbered("<i4", nil, 1<<20)
	huge := numbered("<i4", []int64{8 << 20}, 9<<20) // too large to be read whole
	for _, test := range []struct {
		a    *toyArray
		rows []int64
		want [][2]int64
	}{
		{chunked, []int64{55, 3, 51, 99, 3, 7}, [][2]int64{{3, 8}, {51, 56}, {99, 100}}},
		{chunked, []int64{5, 6, 7, 8, 9, 10, 11}, [][2]int64{{5, 12}}}, // a range
		{chunked, []int64{9, 10, 12}, [][2]int64{{9, 10}, {10, 13}}},
		{flat, []int64{0, 100, 1000_000, 1000_001, 500_000}, [][2]int64{{0, 101}, {500_000, 500_001}, {1000_000, 1000_002}}},
		{flat, []int64{7}, [][2]int64{{7, 8}}},
		{huge, []int64{0, 10, 8 << 20}, [][2]int64{{0, 11}, {8 << 20, 8<<20 + 1}}},
	} {
		if got := spans(test.a, test.rows...); !slices.Equal(got, test.want) {
			t.Errorf("%v: read %v, expected %v", test.rows, got, test.want)
		}
	}
	// A span is cut where it becomes too long.
	var every []int64
	for row := int64(0); row < 9<<20; row += 4000 {
		every = append(every, row)
	}
	for _, s := range spans(huge, every...) {
		if (s[1]-s[0])*4 > takeSpan {
			t.Errorf("read %v at once", s)
		}
	}
}

func TestTakeErrors(t *testing.T) {
	a := numbered("<i4", []int64{2}, 5)
	buffer := func(shape ...int64) ndarray.Buffer {
		b, err := ndarray.NewBuffer(ndarray.MustParse("<i4"), shape)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	small := buffer(2)
	small.Data = small.Data[:7]
	for _, test := range []struct {
		a    Array
		rows []int64
		dst  ndarray.Buffer
		kind *ErrorKind
		text string
	}{
		{a, []int64{0, -1}, buffer(2), ErrBounds, "-1"},
		{a, []int64{5}, buffer(1), ErrBounds, "0 to 4"},
		{a, []int64{1}, buffer(2), ErrShape, "[1]"},
		{a, []int64{1}, buffer(1, 1), ErrShape, "[1, 1]"},
		{a, []int64{1, 3}, small, ErrBounds, ""},
		{newToyArray("", Spec{DType: ndarray.MustParse("i4")}), []int64{}, buffer(0), ErrShape, "scalar"},
		{newToyArray("", Spec{DType: ndarray.MustParse("i4"), NoData: true}), []int64{}, buffer(0), ErrNoData, ""},
	} {
		if err := Take(t.Context(), test.a, test.rows, test.dst); KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%v: %v, expected %s", test.rows, err, test.kind.C)
		}
	}
	if len(a.reads) > 0 {
		t.Errorf("read before the check: %v", a.reads)
	}
	a.mask[3] = 1
	if err := Take(t.Context(), a, []int64{0, 3}, buffer(2)); KindOf(err) != ErrMasked {
		t.Errorf("missing: %v", err)
	}
	a.readErr = func(box ndarray.Box) error {
		if box.Start[0] == 2 {
			return NewError(ErrCorrupt, "bad chunk")
		}
		return nil
	}
	if err := Take(t.Context(), a, []int64{0, 2, 4}, buffer(3)); KindOf(err) != ErrCorrupt {
		t.Errorf("unreadable: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Take(ctx, a, []int64{0, 4}, buffer(2)); KindOf(err) != ErrCanceled {
		t.Errorf("cancelled: %v", err)
	}
}
