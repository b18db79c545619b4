package ndfile

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// value is what stands on one side of a comparison.
type value struct {
	kind     valueKind
	name     string // of a column
	constant Value
	args     [2]*value
}

type valueKind uint8

const (
	fromColumn valueKind = iota + 1
	isConstant
	negative
	plus
	minus
	times
	divided
	floorDivided
	modulo
	power
)

// comparing makes the node of a comparison of two values that are not a column and
// constants.
func (s *search) comparing(c *Condition, not bool) (node, error) {
	if c.kind == oneOf || c.right == nil {
		return nil, NewError(ErrNotSupported, "only a column can be compared with a list")
	}
	holds := holding[c.op]
	if c.left.kind == fromColumn && c.right.kind == fromColumn {
		a, b, err := s.two(c.left.name, c.right.name)
		if err != nil {
			return nil, err
		}
		if !isNumber(a.dtype) && a.dtype.Kind == b.dtype.Kind && a.spec.DType.Unit == b.spec.DType.Unit {
			return &columnsCompared{a: a, b: b, holds: holds, not: not}, nil
		}
		if !isNumber(a.dtype) || !isNumber(b.dtype) {
			err := NewError(ErrArgument, "elements of "+a.spec.DType.String()+" cannot be compared with those of "+b.spec.DType.String()+", column "+strconv.Quote(b.name))
			return nil, Locate(err, "", a.name, true)
		}
	}
	left, err := s.operand(c.left)
	if err != nil {
		return nil, err
	}
	right, err := s.operand(c.right)
	return &compared{left: left, right: right, holds: holds, not: not}, err
}

func isNumber(d ndarray.DType) bool {
	return d.Kind == ndarray.Int || d.Kind == ndarray.Uint || d.Kind == ndarray.Float
}

func (s *search) two(left, right string) (a, b *column, err error) {
	if a, err = s.column(left); err != nil {
		return nil, nil, Locate(err, "", left, true)
	}
	if b, err = s.column(right); err != nil {
		return nil, nil, Locate(err, "", right, true)
	}
	return a, b, nil
}

// columnsCompared compares two columns of times or of texts.
type columnsCompared struct {
	a, b  *column
	holds [3]bool
	not   bool
}

func (c *columnsCompared) apply(ctx context.Context, b block, keep []byte) error {
	if ones(keep) == 0 {
		return nil
	}
	x, maskX, err := c.a.block(ctx, b)
	if err != nil {
		return Locate(err, "", c.a.name, true)
	}
	y, maskY, err := c.b.block(ctx, b)
	if err != nil {
		return Locate(err, "", c.b.name, true)
	}
	sizeX, sizeY := c.a.dtype.Size, c.b.dtype.Size
	for i, k := range keep {
		if k == 0 {
			continue
		}
		ex, ey := x[i*sizeX:(i+1)*sizeX], y[i*sizeY:(i+1)*sizeY]
		var holds bool
		switch c.a.dtype.Kind {
		case ndarray.Bytes:
			holds = c.holds[1+bytes.Compare(bytes.TrimRight(ex, "\x00"), bytes.TrimRight(ey, "\x00"))]
		case ndarray.Unicode:
			holds = c.holds[1+slices.Compare(unpadded(view[uint32](ex)), unpadded(view[uint32](ey)))]
		default:
			tx, ty := view[int64](ex)[0], view[int64](ey)[0]
			if tx == nat || ty == nat {
				holds = c.holds[0] && c.holds[2] && !c.holds[1] // only !=
			} else {
				holds = c.holds[1+cmp.Compare(tx, ty)]
			}
		}
		if holds == c.not {
			keep[i] = 0
		}
	}
	clearMissing(keep, maskX)
	clearMissing(keep, maskY)
	return nil
}

func unpadded(chars []uint32) []uint32 {
	for len(chars) > 0 && chars[len(chars)-1] == 0 {
		chars = chars[:len(chars)-1]
	}
	return chars
}

// compared compares two values of numbers: as int64 where both are integers, else as
// float64, as NumPy does.
type compared struct {
	left, right *operand
	holds       [3]bool
	not         bool
}

func (c *compared) apply(ctx context.Context, b block, keep []byte) error {
	if ones(keep) == 0 {
		return nil
	}
	for _, o := range []*operand{c.left, c.right} {
		if err := o.evaluate(ctx, b, keep); err != nil {
			return err
		}
	}
	if c.left.whole && c.right.whole {
		compareAll(c.left.ints, c.right.ints, c.holds, c.not, keep)
		return nil
	}
	compareAll(c.left.asFloats(), c.right.asFloats(), c.holds, c.not, keep)
	return nil
}

func compareAll[T int64 | float64](x, y []T, holds [3]bool, not bool, keep []byte) {
	var is [4]byte // by less, equal, greater, and for NaN
	for i, h := range [4]bool{holds[0], holds[1], holds[2], holds[0] && holds[2] && !holds[1]} {
		if h != not {
			is[i] = 1
		}
	}
	for i := range keep {
		order := 3
		switch a, b := x[i], y[i]; {
		case a < b:
			order = 0
		case a == b:
			order = 1
		case a > b:
			order = 2
		}
		keep[i] &= is[order]
	}
}

// operand is a value that is evaluated block by block.
type operand struct {
	kind   valueKind
	args   []*operand
	column *column
	whole  bool // the values are integers, in ints; else in floats
	ints   []int64
	floats []float64
	n      int64   // of a constant: as many as there are
	i      int64   // a constant
	f      float64 // likewise
}

func (s *search) operand(v *value) (*operand, error) {
	o := &operand{kind: v.kind}
	switch v.kind {
	case fromColumn:
		c, err := s.column(v.name)
		if err == nil && !isNumber(c.dtype) {
			err = NewError(ErrNotSupported, "no arithmetic with elements of "+c.spec.DType.String()+", and no comparison of them with numbers")
		}
		if err != nil {
			return nil, Locate(err, "", v.name, true)
		}
		o.column, o.whole = c, c.dtype.Kind != ndarray.Float
		return o, nil
	case isConstant:
		k, ok := numberConstant(v.constant)
		if !ok {
			return nil, NewError(ErrArgument, "condition: expected a number, found "+string(AppendJSONValue(nil, v.constant)))
		}
		o.f, _ = v.constant.Float64()
		if k.value != nil && k.value.IsInt() && k.value.Num().IsInt64() {
			o.i = k.value.Num().Int64()
			o.whole = v.constant.IsInt()
		}
		if b, isBool := v.constant.Bool(); isBool {
			o.whole = true
			if b {
				o.f = 1
			}
		}
		return o, nil
	}
	o.whole = v.kind != divided && v.kind != power
	for _, arg := range v.args {
		if arg == nil {
			continue
		}
		a, err := s.operand(arg)
		if err != nil {
			return nil, err
		}
		o.args, o.whole = append(o.args, a), o.whole && a.whole
	}
	return o, nil
}

func (o *operand) asFloats() []float64 {
	if o.whole {
		o.floats = resized(o.floats, len(o.ints))
		for i, v := range o.ints {
			o.floats[i] = float64(v)
		}
	}
	return o.floats
}

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// evaluate computes the values of a block, of the rows that keep has left: it clears
// those in which a column is missing.
func (o *operand) evaluate(ctx context.Context, b block, keep []byte) error {
	n := len(keep)
	if o.whole {
		o.ints = resized(o.ints, n)
	} else {
		o.floats = resized(o.floats, n)
	}
	switch o.kind {
	case fromColumn:
		data, mask, err := o.column.block(ctx, b)
		if err == nil {
			clearMissing(keep, mask)
			err = o.widen(data, keep)
		}
		return Locate(err, "", o.column.name, true)
	case isConstant:
		if o.n != int64(n) {
			o.n = int64(n)
			for i := range o.ints {
				o.ints[i] = o.i
			}
			for i := range o.floats {
				o.floats[i] = o.f
			}
		}
		return nil
	}
	for _, a := range o.args {
		if err := a.evaluate(ctx, b, keep); err != nil {
			return err
		}
	}
	if !o.whole {
		y := o.args[len(o.args)-1].asFloats()
		calculate(o.kind, o.floats, o.args[0].asFloats(), y)
		return nil
	}
	y := o.args[len(o.args)-1].ints
	if at := calculateWhole(o.kind, o.ints, o.args[0].ints, y, keep); at >= 0 {
		return NewError(ErrArgument, "condition: row "+strconv.FormatInt(b.first+int64(at), 10)+": a division of integers by zero, or a result that is no int64; write one number with a point to calculate in floats")
	}
	return nil
}

// widen takes over the elements of a column.
func (o *operand) widen(data, keep []byte) error {
	switch d := o.column.dtype; {
	case d.Kind == ndarray.Float && d.Size == 4:
		widen[float32](o.floats, data)
	case d.Kind == ndarray.Float:
		copy(o.floats, view[float64](data))
	case d.Kind == ndarray.Int:
		switch d.Size {
		case 1:
			widen[int8](o.ints, data)
		case 2:
			widen[int16](o.ints, data)
		case 4:
			widen[int32](o.ints, data)
		default:
			copy(o.ints, view[int64](data))
		}
	default:
		switch d.Size {
		case 1:
			widen[uint8](o.ints, data)
		case 2:
			widen[uint16](o.ints, data)
		case 4:
			widen[uint32](o.ints, data)
		default:
			widen[uint64](o.ints, data)
			for i, v := range o.ints {
				if v < 0 && keep[i] != 0 {
					return NewError(ErrArgument, "an element above 2^63-1 in arithmetic")
				}
			}
		}
	}
	return nil
}

func widen[T number, W int64 | float64](dst []W, data []byte) {
	for i, e := range view[T](data)[:len(dst)] {
		dst[i] = W(e)
	}
}

// calculate does arithmetic as NumPy does on float64.
func calculate(kind valueKind, dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	switch kind {
	case negative:
		for i, a := range x {
			dst[i] = -a
		}
	case plus:
		for i, a := range x {
			dst[i] = a + y[i]
		}
	case minus:
		for i, a := range x {
			dst[i] = a - y[i]
		}
	case times:
		for i, a := range x {
			dst[i] = a * y[i]
		}
	case divided:
		for i, a := range x {
			dst[i] = a / y[i]
		}
	case floorDivided:
		for i, a := range x {
			dst[i] = math.Floor(a / y[i])
		}
	case modulo: // with the sign of the divisor
		for i, a := range x {
			r := math.Mod(a, y[i])
			if r != 0 && (r < 0) != (y[i] < 0) {
				r += y[i]
			}
			dst[i] = r
		}
	case power:
		for i, a := range x {
			dst[i] = math.Pow(a, y[i])
		}
	}
}

// calculateWhole does arithmetic on int64, and gives the position of the first row that
// keep has left in which the result is none, -1 where there is no such row.
func calculateWhole(kind valueKind, dst, x, y []int64, keep []byte) int {
	for i := range dst {
		a, b := x[i], y[i]
		var r int64
		ok := true
		switch kind {
		case negative:
			r, ok = -a, a != math.MinInt64
		case plus:
			r = a + b
			ok = (a^r)&(b^r) >= 0
		case minus:
			r = a - b
			ok = (a^b)&(a^r) >= 0
		case times:
			r, ok = multiplied(a, b)
		case floorDivided, modulo:
			if b == 0 || b == -1 && a == math.MinInt64 {
				ok = false
				break
			}
			q, m := a/b, a%b
			if m != 0 && (m < 0) != (b < 0) {
				q, m = q-1, m+b
			}
			if r = q; kind == modulo {
				r = m
			}
		}
		if !ok && keep[i] != 0 {
			return i
		}
		dst[i] = r
	}
	return -1
}

func multiplied(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// of two's complement: what unsigned multiplication has too much
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return int64(lo), int64(hi) == int64(lo)>>63
}
