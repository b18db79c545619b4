package ndarray

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestNarrow(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		src  Buffer
		to   string
		want string // the values; "at N" is the first that does not fit
	}{
		{Of([]int32{1, -32768, 32767}), "<i2", "[1 -32768 32767]"},
		{Of([]int32{1, 32768}), "<i2", "at 1"},
		{Of([]int32{-32769}), ">i2", "at 0"},
		{Of([]int32{1, -2}), ">i2", "[1 -2]"},
		{Of([]int64{127, -128}), "|i1", "[127 -128]"},
		{Of([]int64{0, -1}), "<u8", "at 1"},
		{Of([]int64{math.MaxInt64}), "<u8", "[9223372036854775807]"},
		{Of([]uint64{math.MaxInt64 + 1}), "<i8", "at 0"},
		{Of([]uint64{math.MaxUint64}), "<u8", "[18446744073709551615]"},
		{Of([]uint16{255, 256}), "|u1", "at 1"},
		{Of([]int8{-1}), "|u1", "at 0"},
		{Of([]bool{true, false}), "<u2", "[1 0]"},
		{Of([]int64{1<<53 + 1}), "<f8", "[9007199254740992]"},
		{Of([]int64{1<<62 + 1<<38 + 1}), "<f4", fmt.Sprint([]float64{float64(float32(int64(1<<62 + 1<<38 + 1)))})},
		{Of([]uint64{math.MaxUint64}), "<f4", "[18446744073709551616]"},
		{Of([]float64{1.1, math.NaN(), inf, -inf, 1e-60}), "<f4", "[1.100000023841858 NaN +Inf -Inf 0]"},
		{Of([]float64{3.4028235e38, 3.5e38}), "<f4", "at 1"},
		{Of([]float64{3, -4, math.Copysign(0, -1)}), "<i2", "[3 -4 0]"},
		{Of([]float64{3, 3.5}), "<i2", "at 1"},
		{Of([]float64{math.NaN()}), "<i8", "at 0"},
		{Of([]float64{inf}), "<u8", "at 0"},
		{Of([]float64{1 << 63}), "<i8", "at 0"},
		{Of([]float64{-1 << 63, 1<<63 - 1024}), "<i8", "[-9223372036854775808 9223372036854774784]"},
		{Of([]float64{1 << 64}), "<u8", "at 0"},
		{Of([]float64{-0.5}), "|u1", "at 0"},
		{Of([]float32{255, 256}), "|u1", "at 1"},
		{Of([]complex128{1 + 2i, complex(0, 1e39)}), "<c8", "at 1"},
		{Of([]complex128{1 + 2i}), ">c8", "[(1+2i)]"},
		{Of([]float64{1.5, 1e39}), "<c8", "at 1"},
		{Of([]float64{1.5}), "<c8", "[(1.5+0i)]"},
		{Of([]float64{}), "<i2", "[]"},
		{Of([]complex128{1}), "<f8", "dtype"},
		{Of([]int32{1}), "<f2", "dtype"},
		{Of([]int32{1}), "S4", "dtype"},
		{Buffer{DType: MustParse("S4"), Shape: []int64{1}, Data: make([]byte, 4)}, "<i4", "dtype"},
	} {
		to := MustParse(c.to)
		dst, err := NewBuffer(to, c.src.Shape)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		at, err := Narrow(dst, c.src)
		switch {
		case errors.Is(err, ErrDType):
			got = "dtype"
		case err != nil:
			if got = fmt.Sprint("at ", at); !errors.Is(err, ErrBounds) {
				t.Error(err)
			}
		case to.Kind == Complex:
			got = show[complex128](dst)
		case to.Kind == Float:
			got = show[float64](dst)
		case to.Kind == Uint:
			got = show[uint64](dst)
		default:
			got = show[int64](dst)
		}
		if c.want[0] == '[' && c.want != got && to.Kind == Float {
			if v, err := Values[float64](dst); err == nil && len(v) == 1 && fmt.Sprintf("[%.0f]", v[0]) == c.want {
				continue
			}
		}
		if got != c.want || (c.want == "dtype") == CanNarrow(c.src.DType, to) {
			t.Errorf("%v as %s: %s, expected %s (%v)", c.src.DType, c.to, got, c.want, err)
		}
	}
}

func show[T Element](b Buffer) string {
	v, err := Values[T](b)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v)
}

// Strides and axes of the destination count as in Copy.
func TestNarrowStrided(t *testing.T) {
	src := Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	dst := Buffer{DType: MustParse("<i2"), Shape: []int64{2, 3}, Strides: []int64{2, 4}, Data: make([]byte, 12)}
	if at, err := Narrow(dst, src); at != -1 || err != nil || show[int16](Of([]int16{}, 0)) != "[]" {
		t.Fatal(at, err)
	}
	if got := fmt.Sprint(dst.Data); got != "[1 0 4 0 2 0 5 0 3 0 6 0]" {
		t.Error(got)
	}
	src.Data[8*4+3] = 1 // element [1, 1]
	if at, err := Narrow(dst, src); at != 4 || !errors.Is(err, ErrBounds) {
		t.Error(at, err)
	}
	if _, err := Narrow(dst, Of([]int64{1})); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}
