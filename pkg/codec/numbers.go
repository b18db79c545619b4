package codec

import (
	"encoding/binary"
	"math"

	"github.com/ndfile/ndfile/pkg/internal/atom"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// numbers are elements to reckon with: as int64, uint64 or float64, all as words.
type numbers struct {
	class class
	words []uint64
}

// class is what the words of numbers are.
type class uint8

const (
	signed class = iota
	unsigned
	floating
)

// classOf tells how elements are reckoned with; not ok for those that are none.
func classOf(d ndarray.DType) (c class, ok bool) {
	switch d.Kind {
	case ndarray.Bool, ndarray.Uint:
		return unsigned, d.Size <= 8
	case ndarray.Int, ndarray.Datetime, ndarray.Timedelta:
		return signed, d.Size <= 8
	case ndarray.Float:
		return floating, d.Size <= 8
	}
	return 0, false
}

// numeric fails for elements that cannot be reckoned with.
func numeric(codec string, d ndarray.DType) error {
	if _, ok := classOf(d); !ok {
		return errorf(ErrNotSupported, codec, "elements of type %s, expected numbers of at most 8 bytes", d)
	}
	return nil
}

// eachNumber calls do for elements, of which numeric has been asked, some at a time.
func eachNumber(d ndarray.DType, src []byte, do func(n *numbers) error) error {
	var words [512]uint64
	c, _ := classOf(d)
	for count := len(src) / d.Size; count > 0; {
		n := numbers{c, words[:min(len(words), count)]}
		n.load(d, src)
		if err := do(&n); err != nil {
			return err
		}
		count, src = count-len(n.words), src[len(n.words)*d.Size:]
	}
	return nil
}

// reckon appends elements of type to that are made of others: do, where it is not nil,
// reckons with some of them at a time, in order.
func reckon(dst *Buffer, to ndarray.DType, src []byte, from ndarray.DType, do func(n *numbers) error) error {
	out, err := dst.Extend(len(src) / from.Size * to.Size)
	if err != nil {
		return err
	}
	return eachNumber(from, src, func(n *numbers) error {
		if do != nil {
			if err := do(n); err != nil {
				return err
			}
		}
		k := len(n.words) * to.Size
		n.store(out[:k], to)
		out = out[k:]
		return nil
	})
}

// load reads elements.
func (n *numbers) load(d ndarray.DType, src []byte) {
	from := d
	if d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta {
		from.Kind, from.Unit = ndarray.Int, ""
	}
	to := ndarray.DType{Kind: [...]ndarray.Kind{ndarray.Int, ndarray.Uint, ndarray.Float}[n.class], Order: ndarray.Little, Size: 8}
	var wide [8 * 512]byte
	k := len(n.words)
	// The conversion is exact, and everything fits.
	if err := ndarray.CopyRun(wide[:8*k], 8, to, src[:k*d.Size], int64(d.Size), from, int64(k)); err != nil {
		panic(err)
	}
	for j := range k {
		n.words[j] = binary.LittleEndian.Uint64(wide[8*j:])
	}
}

// float gives a number as a float.
func (n *numbers) float(i int) float64 {
	switch n.class {
	case signed:
		return float64(int64(n.words[i]))
	case unsigned:
		return float64(n.words[i])
	}
	return math.Float64frombits(n.words[i])
}

// floats makes floats of the numbers.
func (n *numbers) floats() {
	if n.class == floating {
		return
	}
	for i := range n.words {
		n.words[i] = math.Float64bits(n.float(i))
	}
	n.class = floating
}

// store makes elements of type d of the numbers, converted as a cast of C does it.
func (n *numbers) store(dst []byte, d ndarray.DType) {
	to, _ := classOf(d)
	for i, w := range n.words {
		out := dst[i*d.Size : (i+1)*d.Size]
		switch {
		case to == floating:
			w = atom.FloatBits(n.float(i), d.Size)
		case d.Kind == ndarray.Bool:
			if n.class == floating && math.Float64frombits(w) == 0 {
				w = 0
			}
			w = uint64(min(w, 1))
		case n.class == floating:
			w = truncated(math.Float64frombits(w), to)
		}
		atom.PutWord(out, &d, w)
	}
}

// truncated makes an integer of a float, as x86 does.
func truncated(f float64, to class) uint64 {
	if to == unsigned && f >= 1<<63 {
		return uint64(f)
	}
	if !(f > -0x1p63 && f < 0x1p63) {
		return 1 << 63
	}
	return uint64(int64(f))
}

// rounded rounds a float to what an element of a size can hold.
func rounded(f float64, size int) float64 {
	switch size {
	case 2:
		var wide [8]byte
		half := ndarray.DType{Kind: ndarray.Float, Order: ndarray.Little, Size: 2}
		binary.LittleEndian.PutUint16(wide[:], uint16(atom.FloatBits(f, 2)))
		var out [8]byte
		if err := ndarray.CopyRun(out[:], 8, ndarray.DType{Kind: ndarray.Float, Order: ndarray.Little, Size: 8}, wide[:2], 2, half, 1); err != nil {
			panic(err)
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(out[:]))
	case 4:
		return float64(float32(f))
	}
	return f
}

// wrapped is an integer modulo what an element of type d can hold.
func wrapped(w uint64, d ndarray.DType) uint64 {
	bits := 64 - 8*d.Size
	if c, _ := classOf(d); c == signed {
		return uint64(int64(w<<bits) >> bits)
	}
	return w << bits >> bits
}

// elements sees what a codec is given as elements of type d: they have that type, or
// they are so many bytes, as in Zarr 2.
func elements(codec string, in Form, d ndarray.DType) (Form, error) {
	if !in.Exact || d.Size == 0 || in.Size%int64(d.Size) != 0 {
		return Form{}, errorf(ErrNotSupported, codec, "data of %d bytes, expected elements of type %s", in.Size, d)
	}
	if !in.isBytes() && in.DType.Size == d.Size {
		in.DType = d
		return in, nil
	}
	return Form{DType: d, Shape: []int64{in.Size / int64(d.Size)}, Size: in.Size, Exact: true}, nil
}

// as is a form with elements of another type, the fill value made by encode.
func (f Form) as(d ndarray.DType, encode func(dst *Buffer, src []byte) error) (Form, error) {
	out := f
	out.DType, out.Size = d, f.count()*int64(d.Size)
	out.Fill = nil
	if encode != nil {
		fill := f.Fill
		if fill == nil {
			fill = make([]byte, f.DType.Size)
		}
		var dst Buffer // of one element, which is not large
		err := encode(&dst, fill)
		out.Fill = dst.B
		return out, err
	}
	return out, nil
}

// expect fails unless there are as many bytes as elements of a form have.
func (f *Form) expect(codec string, src []byte) error {
	if int64(len(src)) != f.Size {
		return corrupt(codec, "%d bytes, expected %d", len(src), f.Size)
	}
	return nil
}
