package columnar

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// What becomes of dtypes. capi/ctest/arrow.c looks at the values.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		dtype, format string
		factor        int64
	}{
		{"|b1", "b", 0}, {"|i1", "c", 0}, {"<i2", "s", 0}, {">i4", "i", 0}, {"<i8", "l", 0}, {"<i16", "", 0},
		{"|u1", "C", 0}, {"<u2", "S", 0}, {"<u4", "I", 0}, {">u8", "L", 0}, {"<u16", "", 0},
		{"<f2", "e", 0}, {"<f4", "f", 0}, {">f8", "g", 0}, {"<f16", "", 0}, {"bfloat16", "", 0}, {"<c8", "", 0},
		{"|S0", "z", 0}, {"|S7", "z", 0}, {"<U5", "u", 0}, {"|V3", "w:3", 0}, {"|V0", "w:0", 0},
		{`[["a", "<i4"]]`, "", 0}, {"bytes", "", 0}, {"str", "", 0},
		{"<M8[s]", "tss:", 1}, {"<M8[ms]", "tsm:", 1}, {"<M8[us]", "tsu:", 1}, {"<M8[ns]", "tsn:", 1}, {"<M8[25ns]", "tsn:", 25},
		{"<M8[m]", "tss:", 60}, {"<M8[h]", "tss:", 3600}, {"<M8[D]", "tdD", 1}, {"<M8[2W]", "tdD", 14},
		{"<M8[M]", "", 0}, {"<M8[Y]", "", 0}, {"<M8[ps]", "", 0}, {"<M8", "", 0},
		{"<m8[s]", "tDs", 1}, {"<m8[ms]", "tDm", 1}, {"<m8[us]", "tDu", 1}, {"<m8[10ns]", "tDn", 10},
		{"<m8[h]", "tDs", 3600}, {"<m8[D]", "tDs", 86400}, {"<m8[W]", "tDs", 604800}, {"<m8[Y]", "", 0}, {"<m8", "", 0},
	} {
		d, err := ndarray.Parse(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		got, err := typeOf(d)
		if c.format == "" {
			if !errors.Is(err, ndfile.ErrDType) {
				t.Errorf("%s: %q, %v, expected an error", c.dtype, got.format, err)
			}
			continue
		}
		if err != nil || got.format != c.format || got.factor != c.factor || got.fill == nil {
			t.Errorf("%s: %q times %d: %v, expected %q times %d", c.dtype, got.format, got.factor, err, c.format, c.factor)
		}
	}
}

// oneColumn is a table of one column without data.
type oneColumn struct {
	ndfile.File
	column specOnly
}

// specOnly is an array that only describes itself.
type specOnly struct {
	ndfile.Array
	spec ndfile.Spec
}

func (a specOnly) Spec() ndfile.Spec { return a.spec }

func (c *oneColumn) Kind() ndfile.Kind                                  { return ndfile.Table }
func (c *oneColumn) Names() []string                                    { return []string{"x"} }
func (c *oneColumn) Array(string) (ndfile.Array, error)                 { return c.column, nil }
func (c *oneColumn) Rows() int64                                        { return c.column.spec.Shape[0] }
func (c *oneColumn) AppendRows(context.Context, []ndarray.Buffer) error { return nil }
func (c *oneColumn) ResizeRows(context.Context, int64) error            { return nil }

// Batches are whole chunks where that is near the usual size, and never larger than they may be.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		dtype        string
		inner        []int64
		chunk, asked int64
		want         int64 // 0: ErrLimit
	}{
		{"<i8", nil, 0, 0, 64 << 10},
		{"<i8", nil, 1000, 0, 65000},
		{"<i8", nil, 64 << 10, 0, 64 << 10},
		{"<i8", nil, 1 << 20, 0, 1 << 20},
		{"<i8", nil, 1 << 30, 0, 64 << 10},
		{"<i8", nil, 1000, 7, 7},
		{"<i8", nil, 1000, math.MaxInt64, 1 << 27},
		{"|S4096", nil, 0, 0, 16 << 10},
		{"|S4096", nil, 5000, 0, 15000},
		{"<f4", []int64{1 << 28}, 0, 0, 1},
		{"<f4", []int64{1 << 28}, 0, 5, 1},
		{"<f4", []int64{1<<28 + 1}, 0, 0, 0},
		{"<f4", []int64{1 << 40, 1 << 40}, 0, 0, 0},
		{"<f4", []int64{0, 1 << 40}, 0, 0, 64 << 10},
		{"|S0", []int64{1 << 31}, 0, 0, 0},
	} {
		d, err := ndarray.Parse(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		table := &oneColumn{column: specOnly{spec: ndfile.Spec{DType: d, Shape: append([]int64{1 << 40}, c.inner...)}}}
		if c.chunk > 0 {
			table.column.spec.Chunks = append([]int64{c.chunk}, c.inner...)
		}
		s, err := OfTable(table, nil, c.asked)
		switch {
		case c.want == 0 && !errors.Is(err, ndfile.ErrLimit):
			t.Errorf("%+v: %v, expected ErrLimit", c, err)
		case c.want > 0 && (err != nil || s.batch != c.want || s.rows != 1<<40):
			t.Errorf("%+v: %d rows: %v", c, s.batch, err)
		}
	}
}
