package codec

import (
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "cast_value" of Zarr 3: the same values as another type. What that type
// cannot hold is an error, or becomes its next value or its low bits, as
// out_of_range says; scalar_map names values that become others. Source: its page in
// the registry of extensions.
var _ = define(Definition{Name: "cast_value", kind: elementwise, new: func(c *conf) (Codec, error) {
	z := &castValue{conf: c.Object.Clone()}
	v, _ := c.get("data_type")
	word, _ := v.Str()
	var ok bool
	if z.to, ok = words[word]; !ok {
		c.fail("data_type", "a type of integers or floats of Zarr 3")
	}
	z.rounding = c.word("rounding", roundings[0], roundings[:]...)
	z.outside = c.word("out_of_range", "", "clamp", "wrap")
	maps, _ := c.get("scalar_map")
	if maps.Object() != nil {
		m := &conf{Object: maps.Object(), name: c.name}
		z.encode, z.decode = scalarMap(m, "encode"), scalarMap(m, "decode")
		if err := m.end(); err != nil {
			return nil, err
		}
	}
	return z, nil
}})

// words are the numbers of Zarr 3.
var words = map[string]ndarray.DType{
	"int8": {Kind: ndarray.Int, Size: 1}, "uint8": {Kind: ndarray.Uint, Size: 1},
	"int16": {Kind: ndarray.Int, Order: ndarray.Little, Size: 2}, "uint16": {Kind: ndarray.Uint, Order: ndarray.Little, Size: 2},
	"int32": {Kind: ndarray.Int, Order: ndarray.Little, Size: 4}, "uint32": {Kind: ndarray.Uint, Order: ndarray.Little, Size: 4},
	"int64": {Kind: ndarray.Int, Order: ndarray.Little, Size: 8}, "uint64": {Kind: ndarray.Uint, Order: ndarray.Little, Size: 8},
	"float16": {Kind: ndarray.Float, Order: ndarray.Little, Size: 2}, "float32": {Kind: ndarray.Float, Order: ndarray.Little, Size: 4},
	"float64": {Kind: ndarray.Float, Order: ndarray.Little, Size: 8},
}

var roundings = [...]string{"nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"}

// scalarMap reads pairs of values.
func scalarMap(c *conf, key string) map[float64]float64 {
	v, ok := c.get(key)
	if !ok {
		return nil
	}
	m := map[float64]float64{}
	for _, pair := range v.Items() {
		items := pair.Items()
		if len(items) != 2 {
			c.fail(key, "pairs of values")
			return m
		}
		from, ok1 := scalar(items[0])
		to, ok2 := scalar(items[1])
		if !ok1 || !ok2 {
			c.fail(key, "pairs of numbers")
			return m
		}
		if from != from {
			from = nanKey
		}
		m[from] = to
	}
	return m
}

// nanKey stands for NaN in a map, where NaN would never be found.
const nanKey = -0x1.5f3a9c7d1e2b4p1000

// scalar reads a number, one of the words for what is none, or the bits of a float.
func scalar(v Value) (float64, bool) {
	if f, ok := v.Float64(); ok {
		return f, true
	}
	s, _ := v.Str()
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	digits, ok := strings.CutPrefix(s, "0x")
	u, err := strconv.ParseUint(digits, 16, 64)
	switch {
	case !ok || err != nil:
		return 0, false
	case len(digits) == 16:
		return math.Float64frombits(u), true
	case len(digits) == 8:
		return float64(math.Float32frombits(uint32(u))), true
	}
	return 0, false
}

type castValue struct {
	conf              *Object
	to                ndarray.DType
	rounding, outside string
	encode, decode    map[float64]float64
}

func (z *castValue) Config(Version) (*Object, error) { return z.conf, nil }

func (z *castValue) Bind(in Form) (Stage, Form, error) {
	if in.DType.Kind == ndarray.Bool {
		return nil, Form{}, errorf(ErrNotSupported, "cast_value", "truth values")
	}
	if err := numeric("cast_value", in.DType); err != nil {
		return nil, Form{}, err
	}
	s := &castStage{castValue: z, from: in.DType}
	out, err := in.as(z.to, s.Encode)
	if err != nil { // the fill value has no place; nothing needs it but shards
		out, err = in.as(z.to, nil)
	}
	s.out = out
	return s, out, err
}

type castStage struct {
	*castValue
	from ndarray.DType
	out  Form
}

func (s *castStage) Encode(dst *Buffer, src []byte) error {
	return s.convert(dst, src, s.from, s.to, s.encode)
}

func (s *castStage) Decode(dst *Buffer, src []byte, _ int64) error {
	return s.convert(dst, src, s.to, s.from, s.decode)
}

func (s *castStage) convert(dst *Buffer, src []byte, from, to ndarray.DType, special map[float64]float64) error {
	return reckon(dst, to, src, from, func(n *numbers) (err error) {
		if len(special) > 0 {
			n.floats() // what stands for NaN can be an integer, and the other way round
		}
		for i, w := range n.words {
			if len(special) > 0 {
				key := n.float(i)
				if key != key {
					key = nanKey
				}
				if f, ok := special[key]; ok {
					w = math.Float64bits(f)
				}
			}
			if n.words[i], err = s.fit(w, n.class, to); err != nil {
				return err
			}
		}
		return nil
	})
}

// fit makes a number one that elements of type d can hold, in its class.
func (s *castStage) fit(w uint64, c class, d ndarray.DType) (uint64, error) {
	to, _ := classOf(d)
	if to == floating {
		return w, nil
	}
	lo, hi := limits(d)
	switch c {
	case floating:
		f := math.Float64frombits(w)
		g := s.rounded(f)
		if g != g || math.IsInf(g, 0) && s.outside != "clamp" {
			return 0, errorf(ErrValue, "cast_value", "%v cannot be %s", f, d)
		}
		if g >= float64(lo) && (hi == math.MaxUint64 && g < 0x1p64 || hi == math.MaxInt64 && g < 0x1p63 || hi < math.MaxInt64 && g <= float64(hi)) {
			return math.Float64bits(g), nil
		}
		switch s.outside {
		case "clamp":
			if g < 0 {
				return math.Float64bits(float64(lo)), nil
			}
			return math.Float64bits(math.Nextafter(float64(hi), 0)), nil
		case "wrap":
			return math.Float64bits(math.Mod(g, math.Ldexp(1, 8*d.Size))), nil
		}
		return 0, errorf(ErrValue, "cast_value", "%v is outside of %s", f, d)
	case signed:
		v := int64(w)
		if v >= lo && (v < 0 || uint64(v) <= hi) {
			return w, nil
		}
		if s.outside == "clamp" {
			if v < lo {
				return uint64(lo), nil
			}
			return hi, nil
		}
	default:
		if w <= hi {
			return w, nil
		}
		if s.outside == "clamp" {
			return hi, nil
		}
	}
	if s.outside == "wrap" {
		return wrapped(w, d), nil
	}
	return 0, errorf(ErrValue, "cast_value", "a value outside of %s", d)
}

// rounded rounds to a whole number.
func (s *castStage) rounded(f float64) float64 {
	switch s.rounding {
	case "towards-zero":
		return math.Trunc(f)
	case "towards-positive":
		return math.Ceil(f)
	case "towards-negative":
		return math.Floor(f)
	case "nearest-away":
		return math.Round(f)
	}
	return math.RoundToEven(f)
}

// limits are the least and the largest integer of a type.
func limits(d ndarray.DType) (lo int64, hi uint64) {
	if d.Kind == ndarray.Uint {
		return 0, math.MaxUint64 >> (64 - 8*d.Size)
	}
	return math.MinInt64 >> (64 - 8*d.Size), math.MaxInt64 >> (64 - 8*d.Size)
}

func (s *castStage) sizes() (stored, decoded int) { return s.to.Size, s.from.Size }
