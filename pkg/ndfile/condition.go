package ndfile

import (
	"bytes"
	"math"
	"math/big"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// test clears keep[i] where element i of data does not fulfil a condition; keep has
// one byte an element, 0 or 1, and data is contiguous, aligned and in native order.
type test func(data, keep []byte)

// compareWith makes the test of elements of d, the dtype in which a column is read,
// with constants: of one the comparison, of several, for Equal and NotEqual, whether
// any is equal. flip turns what holds round. Every comparison of numbers is made one
// with an interval of numbers that the column can hold, which is exact and the same
// for all operators.
func compareWith(d, stored ndarray.DType, op Op, values []Value, flip bool) (test, error) {
	if op < Equal || op > GreaterEqual {
		return nil, NewError(ErrArgument, "unknown comparison "+op.String())
	}
	if d.Kind == ndarray.Bytes || d.Kind == ndarray.Unicode {
		return compareTexts(d, stored, op, values, flip)
	}
	constants := make([]constant, len(values))
	for i, v := range values {
		var err error
		if d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta {
			constants[i], err = timeConstant(v, stored)
		} else if k, ok := numberConstant(v); ok {
			constants[i] = k
		} else {
			err = incomparable(v, stored)
		}
		if err != nil {
			return nil, err
		}
	}
	flip = flip != (op == NotEqual)
	switch d.Kind {
	case ndarray.Float:
		in := make([]interval[float64], len(constants))
		for i, k := range constants {
			in[i].lo, in[i].hi = k.floats(op)
		}
		if d.Size == 8 {
			return inAny[float64](in, flip), nil
		}
		return inAny[float32](in, flip), nil
	case ndarray.Uint:
		in := make([]interval[uint64], len(constants))
		for i, k := range constants {
			lo, hi := k.integers(op, new(big.Int), new(big.Int).SetUint64(math.MaxUint64))
			in[i] = interval[uint64]{lo.Uint64(), hi.Uint64()}
		}
		switch d.Size {
		case 1:
			return inAny[uint8](in, flip), nil
		case 2:
			return inAny[uint16](in, flip), nil
		case 4:
			return inAny[uint32](in, flip), nil
		}
		return inAny[uint64](in, flip), nil
	}
	least := int64(math.MinInt64)
	if d.Kind != ndarray.Int {
		least++ // NaT is in no interval
	}
	in := make([]interval[int64], len(constants))
	for i, k := range constants {
		lo, hi := k.integers(op, big.NewInt(least), big.NewInt(math.MaxInt64))
		in[i] = interval[int64]{lo.Int64(), hi.Int64()}
	}
	switch d.Size {
	case 1:
		return inAny[int8](in, flip), nil
	case 2:
		return inAny[int16](in, flip), nil
	case 4:
		return inAny[int32](in, flip), nil
	}
	return inAny[int64](in, flip), nil
}

func incomparable(v Value, d ndarray.DType) error {
	return NewError(ErrArgument, "elements of "+d.String()+" cannot be compared with "+string(pyjson.Append(nil, v)))
}

// comparable gives the dtype in which elements of d are compared: bool and the floats
// of two bytes become what there are loops for. What has no order is ErrNotSupported.
func comparable(d ndarray.DType) (ndarray.DType, error) {
	native := d.Native()
	switch d.Kind {
	case ndarray.Bool: // becomes 0 or 1, whatever is stored
		return ndarray.DType{Kind: ndarray.Uint, Size: 1}, nil
	case ndarray.Bytes, ndarray.Unicode, ndarray.Datetime, ndarray.Timedelta:
		return native, nil
	case ndarray.Int, ndarray.Uint, ndarray.Float, ndarray.BFloat:
		if d.Size == 2 && d.Kind != ndarray.Int && d.Kind != ndarray.Uint {
			return ndarray.DType{Kind: ndarray.Float, Order: ndarray.NativeOrder, Size: 4}, nil
		}
		if d.Size <= 8 {
			return native, nil
		}
	}
	return d, NewError(ErrNotSupported, "comparing elements of "+d.String())
}

// wide is what the elements of a comparison are widened to.
type wide interface{ int64 | uint64 | float64 }

// interval is the numbers from lo to hi; lo > hi: none.
type interval[W wide] struct{ lo, hi W }

// inAny makes the test whether elements, widened to W, lie in one of the intervals, or
// do not. Several are single numbers.
func inAny[T number, W wide](in []interval[W], flip bool) test {
	if len(in) == 1 {
		return within[T](in[0].lo, in[0].hi, flip)
	}
	var values []W
	for _, i := range in {
		if i.lo <= i.hi {
			values = append(values, i.lo)
		}
	}
	slices.Sort(values)
	return func(data, keep []byte) {
		for i, e := range view[T](data)[:len(keep)] {
			if keep[i] != 0 {
				if _, found := slices.BinarySearch(values, W(e)); found == flip {
					keep[i] = 0
				}
			}
		}
	}
}

func within[T number, W wide](lo, hi W, flip bool) test {
	var not byte
	if flip {
		not = 1
	}
	return func(data, keep []byte) {
		elements := view[T](data)[:len(keep)]
		for i, e := range elements {
			w := W(e)
			var above, below byte // without branches
			if lo <= w {
				above = 1
			}
			if w <= hi {
				below = 1
			}
			keep[i] &= above&below ^ not
		}
	}
}

// holding tells for each order of an element and a constant, less, equal and greater,
// whether the comparison holds.
var holding = [...][3]bool{Equal: {1: true}, NotEqual: {0: true, 2: true}, Less: {0: true},
	LessEqual: {0: true, 1: true}, Greater: {2: true}, GreaterEqual: {1: true, 2: true}}

// compareTexts is compareWith for strings.
func compareTexts(d, stored ndarray.DType, op Op, values []Value, flip bool) (test, error) {
	texts := make([]string, len(values))
	for i, v := range values {
		text, ok := v.Str()
		if !ok {
			return nil, incomparable(v, stored)
		}
		texts[i] = text
	}
	holds := holding[op]
	if flip {
		for i := range holds {
			holds[i] = !holds[i]
		}
	}
	if d.Kind == ndarray.Bytes {
		return textTest(texts, rawBytes, d.Size, holds, bytes.Compare, func(b []byte) []byte { return b }), nil
	}
	return textTest(texts, codePoints, d.Size/4, holds, slices.Compare[[]uint32], view[uint32]), nil
}

// textTest makes the test of fixed strings of size characters. As NULs at the end
// do not count, a constant is padded to the size; a longer one is greater than
// what it begins with.
func textTest[C byte | uint32](texts []string, chars func(string) []C, size int, holds [3]bool, compare func(a, b []C) int, see func([]byte) []C) test {
	padded, longer := make([][]C, len(texts)), make([]bool, len(texts))
	for i, text := range texts {
		constant := chars(text)
		for len(constant) > 0 && constant[len(constant)-1] == 0 {
			constant = constant[:len(constant)-1]
		}
		longer[i] = len(constant) > size
		padded[i] = make([]C, size)
		copy(padded[i], constant)
	}
	order := func(element []C, i int) int {
		if o := compare(element, padded[i]); o != 0 || !longer[i] {
			return o
		}
		return -1
	}
	if len(texts) == 1 {
		return func(data, keep []byte) {
			all := see(data)
			for i, k := range keep {
				if k != 0 && !holds[order(all[i*size:(i+1)*size], 0)+1] {
					keep[i] = 0
				}
			}
		}
	}
	return func(data, keep []byte) { // whether any is equal: with NotEqual, whether none is
		all := see(data)
		for i, k := range keep {
			if k == 0 {
				continue
			}
			equal := 0
			for j := range texts {
				if order(all[i*size:(i+1)*size], j) == 0 {
					equal = 1
					break
				}
			}
			if !holds[equal] {
				keep[i] = 0
			}
		}
	}
}
