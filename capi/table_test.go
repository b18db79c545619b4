package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func mustParse(t *testing.T, name string) ndarray.DType {
	t.Helper()
	d, err := ndarray.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Items for rows go to the columns of their names.
func TestColumnsOf(t *testing.T) {
	item := func(name string, size int64) ndfile.Item {
		return ndfile.Item{Name: name, Data: ndarray.Buffer{DType: mustParse(t, "<i4"), Shape: []int64{size}}}
	}
	names := []string{"a", "b", "c"}
	numbers := func(string) (ndarray.DType, error) { return mustParse(t, "<i4"), nil }
	columns, _, err := columnsOf(names, []ndfile.Item{item("c", 3), item("a", 1), item("b", 2)}, numbers)
	if err != nil || columns[0].Shape[0] != 1 || columns[1].Shape[0] != 2 || columns[2].Shape[0] != 3 {
		t.Fatalf("%v, %v", columns, err)
	}
	variable := item("b", 2)
	variable.Data.DType = mustParse(t, "str")
	masked := item("b", 2)
	masked.Mask = []byte{0, 1}
	for _, c := range []struct {
		items []ndfile.Item
		kind  *ndfile.ErrorKind
		array string
	}{
		{[]ndfile.Item{item("a", 1), item("b", 1)}, ndfile.ErrName, "c"},
		{[]ndfile.Item{item("a", 1), item("b", 1), item("c", 1), item("d", 1)}, ndfile.ErrName, "d"},
		{[]ndfile.Item{item("a", 1), item("b", 1), item("a", 1)}, ndfile.ErrNameExists, "a"},
		{[]ndfile.Item{item("a", 1), variable, item("c", 1)}, ndfile.ErrDType, "b"},
		{[]ndfile.Item{item("a", 1), masked, item("c", 1)}, ndfile.ErrArgument, "b"},
		{nil, ndfile.ErrName, "a"},
	} {
		_, _, err := columnsOf(names, c.items, numbers)
		var e *ndfile.Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Array != c.array {
			t.Errorf("%v, expected %s of %q", err, c.kind.C, c.array)
		}
	}
}

// scalar calls set with a number, and gives what it has stored as a struct of C.
func scalar[S any](set func(*S, *ndfile.Scalar), n ndfile.Scalar) (dtype string, data []byte) {
	out := new(S)
	set(out, &n)
	v := reflect.ValueOf(out).Elem()
	name := v.FieldByName("dtype")
	for i := 0; name.Index(i).Int() != 0; i++ {
		dtype += string(rune(name.Index(i).Int()))
	}
	stored := v.FieldByName("bytes")
	for i := range stored.Len() {
		data = append(data, byte(stored.Index(i).Uint()))
	}
	return dtype, data
}

// Numbers come in native byte order, those of two bytes as they are but for floats, which are widened.
func TestScalars(t *testing.T) {
	order := binary.NativeEndian
	for _, c := range []struct {
		number ndfile.Scalar
		dtype  string // native
		data   []byte
	}{
		{ndfile.Scalar{}, "", nil},
		{ndfile.Scalar{DType: mustParse(t, "|b1"), Int: 1}, "|b1", []byte{1}},
		{ndfile.Scalar{DType: mustParse(t, "|i1"), Int: -2}, "|i1", []byte{0xfe}},
		{ndfile.Scalar{DType: mustParse(t, "<i2"), Int: -2}, "=i2", order.AppendUint16(nil, 0xfffe)},
		{ndfile.Scalar{DType: mustParse(t, ">i4"), Int: -2}, "=i4", order.AppendUint32(nil, 0xfffffffe)},
		{ndfile.Scalar{DType: mustParse(t, "<u8"), Uint: math.MaxUint64}, "=u8", order.AppendUint64(nil, math.MaxUint64)},
		{ndfile.Scalar{DType: mustParse(t, "<f2"), Float: 1.5}, "=f4", order.AppendUint32(nil, math.Float32bits(1.5))},
		{ndfile.Scalar{DType: mustParse(t, "bfloat16"), Float: 1.5}, "=f4", order.AppendUint32(nil, math.Float32bits(1.5))},
		{ndfile.Scalar{DType: mustParse(t, "<f4"), Float: 0.1}, "=f4", order.AppendUint32(nil, math.Float32bits(0.1))},
		{ndfile.Scalar{DType: mustParse(t, "<f8"), Float: 0.1}, "=f8", order.AppendUint64(nil, math.Float64bits(0.1))},
		{ndfile.Scalar{DType: mustParse(t, "<c16"), Float: 1, Imag: 2}, "=c16",
			order.AppendUint64(order.AppendUint64(nil, math.Float64bits(1)), math.Float64bits(2))},
		{ndfile.Scalar{DType: mustParse(t, "<M8[1000000007ns]"), Int: 5}, "=M8[1000000007ns]", order.AppendUint64(nil, 5)},
	} {
		dtype, data := scalar(setScalar, c.number)
		if c.dtype != "" && mustParse(t, dtype).String() != mustParse(t, c.dtype).Native().String() || c.dtype == "" && dtype != "" {
			t.Errorf("%+v: dtype %q, expected %q", c.number, dtype, c.dtype)
		}
		if !bytes.Equal(data, append(c.data, make([]byte, len(data)-len(c.data))...)) {
			t.Errorf("%+v: %x, expected %x", c.number, data, c.data)
		}
	}
}

// An element keeps its value in another byte order, field by field.
func TestReordered(t *testing.T) {
	d := mustParse(t, `[["a", "<i2"], ["b", ">i2"]]`)
	there, err := reordered([]byte{1, 2, 3, 4}, d, d.WithOrder(ndarray.Little))
	if err != nil || !bytes.Equal(there, []byte{1, 2, 4, 3}) {
		t.Errorf("%x, %v", there, err)
	}
	back, err := reordered(there, d.WithOrder(ndarray.Little), d)
	if err != nil || !bytes.Equal(back, []byte{1, 2, 3, 4}) {
		t.Errorf("and back: %x, %v", back, err)
	}
}

func TestLossesJSON(t *testing.T) {
	got := lossesJSON([]ndfile.Loss{{Array: "a\"b", What: "dims", Why: "no names"}, {What: "file attributes", Why: "none"}})
	want := `[{"array": "a\"b", "what": "dims", "why": "no names"}, {"array": "", "what": "file attributes", "why": "none"}]`
	if got != want || lossesJSON(nil) != "[]" {
		t.Errorf("%s, expected %s", got, want)
	}
}
