// Command asm writes the AVX2 kernels of package ndarray (go generate there). It
// is a module of its own so that users of the package do not depend on avo.
//
// The registers are named: avo's own allocation would also take those of AVX-512.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	for _, from := range []element{{'u', 1}, {'i', 1}, {'u', 2}, {'i', 2}, {'u', 4}, {'i', 4}} {
		for size := 2 * from.size; size <= 8; size *= 2 {
			widen(from, element{from.kind, size})
		}
		for size := 4; size <= 8; size *= 2 {
			if from.size < size {
				widen(from, element{'f', size})
			}
		}
	}
	widen(element{'b', 2}, element{'f', 4})
	widen(element{'f', 4}, element{'f', 8})
	for _, size := range []int{2, 4, 8, 16} {
		swap(size)
	}
	for _, size := range []int{1, 2, 4, 8, 16} {
		stride(size)
	}
	for _, size := range []int{1, 2, 4, 8} {
		transpose(size)
	}
	unpackBits()
	packBits()
	widenTexts()
	narrowTexts()
	Generate()
}

func params(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// repeated is a constant of 32 bytes: a word of 8 bytes, four times.
func repeated(name string, word uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for q := range 4 {
		DATA(8*q, U64(word))
	}
	return m
}

// element is a type: u unsigned, i signed, f floating-point, b bfloat16.
type element struct {
	kind rune
	size int
}

func (e element) String() string { return fmt.Sprintf("%c%d", e.kind, e.size) }

// widen writes the conversion of elements that lie without gaps, 16 a turn.
func widen(from, to element) {
	name := fmt.Sprintf("widen_%v_%v", from, to)
	var magic, quiet Mem
	switch {
	case from == element{'u', 4} && to.kind == 'f':
		magic = repeated(name+"_magic", 0x4330000000000000) // 2^52
	case from.kind == 'f':
		quiet = repeated(name+"_quiet", 1<<51)
	}
	TEXT(name, NOSPLIT, "func(dst *byte, src *byte, n int)")
	Doc(fmt.Sprintf("%s converts n elements, a multiple of 16 above 0, from %v to %v.", name, from, to))
	Pragma("noescape")
	dst, src, n := params("dst"), params("src"), params("n")
	if magic.Symbol.Name != "" {
		VMOVDQU(magic, Y15)
	}
	if quiet.Symbol.Name != "" {
		VMOVDQU(quiet, Y15)
	}
	lanes := 32 / to.size // in a register
	Label("loop")
	for i := range 16 / lanes {
		in, out := Mem{Base: src, Disp: i * lanes * from.size}, Mem{Base: dst, Disp: 32 * i}
		y := []VecPhysical{Y0, Y1, Y2, Y3}[i%4]
		switch {
		case to.kind != 'f':
			extend(from, to.size, in, y)
		case from.kind == 'b':
			VPMOVZXWD(in, y)
			VPSLLD(Imm(16), y, y)
		case from.kind == 'f':
			// The hardware makes quiet what signals: that bit is taken back.
			t, u := []VecPhysical{Y4, Y5, Y6, Y7}[i%4], []VecPhysical{Y8, Y9, Y10, Y11}[i%4]
			VMOVUPS(in, t.AsX())
			VCVTPS2PD(t.AsX(), y)
			VPMOVSXDQ(t.AsX(), t)
			VPSLLQ(Imm(29), t, t)   // the bit to where it is in 8 bytes
			VCMPPD(Imm(3), y, y, u) // not a number
			VPANDN(Y15, t, t)       // the bit where it was not set
			VPAND(u, t, t)
			VPXOR(t, y, y)
		case to.size == 4:
			extend(from, 4, in, y)
			VCVTDQ2PS(y, y)
		case from == element{'u', 4}:
			VPMOVZXDQ(in, y)
			VPOR(Y15, y, y)
			VSUBPD(Y15, y, y)
		case from.size == 4:
			VCVTDQ2PD(in, y)
		default:
			extend(from, 4, in, y.AsX())
			VCVTDQ2PD(y.AsX(), y)
		}
		VMOVDQU(y, out)
	}
	ADDQ(U32(16*from.size), src)
	ADDQ(U32(16*to.size), dst)
	SUBQ(Imm(16), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// extend loads integers of one size as integers of another.
func extend(from element, size int, in Op, out Op) {
	signed := from.kind == 'i'
	switch [2]int{from.size, size} {
	case [2]int{1, 2}:
		choose(signed, VPMOVSXBW, VPMOVZXBW)(in, out)
	case [2]int{1, 4}:
		choose(signed, VPMOVSXBD, VPMOVZXBD)(in, out)
	case [2]int{1, 8}:
		choose(signed, VPMOVSXBQ, VPMOVZXBQ)(in, out)
	case [2]int{2, 4}:
		choose(signed, VPMOVSXWD, VPMOVZXWD)(in, out)
	case [2]int{2, 8}:
		choose(signed, VPMOVSXWQ, VPMOVZXWQ)(in, out)
	case [2]int{4, 8}:
		choose(signed, VPMOVSXDQ, VPMOVZXDQ)(in, out)
	default:
		panic("extend")
	}
}

func choose(first bool, a, b func(...Op)) func(...Op) {
	if first {
		return a
	}
	return b
}

// swap writes the reversal of the bytes of each word.
func swap(size int) {
	name := fmt.Sprintf("swap%d", size)
	order := GLOBL(name+"_order", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(uint8(i%16/size*size+size-1-i%size)))
	}
	TEXT(name, NOSPLIT, "func(dst *byte, src *byte, n int)")
	Doc(fmt.Sprintf("%s reverses the bytes of words of %d bytes; n is in bytes, a multiple of 64 above 0. src may be dst.", name, size))
	Pragma("noescape")
	dst, src, n := params("dst"), params("src"), params("n")
	VMOVDQU(order, Y15)
	Label("loop")
	VMOVDQU(Mem{Base: src}, Y0)
	VMOVDQU(Mem{Base: src, Disp: 32}, Y1)
	VPSHUFB(Y15, Y0, Y0)
	VPSHUFB(Y15, Y1, Y1)
	VMOVDQU(Y0, Mem{Base: dst})
	VMOVDQU(Y1, Mem{Base: dst, Disp: 32})
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), dst)
	SUBQ(Imm(64), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// stride writes the copy of elements that lie apart, 4 a turn.
func stride(size int) {
	name := fmt.Sprintf("stride%d", size)
	TEXT(name, NOSPLIT, "func(dst *byte, ds int, src *byte, ss int, n int)")
	Doc(fmt.Sprintf("%s copies n elements of %d bytes, a multiple of 4 above 0, ss bytes apart, to places ds bytes apart.", name, size))
	Pragma("noescape")
	dst, ds, src, ss, n := params("dst"), params("ds"), params("src"), params("ss"), params("n")
	ds3, ss3 := GP64(), GP64()
	LEAQ(Mem{Base: ds, Index: ds, Scale: 2}, ds3)
	LEAQ(Mem{Base: ss, Index: ss, Scale: 2}, ss3)
	places := func(base, step, step3 Register) []Mem {
		return []Mem{{Base: base}, {Base: base, Index: step, Scale: 1}, {Base: base, Index: step, Scale: 2}, {Base: base, Index: step3, Scale: 1}}
	}
	in, out := places(src, ss, ss3), places(dst, ds, ds3)
	Label("loop")
	if size == 16 {
		for i, x := range []VecPhysical{X0, X1, X2, X3} {
			VMOVDQU(in[i], x)
			VMOVDQU(x, out[i])
		}
	} else {
		t := []GPVirtual{GP64(), GP64(), GP64(), GP64()}
		for i := range 4 {
			switch size {
			case 1:
				MOVBLZX(in[i], t[i].As32())
			case 2:
				MOVWLZX(in[i], t[i].As32())
			case 4:
				MOVL(in[i], t[i].As32())
			case 8:
				MOVQ(in[i], t[i])
			}
		}
		for i := range 4 {
			switch size {
			case 1:
				MOVB(t[i].As8(), out[i])
			case 2:
				MOVW(t[i].As16(), out[i])
			case 4:
				MOVL(t[i].As32(), out[i])
			case 8:
				MOVQ(t[i], out[i])
			}
		}
	}
	LEAQ(Mem{Base: src, Index: ss, Scale: 4}, src)
	LEAQ(Mem{Base: dst, Index: ds, Scale: 4}, dst)
	SUBQ(Imm(4), n)
	JNE(LabelRef("loop"))
	RET()
}

// transposeShape is the part of a matrix that a turn of a transpose handles: it
// makes whole rows of 16 or 32 bytes.
func transposeShape(size int) (rows, cols int) {
	if size == 1 {
		return 16, 8
	}
	return 32 / size, 16 / size
}

// transpose loads rows so that a register, or a half of it, has parts of two rows,
// and interleaves the registers as often as makes columns of them.
func transpose(size int) {
	rows, cols := transposeShape(size)
	name := fmt.Sprintf("transpose%d", size)
	TEXT(name, NOSPLIT, "func(dst *byte, ds int, src *byte, ss int, n int)")
	Doc(fmt.Sprintf("%s makes n rows, ds bytes apart, of %d elements of %d bytes each of the columns of as many rows, ss bytes apart; n is a multiple of %d above 0.", name, rows, size, cols))
	Pragma("noescape")
	dst, ds, src, ss, n := params("dst"), params("ds"), params("src"), params("ss"), params("n")
	low, high := GP64(), GP64() // the rows of the first half, and of the second one
	half := GP64()
	MOVQ(ss, half)
	SHLQ(Imm(uint64(log2(rows/2))), half)
	unpack := map[int][2]func(...Op){
		1: {VPUNPCKLBW, VPUNPCKHBW}, 2: {VPUNPCKLWD, VPUNPCKHWD}, 4: {VPUNPCKLDQ, VPUNPCKHDQ}, 8: {VPUNPCKLQDQ, VPUNPCKHQDQ},
	}[size]
	view := func(y VecPhysical) Register {
		if size == 1 {
			return y.AsX()
		}
		return y
	}
	Label("loop")
	MOVQ(src, low)
	LEAQ(Mem{Base: src, Index: half, Scale: 1}, high)
	all := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7}[:rows/2]
	free := VecPhysical(Y8)
	for _, y := range all {
		if size == 1 {
			VMOVQ(Mem{Base: low}, y.AsX())
			VMOVQ(Mem{Base: high}, Y9.AsX())
			VPUNPCKLBW(Y9.AsX(), y.AsX(), y.AsX())
		} else {
			VMOVDQU(Mem{Base: low}, y.AsX())
			VINSERTI128(Imm(1), Mem{Base: high}, y, y)
		}
		ADDQ(ss, low)
		ADDQ(ss, high)
	}
	for range log2(len(all)) {
		out := make([]VecPhysical, len(all))
		for m := len(all)/2 - 1; m >= 0; m-- {
			first, second := all[m], all[m+len(all)/2]
			unpack[0](view(second), view(first), view(free))
			unpack[1](view(second), view(first), view(second))
			out[2*m], out[2*m+1], free = free, second, first
		}
		all = out
	}
	for _, y := range all {
		VMOVDQU(view(y), Mem{Base: dst})
		ADDQ(ds, dst)
	}
	ADDQ(Imm(uint64(cols*size)), src)
	SUBQ(Imm(uint64(cols)), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func log2(n int) (l int) {
	for ; n > 1; n /= 2 {
		l++
	}
	return l
}

// unpackBits gives each byte its bit by a shuffle and looks at that bit alone.
func unpackBits() {
	which := GLOBL("unpackBits_which", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(uint8(i/8)))
	}
	bit := repeated("unpackBits_bit", 0x0102040810204080)
	one := repeated("unpackBits_one", 0x0101010101010101)
	TEXT("unpackBitsAVX2", NOSPLIT, "func(dst *byte, src *byte, n int)")
	Doc("unpackBitsAVX2 makes 8*n bytes of n, a multiple of 4 above 0: 0 or 1 for each bit, the highest of a byte first.")
	Pragma("noescape")
	dst, src, n := params("dst"), params("src"), params("n")
	VMOVDQU(which, Y13)
	VMOVDQU(bit, Y14)
	VMOVDQU(one, Y15)
	Label("loop")
	VPBROADCASTD(Mem{Base: src}, Y0)
	VPSHUFB(Y13, Y0, Y0)
	VPAND(Y14, Y0, Y0)
	VPMINUB(Y15, Y0, Y0)
	VMOVDQU(Y0, Mem{Base: dst})
	ADDQ(Imm(4), src)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(4), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// packBits compares with zero and collects the results, in the order of the bits.
func packBits() {
	order := GLOBL("packBits_order", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(uint8(i%16/8*8+7-i%8)))
	}
	TEXT("packBitsAVX2", NOSPLIT, "func(dst *byte, src *byte, n int)")
	Doc("packBitsAVX2 makes n/8 bytes of n, a multiple of 32 above 0: a bit for each byte, 1 if it is not 0, the first one highest.")
	Pragma("noescape")
	dst, src, n := params("dst"), params("src"), params("n")
	t := GP32()
	VMOVDQU(order, Y14)
	VPXOR(Y15, Y15, Y15)
	Label("loop")
	VMOVDQU(Mem{Base: src}, Y0)
	VPSHUFB(Y14, Y0, Y0)
	VPCMPEQB(Y15, Y0, Y0)
	VPMOVMSKB(Y0, t)
	NOTL(t)
	MOVL(t, Mem{Base: dst})
	ADDQ(Imm(32), src)
	ADDQ(Imm(4), dst)
	SUBQ(Imm(32), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
