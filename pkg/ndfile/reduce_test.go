package ndfile

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

const allReductions = ReduceSum | ReduceMin | ReduceMax | ReduceMean

// randomBox is a box of some of the elements of a shape.
func randomBox(rng *rand.Rand, shape []int64) ndarray.Box {
	box := ndarray.Full(shape)
	if rng.IntN(3) == 0 {
		return box
	}
	box.Step = make([]int64, len(shape))
	for i, n := range shape {
		box.Step[i] = 1 + rng.Int64N(3)
		if n > 0 {
			box.Start[i] = rng.Int64N(n)
			box.Count[i] = 1 + rng.Int64N((n-1-box.Start[i])/box.Step[i]+1)
		}
	}
	return box
}

// Bool and integers are exact in every width; the naive sum is a big.Int.
func TestReduceIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, name := range []string{"|b1", "|i1", "|u1", ">i2", "<u2", "<i4", ">u4", "<i8", ">i8", "<u8", ">u8", "<m8[s]"} {
		for range 60 {
			shape := []int64{1 + rng.Int64N(20), 1 + rng.Int64N(9)}
			a := newToyArray("", Spec{DType: ndarray.MustParse(name), Shape: shape, Masked: rng.IntN(2) == 0})
			if rng.IntN(2) == 0 {
				a.spec.Chunks = []int64{3, 4}
			}
			small := rng.IntN(2) == 0 // else sums overflow
			for i := range a.mask {
				e := a.data[i*a.spec.DType.Size : (i+1)*a.spec.DType.Size]
				for k := range e {
					if high := k == len(e)-1; !small || !high {
						e[k] = byte(rng.Uint32())
					}
				}
				if a.spec.Masked {
					a.mask[i] = byte(rng.IntN(2))
				}
			}
			box := randomBox(rng, shape)
			sum, least, most, n, none := new(big.Int), (*big.Int)(nil), (*big.Int)(nil), int64(0), false
			a.each(box, func(i int64) {
				if a.mask[i] != 0 {
					return
				}
				m := element(t, a, int(i))
				if n++; m.none {
					none = true
					return
				}
				v := m.rat.Num()
				sum.Add(sum, v)
				if least == nil || v.Cmp(least) < 0 {
					least = v
				}
				if most == nil || v.Cmp(most) > 0 {
					most = v
				}
			})
			what := allReductions
			if name == "<m8[s]" {
				what &^= ReduceMean
			}
			if none {
				continue // TestReduceTimes
			}
			got, err := Reduce(t.Context(), a, box, what)
			fits := sum.IsInt64()
			if a.spec.DType.Kind == ndarray.Uint {
				fits = sum.IsUint64()
			}
			switch {
			case n == 0 || !fits:
				if KindOf(err) != ErrValue || n > 0 && !strings.Contains(err.Error(), sum.String()) {
					t.Fatalf("%s: sum %v of %d: %v", name, sum, n, err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				sumType := map[ndarray.Kind]string{ndarray.Uint: "<u8", ndarray.Timedelta: "<m8[s]"}[a.spec.DType.Kind]
				if sumType == "" {
					sumType = "<i8"
				}
				if got.Count != n || big0(got.Sum).Cmp(sum) != 0 || big0(got.Min).Cmp(least) != 0 || big0(got.Max).Cmp(most) != 0 ||
					got.Sum.DType.String() != sumType || !got.Min.DType.Equal(a.spec.DType.Native()) || !got.Max.DType.Equal(a.spec.DType.Native()) {
					t.Fatalf("%s: %+v, expected %d, %v, %v, %v", name, got, n, sum, least, most)
				}
			}
			if n == 0 || what&ReduceMean == 0 {
				continue
			}
			// The mean does not suffer from a sum that is too large.
			got, err = Reduce(t.Context(), a, box, ReduceMean)
			want, _ := new(big.Rat).SetFrac(sum, big.NewInt(n)).Float64()
			if err != nil || got.Mean.Float != want || got.Mean.DType.String() != "<f8" || got.Sum.DType.Kind != ndarray.Invalid {
				t.Fatalf("%s: mean %+v, %v, expected %v", name, got.Mean, err, want)
			}
		}
	}
}

func big0(s Scalar) *big.Int {
	if s.DType.Kind == ndarray.Uint {
		return new(big.Int).SetUint64(s.Uint)
	}
	return big.NewInt(s.Int)
}

// Float sums are as near to the exact one as a few roundings allow.
func TestReduceFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, name := range []string{"<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "bfloat16"} {
		for range 20 {
			shape := []int64{1 + rng.Int64N(3000)}
			a := newToyArray("", Spec{DType: ndarray.MustParse(name), Shape: shape, Masked: rng.IntN(2) == 0})
			if rng.IntN(2) == 0 {
				a.spec.Chunks = []int64{77}
			}
			for i := range a.mask {
				e := a.data[i*a.spec.DType.Size : (i+1)*a.spec.DType.Size]
				setFloat(e, a.spec.DType, math.Ldexp(rng.NormFloat64(), rng.IntN(30)))
				if name[1:] == "f2" {
					bits := uint16(rng.Uint32()) &^ 0x4000 // finite
					e[0], e[1] = byte(bits), byte(bits>>8)
					if name[0] == '>' {
						e[0], e[1] = e[1], e[0]
					}
				}
				if a.spec.Masked {
					a.mask[i] = byte(rng.IntN(2))
				}
			}
			box := randomBox(rng, shape)
			sum, size, n := new(big.Rat), new(big.Rat), int64(0)
			least, most := math.Inf(1), math.Inf(-1)
			a.each(box, func(i int64) {
				if a.mask[i] == 0 {
					m := element(t, a, int(i))
					f, _ := m.rat.Float64()
					least, most, n = min(least, f), max(most, f), n+1
					sum.Add(sum, m.rat)
					size.Add(size, new(big.Rat).Abs(m.rat))
				}
			})
			got, err := Reduce(t.Context(), a, box, allReductions)
			if n == 0 {
				if KindOf(err) != ErrValue {
					t.Fatal(err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			diff := new(big.Rat).SetFloat64(got.Sum.Float)
			diff.Abs(diff.Sub(diff, sum))
			bound := new(big.Rat).Mul(size, new(big.Rat).SetFloat64(0x1p-53*300)) // a chain of at most 300 sums
			exact, _ := sum.Float64()
			if diff.Cmp(bound) > 0 || got.Count != n || got.Min.Float != least || got.Max.Float != most || got.Sum.DType.String() != "<f8" ||
				!got.Min.DType.Equal(a.spec.DType.Native()) || got.Mean.Float != got.Sum.Float/float64(n) {
				t.Fatalf("%s: %+v, expected %d, %v, %v, %v", name, got, n, exact, least, most)
			}
		}
	}
}

// Blocks do not add up errors, nor do long rows of the same number.
func TestReduceAccuracy(t *testing.T) {
	a := newToyArray("", Spec{DType: ndarray.MustParse("<f8"), Shape: []int64{3 << 20}})
	for i := range a.mask {
		binary.LittleEndian.PutUint64(a.data[8*i:], math.Float64bits(0.1))
	}
	want := new(big.Rat).SetFloat64(0.1)
	exact, _ := want.Mul(want, big.NewRat(3<<20, 1)).Float64()
	got, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), ReduceSum)
	if err != nil || math.Abs(got.Sum.Float-exact) > 300*0x1p-53*exact {
		t.Errorf("%v, %v, expected %v", got.Sum.Float, err, exact)
	}
	for _, b := range a.reads {
		if 8*b.Count[0] > reduceBytes {
			t.Errorf("read %v at once", b)
		}
	}
	var c compensated
	for _, v := range []float64{1, 1e100, 1, -1e100} {
		c.add(v)
	}
	if c.value() != 2 {
		t.Errorf("compensated: %v", c.value())
	}
	c.add(math.Inf(1))
	c.add(1)
	if !math.IsInf(c.value(), 1) {
		t.Errorf("infinite: %v", c.value())
	}
}

// NaN and NaT are in every result, wherever they stand, as in NumPy.
func TestReduceNaN(t *testing.T) {
	for at := range 5 {
		for _, name := range []string{"<f8", "<f4", "<f2", "bfloat16", "<m8[s]", ">M8[D]"} {
			d := ndarray.MustParse(name)
			a := newToyArray("", Spec{DType: d, Shape: []int64{5}, Masked: true})
			nan := map[string]uint64{"<f8": 0x7ff8 << 48, "<f4": 0x7fc00000, "<f2": 0x7e00, "bfloat16": 0x7fc0, "<m8[s]": 1 << 63, ">M8[D]": 1 << 63}[name]
			var le [8]byte
			binary.LittleEndian.PutUint64(le[:], nan)
			if name[0] == '>' {
				slices.Reverse(le[:])
			}
			copy(a.data[at*d.Size:], le[:d.Size])
			what := allReductions
			switch d.Kind {
			case ndarray.Datetime:
				what = ReduceMin | ReduceMax
			case ndarray.Timedelta:
				what &^= ReduceMean
			}
			got, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), what)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range []Scalar{got.Min, got.Max, got.Sum, got.Mean} {
				isNaN := s.Float != s.Float
				if d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta {
					isNaN = s.Int == math.MinInt64
				}
				if s.DType.Kind != ndarray.Invalid && !isNaN {
					t.Errorf("%s, NaN at %d: result %d is %+v", name, at, i, s)
				}
			}
			if d.Kind == ndarray.Timedelta { // the minimum need not be asked for
				if got, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), ReduceSum); err != nil || got.Sum.Int != math.MinInt64 || got.Min.DType.Kind != ndarray.Invalid {
					t.Errorf("%s, NaT at %d: %+v, %v", name, at, got, err)
				}
			}
			a.mask[at] = 1 // missing: as if it were not there
			if got, err = Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), what); err != nil || got.Count != 4 || got.Max.Float != 0 || got.Max.Int != 0 || got.Sum.Int != 0 {
				t.Errorf("%s, missing: %+v, %v", name, got, err)
			}
		}
	}
}

func TestReduceComplex(t *testing.T) {
	for _, name := range []string{"<c4", "<c8", ">c16"} {
		d := ndarray.MustParse(name)
		a := newToyArray("", Spec{DType: d, Shape: []int64{1500}})
		wide, _ := ndarray.NewBuffer(ndarray.MustParse("<c16"), a.spec.Shape)
		for i := range a.mask { // c4 has no setter: widen the other way round
			part := d.Size / 2
			switch name {
			case "<c4":
				binary.LittleEndian.PutUint16(a.data[i*4:], 0x3c00) // 1
				binary.LittleEndian.PutUint16(a.data[i*4+2:], 0x4000+uint16(i%2)<<15)
			case "<c8":
				binary.LittleEndian.PutUint32(a.data[i*8:], math.Float32bits(1))
				binary.LittleEndian.PutUint32(a.data[i*8+part:], math.Float32bits(2-float32(i%2)*4))
			default:
				binary.BigEndian.PutUint64(a.data[i*16:], math.Float64bits(1))
				binary.BigEndian.PutUint64(a.data[i*16+part:], math.Float64bits(2-float64(i%2)*4))
			}
		}
		if err := ndarray.Copy(wide, a.all()); err != nil {
			t.Fatal(err)
		}
		got, err := Reduce(t.Context(), a, ndarray.Box{Start: []int64{0}, Count: []int64{1201}}, ReduceSum|ReduceMean)
		if err != nil || got.Sum.Float != 1201 || got.Sum.Imag != 2 || got.Mean.Float != 1 || got.Mean.Imag != 2./1201 || got.Sum.DType.String() != "<c16" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestReduceCountsAndErrors(t *testing.T) {
	text := newToyArray("", Spec{DType: ndarray.MustParse("str"), Shape: []int64{4}, Masked: true})
	text.texts[0], text.mask[2] = "long", 1
	if got, err := Reduce(t.Context(), text, ndarray.Full(text.spec.Shape), 0); err != nil || got.Count != 3 {
		t.Errorf("strings: %+v, %v", got, err)
	}
	for _, name := range []string{"S3", "<U2", "|V3", `[["a","<i4"]]`, "<i16", "<f16", "<M8[s]", "<c8"} {
		a := newToyArray("", Spec{DType: ndarray.MustParse(name), Shape: []int64{2, 3}, Masked: true})
		a.mask[1] = 1
		if got, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), 0); err != nil || got.Count != 5 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		a.spec.Masked, a.reads = false, nil
		if got, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), 0); err != nil || got.Count != 6 || len(a.reads) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, test := range []struct {
		dtype string
		what  Reduction
		kind  *ErrorKind
		text  string
	}{
		{"<c8", ReduceMin, ErrDType, "minimum"},
		{"<c8", ReduceMax, ErrDType, "maximum"},
		{"<M8[s]", ReduceSum, ErrDType, "sum"},
		{"<M8[s]", ReduceMean | ReduceMin, ErrDType, "mean"},
		{"<m8[s]", ReduceMean, ErrDType, "mean"},
		{"S3", ReduceMin, ErrDType, "minimum"},
		{"|V3", ReduceSum, ErrDType, "sum"},
		{"str", ReduceSum, ErrDType, "sum"},
		{"<i16", ReduceSum, ErrNotSupported, "<i16"},
		{"<u16", ReduceMin, ErrNotSupported, "<u16"},
		{"<f16", ReduceMean, ErrNotSupported, "<f16"},
		{"<c32", ReduceMean, ErrNotSupported, "<c32"},
	} {
		a := newToyArray("", Spec{DType: ndarray.MustParse(test.dtype), Shape: []int64{2}})
		if _, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), test.what); KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, expected %s", test.dtype, err, test.kind.C)
		}
	}
	a := newToyArray("", Spec{DType: ndarray.MustParse("<f4"), Shape: []int64{0, 3}})
	got, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), ReduceSum|ReduceMean)
	if err != nil || got.Count != 0 || got.Sum.Float != 0 || got.Mean.Float == got.Mean.Float {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	if _, err := Reduce(t.Context(), a, ndarray.Full(a.spec.Shape), ReduceMax); KindOf(err) != ErrValue {
		t.Errorf("the maximum of nothing: %v", err)
	}
	if _, err := Reduce(t.Context(), a, ndarray.Full([]int64{1, 3}), ReduceSum); KindOf(err) != ErrBounds {
		t.Errorf("outside: %v", err)
	}
	if _, err := Reduce(t.Context(), newToyArray("", Spec{NoData: true}), ndarray.Box{}, 0); KindOf(err) != ErrNoData {
		t.Errorf("no data: %v", err)
	}
	// A sum of times that would be NaT does not become it.
	times := newToyArray("", Spec{DType: ndarray.MustParse("<m8[s]"), Shape: []int64{2}})
	times.data[7], times.data[15] = 0xc0, 0xc0
	if got, err := Reduce(t.Context(), times, ndarray.Full(times.spec.Shape), ReduceSum); KindOf(err) != ErrValue {
		t.Errorf("-2**63: %+v, %v", got, err)
	}
	scalar := numbered("<i4", nil)
	scalar.data[0] = 9
	if got, err := Reduce(t.Context(), scalar, ndarray.Full(nil), allReductions); err != nil || got.Sum.Int != 9 || got.Mean.Float != 9 {
		t.Errorf("a scalar: %+v, %v", got, err)
	}
	// A bool that is stored as another byte than 1 is true once.
	b := newToyArray("", Spec{DType: ndarray.MustParse("b1"), Shape: []int64{2}})
	b.data[0] = 5
	if got, err := Reduce(t.Context(), b, ndarray.Full(b.spec.Shape), allReductions); err != nil || got.Sum.Int != 1 || got.Max.Int != 1 || got.Mean.Float != 0.5 {
		t.Errorf("bools: %+v, %v", got, err)
	}
}
