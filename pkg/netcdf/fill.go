package netcdf

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// bitsOf is a number of 1, 2, 4 or 8 bytes in the machine's order.
func bitsOf(p []byte) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(p))
	case 4:
		return uint64(binary.NativeEndian.Uint32(p))
	}
	return binary.NativeEndian.Uint64(p)
}

// putBits is the reverse of bitsOf, and gives p.
func putBits(p []byte, x uint64) []byte {
	switch len(p) {
	case 1:
		p[0] = byte(x)
	case 2:
		binary.NativeEndian.PutUint16(p, uint16(x))
	case 4:
		binary.NativeEndian.PutUint32(p, uint32(x))
	default:
		binary.NativeEndian.PutUint64(p, x)
	}
	return p
}

// number is the attribute value of an element of a numeric dtype.
func number(d ndarray.DType, p []byte) ndfile.Value {
	x := bitsOf(p)
	switch {
	case d.Kind == ndarray.Float && d.Size == 4:
		return pyjson.Float(float64(math.Float32frombits(uint32(x))))
	case d.Kind == ndarray.Float:
		return pyjson.Float(math.Float64frombits(x))
	case d.Kind == ndarray.Uint:
		return pyjson.Uint(x)
	}
	unused := 64 - 8*d.Size
	return pyjson.Int(int64(x<<unused) >> unused)
}

// element is the reverse of number; ok is false when the dtype cannot hold the
// value exactly. A float may be given as an integer and, if it is one, an integer
// as a float.
func element(d ndarray.DType, v ndfile.Value) (p []byte, ok bool) {
	f, ok := v.Float64()
	if !ok {
		return nil, false
	}
	p = make([]byte, d.Size)
	switch i, isInt := v.Int64(); {
	case d.Kind == ndarray.Float && v.IsInt() && math.Abs(f) >= 1<<53:
		return nil, false // f may be rounded
	case d.Kind == ndarray.Float && d.Size == 4:
		putBits(p, uint64(math.Float32bits(float32(f))))
		ok = float64(float32(f)) == f || f != f
	case d.Kind == ndarray.Float:
		putBits(p, math.Float64bits(f))
	case isInt && (d.Kind == ndarray.Int || i >= 0):
		putBits(p, uint64(i))
	case v.IsInt():
		u, fits := v.Uint64()
		putBits(p, u)
		ok = fits && d.Kind == ndarray.Uint
	case f == math.Trunc(f) && math.Abs(f) < 1<<53 && (d.Kind == ndarray.Int || f >= 0):
		putBits(p, uint64(int64(f)))
	default:
		return nil, false
	}
	if !ok || d.Kind == ndarray.Float && !v.IsInt() {
		return p, ok
	}
	back, _ := number(d, p).Float64()
	return p, back == f
}

// fills are the elements of a dtype that mean that a value is missing.
type fills struct {
	values [][]byte
	nan    bool // every NaN does
}

// add takes up another such element, given as its bytes.
func (f *fills) add(d ndarray.DType, p []byte) {
	if d.Kind == ndarray.Float {
		switch v, _ := number(d, p).Float64(); {
		case v != v:
			f.nan = true
			return
		case v == 0:
			f.values = append(f.values, putBits(make([]byte, d.Size), 1<<(8*d.Size-1)))
			p = make([]byte, d.Size)
		}
	}
	f.values = append(f.values, p)
}

// fillsByDefault tells whether NetCDF's default value can stand for missing elements
// of a variable, as netCDF4-python has it: of numbers without _FillValue, of single
// bytes if the variable is filled (NC_FILL).
func fillsByDefault(d ndarray.DType, atts []attribute, filled bool) bool {
	return d.IsNumeric() && d.Kind != ndarray.Complex && (filled || d.Size > 1) && !hasFill(atts)
}

func hasFill(atts []attribute) bool {
	return slices.ContainsFunc(atts, func(a attribute) bool { return a.name == attFill })
}

// withDefault is f, which may be nil, and NetCDF's default value.
func (f *fills) withDefault(d ndarray.DType) *fills {
	if f == nil {
		f = new(fills)
	}
	f.add(d, defaultFill(d))
	return f
}

// equal tells whether both are the same elements.
func (f *fills) equal(g *fills) bool {
	if f == nil || g == nil {
		return f == g
	}
	return f.nan == g.nan && slices.EqualFunc(f.values, g.values, bytes.Equal)
}

// mark sets mask[i] to 1 where element i is missing and to 0 elsewhere, and tells
// the first that is, or -1. Elements are packed.
func (f *fills) mark(d ndarray.DType, data, mask []byte) (first int) {
	if f.nan || len(f.values) != 1 {
		for i := range mask {
			mask[i] = flagOf(f.has(d, data[i*d.Size:(i+1)*d.Size]))
		}
		return bytes.IndexByte(mask, 1)
	}
	switch x := bitsOf(f.values[0]); d.Size {
	case 2:
		for i := range mask {
			mask[i] = flagOf(binary.NativeEndian.Uint16(data[2*i:]) == uint16(x))
		}
	case 4:
		for i := range mask {
			mask[i] = flagOf(binary.NativeEndian.Uint32(data[4*i:]) == uint32(x))
		}
	case 8:
		for i := range mask {
			mask[i] = flagOf(binary.NativeEndian.Uint64(data[8*i:]) == x)
		}
	default:
		for i := range mask {
			mask[i] = flagOf(data[i] == byte(x))
		}
	}
	return bytes.IndexByte(mask, 1)
}

func flagOf(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (f *fills) has(d ndarray.DType, p []byte) bool {
	if f.nan && isNaN(d, p) {
		return true
	}
	for _, v := range f.values {
		if bytes.Equal(v, p) {
			return true
		}
	}
	return false
}

func isNaN(d ndarray.DType, p []byte) bool {
	if d.Size == 4 {
		return bitsOf(p)&0x7fffffff > 0x7f800000
	}
	return bitsOf(p)&(1<<63-1) > 0x7ff<<52
}

// freeValue finds an element that is not among the present ones: libnetcdf's own
// fill value, if it can be. scan gives all elements, in packed pieces with a mask,
// and is called up to four times more: what is left of the value is fixed 16 bits at
// a time, to those that the fewest elements have. So a free value is always found
// for less than 2^32 elements of 4 or 8 bytes. None is ndfile.ErrValue.
func freeValue(d ndarray.DType, scan func(each func(data, mask []byte)) error) ([]byte, error) {
	usual := defaultFill(d)
	taken := false
	err := scan(func(data, mask []byte) {
		for i, m := range mask {
			taken = taken || m == 0 && bytes.Equal(data[i*d.Size:(i+1)*d.Size], usual)
		}
	})
	if err != nil || !taken {
		return usual, err
	}
	digit := min(16, 8*d.Size)
	var prefix uint64 // the bits that are fixed, at the bottom of the word
	for shift := 8*d.Size - digit; shift >= 0; shift -= digit {
		counts := make([]int64, 1<<digit)
		err := scan(func(data, mask []byte) {
			for i, m := range mask {
				if x := bitsOf(data[i*d.Size : (i+1)*d.Size]); m == 0 && x>>shift>>digit == prefix {
					counts[x>>shift&(1<<digit-1)]++
				}
			}
		})
		if err != nil {
			return nil, err
		}
		lo, hi := 0, len(counts)
		if d.Kind == ndarray.Float && shift == 8*d.Size-digit { // positive, neither zero nor infinite
			lo, hi = 0x0080, 0x7f80
			if d.Size == 8 {
				lo, hi = 0x0010, 0x7ff0
			}
		}
		best := lo
		for k := lo; k < hi; k++ {
			if counts[k] < counts[best] {
				best = k
			}
		}
		prefix = prefix<<digit | uint64(best)
		if counts[best] == 0 {
			return putBits(make([]byte, d.Size), prefix<<shift), nil
		}
	}
	return nil, ndfile.NewError(ndfile.ErrValue, "no value of dtype "+d.String()+" is free to stand for missing elements: the present ones have them all")
}
