package ndarray

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg ndarray"

// useAVX2 chooses between the kernels of kernels_amd64.s and the portable code.
var useAVX2 = cpu.X86.HasAVX2

// The functions here do a part of what their callers do and say how much.

// elementCode names a type for widenFast, as the kernels are named.
func elementCode(d *DType) int {
	class := 'u' // and Bool
	switch d.Kind {
	case Int:
		class = 'i'
	case Float:
		class = 'f'
	case BFloat:
		class = 'b'
	}
	return int(class)<<8 | d.Size
}

// widenFast converts numbers of the machine's byte order that lie without gaps.
func widenFast(dst []byte, to *DType, src []byte, from *DType, n int) int {
	if n &^= 15; n == 0 || !useAVX2 {
		return 0
	}
	d, s := &dst[:n*to.Size][0], &src[:n*from.Size][0]
	const u1, i1, u2, i2, u4, i4 = 'u'<<8 | 1, 'i'<<8 | 1, 'u'<<8 | 2, 'i'<<8 | 2, 'u'<<8 | 4, 'i'<<8 | 4
	const to2, to4, to8, f4, f8 = 'u'<<8 | 2, 'u'<<8 | 4, 'u'<<8 | 8, 'f'<<8 | 4, 'f'<<8 | 8
	class := elementCode(from)
	toClass := elementCode(to)
	if toClass>>8 == 'i' { // a sign is extended or not as the source has it
		toClass = 'u'<<8 | to.Size
	}
	switch [2]int{class, toClass} {
	case [2]int{u1, to2}:
		widen_u1_u2(d, s, n)
	case [2]int{u1, to4}:
		widen_u1_u4(d, s, n)
	case [2]int{u1, to8}:
		widen_u1_u8(d, s, n)
	case [2]int{u1, f4}:
		widen_u1_f4(d, s, n)
	case [2]int{u1, f8}:
		widen_u1_f8(d, s, n)
	case [2]int{i1, to2}:
		widen_i1_i2(d, s, n)
	case [2]int{i1, to4}:
		widen_i1_i4(d, s, n)
	case [2]int{i1, to8}:
		widen_i1_i8(d, s, n)
	case [2]int{i1, f4}:
		widen_i1_f4(d, s, n)
	case [2]int{i1, f8}:
		widen_i1_f8(d, s, n)
	case [2]int{u2, to4}:
		widen_u2_u4(d, s, n)
	case [2]int{u2, to8}:
		widen_u2_u8(d, s, n)
	case [2]int{u2, f4}:
		widen_u2_f4(d, s, n)
	case [2]int{u2, f8}:
		widen_u2_f8(d, s, n)
	case [2]int{i2, to4}:
		widen_i2_i4(d, s, n)
	case [2]int{i2, to8}:
		widen_i2_i8(d, s, n)
	case [2]int{i2, f4}:
		widen_i2_f4(d, s, n)
	case [2]int{i2, f8}:
		widen_i2_f8(d, s, n)
	case [2]int{u4, to8}:
		widen_u4_u8(d, s, n)
	case [2]int{u4, f8}:
		widen_u4_f8(d, s, n)
	case [2]int{i4, to8}:
		widen_i4_i8(d, s, n)
	case [2]int{i4, f8}:
		widen_i4_f8(d, s, n)
	case [2]int{'b'<<8 | 2, f4}:
		widen_b2_f4(d, s, n)
	case [2]int{f4, f8}:
		widen_f4_f8(d, s, n)
	default:
		return 0
	}
	return n
}

// swapFast swaps words; dst and src have the same length, and may be the same memory.
func swapFast(dst, src []byte, word int) int {
	n := len(dst) &^ 63
	if n == 0 || !useAVX2 {
		return 0
	}
	d, s := &dst[0], &src[:n][0]
	switch word {
	case 2:
		swap2(d, s, n)
	case 4:
		swap4(d, s, n)
	case 8:
		swap8(d, s, n)
	case 16:
		swap16(d, s, n)
	default:
		return 0
	}
	return n
}

// strideFast copies elements that lie apart. All of them are inside dst and src.
func strideFast(dst []byte, d, ds int, src []byte, s, ss, size, n int) int {
	if n &^= 3; n == 0 || !useAVX2 {
		return 0
	}
	to, from := &dst[d], &src[s]
	switch size {
	case 1:
		stride1(to, ds, from, ss, n)
	case 2:
		stride2(to, ds, from, ss, n)
	case 4:
		stride4(to, ds, from, ss, n)
	case 8:
		stride8(to, ds, from, ss, n)
	case 16:
		stride16(to, ds, from, ss, n)
	default:
		return 0
	}
	return n
}

// transposeShape is the least part of a matrix that
// transposeFast takes, for elements of a size: 0 where there is no kernel.
func transposeShape(size int) (rows, cols int) {
	switch {
	case !useAVX2:
		return 0, 0
	case size == 1:
		return 16, 8
	case size == 2 || size == 4 || size == 8:
		return 32 / size, 16 / size
	}
	return 0, 0
}

// transposeFast makes n rows of the columns of transposeShape's rows. All of it is
// inside dst and src.
func transposeFast(dst []byte, d, ds int, src []byte, s, ss, size, n int) {
	to, from := &dst[d], &src[s]
	switch size {
	case 1:
		transpose1(to, ds, from, ss, n)
	case 2:
		transpose2(to, ds, from, ss, n)
	case 4:
		transpose4(to, ds, from, ss, n)
	case 8:
		transpose8(to, ds, from, ss, n)
	}
}

// unpackFast makes 8 bytes of each byte of src that it does.
func unpackFast(dst, src []byte) int {
	n := min(len(src), len(dst)/8) &^ 3
	if n == 0 || !useAVX2 {
		return 0
	}
	unpackBitsAVX2(&dst[0], &src[0], n)
	return n
}

// packFast makes a byte of 8 bytes of src.
func packFast(dst, src []byte) int {
	n := min(len(src), 8*len(dst)) &^ 31
	if n == 0 || !useAVX2 {
		return 0
	}
	packBitsAVX2(&dst[0], &src[0], n)
	return n
}

// widenTextsFast stores texts as elements, from the first one on, and says how many.
func widenTextsFast(dst []byte, size int, offsets []int64, data []byte) int {
	n := len(offsets) - 1
	for n > 0 && (n-1)*size+(size+31)&^31 > len(dst) {
		n--
	}
	if n <= 0 || size == 0 || len(data) < 8 || offsets[0] < 0 || !useAVX2 {
		return 0
	}
	return widenTextsAVX2(&dst[0], size, &offsets[0], &data[0], len(data)-7, n)
}

// narrowTextsFast stores elements as texts at dst[end:], from the first one on, and says how many, and the end of the
// last.
func narrowTextsFast(dst, ends, src []byte, size, end int) (done, last int) {
	n := len(ends) / 4
	for n > 0 && ((n-1)*size+(size+31)&^31 > len(src) || end+(n*size+31)/4+8 > len(dst)) {
		n--
	}
	if n <= 0 || size == 0 || !useAVX2 {
		return 0, end
	}
	mask := uint64(1)<<(size%32*2) - 1
	return narrowTextsAVX2(&dst[0], &ends[0], &src[0], size, n, mask, end)
}
