package ndfile

import (
	"bytes"
	"context"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/isotime"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// condition is a Term that is ready to be evaluated.
type condition struct {
	column
	mask []byte
	// test keeps of rows those whose elements in data fulfil the term, moves them to
	// the front, and tells how many they are.
	test func(data []byte, rows []int64) int
}

// keep gives those of the rows, rising, that fulfil the condition, in the same memory.
func (c *condition) keep(ctx context.Context, rows []int64) ([]int64, error) {
	if len(rows) == 0 {
		return rows, nil
	}
	var mask []byte
	if c.spec.Masked {
		c.mask = grown(c.mask, int64(len(rows)))
		mask = c.mask
	}
	b, err := c.read(ctx, rows, mask)
	if err != nil {
		return nil, err
	}
	if mask != nil {
		dropMissing(b.Data, c.dtype.Size, mask)
		n := 0
		for i, m := range mask {
			if m == 0 {
				rows[n] = rows[i]
				n++
			}
		}
		rows = rows[:n]
	}
	return rows[:c.test(b.Data, rows)], nil
}

// compile chooses the test. Every comparison of numbers is made one with an
// interval of numbers that the column can hold, which is exact and the same for
// all operators.
func (c *condition) compile(t Term) error {
	if t.Op < Equal || t.Op > GreaterEqual {
		return NewError(ErrArgument, "unknown comparison "+t.Op.String())
	}
	d := &c.dtype
	switch {
	case len(c.spec.Shape) != 1:
		return NewError(ErrNotSupported, "comparing a column of "+strconv.Itoa(len(c.spec.Shape))+" axes")
	case d.Kind == ndarray.Bytes, d.Kind == ndarray.Unicode:
		return c.compileText(t)
	case d.Kind == ndarray.Datetime, d.Kind == ndarray.Timedelta:
		k, err := timeConstant(t.Value, c.spec.DType)
		if err != nil {
			return err
		}
		lo, hi := k.integers(t.Op, big.NewInt(nat+1), big.NewInt(math.MaxInt64)) // NaT is in no interval
		c.test = within[int64](lo.Int64(), hi.Int64(), t.Op == NotEqual)
		return nil
	case d.Kind == ndarray.Bool, d.Size <= 8 && (d.Kind == ndarray.Int || d.Kind == ndarray.Uint || d.Kind == ndarray.Float || d.Kind == ndarray.BFloat):
		k, ok := numberConstant(t.Value)
		if !ok {
			return incomparable(t.Value, c.spec.DType)
		}
		c.compileNumber(t.Op, k)
		return nil
	}
	return NewError(ErrNotSupported, "comparing elements of "+c.spec.DType.String())
}

func incomparable(v Value, d ndarray.DType) error {
	return NewError(ErrArgument, "elements of "+d.String()+" cannot be compared with "+string(pyjson.Append(nil, v)))
}

// compileNumber also makes bool and the floats of two bytes what there are loops for.
func (c *condition) compileNumber(op Op, k constant) {
	not := op == NotEqual
	switch c.dtype.Kind {
	case ndarray.Float, ndarray.BFloat:
		lo, hi := k.floats(op)
		if c.dtype.Size == 8 {
			c.test = within[float64](lo, hi, not)
			return
		}
		c.dtype = ndarray.DType{Kind: ndarray.Float, Order: ndarray.NativeOrder, Size: 4}
		c.test = within[float32](lo, hi, not)
	case ndarray.Int:
		l, h := k.integers(op, big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64))
		lo, hi := l.Int64(), h.Int64()
		switch c.dtype.Size {
		case 1:
			c.test = within[int8](lo, hi, not)
		case 2:
			c.test = within[int16](lo, hi, not)
		case 4:
			c.test = within[int32](lo, hi, not)
		case 8:
			c.test = within[int64](lo, hi, not)
		}
	default:
		l, h := k.integers(op, new(big.Int), new(big.Int).SetUint64(math.MaxUint64))
		lo, hi := l.Uint64(), h.Uint64()
		switch c.dtype.Size {
		case 1: // a bool becomes 0 or 1, whatever is stored
			c.dtype = ndarray.DType{Kind: ndarray.Uint, Size: 1}
			c.test = within[uint8](lo, hi, not)
		case 2:
			c.test = within[uint16](lo, hi, not)
		case 4:
			c.test = within[uint32](lo, hi, not)
		case 8:
			c.test = within[uint64](lo, hi, not)
		}
	}
}

// within makes the test whether elements, widened to W, lie between lo and hi, or
// do not.
func within[T number, W int64 | uint64 | float64](lo, hi W, not bool) func([]byte, []int64) int {
	return func(data []byte, rows []int64) int {
		n := 0
		for i, e := range view[T](data)[:len(rows)] {
			rows[n] = rows[i]
			if v := W(e); (lo <= v && v <= hi) != not {
				n++
			}
		}
		return n
	}
}

// constant is an exact number, infinity or NaN.
type constant struct {
	value *big.Rat // nil for the others
	inf   int      // sign of an infinity
}

// numberConstant takes the value of a number or a bool.
func numberConstant(v Value) (k constant, ok bool) {
	if b, isBool := v.Bool(); isBool {
		k.value = new(big.Rat)
		if b {
			k.value.SetInt64(1)
		}
		return k, true
	}
	if v.IsInt() {
		k.value, ok = new(big.Rat).SetString(v.Text())
		return k, ok
	}
	f, ok := v.Float64()
	switch {
	case math.IsInf(f, 1):
		k.inf = 1
	case math.IsInf(f, -1):
		k.inf = -1
	case f == f:
		k.value = new(big.Rat).SetFloat64(f)
	}
	return k, ok
}

// timeConstant takes a count of units, or for datetimes an ISO 8601 string.
func timeConstant(v Value, d ndarray.DType) (k constant, err error) {
	if s, ok := v.Str(); ok && d.Kind == ndarray.Datetime {
		if s == "NaT" {
			return constant{}, nil
		}
		if t, ok := isotime.Parse(s); ok {
			if k.value, ok = t.In(d.Unit); ok {
				return k, nil
			}
		}
		return k, incomparable(v, d)
	}
	if v.Kind() != pyjson.KindNumber {
		return k, incomparable(v, d)
	}
	k, _ = numberConstant(v)
	if isNaT := k.value != nil && k.value.IsInt() && k.value.Num().IsInt64() && k.value.Num().Int64() == nat; isNaT {
		k.value = nil
	}
	return k, nil
}

// integers gives the least and the greatest integer between least and most for
// which the comparison with k holds. For NotEqual they are those for which it
// does not. lo > hi: there is none.
func (k constant) integers(op Op, least, most *big.Int) (lo, hi *big.Int) {
	none := func() (lo, hi *big.Int) { return big.NewInt(1), big.NewInt(0) }
	if k.value == nil {
		if k.inf > 0 && (op == Less || op == LessEqual) || k.inf < 0 && (op == Greater || op == GreaterEqual) {
			return least, most
		}
		return none()
	}
	floor := new(big.Int).Div(k.value.Num(), k.value.Denom()) // Euclidean, by a positive number: floor
	above := new(big.Int).Add(floor, big.NewInt(1))
	below := floor
	if k.value.IsInt() {
		below = new(big.Int).Sub(floor, big.NewInt(1))
	}
	lo, hi = least, most
	switch op {
	case Less:
		hi = below
	case LessEqual:
		hi = floor
	case Greater:
		lo = above
	case GreaterEqual:
		lo = new(big.Int).Add(below, big.NewInt(1))
	default:
		if !k.value.IsInt() {
			return none()
		}
		lo, hi = floor, floor
	}
	if lo.Cmp(least) < 0 {
		lo = least
	}
	if hi.Cmp(most) > 0 {
		hi = most
	}
	if lo.Cmp(hi) > 0 {
		return none()
	}
	return lo, hi
}

// floats is integers for float64 values, infinities included.
func (k constant) floats(op Op) (lo, hi float64) {
	inf := math.Inf(1)
	floor, exact := inf*float64(k.inf), true // the greatest that is not above k
	switch {
	case k.value == nil && k.inf == 0:
		return inf, -inf
	case k.value != nil:
		if floor, exact = k.value.Float64(); !exact && (math.IsInf(floor, 1) || !math.IsInf(floor, -1) && new(big.Rat).SetFloat64(floor).Cmp(k.value) > 0) {
			floor = math.Nextafter(floor, -inf)
		}
	}
	above := math.Nextafter(floor, inf)
	switch op {
	case Less:
		if exact {
			floor = math.Nextafter(floor, -inf)
		}
		if k.inf < 0 {
			return inf, -inf
		}
		return -inf, floor
	case LessEqual:
		return -inf, floor
	case Greater:
		if k.inf > 0 {
			return inf, -inf
		}
		return above, inf
	case GreaterEqual:
		if exact {
			above = floor
		}
		return above, inf
	}
	if !exact {
		return inf, -inf
	}
	return floor, floor
}

// compileText makes the comparison with a string.
func (c *condition) compileText(t Term) error {
	text, ok := t.Value.Str()
	if !ok {
		return incomparable(t.Value, c.spec.DType)
	}
	// What holds when the element is less, equal, greater.
	holds := map[Op][3]bool{Equal: {1: true}, NotEqual: {0: true, 2: true}, Less: {0: true},
		LessEqual: {0: true, 1: true}, Greater: {2: true}, GreaterEqual: {1: true, 2: true}}[t.Op]
	if c.dtype.Kind == ndarray.Bytes {
		c.test = compared(rawBytes(text), c.dtype.Size, holds, bytes.Compare, func(b []byte) []byte { return b })
	} else {
		c.test = compared(codePoints(text), c.dtype.Size/4, holds, slices.Compare[[]uint32], view[uint32])
	}
	return nil
}

// compared makes the test of fixed strings of size characters. As NULs at the end
// do not count, the constant is padded to the size; a longer one is greater than
// what it begins with.
func compared[C byte | uint32](constant []C, size int, holds [3]bool, compare func(a, b []C) int, see func([]byte) []C) func([]byte, []int64) int {
	for len(constant) > 0 && constant[len(constant)-1] == 0 {
		constant = constant[:len(constant)-1]
	}
	longer := len(constant) > size
	padded := make([]C, size)
	copy(padded, constant)
	return func(data []byte, rows []int64) int {
		chars, n := see(data), 0
		for i := range rows {
			order := compare(chars[i*size:(i+1)*size], padded)
			if order == 0 && longer {
				order = -1
			}
			rows[n] = rows[i]
			if holds[order+1] {
				n++
			}
		}
		return n
	}
}

// rawBytes are the bytes of a text, with those that are no UTF-8 as Python's
// surrogateescape has them.
func rawBytes(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i] == 0xed && (s[i+1] == 0xb2 || s[i+1] == 0xb3) { // U+DC80 to U+DCFF in WTF-8
			b = append(b, s[i+1]<<6|s[i+2]&0x3f)
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return b
}

// codePoints are those of a text, lone surrogates included.
func codePoints(s string) (u []uint32) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && i+2 < len(s) && s[i] == 0xed { // a surrogate in WTF-8
			r, n = rune(0xd000|int(s[i+1]&0x3f)<<6|int(s[i+2]&0x3f)), 3
		}
		u, i = append(u, uint32(r)), i+n
	}
	return u
}
