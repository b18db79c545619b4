package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// commonPrefix compares 32 bytes at once, as long as there are.
func commonPrefix() {
	TEXT("commonPrefixAVX2", NOSPLIT, "func(a *byte, b *byte, n int) int")
	Doc("commonPrefixAVX2 counts the bytes that a and b begin with in common, in steps of 32 up to n, a multiple of 32; within a step it is exact.")
	Pragma("noescape")
	a, b, n := params("a"), params("b"), params("n")
	i, t, y := GP64(), GP64(), YMM()
	XORQ(i, i)
	Label("loop")
	VMOVDQU(Mem{Base: a, Index: i, Scale: 1}, y)
	VPCMPEQB(Mem{Base: b, Index: i, Scale: 1}, y, y)
	VPMOVMSKB(y, t.As32())
	NOTL(t.As32())
	TESTL(t.As32(), t.As32())
	JNZ(LabelRef("differ"))
	ADDQ(Imm(32), i)
	CMPQ(i, n)
	JB(LabelRef("loop"))
	XORQ(t, t)
	JMP(LabelRef("end"))
	Label("differ")
	TZCNTL(t.As32(), t.As32())
	Label("end")
	ADDQ(t, i)
	Store(i, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// matchTables are for a match from fewer than 16 bytes back: which of those
// bytes make 32, and how many of the 32 are whole periods.
type matchTables struct{ patterns, periods Mem }

func newMatchTables() matchTables {
	patterns := GLOBL("patterns", RODATA|NOPTR)
	for dist := range 16 {
		for i := range 32 {
			b := 0
			if dist > 0 {
				b = i % dist
			}
			DATA(32*dist+i, U8(b))
		}
	}
	periods := GLOBL("periods", RODATA|NOPTR)
	for dist := range 16 {
		n := 32
		if dist > 0 {
			n -= 32 % dist
		}
		DATA(8*dist, U64(n))
	}
	return matchTables{patterns, periods}
}

// copyMatch copies n bytes from dist back to op, then goes to loop; to fail if
// that is not within base and oend. t, u and tail are free to use.
func copyMatch(tables matchTables, base, op, oend, dist, n, t, u, tail GPVirtual) {
	MOVQ(op, t)
	SUBQ(base, t)
	CMPQ(dist, t)
	JA(LabelRef("fail"))
	MOVQ(oend, u)
	SUBQ(op, u)
	SUBQ(n, u)
	JB(LabelRef("fail"))
	ref, end, x, y := t, n, XMM(), YMM()
	MOVQ(op, ref)
	SUBQ(dist, ref)
	ADDQ(op, end)
	XORQ(tail, tail)
	CMPQ(u, Imm(32))
	JB(LabelRef("near_end"))
	Label("fast")
	CMPQ(dist, Imm(8))
	JB(LabelRef("pattern"))
	LEAQ(Mem{Base: op, Disp: 16}, u)
	CMPQ(end, u)
	JA(LabelRef("long"))
	// In words: a wider load would wait for several earlier stores to retire.
	for i := range 2 {
		MOVQ(Mem{Base: ref, Disp: 8 * i}, u)
		MOVQ(u, Mem{Base: op, Disp: 8 * i})
	}
	JMP(LabelRef("copied"))
	Label("long")
	CMPQ(dist, Imm(32))
	JB(LabelRef("overlap"))
	Label("copy32")
	VMOVDQU(Mem{Base: ref}, y)
	VMOVDQU(y, Mem{Base: op})
	ADDQ(Imm(32), ref)
	ADDQ(Imm(32), op)
	CMPQ(op, end)
	JB(LabelRef("copy32"))
	JMP(LabelRef("copied"))

	Label("overlap")
	CMPQ(dist, Imm(16))
	JB(LabelRef("pattern"))
	Label("copy16")
	VMOVDQU(Mem{Base: ref}, x)
	VMOVDQU(x, Mem{Base: op})
	ADDQ(Imm(16), ref)
	ADDQ(Imm(16), op)
	CMPQ(op, end)
	JB(LabelRef("copy16"))
	JMP(LabelRef("copied"))

	Label("pattern")
	VBROADCASTI128(Mem{Base: ref}, y)
	LEAQ(tables.patterns, u)
	MOVQ(dist, t)
	SHLQ(Imm(5), t)
	VPSHUFB(Mem{Base: u, Index: t, Scale: 1}, y, y)
	LEAQ(tables.periods, u)
	MOVQ(Mem{Base: u, Index: dist, Scale: 8}, u)
	Label("repeat")
	VMOVDQU(y, Mem{Base: op})
	ADDQ(u, op)
	CMPQ(op, end)
	JB(LabelRef("repeat"))
	Label("copied")
	MOVQ(end, op)
	TESTQ(tail, tail)
	JZ(LabelRef("loop"))
	ADDQ(tail, end)
	MOVQ(op, ref)
	SUBQ(dist, ref)
	JMP(LabelRef("slow"))

	Label("near_end") // of a long match only the last 32 bytes are slow
	LEAQ(Mem{Base: op, Disp: 64}, u)
	CMPQ(end, u)
	JB(LabelRef("slow"))
	MOVQ(U32(32), tail)
	SUBQ(tail, end)
	JMP(LabelRef("fast"))

	Label("slow")
	MOVB(Mem{Base: ref}, u.As8())
	MOVB(u.As8(), Mem{Base: op})
	INCQ(ref)
	INCQ(op)
	CMPQ(op, end)
	JB(LabelRef("slow"))
	JMP(LabelRef("loop"))
}

// decoderEnd is the end of a decoder: done where all of the output must have
// been written, and fail.
func decoderEnd(op, oend, t GPVirtual) {
	Label("done")
	CMPQ(op, oend)
	JNE(LabelRef("fail"))
	MOVB(Imm(1), t.As8())
	Store(t.As8(), ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("fail")
	XORL(t.As32(), t.As32())
	Store(t.As8(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
