package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The flags of a table's entry; see inflate.go of the package.
const (
	entryLiteral = 1 << 15
	entrySpecial = 1 << 14
	entryPair    = 13 // the bits' numbers
	entryLink    = 13
	entryEnd     = 12
)

// inflate writes the loop that decodes the symbols of a block. Registers: bits are
// the next ones of the stream, of which the lowest byte of nbits says how many are
// sure; e is the entry that they stand for.
func inflate(tables matchTables) {
	TEXT("inflateAVX2", NOSPLIT, "func(litlen *uint32, litlenMask uint64, dist *uint32, distMask uint64, dst *byte, op int, lastOp int, dstLen int, src *byte, at int, lastAt int, bits uint64, nbits uint) (newOp int, newAt int, newBits uint64, newNbits uint, status int)")
	Doc("inflateAVX2 decodes symbols while at and op are not behind lastAt and lastOp.")
	Pragma("noescape")
	base, op, ip, oend := params("dst"), params("op"), params("src"), params("dstLen")
	bits, nbits := params("bits"), params("nbits")
	e, n, dist, t, u, tail := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	lastOp, lastAt := AllocLocal(8), AllocLocal(8)
	MOVQ(NewParamAddr("lastOp", 48), t)
	ADDQ(base, t)
	MOVQ(t, lastOp)
	MOVQ(NewParamAddr("lastAt", 80), t)
	ADDQ(ip, t)
	MOVQ(t, lastAt)
	ADDQ(base, op)
	ADDQ(base, oend)
	ADDQ(NewParamAddr("at", 72), ip)

	refill := func() {
		MOVQ(Mem{Base: ip}, t)
		SHLXQ(nbits, t, t)
		ORQ(t, bits)
		MOVL(nbits.As32(), u.As32())
		SHRL(Imm(3), u.As32())
		ANDL(Imm(7), u.As32())
		ADDQ(Imm(7), ip)
		SUBQ(u, ip)
		ORL(Imm(56), nbits.As32())
	}
	look := func(table, mask Mem) {
		MOVQ(bits, u)
		ANDQ(mask, u)
		MOVQ(table, t)
		MOVL(Mem{Base: t, Index: u, Scale: 4}, e.As32())
	}
	litlen := func() { look(NewParamAddr("litlen", 0), NewParamAddr("litlenMask", 8)) }
	drop := func() { // the bits of e
		SHRXQ(e, bits, bits)
		SUBL(e.As32(), nbits.As32())
	}
	// link looks into the second table.
	link := func(table Mem) {
		drop()
		MOVL(e.As32(), t.As32())
		SHRL(Imm(8), t.As32())
		ANDL(Imm(15), t.As32())
		BZHIQ(t, bits, u)
		SHRL(Imm(16), e.As32())
		ADDQ(e, u)
		MOVQ(table, t)
		MOVL(Mem{Base: t, Index: u, Scale: 4}, e.As32())
	}
	literal := func() {
		drop()
		MOVL(e.As32(), t.As32())
		SHRL(Imm(16), t.As32())
		MOVW(t.As16(), Mem{Base: op})
		SHRL(Imm(entryPair), e.As32())
		ANDL(Imm(1), e.As32())
		LEAQ(Mem{Base: op, Index: e, Scale: 1, Disp: 1}, op)
	}
	// value is that of e with its extra bits, which are dropped with the code's.
	value := func(out Register) {
		BZHIQ(e, bits, u)
		MOVL(e.As32(), t.As32())
		SHRL(Imm(8), t.As32())
		SHRXQ(t, u, u)
		drop()
		SHRL(Imm(16), e.As32())
		LEAQ(Mem{Base: e, Index: u, Scale: 1}, out)
	}
	refill()
	litlen()

	Label("loop") // e is looked up
	CMPQ(ip, lastAt)
	JA(LabelRef("more"))
	CMPQ(op, lastOp)
	JA(LabelRef("more"))
	TESTL(U32(entryLiteral), e.As32())
	JZ(LabelRef("length"))
	literal()
	litlen()
	TESTL(U32(entryLiteral), e.As32())
	JZ(LabelRef("length"))
	literal()
	litlen()
	TESTL(U32(entryLiteral), e.As32())
	JZ(LabelRef("length"))
	literal()
	refill()
	litlen()
	JMP(LabelRef("loop"))

	Label("length")
	TESTL(U32(entrySpecial), e.As32())
	JNZ(LabelRef("special"))
	Label("plain")
	value(n)
	refill()
	look(NewParamAddr("dist", 16), NewParamAddr("distMask", 24))
	TESTL(U32(entrySpecial), e.As32())
	JNZ(LabelRef("far"))
	Label("near")
	value(dist)
	refill()
	litlen() // long before it is needed
	copyMatch(tables, base, op, oend, dist, n, t, u, tail)

	Label("special")
	BTL(Imm(entryLink), e.As32())
	JCC(LabelRef("last"))
	link(NewParamAddr("litlen", 0))
	TESTL(U32(entrySpecial), e.As32())
	JNZ(LabelRef("last"))
	TESTL(U32(entryLiteral), e.As32())
	JZ(LabelRef("plain"))
	literal()
	refill()
	litlen()
	JMP(LabelRef("loop"))

	Label("far")
	BTL(Imm(entryLink), e.As32())
	JCC(LabelRef("fail"))
	link(NewParamAddr("dist", 16))
	TESTL(U32(entrySpecial), e.As32())
	JNZ(LabelRef("fail"))
	JMP(LabelRef("near"))

	Label("last")
	drop()
	BTL(Imm(entryEnd), e.As32())
	JCC(LabelRef("fail"))
	MOVQ(U32(2), t)
	JMP(LabelRef("return"))
	Label("more")
	MOVQ(U32(1), t)
	JMP(LabelRef("return"))
	Label("fail")
	XORL(t.As32(), t.As32())
	Label("return")
	SUBQ(base, op)
	SUBQ(NewParamAddr("src", 64), ip)
	ANDQ(Imm(63), nbits)
	Store(op, ReturnIndex(0))
	Store(ip, ReturnIndex(1))
	Store(bits, ReturnIndex(2))
	Store(nbits, ReturnIndex(3))
	Store(t, ReturnIndex(4))
	VZEROUPPER()
	RET()
}

// adler32 adds 32 bytes at once: their sum, and that of each times the bytes from
// it to the end.
func adler32() {
	weights := GLOBL("adler32_weights", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(uint8(32-i)))
	}
	ones := GLOBL("adler32_ones", RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U16(1))
	}
	TEXT("adler32AVX2", NOSPLIT, "func(a uint32, b uint32, p *byte, n int) (newA uint32, newB uint32)")
	Doc("adler32AVX2 adds n bytes, a multiple of 32 above 0, to both sums of Adler-32.")
	Pragma("noescape")
	a, b := Load(Param("a"), GP32()).(GPVirtual), Load(Param("b"), GP32()).(GPVirtual)
	p, n := params("p"), params("n")
	piece, t := GP64(), GP64()
	VMOVDQU(weights, Y14)
	VMOVDQU(ones, Y15)
	VPXOR(Y13, Y13, Y13)
	Label("piece") // the sums do not overflow within one
	MOVQ(U32(5536), piece)
	CMPQ(n, piece)
	CMOVQLT(n, piece)
	SUBQ(piece, n)
	// b grows by a with every byte.
	MOVQ(a.As64(), t)
	IMULQ(piece, t)
	ADDQ(t, b.As64())
	VPXOR(Y0, Y0, Y0) // sums of the bytes
	VPXOR(Y1, Y1, Y1) // of them before each turn
	VPXOR(Y2, Y2, Y2) // of the products
	Label("loop")
	VMOVDQU(Mem{Base: p}, Y3)
	VPADDD(Y0, Y1, Y1)
	VPSADBW(Y13, Y3, Y4)
	VPADDD(Y4, Y0, Y0)
	VPMADDUBSW(Y14, Y3, Y4)
	VPMADDWD(Y15, Y4, Y4)
	VPADDD(Y4, Y2, Y2)
	ADDQ(Imm(32), p)
	SUBQ(Imm(32), piece)
	JNE(LabelRef("loop"))
	VPSLLD(Imm(5), Y1, Y1)
	VPADDD(Y1, Y2, Y2)
	for _, s := range []struct {
		y   VecPhysical
		sum GPVirtual
	}{{Y0, a}, {Y2, b}} {
		VEXTRACTI128(Imm(1), s.y, X3)
		VPADDD(X3, s.y.AsX(), X3)
		VPSHUFD(Imm(0x4e), X3, X4)
		VPADDD(X4, X3, X3)
		VPSHUFD(Imm(0xb1), X3, X4)
		VPADDD(X4, X3, X3)
		VMOVD(X3, t.As32())
		ADDQ(t, s.sum.As64())
	}
	// Modulo 65521.
	for _, sum := range []GPVirtual{a, b} {
		MOVQ(sum.As64(), RAX)
		XORL(EDX, EDX)
		MOVQ(U32(65521), t)
		DIVQ(t)
		MOVL(EDX, sum.As32())
	}
	TESTQ(n, n)
	JNZ(LabelRef("piece"))
	Store(a, ReturnIndex(0))
	Store(b, ReturnIndex(1))
	VZEROUPPER()
	RET()
}
