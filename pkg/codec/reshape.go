package codec

import (
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "reshape" of Zarr 3: the same elements in another shape. Each extent is a
// number, a list of axes whose extents are multiplied, or once -1 for what is left.
// Source: its page in the registry of extensions.
var _ = define(Definition{Name: "reshape", kind: elementwise, new: func(c *conf) (Codec, error) {
	r := &reshape{conf: c.Object.Clone()}
	v, _ := c.get("shape")
	for _, item := range v.Items() {
		axes, isList := extents(item)
		n, isInt := item.Int64()
		if !isList && (!isInt || n < 1 && n != -1) {
			c.fail("shape", "extents, lists of axes or -1")
		}
		r.shape = append(r.shape, extent{n, axes})
	}
	if v.Kind() != pyjson.KindList {
		c.fail("shape", "a list")
	}
	return r, nil
}})

type reshape struct {
	conf  *Object
	shape []extent
}

// extent is a number, or the product of axes where they are not nil.
type extent struct {
	n    int64
	axes []int64
}

func (r *reshape) Config(Version) (*Object, error) { return r.conf, nil }

func (r *reshape) Bind(in Form) (Stage, Form, error) {
	out, left := in, -1
	out.Shape = make([]int64, len(r.shape))
	known := int64(1)
	for i, e := range r.shape {
		n := e.n
		if e.axes != nil {
			n = 1
			for _, axis := range e.axes {
				if axis >= int64(len(in.Shape)) {
					return nil, Form{}, errorf(ErrConfig, "reshape", "the axis %d of %d", axis, len(in.Shape))
				}
				n *= in.Shape[axis]
			}
		}
		if n == -1 {
			if left >= 0 {
				return nil, Form{}, errorf(ErrConfig, "reshape", "-1 twice")
			}
			left = i
			continue
		}
		var ok bool
		if known, ok = ndarray.Mul(known, n); !ok {
			return nil, Form{}, errorf(ErrConfig, "reshape", "more elements than there are")
		}
		out.Shape[i] = n
	}
	if left >= 0 && known > 0 {
		out.Shape[left] = in.count() / known
		known *= out.Shape[left]
	}
	if known != in.count() {
		return nil, Form{}, errorf(ErrConfig, "reshape", "%d elements, expected %d", known, in.count())
	}
	return nil, out, nil
}
