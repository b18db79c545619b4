package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lzEncoder writes the search for matches that LZ4 and BloscLZ share, around
// the way each writes what is found.
//
// The table holds the low 16 bits of positions. A zero, which is also what a
// fresh table holds, is position 0 or a multiple of 64 KiB: any value names a
// position at most 65535 back that lies within the source, so there is no need
// to check it before its four bytes are compared.
type lzEncoder struct {
	base, ip, anchor, out, outEnd GPVirtual // ip, anchor: offsets from base
	ref, end, lit                 GPVirtual // of the match: start, end of the copy at ip, literals before it
	t, u                          GPVirtual
	limit, matchLimit             Mem
}

// Bytes at the end of the source that are left to the caller: no match starts
// in the last lzTail ones, so that 32 bytes can be read from any literal, and
// none reaches into the last lzLast.
const (
	lzTail = 40
	lzLast = 6
	prime5 = 889523592379 // spreads the low 5 bytes of a word
)

func lzEncode(name, doc string, write func(e *lzEncoder, retry, fail LabelRef)) {
	TEXT(name, NOSPLIT, "func(table *uint16, shift int, dst *byte, dstLen int, src *byte, srcLen int, accel int) (read int, wrote int)")
	Doc(doc)
	Pragma("noescape")
	e := &lzEncoder{
		base: params("src"), out: params("dst"), outEnd: params("dstLen"),
		ip: GP64(), anchor: GP64(), ref: GP64(), end: GP64(), lit: GP64(), t: GP64(), u: GP64(),
		limit: AllocLocal(8), matchLimit: AllocLocal(8),
	}
	table, shift, prime, v, tries, step := params("table"), params("shift"), GP64(), GP64(), GP64(), GP64()
	first := AllocLocal(8)

	ADDQ(e.out, e.outEnd)
	MOVQ(U64(prime5), prime)
	Load(Param("srcLen"), e.t)
	SUBQ(Imm(lzLast), e.t)
	MOVQ(e.t, e.matchLimit)
	SUBQ(Imm(lzTail-lzLast), e.t)
	MOVQ(e.t, e.limit)
	Load(Param("accel"), e.t)
	SHLQ(Imm(6), e.t)
	MOVQ(e.t, first)
	XORQ(e.anchor, e.anchor)
	MOVQ(U32(1), e.ip)

	hash := func(h GPVirtual) { // of the low 5 bytes of h
		SHLQ(Imm(24), h)
		IMULQ(prime, h)
		SHRXQ(shift, h, h)
	}
	slot := func(h GPVirtual) Mem { return Mem{Base: table, Index: h, Scale: 2} }

	Label("restart")
	MOVQ(first, tries)
	MOVQ(U32(1), step)
	CMPQ(e.ip, e.limit)
	JG(LabelRef("done"))
	Label("search")
	MOVQ(Mem{Base: e.base, Index: e.ip, Scale: 1}, v)
	MOVQ(v, e.t)
	hash(e.t)
	MOVWQZX(slot(e.t), e.u)
	MOVW(e.ip.As16(), slot(e.t))
	MOVQ(e.ip, e.ref)
	SUBQ(e.u, e.ref)
	MOVWQZX(e.ref.As16(), e.u) // the distance
	MOVQ(e.ip, e.ref)
	SUBQ(e.u, e.ref)
	CMPL(v.As32(), Mem{Base: e.base, Index: e.ref, Scale: 1})
	JE(LabelRef("found"))
	Label("advance")
	ADDQ(step, e.ip)
	MOVQ(tries, step)
	SHRQ(Imm(6), step)
	INCQ(tries)
	Label("check")
	CMPQ(e.ip, e.limit)
	JLE(LabelRef("search"))
	JMP(LabelRef("done"))

	Label("found")
	TESTQ(e.u, e.u)
	JZ(LabelRef("advance")) // itself, 64 KiB later

	// The end of the match.
	MOVQ(Mem{Base: e.base, Index: e.ip, Scale: 1, Disp: 4}, e.t)
	XORQ(Mem{Base: e.base, Index: e.ref, Scale: 1, Disp: 4}, e.t)
	JZ(LabelRef("long"))
	TZCNTQ(e.t, e.t)
	SHRQ(Imm(3), e.t)
	LEAQ(Mem{Base: e.ip, Index: e.t, Scale: 1, Disp: 4}, e.end)

	// Its start: up to 8 bytes back.
	Label("back")
	MOVQ(e.ip, e.lit)
	SUBQ(e.anchor, e.lit)
	JZ(LabelRef("write"))
	CMPQ(e.ref, Imm(8))
	JB(LabelRef("write"))
	MOVQ(Mem{Base: e.base, Index: e.ip, Scale: 1, Disp: -8}, e.t)
	XORQ(Mem{Base: e.base, Index: e.ref, Scale: 1, Disp: -8}, e.t)
	LZCNTQ(e.t, e.t)
	SHRQ(Imm(3), e.t)
	CMPQ(e.t, e.lit)
	CMOVQGT(e.lit, e.t)
	SUBQ(e.t, e.ip)
	SUBQ(e.t, e.ref)
	SUBQ(e.t, e.lit)

	Label("write")
	write(e, LabelRef("check"), LabelRef("fail"))

	Label("next")
	MOVQ(e.end, e.ip)
	MOVQ(e.end, e.anchor)
	MOVQ(Mem{Base: e.base, Index: e.ip, Scale: 1, Disp: -2}, e.t)
	hash(e.t)
	LEAQ(Mem{Base: e.ip, Disp: -2}, e.u)
	MOVW(e.u.As16(), slot(e.t))
	JMP(LabelRef("restart"))

	// A match of 12 bytes or more: 32 at a time, then 8, then 1.
	Label("long")
	LEAQ(Mem{Base: e.ip, Disp: 12}, e.end)
	LEAQ(Mem{Base: e.ref, Disp: 12}, e.lit) // the end at ref
	equal := YMM()
	Label("long32")
	LEAQ(Mem{Base: e.end, Disp: 32}, e.t)
	CMPQ(e.t, e.matchLimit)
	JG(LabelRef("long8"))
	VMOVDQU(Mem{Base: e.base, Index: e.end, Scale: 1}, equal)
	VPCMPEQB(Mem{Base: e.base, Index: e.lit, Scale: 1}, equal, equal)
	VPMOVMSKB(equal, e.t.As32())
	NOTL(e.t.As32())
	TESTL(e.t.As32(), e.t.As32())
	JNZ(LabelRef("differ32"))
	ADDQ(Imm(32), e.end)
	ADDQ(Imm(32), e.lit)
	JMP(LabelRef("long32"))
	Label("differ32")
	TZCNTL(e.t.As32(), e.t.As32())
	ADDQ(e.t, e.end)
	JMP(LabelRef("back"))
	Label("long8")
	LEAQ(Mem{Base: e.end, Disp: 8}, e.t)
	CMPQ(e.t, e.matchLimit)
	JG(LabelRef("long1"))
	MOVQ(Mem{Base: e.base, Index: e.end, Scale: 1}, e.t)
	XORQ(Mem{Base: e.base, Index: e.lit, Scale: 1}, e.t)
	JNZ(LabelRef("differ8"))
	ADDQ(Imm(8), e.end)
	ADDQ(Imm(8), e.lit)
	JMP(LabelRef("long8"))
	Label("differ8")
	TZCNTQ(e.t, e.t)
	SHRQ(Imm(3), e.t)
	ADDQ(e.t, e.end)
	JMP(LabelRef("back"))
	Label("long1")
	CMPQ(e.end, e.matchLimit)
	JGE(LabelRef("back"))
	MOVB(Mem{Base: e.base, Index: e.end, Scale: 1}, e.t.As8())
	CMPB(e.t.As8(), Mem{Base: e.base, Index: e.lit, Scale: 1})
	JNE(LabelRef("back"))
	INCQ(e.end)
	INCQ(e.lit)
	JMP(LabelRef("long1"))

	Label("done")
	Load(Param("dst"), e.t)
	SUBQ(e.t, e.out)
	Store(e.anchor, Return("read"))
	Store(e.out, Return("wrote"))
	VZEROUPPER()
	RET()
	Label("fail")
	MOVQ(I32(-1), e.t)
	Store(e.t, Return("read"))
	Store(e.t, Return("wrote"))
	VZEROUPPER()
	RET()
}

// room jumps to fail unless the output has n + n>>shift + more bytes left.
func (e *lzEncoder) room(n GPVirtual, shift uint64, more int, fail LabelRef) {
	MOVQ(n, e.t)
	SHRQ(Imm(shift), e.t)
	ADDQ(n, e.t)
	LEAQ(Mem{Base: e.out, Index: e.t, Scale: 1, Disp: more}, e.t)
	CMPQ(e.t, e.outEnd)
	JA(fail)
}

// length writes n as bytes of 255 and a last one that is less.
func (e *lzEncoder) length(label string, n GPVirtual) {
	Label(label)
	CMPQ(n, U32(255))
	JB(LabelRef(label + "_end"))
	MOVB(U8(255), Mem{Base: e.out})
	INCQ(e.out)
	SUBQ(U32(255), n)
	JMP(LabelRef(label))
	Label(label + "_end")
	MOVB(n.As8(), Mem{Base: e.out})
	INCQ(e.out)
}

func lz4Encode() {
	lzEncode("lz4EncodeAVX2", "lz4EncodeAVX2 writes LZ4 sequences until too little is left for another, and gives the bytes read and written, or -1 if dst is too small.",
		func(e *lzEncoder, _, fail LabelRef) {
			token, x := GP64(), XMM()
			// Literals.
			e.room(e.lit, 7, 64, fail)
			MOVQ(e.out, token)
			INCQ(e.out)
			ADDQ(e.base, e.anchor) // now a pointer
			CMPQ(e.lit, Imm(15))
			JAE(LabelRef("lit_long"))
			MOVQ(e.lit, e.t)
			SHLQ(Imm(4), e.t)
			MOVB(e.t.As8(), Mem{Base: token})
			VMOVDQU(Mem{Base: e.anchor}, x)
			VMOVDQU(x, Mem{Base: e.out})
			ADDQ(e.lit, e.out)
			JMP(LabelRef("lit_end"))
			Label("lit_long")
			MOVB(U8(0xf0), Mem{Base: token})
			LEAQ(Mem{Base: e.lit, Disp: -15}, e.t)
			e.length("lit_len", e.t)
			y := YMM()
			LEAQ(Mem{Base: e.out, Index: e.lit, Scale: 1}, e.t)
			Label("lit_copy")
			VMOVDQU(Mem{Base: e.anchor}, y)
			VMOVDQU(y, Mem{Base: e.out})
			ADDQ(Imm(32), e.anchor)
			ADDQ(Imm(32), e.out)
			CMPQ(e.out, e.t)
			JB(LabelRef("lit_copy"))
			MOVQ(e.t, e.out)
			Label("lit_end")
			// Distance, length.
			MOVQ(e.ip, e.t)
			SUBQ(e.ref, e.t)
			MOVW(e.t.As16(), Mem{Base: e.out})
			ADDQ(Imm(2), e.out)
			MOVQ(e.end, e.t)
			SUBQ(e.ip, e.t)
			SUBQ(Imm(4), e.t)
			CMPQ(e.t, Imm(15))
			JAE(LabelRef("match_long"))
			ADDB(e.t.As8(), Mem{Base: token})
			JMP(LabelRef("next"))
			Label("match_long")
			ADDB(Imm(15), Mem{Base: token})
			SUBQ(Imm(15), e.t)
			MOVQ(e.t, e.lit)
			SHRQ(Imm(7), e.t)
			LEAQ(Mem{Base: e.out, Index: e.t, Scale: 1, Disp: 16}, e.t)
			CMPQ(e.t, e.outEnd)
			JA(fail)
			e.length("match_len", e.lit)
		})
}

func blosclzEncode() {
	const near = 8191
	lzEncode("blosclzEncodeAVX2", "blosclzEncodeAVX2 writes BloscLZ instructions until too little is left for another match, and gives the bytes read and written, or -1 if dst is too small.",
		func(e *lzEncoder, retry, fail LabelRef) {
			dist, y := e.ref, YMM()
			NEGQ(dist)
			LEAQ(Mem{Base: dist, Index: e.ip, Scale: 1, Disp: -1}, dist) // less one, as it is written
			SUBQ(e.ip, e.end)                                            // now the length
			// A far match takes two bytes more.
			CMPQ(dist, U32(near))
			JB(LabelRef("worth"))
			CMPQ(e.end, Imm(6))
			JB(LabelRef("not_worth"))
			Label("worth")
			// Literals, up to 32 at once.
			e.room(e.lit, 5, 96, fail)
			ADDQ(e.base, e.anchor) // now a pointer
			TESTQ(e.lit, e.lit)
			JZ(LabelRef("lit_end"))
			Label("lit_copy")
			MOVQ(U32(32), e.t)
			CMPQ(e.lit, e.t)
			CMOVQLT(e.lit, e.t)
			VMOVDQU(Mem{Base: e.anchor}, y)
			VMOVDQU(y, Mem{Base: e.out, Disp: 1})
			LEAQ(Mem{Base: e.t, Disp: -1}, e.u)
			MOVB(e.u.As8(), Mem{Base: e.out})
			ADDQ(e.t, e.anchor)
			LEAQ(Mem{Base: e.out, Index: e.t, Scale: 1, Disp: 1}, e.out)
			SUBQ(e.t, e.lit)
			JNZ(LabelRef("lit_copy"))
			Label("lit_end")
			// The match: length in the high bits, distance.
			LEAQ(Mem{Base: e.end, Disp: -2}, e.t)
			ADDQ(e.ip, e.end)
			MOVQ(U32(7), e.u)
			CMPQ(e.t, e.u)
			CMOVQLT(e.t, e.u)
			SHLQ(Imm(5), e.u)
			CMPQ(dist, U32(near))
			JAE(LabelRef("far"))
			MOVQ(dist, e.lit)
			SHRQ(Imm(8), e.lit)
			ADDQ(e.u, e.lit)
			MOVB(e.lit.As8(), Mem{Base: e.out})
			INCQ(e.out)
			SUBQ(Imm(7), e.t)
			JL(LabelRef("near_dist"))
			MOVQ(e.t, e.lit)
			SHRQ(Imm(7), e.lit)
			LEAQ(Mem{Base: e.out, Index: e.lit, Scale: 1, Disp: 16}, e.lit)
			CMPQ(e.lit, e.outEnd)
			JA(fail)
			e.length("near_len", e.t)
			Label("near_dist")
			MOVB(dist.As8(), Mem{Base: e.out})
			INCQ(e.out)
			JMP(LabelRef("next"))
			Label("far")
			ADDQ(Imm(31), e.u)
			MOVB(e.u.As8(), Mem{Base: e.out})
			INCQ(e.out)
			SUBQ(Imm(7), e.t)
			JL(LabelRef("far_dist"))
			MOVQ(e.t, e.lit)
			SHRQ(Imm(7), e.lit)
			LEAQ(Mem{Base: e.out, Index: e.lit, Scale: 1, Disp: 16}, e.lit)
			CMPQ(e.lit, e.outEnd)
			JA(fail)
			e.length("far_len", e.t)
			Label("far_dist")
			MOVB(U8(255), Mem{Base: e.out})
			SUBQ(U32(near), dist)
			MOVB(dist.As8(), Mem{Base: e.out, Disp: 2})
			SHRQ(Imm(8), dist)
			MOVB(dist.As8(), Mem{Base: e.out, Disp: 1})
			ADDQ(Imm(3), e.out)
			JMP(LabelRef("next"))
			Label("not_worth") // go on inside it, behind the position it was found at
			LEAQ(Mem{Base: e.ip, Index: e.end, Scale: 1, Disp: -3}, e.ip)
			JMP(retry)
		})
}
