package ndfile

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"math/bits"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Reduction is a set of what [Reduce] computes.
type Reduction uint8

// The reductions. The number of elements is always computed.
const (
	ReduceSum Reduction = 1 << iota
	ReduceMin
	ReduceMax
	ReduceMean
)

// Scalar is one number. DType, in native byte order, says which field holds it.
type Scalar struct {
	DType ndarray.DType
	// Int holds Int, Bool (0 or 1), Datetime and Timedelta.
	Int int64
	// Uint holds Uint.
	Uint uint64
	// Float holds Float and BFloat, and the real part of Complex.
	Float float64
	// Imag is the imaginary part of Complex.
	Imag float64
}

// Summary is the result of [Reduce]. What was not asked for has the DType of Kind
// Invalid.
type Summary struct {
	// Count is the number of elements that are not missing.
	Count int64
	// Sum is int64 of bool and integers, uint64 of unsigned ones, float64 of floats,
	// complex128 of complex numbers; of timedeltas it is one.
	Sum Scalar
	// Min and Max have the dtype of the array.
	Min, Max Scalar
	// Mean is float64, of complex numbers complex128. Without elements it is NaN.
	Mean Scalar
}

// reduceBytes is the most that a block takes in memory; a single chunk of the
// array may be larger.
const reduceBytes = 4 << 20

// Reduce computes sum, minimum, maximum and mean of the elements in a box, block
// by block: it takes 4 MiB, or one row of elements. Missing elements are left out.
//
// Sums of integers are exact: one that int64 or uint64 cannot hold is ErrValue,
// never wrapped, and the mean does not suffer. Floats are summed in float64,
// pairwise, so that errors do not grow with the number of elements. As in NumPy,
// a NaN makes sum, minimum, maximum and mean NaN, NaT does so for the minimum, maximum
// and sum of times, and minimum and maximum of nothing are an error (ErrValue),
// while its sum is 0.
//
// What an element type has no result for is ErrDType: sum and mean of datetimes,
// the mean of timedeltas, minimum and maximum of complex numbers, and everything
// but the count of the types that are not numbers. Integers of 16 bytes and long
// doubles are ErrNotSupported.
func Reduce(ctx context.Context, a Array, box ndarray.Box, what Reduction) (Summary, error) {
	spec := a.Spec()
	if spec.NoData {
		return Summary{}, NewError(ErrNoData, "")
	}
	if err := box.Check(spec.Shape); err != nil {
		return Summary{}, err
	}
	var r reducer
	if err := r.choose(spec.DType, what); err != nil {
		return Summary{}, err
	}
	if what == 0 && !spec.Masked {
		n, err := ndarray.Count(box.Count)
		return Summary{Count: n}, err
	}
	var dataMem, maskMem mem.Block
	defer dataMem.Free()
	defer maskMem.Free()
	var data, mask []byte
	tiles := newTiling(box, readUnit(&spec, reduceBytes), spec.DType.Size, reduceBytes)
	for tile := range tiles.all() {
		n, err := ndarray.Count(tile.Count)
		if err != nil {
			return Summary{}, err
		}
		if err := ctx.Err(); err != nil {
			return Summary{}, NewError(ErrCanceled, "").Because(err)
		}
		if spec.Masked {
			if mask, err = sized(&maskMem, n); err != nil {
				return Summary{}, err
			}
		}
		if spec.DType.IsVar() {
			if err := readMissing(ctx, a, tile, mask); err != nil {
				return Summary{}, err
			}
		} else {
			if data, err = sized(&dataMem, n*int64(r.dtype.Size)); err != nil {
				return Summary{}, err
			}
			dst := ndarray.Buffer{DType: r.dtype, Shape: tile.Count, Data: data}
			if err := readBlock(ctx, a, tile, dst, mask); err != nil {
				return Summary{}, err
			}
		}
		if mask != nil {
			n = int64(dropMissing(data, r.dtype.Size, mask))
		}
		r.count += n
		if what != 0 && n > 0 {
			r.add(&r, data[:n*int64(r.dtype.Size)])
			r.any = true
		}
	}
	return r.summary(spec.DType, what)
}

// readMissing reads which elements of variable length are missing.
func readMissing(ctx context.Context, a Array, box ndarray.Box, mask []byte) error {
	s, ok := a.(Strings)
	if !ok {
		return NewError(ErrDType, "the elements are not of variable length")
	}
	offsets, err := mem.Make[int64](len(mask)+1, 8)
	if err != nil {
		return err
	}
	_, err = s.ReadStrings(ctx, box, offsets, nil, mask)
	if errors.Is(err, ErrBuffer) {
		err = nil
	}
	return err
}

// reducer is what one call of Reduce has found so far.
type reducer struct {
	what  Reduction
	dtype ndarray.DType                 // in which elements are read
	add   func(r *reducer, data []byte) // adds some elements, at least one
	any   bool                          // some were added
	count int64

	total      int128      // of integers
	sum, imag  compensated // of floats
	minI, maxI int64
	minU, maxU uint64
	minF, maxF float64
}

// choose finds how elements are read and added.
func (r *reducer) choose(d ndarray.DType, what Reduction) error {
	r.what, r.dtype = what, d.Native()
	senseless := ^Reduction(0)
	switch {
	case d.Kind == ndarray.Bool:
		r.dtype = ndarray.DType{Kind: ndarray.Uint, Size: 1} // 0 or 1, whatever is stored
		r.add, senseless = addUints[uint8], 0
	case d.Kind == ndarray.Int && d.Size <= 8:
		r.add = map[int]func(*reducer, []byte){1: addInts[int8], 2: addInts[int16], 4: addInts[int32], 8: addInts[int64]}[d.Size]
		senseless = 0
	case d.Kind == ndarray.Uint && d.Size <= 8:
		r.add = map[int]func(*reducer, []byte){1: addUints[uint8], 2: addUints[uint16], 4: addUints[uint32], 8: addUints[uint64]}[d.Size]
		senseless = 0
	case d.Kind == ndarray.Datetime, d.Kind == ndarray.Timedelta:
		if senseless = ReduceMean; d.Kind == ndarray.Datetime {
			senseless |= ReduceSum
		}
		r.add = addInts[int64]
		if what != 0 {
			r.what |= ReduceMin // which is NaT where one is
		}
	case d.Kind == ndarray.Float && d.Size == 8:
		r.add, senseless = addFloats[float64], 0
	case d.Kind == ndarray.Float && d.Size < 8, d.Kind == ndarray.BFloat:
		r.dtype = ndarray.DType{Kind: ndarray.Float, Order: ndarray.NativeOrder, Size: 4}
		r.add, senseless = addFloats[float32], 0
	case d.Kind == ndarray.Complex && d.Size <= 16:
		r.dtype.Size = 16
		r.add, senseless = addComplex, ReduceMin|ReduceMax
	case what != 0 && d.IsNumeric():
		return NewError(ErrNotSupported, "computing with elements of "+d.String())
	}
	for i, name := range [...]string{"sum", "minimum", "maximum", "mean"} {
		if what&senseless&(1<<i) != 0 {
			return NewError(ErrDType, "elements of "+d.String()+" have no "+name)
		}
	}
	return nil
}

func addInts[T int8 | int16 | int32 | int64](r *reducer, data []byte) {
	x := view[T](data)
	if r.what&(ReduceSum|ReduceMean) != 0 {
		var hi, lo int64 // a block is too small for either to overflow
		if sizeOf[T]() < 8 {
			for _, v := range x {
				lo += int64(v)
			}
		} else {
			for _, v := range x {
				hi += int64(v) >> 32
				lo += int64(v) & math.MaxUint32
			}
		}
		r.total.add(hi>>32, uint64(hi)<<32)
		r.total.add(lo>>63, uint64(lo))
	}
	if r.what&(ReduceMin|ReduceMax) != 0 {
		least, most := bounds(x)
		merge(&r.minI, &r.maxI, int64(least), int64(most), r.any)
	}
}

func addUints[T uint8 | uint16 | uint32 | uint64](r *reducer, data []byte) {
	x := view[T](data)
	if r.what&(ReduceSum|ReduceMean) != 0 {
		var hi, lo uint64
		if sizeOf[T]() < 8 {
			for _, v := range x {
				lo += uint64(v)
			}
		} else {
			for _, v := range x {
				hi += uint64(v) >> 32
				lo += uint64(v) & math.MaxUint32
			}
		}
		r.total.add(int64(hi>>32), hi<<32)
		r.total.add(0, lo)
	}
	if r.what&(ReduceMin|ReduceMax) != 0 {
		least, most := bounds(x)
		merge(&r.minU, &r.maxU, uint64(least), uint64(most), r.any)
	}
}

func addFloats[T float32 | float64](r *reducer, data []byte) {
	x := view[T](data)
	if r.what&(ReduceSum|ReduceMean) != 0 {
		r.sum.add(pairwise(x, 0, 1))
	}
	if r.what&(ReduceMin|ReduceMax) != 0 {
		least, most := bounds(x)
		merge(&r.minF, &r.maxF, float64(least), float64(most), r.any)
	}
}

func addComplex(r *reducer, data []byte) {
	x := view[float64](data)
	r.sum.add(pairwise(x, 0, 2))
	r.imag.add(pairwise(x, 1, 2))
}

// bounds are the least and the greatest of some elements; both are NaN where one is.
func bounds[T number](x []T) (least, most T) {
	least, most = x[0], x[0]
	for _, v := range x {
		if v < least {
			least = v
		} else if !(v <= most) {
			if most = v; v != v {
				break
			}
		}
	}
	if most != most {
		return most, most
	}
	return least, most
}

// merge widens bounds, if there are some already.
func merge[T cmp.Ordered](least, most *T, l, m T, some bool) {
	if some {
		l, m = min(*least, l), max(*most, m)
	}
	*least, *most = l, m
}

// pairwise sums every step-th element from first on. The rounding error grows with
// the logarithm of their number.
func pairwise[T float32 | float64](x []T, first, step int) float64 {
	if len(x) > 1024 {
		half := len(x) / 2 &^ 15
		return pairwise(x[:half], first, step) + pairwise(x[half:], first, step)
	}
	var s0, s1, s2, s3 float64 // sums that do not wait for each other
	x = x[min(first, len(x)):]
	for len(x) > 3*step {
		s0 += float64(x[0])
		s1 += float64(x[step])
		s2 += float64(x[2*step])
		s3 += float64(x[3*step])
		x = x[min(4*step, len(x)):]
	}
	for i := 0; i < len(x); i += step {
		s0 += float64(x[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// compensated is a sum after Neumaier: what rounding takes away is kept apart.
type compensated struct{ sum, rest float64 }

func (c *compensated) add(v float64) {
	t := c.sum + v
	if math.Abs(c.sum) >= math.Abs(v) {
		c.rest += c.sum - t + v
	} else {
		c.rest += v - t + c.sum
	}
	c.sum = t
}

func (c *compensated) value() float64 {
	if math.IsInf(c.sum, 0) || c.sum != c.sum {
		return c.sum
	}
	return c.sum + c.rest
}

// int128 is a sum of integers in two's complement: 2^63 elements of 64 bits fit.
type int128 struct {
	hi int64
	lo uint64
}

func (s *int128) add(hi int64, lo uint64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + int64(carry)
}

func (s *int128) big() *big.Int {
	b := big.NewInt(s.hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(s.lo))
}

// nat is the time that is not one.
const nat = math.MinInt64

// summary makes the result for an array of dtype d.
func (r *reducer) summary(d ndarray.DType, what Reduction) (s Summary, err error) {
	s.Count = r.count
	if what&(ReduceMin|ReduceMax) != 0 && !r.any {
		return s, NewError(ErrValue, "minimum and maximum of no elements")
	}
	element := Scalar{DType: d.Native()}
	lo, hi, sum, mean := element, element, element, Scalar{DType: ndarray.MustParse("f8")}
	isTime := d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta
	switch {
	case d.Kind == ndarray.Bool:
		lo.Int, hi.Int = int64(r.minU), int64(r.maxU)
	case d.Kind == ndarray.Uint:
		lo.Uint, hi.Uint = r.minU, r.maxU
	case d.Kind == ndarray.Int, isTime:
		lo.Int, hi.Int = r.minI, r.maxI
		if isTime && r.any && r.minI == nat {
			hi.Int = nat
		}
	default:
		lo.Float, hi.Float = r.minF, r.maxF
	}
	switch d.Kind {
	case ndarray.Float, ndarray.BFloat:
		sum = Scalar{DType: mean.DType, Float: r.sum.value()}
		mean.Float = sum.Float / float64(r.count)
	case ndarray.Complex:
		sum = Scalar{DType: ndarray.MustParse("c16"), Float: r.sum.value(), Imag: r.imag.value()}
		mean = Scalar{DType: sum.DType, Float: sum.Float / float64(r.count), Imag: sum.Imag / float64(r.count)}
	default:
		if mean.Float = math.NaN(); r.count > 0 {
			mean.Float, _ = new(big.Rat).SetFrac(r.total.big(), big.NewInt(r.count)).Float64()
		}
		switch {
		case what&ReduceSum == 0:
		case isTime && r.any && r.minI == nat:
			sum.Int = nat
		default:
			err = r.integerSum(&sum)
		}
	}
	for _, f := range []struct {
		bit Reduction
		to  *Scalar
		v   Scalar
	}{{ReduceSum, &s.Sum, sum}, {ReduceMin, &s.Min, lo}, {ReduceMax, &s.Max, hi}, {ReduceMean, &s.Mean, mean}} {
		if what&f.bit != 0 {
			*f.to = f.v
		}
	}
	return s, err
}

// integerSum sets a sum of integers, of the array's dtype to begin with.
func (r *reducer) integerSum(sum *Scalar) error {
	total := r.total.big()
	fits := total.IsInt64()
	switch sum.DType.Kind {
	case ndarray.Uint:
		sum.DType = ndarray.MustParse("u8")
		sum.Uint, fits = total.Uint64(), total.IsUint64()
	case ndarray.Timedelta:
		sum.Int, fits = total.Int64(), fits && total.Int64() != nat
	default:
		sum.DType = ndarray.MustParse("i8")
		sum.Int = total.Int64()
	}
	if !fits {
		return NewError(ErrValue, "the sum is "+total.String()+", which "+sum.DType.String()+" cannot hold")
	}
	return nil
}
