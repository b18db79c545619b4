package ndarrow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndarrow"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

var counts = []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}

// as is a buffer of another type with the same bytes.
func as(dtype string, b ndarray.Buffer) ndarray.Buffer {
	b.DType = ndarray.MustParse(dtype)
	return b
}

// columns has each kind of type once, in 10 rows.
func columns() []ndfile.Item {
	nat := append([]int64{-1 << 63}, counts[1:]...)
	texts := ndarray.Buffer{DType: ndarray.MustParse("<U2"), Shape: []int64{10}, Data: make([]byte, 80)}
	texts.Data[8], texts.Data[12] = 'a', 0xe5 // "aå" in row 1
	return []ndfile.Item{
		{Name: "flag", Data: ndarray.Of([]bool{true, false, true, true, false, false, false, false, false, true})},
		{Name: "n", Data: ndarray.Of(counts)},
		{Name: "half", Data: as("<f2", ndarray.Of(make([]uint16, 10)))},
		{Name: "x", Data: ndarray.Of([]float64{0, .5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5})},
		{Name: "s", Data: ndarray.Buffer{DType: ndarray.MustParse("S2"), Shape: []int64{10}, Data: []byte("a\x00bcd\x00\x00\x00e\x00f\x00g\x00h\x00i\x00jk")}},
		{Name: "u", Data: texts},
		{Name: "day", Data: as("<M8[D]", ndarray.Of(nat))},
		{Name: "at", Data: as("<M8[ms]", ndarray.Of(nat))},
		{Name: "took", Data: as("<m8[h]", ndarray.Of(counts))},
		{Name: "raw", Data: ndarray.Buffer{DType: ndarray.MustParse("V3"), Shape: []int64{10}, Data: make([]byte, 30)}},
		{Name: "pair", Data: ndarray.Of([]int16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 10, 2)},
	}
}

func table(t testing.TB, items ...ndfile.Item) ndfile.File {
	t.Helper()
	ctx, mem := context.Background(), ndfile.NewMem()
	if err := ndfile.Save(ctx, all.Formats, "/t", items, ndfile.SaveOptions{FS: mem, Format: "bcolz"}); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.Open(ctx, all.Formats, "/t", ndfile.OpenOptions{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Abort() })
	return f
}

// Records have schema and values of the table, whatever their length; all memory comes
// back.
func TestReader(t *testing.T) {
	f := table(t, columns()...)
	want := map[string]string{
		"flag": "bool [true false true true false false false false false true]",
		"n":    "int64 [0 1 2 3 4 5 6 7 8 9]",
		"half": "float16 [0 0 0 0 0 0 0 0 0 0]",
		"x":    "float64 [0 0.5 1 1.5 2 2.5 3 3.5 4 4.5]",
		"s":    `binary ["a" "bc" "d" "" "e" "f" "g" "h" "i" "jk"]`,
		"u":    `utf8 ["" "aå" "" "" "" "" "" "" "" ""]`,
		"day":  "date32 [(null) 1970-01-02 1970-01-03 1970-01-04 1970-01-05 1970-01-06 1970-01-07 1970-01-08 1970-01-09 1970-01-10]",
		"at":   "timestamp[ms] [(null) 1 2 3 4 5 6 7 8 9]",
		"took": "duration[s] [0 3600 7200 10800 14400 18000 21600 25200 28800 32400]",
		"pair": "fixed_size_list<item: int16, nullable>[2] [[0 1] [2 3] [4 5] [6 7] [8 9] [10 11] [12 13] [14 15] [16 17] [18 19]]",
	}
	for _, rows := range []int64{0, 1, 3, 10, 11} {
		alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
		r, err := ndarrow.NewReader(t.Context(), f, ndarrow.Options{BatchRows: rows, Allocator: alloc})
		if err != nil {
			t.Fatal(err)
		}
		var records []arrow.RecordBatch
		for r.Next() {
			rec := r.RecordBatch()
			rec.Retain()
			records = append(records, rec)
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		whole := array.NewTableFromRecords(r.Schema(), records)
		if whole.NumRows() != 10 || whole.NumCols() != 11 {
			t.Fatal(whole)
		}
		for i := range int(whole.NumCols()) {
			column := whole.Column(i)
			joined, err := array.Concatenate(column.Data().Chunks(), alloc)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%v %v", joined.DataType(), joined); want[column.Name()] != "" && got != want[column.Name()] {
				t.Errorf("%d rows: %s: %s, expected %s", rows, column.Name(), got, want[column.Name()])
			}
			joined.Release()
		}
		whole.Release()
		for _, rec := range records {
			rec.Release()
		}
		r.Release()
		alloc.AssertSize(t, 0)
	}
}

// A reader that is left early, or whose context ends, gives all memory back.
func TestEnds(t *testing.T) {
	f := table(t, columns()...)
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	ctx, cancel := context.WithCancel(t.Context())
	r, err := ndarrow.NewReader(ctx, f, ndarrow.Options{Columns: []string{"x", "n"}, BatchRows: 2, Allocator: alloc})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Next() || r.RecordBatch().NumRows() != 2 || r.RecordBatch().ColumnName(0) != "x" {
		t.Error(r.RecordBatch(), r.Err())
	}
	cancel()
	if r.Next() || !errors.Is(r.Err(), ndfile.ErrCanceled) {
		t.Error("after the end of the context:", r.Err())
	}
	r.Release()
	if r, err = ndarrow.NewReader(t.Context(), f, ndarrow.Options{BatchRows: 1, Allocator: alloc}); err != nil || !r.Next() {
		t.Fatal(err)
	}
	r.Release()
	alloc.AssertSize(t, 0)
}

func TestChunked(t *testing.T) {
	f := table(t, columns()...)
	a, err := f.Array("pair")
	if err != nil {
		t.Fatal(err)
	}
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	c, err := ndarrow.Chunked(t.Context(), a, ndarrow.Options{BatchRows: 4, Allocator: alloc})
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 10 || len(c.Chunks()) != 3 || fmt.Sprint(c.Chunk(2)) != "[[16 17] [18 19]]" {
		t.Error(c.Len(), c.Chunks())
	}
	c.Release()
	alloc.AssertSize(t, 0)
}

func TestErrors(t *testing.T) {
	f := table(t, ndfile.Item{Name: "c", Data: ndarray.Of([]complex64{1})}, ndfile.Item{Name: "x", Data: ndarray.Of([]int8{1})},
		ndfile.Item{Name: "m", Data: as("<M8[h]", ndarray.Of([]int64{1 << 62}))})
	read := func(f ndfile.File, opt ndarrow.Options) error {
		r, err := ndarrow.NewReader(t.Context(), f, opt)
		if err != nil {
			return err
		}
		defer r.Release()
		for r.Next() {
		}
		return r.Err()
	}
	single := table(t, ndfile.Item{Data: ndarray.Of([]int8{1})})
	for name, c := range map[string]struct {
		err  error
		kind *ndfile.ErrorKind
	}{
		"no type":        {read(f, ndarrow.Options{}), ndfile.ErrDType},
		"no such column": {read(f, ndarrow.Options{Columns: []string{"y"}}), ndfile.ErrName},
		"too late":       {read(f, ndarrow.Options{Columns: []string{"x", "m"}}), ndfile.ErrValue},
		"batches":        {read(f, ndarrow.Options{BatchRows: -1}), ndfile.ErrArgument},
		"no table":       {read(single, ndarrow.Options{}), ndfile.ErrNotSupported},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if err := read(f, ndarrow.Options{Columns: []string{"x"}}); err != nil {
		t.Error(err)
	}
}
