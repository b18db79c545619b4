package ndfile_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// saved is a file in memory with some arrays, open for reading.
func saved(t *testing.T, path string, items ...ndfile.Item) ndfile.File {
	t.Helper()
	mem := ndfile.NewMem()
	opt := ndfile.SaveOptions{FS: mem}
	if err := ndfile.Save(t.Context(), all.Formats, path, items, opt); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.Open(t.Context(), all.Formats, path, ndfile.OpenOptions{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Abort() })
	return f
}

func array(t *testing.T, f ndfile.File, name string) ndfile.Array {
	t.Helper()
	a, err := f.Array(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type celsius float32

func TestTypedReads(t *testing.T) {
	ctx := t.Context()
	f := saved(t, "x.ds",
		ndfile.Item{Name: "i", Data: ndarray.Of([]int16{1, -2, 3, 4, 5, 6}, 2, 3)},
		ndfile.Item{Name: "b", Data: ndarray.Buffer{DType: ndarray.MustParse("|b1"), Shape: []int64{3}, Data: []byte{0, 1, 1}}},
		ndfile.Item{Name: "m", Data: ndarray.Of([]celsius{1, 2, 3}), Mask: []byte{0, 1, 0}},
		ndfile.Item{Name: "plain", Data: ndarray.Of([]uint8{7}, []int64{}...)},
		ndfile.Item{Name: "empty", Data: ndarray.Of([]int{}, 0, 4)},
		ndfile.Texts("s", []string{"Praha", "", "Åland"}))

	i := array(t, f, "i")
	if v, err := ndfile.ReadAll[float64](ctx, i); err != nil || !slices.Equal(v, []float64{1, -2, 3, 4, 5, 6}) {
		t.Error(v, err)
	}
	column := ndarray.Box{Start: []int64{0, 2}, Count: []int64{2, 1}}
	if v, err := ndfile.Read[int16](ctx, i, column); err != nil || !slices.Equal(v, []int16{3, 6}) {
		t.Error(v, err)
	}
	if v, err := ndfile.ReadAll[bool](ctx, array(t, f, "b")); err != nil || !slices.Equal(v, []bool{false, true, true}) {
		t.Error(v, err)
	}
	if v, mask, err := ndfile.ReadMasked[celsius](ctx, array(t, f, "m"), ndarray.Full([]int64{3})); err != nil ||
		!slices.Equal(v, []celsius{1, 0, 3}) || !slices.Equal(mask, []bool{false, true, false}) {
		t.Error(v, mask, err)
	}
	if v, mask, err := ndfile.ReadMasked[celsius](ctx, array(t, f, "m"), ndarray.Full([]int64{1})); err != nil || len(v) != 1 || mask != nil {
		t.Error(v, mask, err)
	}
	if v, err := ndfile.ReadAll[int](ctx, array(t, f, "plain")); err != nil || !slices.Equal(v, []int{7}) {
		t.Error(v, err)
	}
	if v, err := ndfile.ReadAll[int64](ctx, array(t, f, "empty")); err != nil || len(v) != 0 {
		t.Error(v, err)
	}
	if v, mask, err := ndfile.ReadStrings(ctx, array(t, f, "s"), ndarray.Full([]int64{3})); err != nil || !slices.Equal(v, []string{"Praha", "", "Åland"}) || mask != nil {
		t.Errorf("%q %v %v", v, mask, err)
	}

	for name, err := range map[string]error{
		"narrowing":     second(ndfile.ReadAll[int8](ctx, i)),
		"a missing one": second(ndfile.ReadAll[celsius](ctx, array(t, f, "m"))),
		"a short slice": ndfile.ReadInto(ctx, i, column, []int16{0}),
		"outside":       second(ndfile.Read[int16](ctx, i, ndarray.Box{Start: []int64{0, 3}, Count: []int64{1, 1}})),
		"no texts":      third(ndfile.ReadStrings(ctx, i, column)),
	} {
		want := map[string]*ndfile.ErrorKind{"narrowing": ndfile.ErrDType, "a missing one": ndfile.ErrMasked, "a short slice": ndfile.ErrShape,
			"outside": ndfile.ErrBounds, "no texts": ndfile.ErrDType}[name]
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

// Blocks are whole chunks, cover the array once, and end where the loop does.
func TestBlocks(t *testing.T) {
	ctx, mem := t.Context(), ndfile.NewMem()
	f, err := ndfile.Create(ctx, all.Formats, "/x", ndfile.CreateOptions{FS: mem, Format: "zarr2"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.TypeOf[int32](), Shape: []int64{103, 5}, Chunks: []int64{10, 5}})
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int32, 103*5)
	for i := range values {
		values[i] = int32(i)
	}
	if err := ndfile.WriteAll(ctx, a, values); err != nil {
		t.Fatal(err)
	}
	if err := ndfile.Write(ctx, a, ndarray.Box{Start: []int64{102, 4}, Count: []int64{1, 1}}, []int16{-1}); err != nil {
		t.Fatal(err)
	}
	values[len(values)-1] = -1
	var got []int64
	var starts []int64
	for b, err := range ndfile.Blocks[int64](ctx, a, 25*5*8) {
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, b.Box.Start[0])
		got = append(got, b.Data...)
	}
	if !slices.Equal(starts, []int64{0, 20, 40, 60, 80, 100}) {
		t.Error("blocks begin at", starts)
	}
	if len(got) != len(values) || !slices.EqualFunc(got, values, func(a int64, b int32) bool { return a == int64(b) }) {
		t.Error("other values", len(got))
	}
	n := 0
	for range ndfile.Blocks[int32](ctx, a, 1) {
		if n++; n == 3 {
			break
		}
	}
	for _, err := range ndfile.Blocks[int8](ctx, a, 0) {
		if n++; !errors.Is(err, ndfile.ErrDType) {
			t.Error(err)
		}
	}
	if n != 4 {
		t.Error("steps:", n)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

type bar struct {
	Day    time.Time
	Sym    string `ndfile:"symbol"`
	Close  float64
	Halted bool
	Took   time.Duration
	OHLC   [2]float64
	Skip   func() `ndfile:"-"`
}

// table is a new table with a column of each kind.
func table(t *testing.T, mem *ndfile.Mem) ndfile.File {
	t.Helper()
	f, err := ndfile.Create(t.Context(), all.Formats, "/bars", ndfile.CreateOptions{FS: mem, Format: "bcolz"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dtype string
		shape       []int64
	}{{"day", "<M8[D]", []int64{0}}, {"symbol", "<U4", []int64{0}}, {"close", "<f4", []int64{0}}, {"halted", "|b1", []int64{0}},
		{"took", "<m8[ms]", []int64{0}}, {"ohlc", "<i2", []int64{0, 2}}} {
		if _, err := f.Add(t.Context(), c.name, ndfile.Spec{DType: ndarray.MustParse(c.dtype), Shape: c.shape}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestRows(t *testing.T) {
	ctx, mem := t.Context(), ndfile.NewMem()
	f := table(t, mem)
	type row struct {
		Day    time.Time
		Symbol string
		Close  float32
		Halted bool
		Took   time.Duration
		OHLC   [2]int16
	}
	day := time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC)
	var rows []row
	for i := range 1000 {
		rows = append(rows, row{day.AddDate(0, 0, i), []string{"A", "BÅ", ""}[i%3], float32(i) / 4, i%7 == 0, time.Duration(i-5) * time.Millisecond, [2]int16{int16(i), -1}})
	}
	rows[3].Day = time.Time{}
	if err := ndfile.Append(ctx, f, rows); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]row{"half a day": {Day: day.Add(time.Hour)}, "long": {Symbol: "ABCDE"}, "a part": {Took: time.Microsecond}} {
		if err := ndfile.Append(ctx, f, []row{rows[0], bad}); !errors.Is(err, ndfile.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ndfile.Append(ctx, f, []struct{ Close float32 }{{1}}); !errors.Is(err, ndfile.ErrName) {
		t.Error("a column without a field:", err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.Open(ctx, all.Formats, "/bars", ndfile.OpenOptions{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	i := 0
	for b, err := range ndfile.Rows[bar](ctx, f, ndfile.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		r := rows[i]
		if !b.Day.Equal(r.Day) || b.Sym != r.Symbol || b.Close != float64(r.Close) || b.Halted != r.Halted || b.Took != r.Took || b.OHLC != [2]float64{float64(r.OHLC[0]), -1} {
			t.Fatalf("row %d: %+v, expected %+v", i, b, r)
		}
		i++
	}
	if i != len(rows) {
		t.Error(i, "rows")
	}
	condition, err := ndfile.ParseCondition("close > 2 and halted")
	if err != nil {
		t.Fatal(err)
	}
	var found []float64
	for b, err := range ndfile.Rows[bar](ctx, f, ndfile.Query{Condition: condition}) {
		if err != nil {
			t.Fatal(err)
		}
		if found = append(found, b.Close); len(found) == 2 {
			break
		}
	}
	if !slices.Equal(found, []float64{3.5, 5.25}) {
		t.Error(found)
	}
	for name, c := range map[string]struct {
		err  error
		kind *ndfile.ErrorKind
	}{
		"no such column":  {firstError[struct{ Volume int }](t, f), ndfile.ErrName},
		"narrower":        {firstError[struct{ Close int64 }](t, f), ndfile.ErrDType},
		"a flat field":    {firstError[struct{ OHLC int64 }](t, f), ndfile.ErrShape},
		"a longer array":  {firstError[struct{ OHLC [3]int64 }](t, f), ndfile.ErrShape},
		"not a struct":    {firstError[int](t, f), ndfile.ErrArgument},
		"nothing":         {firstError[struct{ note string }](t, f), ndfile.ErrArgument},
		"a time for ints": {firstError[struct{ Close time.Duration }](t, f), ndfile.ErrDType},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func firstError[R any](t *testing.T, f ndfile.File) error {
	for _, err := range ndfile.Rows[R](t.Context(), f, ndfile.Query{}) {
		return err
	}
	return nil
}

// Times of any unit come back, and what no time.Time or unit can hold is an error.
func TestTimesInRows(t *testing.T) {
	ctx := t.Context()
	type row struct{ T time.Time }
	for _, unit := range []string{"W", "D", "h", "m", "s", "25s", "ms", "us", "ns", "7ms"} {
		for _, count := range []int64{0, 1, -1, 12345, -12345, math.MaxInt64, math.MinInt64 + 1, math.MinInt64} {
			b := ndarray.Of([]int64{count})
			b.DType = ndarray.MustParse("<M8[" + unit + "]")
			mem := ndfile.NewMem()
			if err := ndfile.Save(ctx, all.Formats, "/t", []ndfile.Item{{Name: "t", Data: b}}, ndfile.SaveOptions{FS: mem, Format: "bcolz"}); err != nil {
				t.Fatal(err)
			}
			f, err := ndfile.Open(ctx, all.Formats, "/t", ndfile.OpenOptions{FS: mem, Mode: ndfile.Update})
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range ndfile.Rows[row](ctx, f, ndfile.Query{}) {
				if errors.Is(err, ndfile.ErrValue) && (count == math.MaxInt64 || count == math.MinInt64+1) && slices.Contains([]string{"W", "D", "h", "m", "s", "25s"}, unit) {
					break // years that no time.Time has
				}
				if err != nil {
					t.Fatal(unit, count, err)
				}
				if r.T.IsZero() != (count == math.MinInt64) {
					t.Error(unit, count, r.T)
				}
				if err := ndfile.Append(ctx, f, []row{r}); err != nil {
					t.Fatal(unit, count, err)
				}
				back, err := ndfile.ReadAll[int64](ctx, counts{array(t, f, "t")})
				if err != nil || len(back) != 2 || back[1] != count {
					t.Error(unit, count, back, err)
				}
			}
			f.Abort()
		}
	}
}

// counts is an array of times as one of integers.
type counts struct{ ndfile.Array }

func (c counts) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	dst.DType = c.Spec().DType
	return c.Array.ReadBox(ctx, box, dst)
}

// Values that fit are read into smaller types, and the first that does not is named.
func TestReadNarrow(t *testing.T) {
	ctx := t.Context()
	n := int64(1_500_000) // some blocks
	values := make([]int32, n*2)
	for i := range values {
		values[i] = int32(i % 30000)
	}
	values[2*1_400_000+1] = 40000
	f := saved(t, "x.ds", ndfile.Item{Name: "i", Data: ndarray.Of(values, n, 2)},
		ndfile.Item{Name: "m", Data: ndarray.Of([]float64{1.5, 1e300, 2}), Mask: []byte{0, 1, 0}},
		ndfile.Texts("s", []string{"a"}))
	i := array(t, f, "i")
	fits := ndarray.Box{Start: []int64{1, 0}, Count: []int64{699_999, 1}, Step: []int64{2, 1}}
	got := make([]int16, 699_999)
	if err := ndfile.ReadNarrow(ctx, i, fits, ndarray.Of(got, fits.Count...), nil); err != nil {
		t.Fatal(err)
	}
	for k, v := range got {
		if int32(v) != values[2*(2*k+1)] {
			t.Fatal(k, v)
		}
	}
	all := ndarray.Full([]int64{n, 2})
	err := ndfile.ReadNarrow(ctx, i, all, ndarray.Of(make([]int16, 2*n), n, 2), nil)
	if !errors.Is(err, ndfile.ErrValue) || !strings.Contains(err.Error(), "element [1400000, 1]") || !strings.Contains(err.Error(), "40000 does not fit into <i2") {
		t.Error(err)
	}
	step := ndarray.Box{Start: []int64{2, 1}, Count: []int64{700_000, 1}, Step: []int64{2, 1}}
	if err := ndfile.ReadNarrow(ctx, i, step, ndarray.Of(make([]uint8, 700_000), 700_000, 1), nil); err == nil || !strings.Contains(err.Error(), "element [128, 1]") {
		t.Error(err)
	}
	short, mask := make([]float32, 3), make([]byte, 3)
	m := array(t, f, "m")
	if err := ndfile.ReadNarrow(ctx, m, ndarray.Full([]int64{3}), ndarray.Of(short), mask); err != nil || !slices.Equal(short, []float32{1.5, 0, 2}) || mask[1] != 1 {
		t.Error(short, mask, err)
	}
	if err := ndfile.ReadNarrow(ctx, m, ndarray.Full([]int64{3}), ndarray.Of(short), nil); !errors.Is(err, ndfile.ErrMasked) {
		t.Error(err)
	}
	if err := ndfile.ReadNarrow(ctx, array(t, f, "s"), ndarray.Full([]int64{1}), ndarray.Of(short[:1]), nil); !errors.Is(err, ndfile.ErrDType) {
		t.Error(err)
	}
	if err := ndfile.ReadNarrow(ctx, m, ndarray.Full([]int64{3}), ndarray.Of(short[:2]), mask); !errors.Is(err, ndfile.ErrShape) {
		t.Error(err)
	}
}
