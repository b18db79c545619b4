package codec

import (
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "transpose" of Zarr 3: axis i of what is stored is axis order[i] of
// the elements. Source: its specification; drafts had the words "C" and "F".
//
// At the beginning of a chain it moves no data: see [Chain.Order].
var _ = define(Definition{Name: "transpose", kind: elementwise, new: func(c *conf) (Codec, error) {
	v, _ := c.get("order")
	if word, ok := v.Str(); ok && (word == "C" || word == "F") {
		return &transpose{reverse: word == "F", natural: word == "C"}, nil
	}
	t := &transpose{order: make([]int, len(v.Items()))}
	seen := make([]bool, len(t.order))
	for i, item := range v.Items() {
		n, ok := item.Int64()
		if !ok || n < 0 || n >= int64(len(seen)) || seen[n] {
			c.fail("order", "a permutation of the axes")
			return t, nil
		}
		seen[n], t.order[i] = true, int(n)
	}
	if v.Kind() != pyjson.KindList {
		if len(c.Keys()) == 0 { // as everywhere else: the order of Fortran
			return &transpose{reverse: true}, nil
		}
		c.fail("order", "a permutation of the axes")
	}
	return t, nil
}})

type transpose struct {
	order            []int
	reverse, natural bool // for any number of axes
}

func (t *transpose) Config(Version) (*Object, error) {
	if t.order == nil {
		word := "C"
		if t.reverse {
			word = "F"
		}
		return members("order", word), nil
	}
	list := make([]Value, len(t.order))
	for i, n := range t.order {
		list[i] = pyjson.Int(int64(n))
	}
	return members("order", pyjson.List(list...)), nil
}

// axes is the permutation of n axes.
func (t *transpose) axes(n int) ([]int, error) {
	if t.order != nil || !t.reverse && !t.natural {
		if len(t.order) != n {
			return nil, errorf(ErrConfig, "transpose", "order: expected %d axes, found %d", n, len(t.order))
		}
		return t.order, nil
	}
	axes := make([]int, n)
	for i := range axes {
		if axes[i] = i; t.reverse {
			axes[i] = n - 1 - i
		}
	}
	return axes, nil
}

// compose puts the codec behind others that gave some order of axes and shape. The
// natural order is nil.
func (t *transpose) compose(order []int, shape []int64) ([]int, []int64, error) {
	axes, err := t.axes(len(shape))
	if err != nil {
		return nil, nil, err
	}
	if t.order == nil { // spelled out from now on
		t.order = axes
	}
	next, extents := make([]int, len(axes)), make([]int64, len(axes))
	natural := true
	for i, a := range axes {
		if next[i], extents[i] = a, shape[a]; order != nil {
			next[i] = order[a]
		}
		natural = natural && next[i] == i
	}
	if natural {
		next = nil
	}
	return next, extents, nil
}

// Bind is for a place behind a codec that changed the elements.
func (t *transpose) Bind(in Form) (Stage, Form, error) {
	axes, err := t.axes(len(in.Shape))
	if err != nil {
		return nil, Form{}, err
	}
	if in.DType.IsVar() {
		return nil, Form{}, errorf(ErrNotSupported, "transpose", "elements of variable length behind another codec")
	}
	out := in
	out.Shape = make([]int64, len(axes))
	for i, a := range axes {
		out.Shape[i] = in.Shape[a]
	}
	if slices.IsSorted(axes) {
		return nil, out, nil
	}
	return &transposeStage{in: in, out: out, axes: axes}, out, nil
}

type transposeStage struct {
	in, out Form
	axes    []int
}

func (s *transposeStage) Encode(dst *Buffer, src []byte) error { return s.move(dst, src, true) }

func (s *transposeStage) Decode(dst *Buffer, src []byte, _ int64) error {
	if int64(len(src)) != s.out.Size {
		return corrupt("transpose", "%d bytes, expected %d", len(src), s.out.Size)
	}
	return s.move(dst, src, false)
}

// move copies elements between both orders.
func (s *transposeStage) move(dst *Buffer, src []byte, encode bool) error {
	natural, err := ndarray.AppendStrides(nil, s.in.Shape, s.in.DType.Size)
	if err != nil {
		return err
	}
	out, err := dst.Extend(len(src))
	if err != nil {
		return err
	}
	strides := make([]int64, len(natural))
	for i, a := range s.axes {
		strides[i] = natural[a]
	}
	moved := ndarray.Buffer{DType: s.in.DType, Shape: s.out.Shape, Strides: strides, Data: src}
	flat := ndarray.Buffer{DType: s.in.DType, Shape: s.out.Shape, Data: out}
	if encode {
		return ndarray.Copy(flat, moved)
	}
	moved.Data, flat.Data = out, src
	return ndarray.Copy(moved, flat)
}
