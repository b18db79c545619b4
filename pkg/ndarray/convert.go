package ndarray

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// native reads and writes words as the machine has them; loops over it compile to
// plain loads and stores.
var native = binary.NativeEndian

// CanConvert reports whether [Copy] can turn elements of one type into another
// without losing anything: types equal up to byte order; exact widening from Bool
// to Int and Uint to Float to Complex, where every value of the one is a value of
// the other (4-byte integers fit an 8-byte float, 8-byte ones do not); BFloat to
// Float of 4 bytes and more; Bytes and Unicode to longer ones, which pads. A
// long double ("f16", "c32") converts to nothing else.
func CanConvert(from, to DType) bool { return canConvert(&from, &to) }

func canConvert(from, to *DType) bool {
	if from.same(to, true) {
		return from.Kind != Invalid
	}
	switch from.Kind {
	case Bytes, Unicode:
		return to.Kind == from.Kind && to.Size >= from.Size
	case Bool, Int, Uint, Float, BFloat, Complex:
	default:
		return false
	}
	if to.Kind == Complex && to.Size < 32 {
		toPart, fromPart := part(to), part(from)
		return canConvert(&fromPart, &toPart)
	}
	toBits := fraction(to)
	switch from.Kind {
	case Bool:
		return to.Kind == Int || to.Kind == Uint || toBits > 0
	case Int: // the sign bit is free; the lowest integer is a power of two
		return to.Kind == Int && to.Size > from.Size || 8*from.Size-1 <= toBits
	case Uint:
		return (to.Kind == Int || to.Kind == Uint) && to.Size > from.Size || 8*from.Size <= toBits
	case Float, BFloat:
		return fraction(from) > 0 && toBits > fraction(from) && exponent(to) >= exponent(from)
	}
	return false
}

// part is the type of the two parts of a complex number; others are their own part.
func part(d *DType) DType {
	if d.Kind != Complex {
		return *d
	}
	return DType{Kind: Float, Order: d.Order, Size: d.Size / 2}
}

// fraction is the number of significant bits of a floating-point type, exponent
// that of its exponent; 0 for other types and for formats that are not known.
func fraction(d *DType) int {
	switch {
	case d.Kind == BFloat:
		return 8
	case d.Kind == Float && d.Size == 2:
		return 11
	case d.Kind == Float && d.Size == 4:
		return 24
	case d.Kind == Float && d.Size == 8:
		return 53
	}
	return 0
}

func exponent(d *DType) int { return 8*d.Size - fraction(d) }

// widen takes the bits of a float with a fraction of f and an exponent of e bits
// and gives those of the same float64. Payload and signalling bit of a NaN stay:
// a conversion by the hardware would set the latter.
func widen(x uint64, e, f uint) uint64 {
	sign, exp, frac := x>>(e+f)<<63, x>>f&(1<<e-1), x&(1<<f-1)
	rebias := uint64(1023) - (1<<(e-1) - 1)
	switch {
	case exp == 1<<e-1: // infinity, NaN
		exp = 0x7ff
	case exp != 0:
		exp += rebias
	case frac != 0: // subnormal: shift the leading one out of the fraction
		shift := f + 1 - uint(bits.Len64(frac))
		frac = frac << shift & (1<<f - 1)
		exp = rebias + 1 - uint64(shift)
	}
	return sign | exp<<52 | frac<<(52-f)
}

// narrow undoes widen, also towards another format that can hold the value.
func narrow(x uint64, e, f uint) uint64 {
	sign, exp, frac := x>>63<<(e+f), int(x>>52&0x7ff), x&(1<<52-1)
	switch exp {
	case 0: // zero: subnormal float64 values come from float64 only
		return sign
	case 0x7ff:
		return sign | (1<<e-1)<<f | frac>>(52-f)
	}
	if exp -= 1023 - (1<<(e-1) - 1); exp > 0 {
		return sign | uint64(exp)<<f | frac>>(52-f)
	}
	return sign | (1<<52|frac)>>(52-f+uint(1-exp))
}

// convertBlock is the elements that are converted by way of other memory. Memory
// for them must be worth its zeroing.
const convertBlock, convertFew = 256, 32

// convert widens n numbers, neither of them complex.
func convert(dst []byte, d, ds int, to *DType, src []byte, s, ss int, from *DType, n int) {
	switch {
	case n < convertFew || to.Size > 8 || from.Size > 4:
		convertPortable(dst, d, ds, to, src, s, ss, from, n)
	case ds == to.Size && ss == from.Size && from.Kind != Bool && !to.Swapped() && !from.Swapped():
		convertPacked(dst[d:d+n*ds], to, src[s:s+n*ss], from, n)
	default:
		convertApart(dst, d, ds, to, src, s, ss, from, n)
	}
}

// convertPacked is convert in the machine's byte order without gaps.
func convertPacked(dst []byte, to *DType, src []byte, from *DType, n int) {
	if done := widenFast(dst, to, src, from, n); done < n {
		convertPortable(dst, done*to.Size, to.Size, to, src, done*from.Size, from.Size, from, n-done)
	}
}

// convertApart is convert by way of blocks that lie without gaps.
func convertApart(dst []byte, d, ds int, to *DType, src []byte, s, ss int, from *DType, n int) {
	var in [4 * convertBlock]byte
	var out [8 * convertBlock]byte
	toNative, fromNative := to.Native(), from.Native()
	for n > 0 {
		m := min(n, convertBlock)
		x, y := in[:m*from.Size], out[:m*to.Size]
		copyRun(x, 0, from.Size, src, s, ss, from.Size, m)
		switch {
		case from.Kind == Bool:
			normalize(x)
		case from.Swapped():
			swapRun(x, x, from.Size)
		}
		convertPacked(y, &toNative, x, &fromNative, m)
		if to.Swapped() {
			swapRun(y, y, to.Size)
		}
		copyRun(dst, d, ds, y, 0, to.Size, to.Size, m)
		d, s, n = d+m*ds, s+m*ss, n-m
	}
}

// normalize makes 1 of every byte that is not 0.
func normalize(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		x := native.Uint64(p)
		x |= x >> 4 & 0x0f0f0f0f0f0f0f0f
		x |= x >> 2 & 0x0303030303030303
		native.PutUint64(p, (x|x>>1)&0x0101010101010101)
	}
	for i, x := range p {
		if x != 0 {
			p[i] = 1
		}
	}
}

// convertPortable is convert without the kernels: blocks of elements are loaded
// as 64-bit words, changed step by step, and stored. So every type needs one loop
// to load and one to store instead of one for each pair.
func convertPortable(dst []byte, d, ds int, to *DType, src []byte, s, ss int, from *DType, n int) {
	var block [64]uint64
	for n > 0 {
		w := block[:min(n, len(block))]
		load(w, src, s, ss, from)
		if toBits := fraction(to); toBits > 0 {
			toFloat64(w, from)
			fromFloat64(w, to)
		}
		store(dst, d, ds, to, w, from.Kind == Int)
		d, s, n = d+len(w)*ds, s+len(w)*ss, n-len(w)
	}
}

// load reads elements of up to 8 bytes, integers extended to 64 bits.
func load(w []uint64, src []byte, s, ss int, from *DType) {
	switch from.Size {
	case 1:
		for i := range w {
			w[i] = uint64(src[s])
			s += ss
		}
	case 2:
		for i := range w {
			w[i] = uint64(native.Uint16(src[s:]))
			s += ss
		}
	case 4:
		for i := range w {
			w[i] = uint64(native.Uint32(src[s:]))
			s += ss
		}
	case 8:
		for i := range w {
			w[i] = native.Uint64(src[s:])
			s += ss
		}
	}
	unused := 64 - 8*from.Size
	if from.Swapped() {
		swapWords(w, unused)
	}
	switch from.Kind {
	case Int:
		for i, x := range w {
			w[i] = uint64(int64(x<<unused) >> unused)
		}
	case Bool:
		for i, x := range w {
			if x != 0 {
				w[i] = 1
			}
		}
	}
}

// swapWords swaps words of which the upper bits are unused.
func swapWords(w []uint64, unused int) {
	for i, x := range w {
		w[i] = bits.ReverseBytes64(x) >> unused
	}
}

// toFloat64 turns loaded words into the bits of float64 values.
func toFloat64(w []uint64, from *DType) {
	switch {
	case from.Kind == Int:
		for i, x := range w {
			w[i] = math.Float64bits(float64(int64(x)))
		}
	case from.Kind == Bool || from.Kind == Uint:
		for i, x := range w {
			w[i] = math.Float64bits(float64(x))
		}
	case from.Size == 4:
		for i, x := range w {
			if f := math.Float32frombits(uint32(x)); f == f {
				w[i] = math.Float64bits(float64(f))
			} else {
				w[i] = widen(x, 8, 23)
			}
		}
	case from.Size == 2:
		e, f := uint(exponent(from)), uint(fraction(from)-1)
		for i, x := range w {
			w[i] = widen(x, e, f)
		}
	}
}

// fromFloat64 turns the bits of float64 values into those of a type that can hold
// the values.
func fromFloat64(w []uint64, to *DType) {
	if to.Size == 8 {
		return
	}
	e, f := uint(exponent(to)), uint(fraction(to)-1)
	for i, x := range w {
		w[i] = narrow(x, e, f)
	}
}

// store writes the lower bytes of words; 16-byte elements are extended by the sign.
func store(dst []byte, d, ds int, to *DType, w []uint64, signed bool) {
	swapped := to.Swapped()
	if swapped && to.Size <= 8 {
		swapWords(w, 64-8*to.Size)
	}
	switch to.Size {
	case 1:
		for _, x := range w {
			dst[d] = byte(x)
			d += ds
		}
	case 2:
		for _, x := range w {
			native.PutUint16(dst[d:], uint16(x))
			d += ds
		}
	case 4:
		for _, x := range w {
			native.PutUint32(dst[d:], uint32(x))
			d += ds
		}
	case 8:
		for _, x := range w {
			native.PutUint64(dst[d:], x)
			d += ds
		}
	case 16:
		for _, x := range w {
			var high uint64
			if signed {
				high = uint64(int64(x) >> 63)
			}
			if to.order() == Little {
				binary.LittleEndian.PutUint64(dst[d:], x)
				binary.LittleEndian.PutUint64(dst[d+8:], high)
			} else {
				binary.BigEndian.PutUint64(dst[d:], high)
				binary.BigEndian.PutUint64(dst[d+8:], x)
			}
			d += ds
		}
	}
}

// SwapBytes swaps the byte order of elements of type d that follow each other
// without gaps, in place: each half of a complex number, each character of a
// Unicode, each field of a record. It does nothing for types without byte order.
// A part of an element at the end of data stays as it is.
func SwapBytes(data []byte, d DType) {
	if d.Size == 0 || !d.valid() {
		return
	}
	n := len(data) / d.Size
	if d.Kind != Record {
		swapRun(data[:n*d.Size], data, d.word())
		return
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		size := f.count() * f.DType.Size
		if !f.DType.has(Little) && !f.DType.has(Big) {
			continue
		}
		for at := f.Offset; at+size <= n*d.Size; at += d.Size {
			SwapBytes(data[at:at+size], f.DType)
		}
	}
}

// swapRun swaps words of a number of bytes from src to dst, which may be the same
// memory; len(dst) is a multiple of it. 8 bytes are handled at a time. The slices
// are cut in the loops because the compiler then drops its bounds checks.
func swapRun(dst, src []byte, word int) {
	src = src[:len(dst)]
	if word < 2 {
		copy(dst, src)
		return
	}
	done := swapFast(dst, src, word)
	dst, src = dst[done:], src[done:]
	switch word {
	case 2:
		const odd = 0x00ff00ff00ff00ff
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			x := native.Uint64(src)
			native.PutUint64(dst, x>>8&odd|x&odd<<8)
		}
	case 4:
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			x := bits.ReverseBytes64(native.Uint64(src))
			native.PutUint64(dst, bits.RotateLeft64(x, 32))
		}
	case 8:
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			native.PutUint64(dst, bits.ReverseBytes64(native.Uint64(src)))
		}
	}
	for i := 0; i < len(dst); i += word {
		for a, b := i, i+word-1; a <= b; a, b = a+1, b-1 {
			dst[a], dst[b] = src[b], src[a]
		}
	}
}
