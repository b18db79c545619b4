package codec

import (
	"errors"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Chain is a list of codecs for chunks of one shape and one type of elements.
type Chain struct {
	version Version
	codecs  []named
	acting  []named // without a codec "bytes" that gives what it is given
	order   []int
	stages  []Stage
	forms   []Form // forms[i] is what stages[i] encodes; the last one is what is stored
}

// NewChain makes the chain of a list of codecs. In Zarr 3 the list is codecs of
// elements, one that makes bytes of them, and codecs of bytes. In Zarr 2 any codec
// may follow any other: each takes the bytes before it as it needs them.
//
// in is the chunk, made by [Elements]: in Zarr 2 with the byte order that is
// stored; in Zarr 3 that does not count, the codecs say it. Errors: ErrNotSupported
// for a codec that is not known or cannot stand there, ErrConfig, ErrLimit.
func NewChain(v Version, specs []Spec, in Form) (*Chain, error) {
	c := &Chain{version: v}
	for _, s := range specs {
		one, err := New(s, v)
		if err != nil {
			if s.Ignorable && isUnknown(s, v) {
				continue
			}
			return nil, err
		}
		c.codecs = append(c.codecs, one.(named))
	}
	if v == V3 {
		if err := c.checkKinds(); err != nil {
			return nil, err
		}
	}
	rest, shape := withoutTransposes(c.codecs), in.Shape
	for _, one := range c.codecs[:len(c.codecs)-len(rest)] {
		var err error
		if c.order, shape, err = one.Codec.(*transpose).compose(c.order, shape); err != nil {
			return nil, err
		}
	}
	form := in
	form.Shape = shape
	if v == V3 {
		form.DType = in.DType.WithOrder(orderOf(rest))
	}
	c.forms = append(c.forms, form)
	c.acting = slices.Clone(c.codecs[:len(c.codecs)-len(rest)])
	for _, one := range rest {
		stage, out, err := one.Bind(form)
		if err != nil {
			return nil, err
		}
		if _, plain := one.Codec.(*toBytes); stage != nil || !plain {
			c.acting = append(c.acting, one)
		}
		if form = out; stage == nil {
			// What it is given is what it gives, under another name.
			if len(c.stages) > 0 {
				c.forms[len(c.forms)-1] = out
			}
			continue
		}
		c.stages, c.forms = append(c.stages, stage), append(c.forms, out)
	}
	return c, nil
}

// isUnknown tells that there is no codec of that name.
func isUnknown(s Spec, v Version) bool {
	d, _ := find(s.Name, v)
	e, _ := find(s.Name, V2+V3-v)
	return d == nil && e == nil
}

// checkKinds checks the order of codecs in Zarr 3.
func (c *Chain) checkKinds() error {
	at := elementwise
	for _, one := range c.codecs {
		switch k := one.def.kind; {
		case at == elementwise && k == serializer:
			at = bytewise
		case k != at:
			if at == elementwise {
				return errorf(ErrConfig, one.def.Name, `a codec of bytes: expected one before it that makes bytes of elements, as "bytes"`)
			}
			return errorf(ErrConfig, one.def.Name, "a codec of elements behind one that made bytes of them")
		}
	}
	if at == elementwise {
		return errorf(ErrConfig, "", `codecs: expected one that makes bytes of elements, as "bytes"`)
	}
	return nil
}

// ordered is a codec that says the byte order of elements that are stored.
type ordered interface{ byteOrder() ndarray.Order }

// orderOf is the byte order in which the first of some codecs takes elements: that
// in which they are stored, where nothing changes them before, else little endian.
func orderOf(codecs []named) ndarray.Order {
	if len(codecs) > 0 {
		if o, ok := codecs[0].Codec.(ordered); ok {
			return o.byteOrder()
		}
	}
	return ndarray.Little
}

// StoredOrder is the byte order that the elements of a chain of Zarr 3 have in
// [Chain.Elements].
func StoredOrder(specs []Spec) (ndarray.Order, error) {
	var codecs []named
	for _, s := range specs {
		one, err := New(s, V3)
		switch {
		case err != nil && s.Ignorable && isUnknown(s, V3):
		case err != nil:
			return ndarray.NoOrder, err
		default:
			codecs = append(codecs, one.(named))
		}
	}
	return orderOf(withoutTransposes(codecs)), nil
}

// withoutTransposes leaves out those at the beginning, which move no data.
func withoutTransposes(codecs []named) []named {
	for len(codecs) > 0 {
		if _, ok := codecs[0].Codec.(*transpose); !ok {
			break
		}
		codecs = codecs[1:]
	}
	return codecs
}

// Elements is the form of what Decode gives. Its shape is that of the chunk, the
// axes in the order that [Chain.Order] tells.
func (c *Chain) Elements() Form { return c.forms[0] }

// Order tells where the axes of decoded elements come from: axis i is the axis
// Order()[i] of the chunk. nil: they are in order.
func (c *Chain) Order() []int { return c.order }

// Stored is the form of what Encode gives.
func (c *Chain) Stored() Form { return c.forms[len(c.forms)-1] }

// Scratch is the memory that Decode takes beside the elements, in bytes, as far as that
// is known.
func (c *Chain) Scratch() int64 {
	var own [2]int64
	for i := 1; i < len(c.stages); i++ {
		if _, ok := c.stages[i].(viewer); !ok {
			own[i&1] = max(own[i&1], c.forms[i].Size)
		}
	}
	return own[0] + own[1]
}

// IsIdentity tells that elements are stored as they are.
func (c *Chain) IsIdentity() bool { return len(c.stages) == 0 }

// Only gives the one stage that the chain has, or nil.
func (c *Chain) Only() Stage {
	if len(c.stages) != 1 {
		return nil
	}
	return c.stages[0]
}

// Specs lists the codecs with their whole configurations, as the version of Zarr
// has them.
func (c *Chain) Specs(v Version) ([]Spec, error) {
	specs := make([]Spec, len(c.codecs))
	for i, one := range c.codecs {
		var err error
		if specs[i], err = one.inVersion(v); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

// Name names how the bytes of a chunk are made: chunks of equal shape, elements
// and name can be exchanged.
func (c *Chain) Name() string {
	if c.IsIdentity() && c.order == nil {
		return "bytes"
	}
	if _, ok := c.Only().(*bloscStage); ok && c.order == nil {
		return "blosc1"
	}
	var specs []Spec
	for _, one := range c.acting {
		one.byID = false
		spec, err := one.inVersion(V3)
		if err != nil {
			spec.Name = one.def.ID
		}
		specs = append(specs, spec)
	}
	return string(pyjson.Append(nil, SpecsValue(specs)))
}

// scratch is the memory of one call.
type scratch struct{ buf [2]Buffer }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) release() {
	for i := range s.buf {
		s.buf[i].FreeLarge()
	}
	scratches.Put(s)
}

// Encode appends what is stored for the elements src to dst. src is as Elements
// says. After an error dst holds anything behind what it held before.
func (c *Chain) Encode(dst *Buffer, src []byte) error {
	s := scratches.Get().(*scratch)
	defer s.release()
	for i, stage := range c.stages[:max(len(c.stages)-1, 0)] {
		to := &s.buf[i&1]
		to.Reset()
		if err := stage.Encode(to, src); err != nil {
			return err
		}
		src = to.B
	}
	if n := len(c.stages); n > 0 {
		return c.stages[n-1].Encode(dst, src)
	}
	return dst.Append(src)
}

// Decode fills dst with the elements that src, all of a stored chunk, decodes to.
// dst has as many bytes as there are elements; their size must be fixed.
func (c *Chain) Decode(dst, src []byte) error {
	to := Buffer{B: dst[:0:len(dst)]}
	defer to.Free()
	err := c.AppendDecoded(&to, src)
	switch {
	case err != nil:
		return err
	case len(to.B) != len(dst):
		return corrupt("", "a chunk that decodes to %d bytes, expected %d", len(to.B), len(dst))
	case len(dst) > 0 && &to.B[0] != &dst[0]:
		copy(dst, to.B)
	}
	return nil
}

// AppendDecoded appends what src, all of a stored chunk, decodes to. Elements of
// variable length are as the codec vlen-utf8 has them. After an error dst holds
// anything behind what it held before.
func (c *Chain) AppendDecoded(dst *Buffer, src []byte) error {
	return c.AppendDecodedTo(dst, src, MaxSize)
}

// AppendDecodedTo is AppendDecoded of what decodes to at most so many bytes, between
// codecs too, where its size is not known before; else ErrLimit.
func (c *Chain) AppendDecodedTo(dst *Buffer, src []byte, most int64) error {
	s := scratches.Get().(*scratch)
	defer s.release()
	free := 0 // the buffer that src does not lie in
	if stored := &c.forms[len(c.stages)]; stored.Exact && int64(len(src)) != stored.Size {
		return corrupt(c.nameOf(len(c.stages)-1), "%d bytes, expected %d", len(src), stored.Size)
	}
	for i := len(c.stages) - 1; i >= 0; i-- {
		in, to := &c.forms[i], &s.buf[free]
		limit := in.Size
		if !in.Exact {
			limit = min(limit, most)
		}
		var out []byte
		var err error
		if v, ok := c.stages[i].(viewer); ok {
			out, err = v.view(src, limit)
		} else {
			if to.Reset(); i == 0 {
				to = dst
			}
			free = 1 - free
			have := len(to.B)
			if err = c.stages[i].Decode(to, src, limit); err == nil {
				out = to.B[have:]
			}
		}
		var own *Error
		switch {
		case err == nil:
			err = c.checkSize(i, int64(len(out)))
		case limit < in.Size && errors.As(err, &own) && own.tooMuch:
			err = errorf(ErrLimit, own.Codec, "has to be decoded as a whole, to more than %d bytes; set the limit max_chunk to allow it", most)
		}
		if err != nil {
			return err
		}
		if src = out; i == 0 && to == dst {
			return nil
		}
	}
	return dst.Append(src)
}

// checkSize fails unless so many bytes are what stage i was given to encode.
func (c *Chain) checkSize(i int, n int64) error {
	in := &c.forms[i]
	if in.Exact && n != in.Size || n > in.Size {
		return corrupt(c.nameOf(i), "decodes to %d bytes, expected %d", n, in.Size)
	}
	return nil
}

// nameOf is the name of the codec of a stage.
func (c *Chain) nameOf(stage int) string {
	if len(c.stages) == 0 {
		return ""
	}
	if s, ok := c.stages[stage].(interface{ name() string }); ok {
		return s.name()
	}
	return ""
}

// Complete writes out what a list of codecs leaves open: the codec that makes bytes
// of elements, which Zarr 3 needs, and the defaults of all configurations. The list
// is that of a version of Zarr.
func Complete(v Version, specs []Spec, in Form) ([]Spec, error) {
	if v == V2 {
		specs = slices.DeleteFunc(slices.Clone(specs), func(s Spec) bool { return givesSame(s, in.DType) })
	}
	if v == V3 || in.DType.IsVar() && !makesFixed(specs, in) {
		specs = withSerializer(v, specs, in.DType)
	}
	if i := slices.IndexFunc(specs, func(s Spec) bool { return s.Name == "sharding_indexed" }); i >= 0 {
		var err error
		if specs, err = completeShard(specs, i, in); err != nil {
			return nil, err
		}
	}
	c, err := NewChain(v, specs, in)
	if err != nil {
		return nil, err
	}
	return c.Specs(v)
}

// givesSame tells that a codec is "bytes" and leaves elements in the byte order that they
// have: Zarr 2 needs no such codec.
func givesSame(s Spec, d ndarray.DType) bool {
	one, err := New(s, V3)
	if err != nil {
		return false
	}
	b, ok := one.(named).Codec.(*toBytes)
	return ok && d.Equal(d.WithOrder(b.byteOrder()))
}

// makesFixed tells that codecs of Zarr 2 make elements of a fixed size, or bytes, of elements
// of variable length: vlen-utf8 and its like, and categorize. Those that take any bytes, which
// come behind them, do not.
func makesFixed(specs []Spec, in Form) bool {
	if i := slices.IndexFunc(specs, func(s Spec) bool { return IsBytewise(s.Name, V2) }); i >= 0 {
		specs = specs[:i]
	}
	c, err := NewChain(V2, specs, in)
	return err == nil && !c.Stored().DType.IsVar()
}

// withSerializer puts one before the first codec of bytes where there is none.
func withSerializer(v Version, specs []Spec, d ndarray.DType) []Spec {
	at := len(specs)
	for i, s := range specs {
		def, _ := find(s.Name, v)
		if def == nil {
			def, _ = find(s.Name, V2+V3-v)
		}
		if def != nil && def.kind == serializer {
			return specs
		}
		if def != nil && def.kind == bytewise && at == len(specs) {
			at = i
		}
	}
	one := Spec{Name: "bytes"}
	switch {
	case d.Kind == ndarray.VarString:
		one.Name = "vlen-utf8"
	case d.Kind == ndarray.VarBytes:
		one.Name = "vlen-bytes"
	case hasOrder(d):
		one.Conf = members("endian", "little")
		if !d.Equal(d.WithOrder(ndarray.Little)) {
			one.Conf = members("endian", "big")
		}
	}
	return slices.Insert(slices.Clone(specs), at, one)
}

// completeShard completes the codecs of the chunks in a shard.
func completeShard(specs []Spec, at int, in Form) ([]Spec, error) {
	conf := specs[at].Conf.Clone()
	shape, _ := conf.Get("chunk_shape")
	chunks, ok := extents(shape)
	list, _ := conf.Get("codecs")
	inner, err := ParseSpecs(list)
	if err != nil || !ok {
		return specs, nil // New tells what is wrong
	}
	form, err := Elements(in.DType, chunks, in.Fill)
	if err != nil {
		return nil, err
	}
	if inner, err = Complete(V3, inner, form); err != nil {
		return nil, err
	}
	values := make([]Value, len(inner))
	for i, s := range inner {
		values[i] = s.Value3()
	}
	conf.Set("codecs", pyjson.List(values...))
	specs = slices.Clone(specs)
	specs[at].Conf = conf
	return specs, nil
}

// IsBytewise tells whether a codec changes bytes, not elements.
func IsBytewise(name string, v Version) bool {
	d, _ := find(name, v)
	return d != nil && d.kind == bytewise
}

// Equal tells whether both chains are made of the same codecs.
func (c *Chain) Equal(d *Chain) bool {
	return slices.Equal(c.order, d.order) && c.Name() == d.Name() && c.forms[0].DType.Equal(d.forms[0].DType)
}
