package ndfile

import (
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/isotime"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

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
