// Command asm writes the AVX2 kernels of package blosc (go generate there). It
// is a module of its own so that users of the package do not depend on avo.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const sliceHeader = 24 // bytes from one plane's pointer to the next

func main() {
	ConstraintExpr("amd64")
	cpu()
	for _, size := range []int{2, 4, 8, 16} {
		shuffle(size)
		unshuffle(size)
	}
	bitsOut()
	bitsIn()
	commonPrefix()
	tables := newMatchTables()
	blosclzDecode(tables)
	lz4Decode(tables)
	inflate(tables)
	adler32()
	lz4Encode()
	blosclzEncode()
	Generate()
}

// cpu asks for all that the kernels use.
func cpu() {
	TEXT("hasAVX2", NOSPLIT, "func() bool")
	Doc("hasAVX2 says whether there is all that the kernels use: AVX2, BMI1, BMI2 and LZCNT, and an operating system that keeps the registers.")
	XORL(EAX, EAX)
	CPUID()
	CMPL(EAX, Imm(7))
	JB(LabelRef("no"))
	MOVL(U32(1), EAX)
	XORL(ECX, ECX)
	CPUID()
	ANDL(U32(1<<27|1<<28), ECX) // OSXSAVE, AVX
	CMPL(ECX, U32(1<<27|1<<28))
	JNE(LabelRef("no"))
	XORL(ECX, ECX)
	XGETBV()
	ANDL(Imm(6), EAX) // the xmm and ymm registers
	CMPL(EAX, Imm(6))
	JNE(LabelRef("no"))
	MOVL(U32(7), EAX)
	XORL(ECX, ECX)
	CPUID()
	ANDL(U32(1<<3|1<<5|1<<8), EBX) // BMI1, AVX2, BMI2
	CMPL(EBX, U32(1<<3|1<<5|1<<8))
	JNE(LabelRef("no"))
	MOVL(U32(0x80000000), EAX)
	CPUID()
	CMPL(EAX, U32(0x80000001))
	JB(LabelRef("no"))
	MOVL(U32(0x80000001), EAX)
	CPUID()
	TESTL(U32(1<<5), ECX) // LZCNT
	JE(LabelRef("no"))
	yes := GP8()
	MOVB(Imm(1), yes)
	Store(yes, ReturnIndex(0))
	RET()
	Label("no")
	no8 := GP8()
	XORB(no8, no8)
	Store(no8, ReturnIndex(0))
	RET()
}

// vectors are registers for the rows of a byte matrix, and the one that is
// free. avo's own allocation would also take those of AVX-512.
type vectors struct {
	row  []VecPhysical
	free VecPhysical
	// spill holds the last of 16 rows, whose register is the free one.
	spill Mem
}

func newVectors(rows int) *vectors {
	all := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	v := &vectors{row: all[:rows], free: all[rows%16]}
	if rows == 16 {
		v.free = Y15
		v.spill = AllocLocal(32)
	}
	return v
}

// spilled says whether row j is the one in memory.
func (v *vectors) spilled(j int) bool { return j == 15 }

// load fills the rows.
func (v *vectors) load(row func(j int, y VecPhysical)) {
	for j, y := range v.row {
		row(j, y)
		if v.spilled(j) {
			VMOVDQU(y, v.spill)
		}
	}
}

// store hands out the rows.
func (v *vectors) store(row func(j int, y VecPhysical)) {
	for j, y := range v.row {
		if v.spilled(j) {
			y = v.free
			VMOVDQU(v.spill, y)
		}
		row(j, y)
	}
}

// interleave is a number of perfect shuffles of the bytes of the rows: in each
// 128-bit lane, the first half of all bytes is interleaved with the second.
// Where row[j] holds byte i at j*16+i, each turns the bits of that index left
// by one; log2(rows) of them make columns of rows, and 4 rows of columns.
func (v *vectors) interleave(times int) {
	n := len(v.row)
	for range times {
		out := make([]VecPhysical, n)
		for m := n/2 - 1; m >= 0; m-- {
			first, second := v.row[m], v.row[m+n/2]
			if v.spilled(m + n/2) {
				// Its two results take first and the free register; the
				// second of them becomes the new spilled row.
				VPUNPCKLBW(v.spill, first, v.free)
				VPUNPCKHBW(v.spill, first, first)
				VMOVDQU(first, v.spill)
				out[2*m], v.free = v.free, first
				continue
			}
			VPUNPCKLBW(second, first, v.free)
			VPUNPCKHBW(second, first, second)
			out[2*m], out[2*m+1], v.free = v.free, second, first
		}
		v.row = out
	}
}

func log2(n int) (l int) {
	for ; n > 1; n /= 2 {
		l++
	}
	return l
}

// shuffle handles 32 elements a turn: the low lanes the first 16, the high
// lanes the others.
func shuffle(size int) {
	name := fmt.Sprintf("shuffle%dAVX2", size)
	TEXT(name, NOSPLIT, "func(p *[]byte, src *byte, n int)")
	Doc(fmt.Sprintf("%s is shuffle for elements of %d bytes; n is a multiple of 32.", name, size))
	Pragma("noescape")
	p, src, n := params("p"), params("src"), params("n")
	i, plane := GP64(), GP64()
	XORQ(i, i)
	Label("loop")
	v := newVectors(size)
	v.load(func(m int, y VecPhysical) {
		VMOVDQU(Mem{Base: src, Disp: 16 * m}, y.AsX())
		VINSERTI128(Imm(1), Mem{Base: src, Disp: 16*size + 16*m}, y, y)
	})
	v.interleave(4)
	v.store(func(j int, y VecPhysical) {
		MOVQ(Mem{Base: p, Disp: sliceHeader * j}, plane)
		VMOVDQU(y, Mem{Base: plane, Index: i, Scale: 1})
	})
	ADDQ(U32(32*size), src)
	ADDQ(Imm(32), i)
	CMPQ(i, n)
	JB(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func unshuffle(size int) {
	name := fmt.Sprintf("unshuffle%dAVX2", size)
	TEXT(name, NOSPLIT, "func(dst *byte, p *[]byte, n int)")
	Doc(fmt.Sprintf("%s is unshuffle for elements of %d bytes; n is a multiple of 32.", name, size))
	Pragma("noescape")
	dst, p, n := params("dst"), params("p"), params("n")
	i, plane := GP64(), GP64()
	XORQ(i, i)
	Label("loop")
	v := newVectors(size)
	v.load(func(j int, y VecPhysical) {
		MOVQ(Mem{Base: p, Disp: sliceHeader * j}, plane)
		VMOVDQU(Mem{Base: plane, Index: i, Scale: 1}, y)
	})
	v.interleave(log2(size))
	v.store(func(m int, y VecPhysical) {
		VMOVDQU(y.AsX(), Mem{Base: dst, Disp: 16 * m})
		VEXTRACTI128(Imm(1), y, Mem{Base: dst, Disp: 16*size + 16*m})
	})
	ADDQ(U32(32*size), dst)
	ADDQ(Imm(32), i)
	CMPQ(i, n)
	JB(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func params(name string) GPVirtual {
	return Load(Param(name), GP64()).(GPVirtual)
}

// bitsOut takes the highest bits of 32 bytes at once and shifts to the next.
func bitsOut() {
	TEXT("bitsOutAVX2", NOSPLIT, "func(dst *byte, stride int, src *byte, n int)")
	Doc("bitsOutAVX2 is bitsOut for n bytes, a multiple of 32.")
	Pragma("noescape")
	dst, stride, src, n := params("dst"), params("stride"), params("src"), params("n")
	stride3, high := GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	LEAQ(Mem{Base: dst, Index: stride, Scale: 4}, high)
	rows := []Mem{
		{Base: dst}, {Base: dst, Index: stride, Scale: 1}, {Base: dst, Index: stride, Scale: 2}, {Base: dst, Index: stride3, Scale: 1},
		{Base: high}, {Base: high, Index: stride, Scale: 1}, {Base: high, Index: stride, Scale: 2}, {Base: high, Index: stride3, Scale: 1},
	}
	Label("loop")
	v := YMM()
	VMOVDQU(Mem{Base: src}, v)
	for k := 7; k >= 0; k-- {
		bits := GP32()
		VPMOVMSKB(v, bits)
		MOVL(bits, rows[k])
		if k > 0 {
			VPADDB(v, v, v)
		}
	}
	ADDQ(Imm(32), src)
	ADDQ(Imm(4), dst)
	ADDQ(Imm(4), high)
	SUBQ(Imm(32), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// bitsIn brings the bytes of the 8 runs together, 8 to a quadword, and
// transposes the bits of each quadword.
func bitsIn() {
	masks := make([]Mem, 3)
	for i, m := range []uint64{0x00aa00aa00aa00aa, 0x0000cccc0000cccc, 0x00000000f0f0f0f0} {
		masks[i] = GLOBL(fmt.Sprintf("transpose%d", i), RODATA|NOPTR)
		for q := range 4 {
			DATA(8*q, U64(m))
		}
	}
	TEXT("bitsInAVX2", NOSPLIT, "func(dst *byte, src *byte, stride int, n int)")
	Doc("bitsInAVX2 is bitsIn for n bytes, a multiple of 256.")
	Pragma("noescape")
	dst, src, stride, n := params("dst"), params("src"), params("stride"), params("n")
	stride3, high := GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	LEAQ(Mem{Base: src, Index: stride, Scale: 4}, high)
	rows := []Mem{
		{Base: src}, {Base: src, Index: stride, Scale: 1}, {Base: src, Index: stride, Scale: 2}, {Base: src, Index: stride3, Scale: 1},
		{Base: high}, {Base: high, Index: stride, Scale: 1}, {Base: high, Index: stride, Scale: 2}, {Base: high, Index: stride3, Scale: 1},
	}
	mask := []VecPhysical{Y13, Y14, Y15}
	for i := range mask {
		VMOVDQU(masks[i], mask[i])
	}
	Label("loop")
	v := newVectors(8)
	v.load(func(k int, y VecPhysical) { VMOVDQU(rows[k], y) })
	v.interleave(3)
	v.store(func(m int, x VecPhysical) {
		t, u := []VecPhysical{Y9, Y11}[m%2], []VecPhysical{Y10, Y12}[m%2]
		for i, shift := range []uint64{7, 14, 28} {
			VPSRLQ(Imm(shift), x, t)
			VPXOR(x, t, t)
			VPAND(mask[i], t, t)
			VPSLLQ(Imm(shift), t, u)
			VPXOR(t, x, x)
			VPXOR(u, x, x)
		}
		VMOVDQU(x.AsX(), Mem{Base: dst, Disp: 16 * m})
		VEXTRACTI128(Imm(1), x, Mem{Base: dst, Disp: 128 + 16*m})
	})
	ADDQ(Imm(32), src)
	ADDQ(Imm(32), high)
	ADDQ(U32(256), dst)
	SUBQ(U32(256), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
