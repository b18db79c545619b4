package codec

import (
	"math"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "delta" of numcodecs: the first element, then differences, in the order
// of memory. Integers wrap; floats are added up in their own precision.
var _ = define(Definition{ID: "delta", kind: elementwise, new: func(c *conf) (Codec, error) {
	d, a, err := types(c, "dtype", "astype")
	return &delta{d, a}, err
}})

// types reads the type of elements, which Bind completes where it is absent, and the
// one that they are encoded as, which is the same where it is absent.
func types(c *conf, dtype, astype string) (d, a ndarray.DType, err error) {
	d = c.dtype(dtype, d)
	a = c.dtype(astype, d)
	for _, t := range [...]ndarray.DType{d, a} {
		if t.Size > 0 && err == nil {
			err = numeric(c.name, t)
		}
	}
	return d, a, err
}

// complete gives types that types did not find those of what a codec is given.
func complete(codec string, in Form, d, a *ndarray.DType) error {
	if d.Size > 0 {
		return nil
	}
	*d = in.DType
	if a.Size == 0 {
		*a = *d
	}
	return numeric(codec, *d)
}

// typesConf is the configuration that types reads.
func typesConf(d, a ndarray.DType) []any {
	return []any{"astype", pyjson.String(a.String()), "dtype", pyjson.String(d.String())}
}

type delta struct{ dtype, astype ndarray.DType }

func (d *delta) Config(Version) (*Object, error) {
	return members(typesConf(d.dtype, d.astype)...), nil
}

func (d *delta) Bind(in Form) (Stage, Form, error) {
	if err := complete("delta", in, &d.dtype, &d.astype); err != nil {
		return nil, Form{}, err
	}
	in, err := elements("delta", in, d.dtype)
	if err != nil {
		return nil, Form{}, err
	}
	out, err := in.as(d.astype, nil)
	return &deltaStage{d, out}, out, err
}

type deltaStage struct {
	*delta
	out Form
}

func (s *deltaStage) Encode(dst *Buffer, src []byte) error {
	before, first := uint64(0), true // the element before those that are seen
	return reckon(dst, s.astype, src, s.dtype, func(n *numbers) error {
		last := n.words[len(n.words)-1]
		for i := len(n.words) - 1; i >= 0; i-- {
			p := before
			if i > 0 {
				p = n.words[i-1]
			}
			switch {
			case i == 0 && first:
			case n.class == floating:
				n.words[i] = math.Float64bits(rounded(n.float(i)-math.Float64frombits(p), s.dtype.Size))
			case s.dtype.Kind == ndarray.Bool:
				n.words[i] ^= p
			default:
				n.words[i] = wrapped(n.words[i]-p, s.dtype)
			}
		}
		before, first = last, false
		return nil
	})
}

func (s *deltaStage) Decode(dst *Buffer, src []byte, _ int64) error {
	return s.undo(dst, src, new(deltaState))
}

// deltaState is the element before those that are decoded next, where there is one.
type deltaState struct {
	before uint64
	any    bool
}

// deltaPieces decodes elements that come in pieces.
type deltaPieces struct {
	*deltaStage
	deltaState
}

func (s *deltaStage) inPieces() Stage { return &deltaPieces{deltaStage: s} }

func (s *deltaPieces) Decode(dst *Buffer, src []byte, _ int64) error {
	return s.undo(dst, src, &s.deltaState)
}

func (s *deltaStage) undo(dst *Buffer, src []byte, state *deltaState) error {
	c, _ := classOf(s.dtype)
	return reckon(dst, s.dtype, src, s.astype, func(n *numbers) error {
		switch {
		case c == floating:
			n.floats()
		case n.class == floating:
			for i, w := range n.words {
				n.words[i] = truncated(math.Float64frombits(w), signed)
			}
			n.class = signed
		}
		for i, w := range n.words {
			switch {
			case !state.any:
			case c == floating:
				w = math.Float64bits(rounded(math.Float64frombits(state.before)+rounded(math.Float64frombits(w), s.dtype.Size), s.dtype.Size))
			default:
				if w += state.before; s.dtype.Kind == ndarray.Bool {
					w = min(w, 1) // a sum of truth values is "or"
				}
			}
			n.words[i], state.before, state.any = w, w, true
		}
		return nil
	})
}

func (s *deltaStage) sizes() (stored, decoded int) { return s.astype.Size, s.dtype.Size }
