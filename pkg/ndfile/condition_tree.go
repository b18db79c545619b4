package ndfile

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// A Condition says which rows of a table are wanted: comparisons joined by and, or and
// not. [ParseCondition] makes one of a text, [Term.Condition] of a term. It does not
// change and belongs to no file.
type Condition struct {
	kind   conditionKind
	args   []*Condition // of and, or, not
	left   *value       // of a comparison; of in
	right  *value       // of a comparison; nil: the constants
	op     Op           // of a comparison
	values []Value      // constants; several of in
	bare   bool         // the column stands alone, which must be one of bools
}

type conditionKind uint8

const (
	allOf conditionKind = iota + 1
	anyOf
	notThat
	comparison
	oneOf
)

// Condition is the term as a condition.
func (t Term) Condition() *Condition {
	return &Condition{kind: comparison, op: t.Op, left: &value{kind: fromColumn, name: t.Column}, values: []Value{t.Value}}
}

// And is the condition that all of several hold.
func And(c ...*Condition) *Condition { return &Condition{kind: allOf, args: c} }

// block is the rows that a search looks at at once.
type block struct{ first, n int64 }

// node is a condition that is ready to be evaluated on the blocks of one table.
type node interface {
	// apply clears keep for the rows of a block that do not fulfil the condition. A row
	// in which a column is missing that the comparison needs fulfils neither the
	// comparison nor its negation.
	apply(ctx context.Context, b block, keep []byte) error
}

// conditionIn makes the nodes of a condition. not is whether it is negated: that goes
// down to the comparisons.
func (s *search) conditionIn(c *Condition, not bool) (node, error) {
	switch c.kind {
	case notThat:
		return s.conditionIn(c.args[0], !not)
	case allOf, anyOf:
		nodes := make([]node, len(c.args))
		for i, arg := range c.args {
			var err error
			if nodes[i], err = s.conditionIn(arg, not); err != nil {
				return nil, err
			}
		}
		if (c.kind == allOf) != not {
			return conjunction(nodes), nil
		}
		return &disjunction{nodes: nodes}, nil
	}
	if c.right == nil && c.left.kind == fromColumn {
		return s.leaf(c, not)
	}
	return s.comparing(c, not)
}

// conjunction holds where all nodes do.
type conjunction []node

func (c conjunction) apply(ctx context.Context, b block, keep []byte) error {
	for _, n := range c {
		if err := n.apply(ctx, b, keep); err != nil {
			return err
		}
	}
	return nil
}

// disjunction holds where one of the nodes does.
type disjunction struct {
	nodes     []node
	any, part []byte
}

func (d *disjunction) apply(ctx context.Context, b block, keep []byte) error {
	if n := len(keep); cap(d.any) < n {
		both, err := NewBytes(2 * n)
		if err != nil {
			return err
		}
		d.any, d.part = both[:n:n], both[n:]
	}
	d.any, d.part = d.any[:len(keep)], d.part[:len(keep)]
	clear(d.any)
	for _, n := range d.nodes {
		for i, k := range keep {
			d.part[i] = k &^ d.any[i]
		}
		if err := n.apply(ctx, b, d.part); err != nil {
			return err
		}
		for i, k := range d.part {
			d.any[i] |= k
		}
	}
	copy(keep, d.any)
	return nil
}

// leaf is the comparison of a column with constants.
type leaf struct {
	*column
	test test
	few  []byte  // keep of rows that are read alone
	rows []int64 // their numbers
}

func (s *search) leaf(c *Condition, not bool) (node, error) {
	col, err := s.column(c.left.name)
	if err == nil && c.bare && col.spec.DType.Kind != ndarray.Bool {
		err = NewError(ErrArgument, "no column of bools, but of "+col.spec.DType.String()+"; compare it with something")
	}
	if err == nil {
		l := &leaf{column: col}
		if l.test, err = compareWith(col.dtype, col.spec.DType, c.op, c.values, not); err == nil {
			return l, nil
		}
	}
	return nil, Locate(err, "", c.left.name, true)
}

// sparse is the share of rows, one in so many, up to which a column is read only at
// those that the conditions before have left.
const sparse = 16

func (l *leaf) apply(ctx context.Context, b block, keep []byte) error {
	left := ones(keep)
	if left == 0 {
		return nil
	}
	if l.uses > 1 || left > len(keep)/sparse {
		data, mask, err := l.block(ctx, b)
		if err == nil {
			l.test(data, keep)
			clearMissing(keep, mask)
		}
		return Locate(err, "", l.name, true)
	}
	l.rows = l.rows[:0]
	for i, k := range keep {
		if k != 0 {
			l.rows = append(l.rows, b.first+int64(i))
		}
	}
	var err error
	if l.few, err = l.spare.sized(l.few, int64(left)); err != nil {
		return err
	}
	for i := range l.few {
		l.few[i] = 1
	}
	var mask []byte
	if l.spec.Masked {
		if l.mask, err = l.spare.sized(l.mask, int64(left)); err != nil {
			return err
		}
		mask = l.mask
	}
	// Bounded by the block, which is more.
	if l.data, err = l.spare.sized(l.data, int64(left)*int64(l.dtype.Size)); err != nil {
		return err
	}
	dst := ndarray.Buffer{DType: l.dtype, Shape: []int64{int64(left)}, Data: l.data}
	if err := take(ctx, l.array, l.rows, dst, mask); err != nil {
		return Locate(err, "", l.name, true)
	}
	l.test(l.data, l.few)
	clearMissing(l.few, mask)
	for i, row := range l.rows {
		keep[row-b.first] = l.few[i]
	}
	return nil
}

// ones counts the bytes that are 1 among some of 0 and 1.
func ones(keep []byte) (n int) {
	for ; len(keep) >= 8; keep = keep[8:] { // it need not be aligned
		n += bits.OnesCount64(binary.LittleEndian.Uint64(keep))
	}
	for _, k := range keep {
		n += int(k)
	}
	return n
}

// clearMissing clears keep where the mask, one byte an element, 1 = missing, is set.
func clearMissing(keep, mask []byte) {
	for i, m := range mask {
		keep[i] &^= m
	}
}
