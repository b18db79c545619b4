package blosc

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// inflater decodes a Deflate stream (RFC 1951) whose length is known, from one
// buffer to another: the whole output is its window, and nothing is copied
// twice. Tables of 11 and 8 bits decode most codes in one step, a second table
// those that are longer.
type inflater struct {
	litlen [litlenSize]uint32
	dist   [distSize]uint32
	fixed  bool // the tables are those of a fixed block

	src   []byte
	at    int    // the next byte of src
	bits  uint64 // the next bits of the stream, lowest first
	nbits uint
	lens  [320]uint8
}

// A table entry is, from the lowest bit: 4 bits length of the code, 4 bits
// number of extra bits (of a link: bits of its table), the value, 4 flags.
const (
	litlenBits, litlenSize = 11, 2400 // 2342 are used at most (zlib's enough.c)
	distBits, distSize     = 8, 420   // 402

	entryLiteral = 1 << 31
	entryEnd     = 1 << 30 // of a block
	entryLink    = 1 << 29 // to a second table
	entryBad     = 1 << 28 // no code; as a whole entry 0 too
	extraShift   = 4
	valueShift   = 8
)

// litlenValues and distValues are the entries of the symbols, without the
// lengths of the codes.
var litlenValues, distValues = func() (l [288]uint32, d [32]uint32) {
	for i := range 256 {
		l[i] = entryLiteral | uint32(i)<<valueShift
	}
	l[256] = entryEnd
	for i, base := uint32(0), uint32(3); i < 28; i++ {
		extra := uint32(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		l[257+i] = base<<valueShift | extra<<extraShift
		base += 1 << extra
	}
	l[285] = 258 << valueShift
	l[286], l[287] = entryBad, entryBad
	for i, base := uint32(0), uint32(1); i < 30; i++ {
		extra := uint32(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		d[i] = base<<valueShift | extra<<extraShift
		base += 1 << extra
	}
	d[30], d[31] = entryBad, entryBad
	return l, d
}()

// inflate fills dst and says whether src is a stream of exactly its length. It
// gives the bytes of src that the stream has.
func (z *inflater) inflate(dst, src []byte) (read int, ok bool) {
	z.src, z.at, z.bits, z.nbits = src, 0, 0, 0
	defer func() { z.src = nil }()
	op := 0
	for last := false; !last; {
		head, ok := z.take(3)
		if !ok {
			return 0, false
		}
		last = head&1 != 0
		switch head >> 1 {
		case 0:
			op, ok = z.stored(dst, op)
		case 1:
			ok = z.fixedTables()
			if ok {
				op, ok = z.block(dst, op)
			}
		case 2:
			ok = z.dynamicTables()
			if ok {
				op, ok = z.block(dst, op)
			}
		default:
			ok = false
		}
		if !ok {
			return 0, false
		}
	}
	return z.at - int(z.nbits/8), op == len(dst)
}

// fill makes at least 56 bits available, or all that there are.
func (z *inflater) fill() {
	if len(z.src)-z.at >= 8 {
		z.bits |= binary.LittleEndian.Uint64(z.src[z.at:]) << z.nbits
		z.at += int((63 - z.nbits) / 8)
		z.nbits |= 56
		return
	}
	for z.nbits < 56 && z.at < len(z.src) {
		z.bits |= uint64(z.src[z.at]) << z.nbits
		z.at++
		z.nbits += 8
	}
}

// take gives the next n bits, at most 16.
func (z *inflater) take(n uint) (uint32, bool) {
	if z.nbits < n {
		if z.fill(); z.nbits < n {
			return 0, false
		}
	}
	v := uint32(z.bits) & (1<<n - 1)
	z.bits >>= n
	z.nbits -= n
	return v, true
}

func (z *inflater) stored(dst []byte, op int) (int, bool) {
	z.at -= int(z.nbits / 8) // whole bytes go back
	z.bits, z.nbits = 0, 0
	if len(z.src)-z.at < 4 {
		return op, false
	}
	n := int(binary.LittleEndian.Uint16(z.src[z.at:]))
	if n != int(^binary.LittleEndian.Uint16(z.src[z.at+2:])) {
		return op, false
	}
	z.at += 4
	if n > len(z.src)-z.at || n > len(dst)-op {
		return op, false
	}
	copy(dst[op:], z.src[z.at:z.at+n])
	z.at += n
	return op + n, true
}

func (z *inflater) fixedTables() bool {
	if z.fixed {
		return true
	}
	for i := range 288 {
		switch {
		case i < 144:
			z.lens[i] = 8
		case i < 256:
			z.lens[i] = 9
		case i < 280:
			z.lens[i] = 7
		default:
			z.lens[i] = 8
		}
	}
	ok := buildTable(z.litlen[:], litlenBits, z.lens[:288], litlenValues[:], false)
	for i := range 32 {
		z.lens[i] = 5
	}
	z.fixed = ok && buildTable(z.dist[:], distBits, z.lens[:32], distValues[:], false)
	return z.fixed
}

// codeOrder is the order in which the lengths of the length codes are stored.
var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codeValues are the entries of the length codes: the symbols themselves.
var codeValues = func() (v [19]uint32) {
	for i := range v {
		v[i] = uint32(i) << valueShift
	}
	return v
}()

func (z *inflater) dynamicTables() bool {
	z.fixed = false
	head, ok := z.take(14)
	if !ok {
		return false
	}
	nlit, ndist, ncode := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if nlit > 286 || ndist > 30 {
		return false
	}
	var lens [19]uint8
	for _, i := range codeOrder[:ncode] {
		n, ok := z.take(3)
		if !ok {
			return false
		}
		lens[i] = uint8(n)
	}
	var table [128]uint32
	if !buildTable(table[:], 7, lens[:], codeValues[:], false) {
		return false
	}
	for i := 0; i < nlit+ndist; {
		z.fill()
		e := table[z.bits&127]
		n := uint(e & 15)
		if n == 0 || n > z.nbits {
			return false
		}
		z.bits >>= n
		z.nbits -= n
		sym := e >> valueShift
		if sym < 16 {
			z.lens[i] = uint8(sym)
			i++
			continue
		}
		var repeat, value = 0, uint8(0)
		var more uint32
		switch sym {
		case 16:
			if i == 0 {
				return false
			}
			value = z.lens[i-1]
			more, ok = z.take(2)
			repeat = 3 + int(more)
		case 17:
			more, ok = z.take(3)
			repeat = 3 + int(more)
		default:
			more, ok = z.take(7)
			repeat = 11 + int(more)
		}
		if !ok || repeat > nlit+ndist-i {
			return false
		}
		for range repeat {
			z.lens[i] = value
			i++
		}
	}
	if z.lens[256] == 0 { // no way to end the block
		return false
	}
	return buildTable(z.litlen[:], litlenBits, z.lens[:nlit], litlenValues[:], true) &&
		buildTable(z.dist[:], distBits, z.lens[nlit:nlit+ndist], distValues[:], true)
}

// buildTable makes the decoding table of a canonical code, of root bits and
// with second tables behind. It refuses codes that overlap, and, as zlib does,
// incomplete ones but for a single code of one bit where single is set, and no
// code at all.
func buildTable(table []uint32, root int, lens []uint8, values []uint32, single bool) bool {
	var count [16]int
	longest := 0
	for _, n := range lens {
		count[n]++
		longest = max(longest, int(n))
	}
	clear(table[:1<<root])
	if longest == 0 {
		return single
	}
	left := 1
	for n := 1; n <= 15; n++ {
		left = left<<1 - count[n]
		if left < 0 {
			return false
		}
	}
	if left > 0 && (!single || longest != 1) {
		return false
	}
	// Symbols in the order of their codes.
	var offset [16]int
	for n := 1; n < 15; n++ {
		offset[n+1] = offset[n] + count[n]
	}
	var order [288]uint16
	for sym, n := range lens {
		if n != 0 {
			order[offset[n]] = uint16(sym)
			offset[n]++
		}
	}
	code, next := 0, 1<<root // next: where a second table may begin
	sub, subBits, prefix := 0, 0, -1
	for _, sym := range order[:len(lens)-count[0]] {
		n := int(lens[sym])
		reversed := int(bits.Reverse16(uint16(code)) >> (16 - n))
		entry := values[sym]
		if n <= root {
			entry |= uint32(n)
			for i := reversed; i < 1<<root; i += 1 << n {
				table[i] = entry
			}
		} else {
			if p := reversed & (1<<root - 1); p != prefix {
				// As many bits as the codes with this prefix need.
				prefix, sub, subBits = p, next, n-root
				for room := 1 << subBits; subBits+root < longest; subBits++ {
					if room -= count[subBits+root]; room <= 0 {
						break
					}
					room <<= 1
				}
				next += 1 << subBits
				if next > len(table) {
					return false
				}
				clear(table[sub:next])
				table[p] = entryLink | uint32(sub)<<valueShift | uint32(subBits)<<extraShift | uint32(root)
			}
			entry |= uint32(n - root)
			for i := reversed >> root; i < 1<<subBits; i += 1 << (n - root) {
				table[sub+i] = entry
			}
		}
		count[n]--
		// The next code: one more, and longer if this was the last of its length.
		code++
		for n < longest && count[n] == 0 {
			n++
			code <<= 1
		}
	}
	return true
}

// Where a turn of the fast loop may begin: it reads up to 16 bytes and writes a
// match of 258 in pieces of 16, after two literals.
const (
	inflateRead  = 16
	inflateWrite = 2 + 258 + 16
)

// block decodes one block by the tables.
func (z *inflater) block(dst []byte, op int) (int, bool) {
	op, done, ok := z.fastBlock(dst, op)
	for ok && !done {
		op, done, ok = z.slowSymbol(dst, op)
	}
	return op, ok
}

// fastBlock decodes while there is room for any symbol at both ends.
func (z *inflater) fastBlock(dst []byte, start int) (op int, done, ok bool) {
	op = start
	if len(dst)-op < inflateWrite || len(z.src)-z.at < inflateRead {
		return op, false, true
	}
	var (
		at, hold, nbits = z.at, z.bits, z.nbits
		lastAt          = len(z.src) - inflateRead
		lastOp          = len(dst) - inflateWrite
		p               = unsafe.Pointer(unsafe.SliceData(z.src))
		out             = unsafe.Pointer(unsafe.SliceData(dst))
	)
	for at <= lastAt && op <= lastOp {
		hold |= load64(p, at) << (nbits & 63)
		at += int((63 - nbits) / 8)
		nbits |= 56
		// Up to two literals and a match: 15+15+15+5 bits and, after another
		// fill, 15+13.
		e := z.litlen[hold&(1<<litlenBits-1)]
		if e&entryLiteral != 0 {
			hold >>= e & 15
			nbits -= uint(e & 15)
			*(*byte)(unsafe.Add(out, op)) = byte(e >> valueShift)
			op++
			e = z.litlen[hold&(1<<litlenBits-1)]
			if e&entryLiteral != 0 {
				hold >>= e & 15
				nbits -= uint(e & 15)
				*(*byte)(unsafe.Add(out, op)) = byte(e >> valueShift)
				op++
				e = z.litlen[hold&(1<<litlenBits-1)]
			}
		}
		if e&entryLink != 0 {
			hold >>= litlenBits
			nbits -= litlenBits
			e = z.litlen[uint64(e>>valueShift&(1<<12-1))+hold&(1<<(e>>extraShift&15)-1)]
		}
		hold >>= e & 15
		nbits -= uint(e & 15)
		if e&(entryLiteral|entryEnd|entryBad) != 0 || e == 0 {
			if e&entryLiteral != 0 {
				*(*byte)(unsafe.Add(out, op)) = byte(e >> valueShift)
				op++
				continue
			}
			done, ok = e&entryEnd != 0, e&entryEnd != 0
			z.at, z.bits, z.nbits = at, hold&(1<<nbits-1), nbits
			return op, done, ok
		}
		extra := e >> extraShift & 15
		n := int(e>>valueShift) + int(hold&(1<<extra-1))
		hold >>= extra
		nbits -= uint(extra)

		hold |= load64(p, at) << (nbits & 63)
		at += int((63 - nbits) / 8)
		nbits |= 56
		e = z.dist[hold&(1<<distBits-1)]
		if e&entryLink != 0 {
			hold >>= distBits
			nbits -= distBits
			e = z.dist[uint64(e>>valueShift&(1<<12-1))+hold&(1<<(e>>extraShift&15)-1)]
		}
		hold >>= e & 15
		nbits -= uint(e & 15)
		extra = e >> extraShift & 15
		dist := int(e>>valueShift) + int(hold&(1<<extra-1))
		hold >>= extra
		nbits -= uint(extra)
		if e == 0 || e&entryBad != 0 || dist > op {
			return op, false, false
		}
		end := op + n
		switch {
		case dist >= 16:
			for op < end {
				*(*[16]byte)(unsafe.Add(out, op)) = *(*[16]byte)(unsafe.Add(out, op-dist))
				op += 16
			}
		case dist == 1:
			v := uint64(*(*byte)(unsafe.Add(out, op-1))) * 0x0101010101010101
			for op < end {
				binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(out, op))[:], v)
				op += 8
			}
		case dist >= 8:
			for op < end {
				*(*[8]byte)(unsafe.Add(out, op)) = *(*[8]byte)(unsafe.Add(out, op-dist))
				op += 8
			}
		default:
			for op < end {
				*(*byte)(unsafe.Add(out, op)) = *(*byte)(unsafe.Add(out, op-dist))
				op++
			}
		}
		op = end
	}
	z.at, z.bits, z.nbits = at, hold&(1<<nbits-1), nbits
	return op, false, true
}

// slowSymbol decodes one symbol with every check.
func (z *inflater) slowSymbol(dst []byte, op int) (_ int, done, ok bool) {
	e, ok := z.symbol(z.litlen[:], litlenBits)
	switch {
	case !ok || e&entryBad != 0:
		return op, false, false
	case e&entryEnd != 0:
		return op, true, true
	case e&entryLiteral != 0:
		if op == len(dst) {
			return op, false, false
		}
		dst[op] = byte(e >> valueShift)
		return op + 1, false, true
	}
	more, ok := z.take(uint(e >> extraShift & 15))
	if !ok {
		return op, false, false
	}
	n := int(e>>valueShift) + int(more)
	if e, ok = z.symbol(z.dist[:], distBits); !ok || e&entryBad != 0 {
		return op, false, false
	}
	if more, ok = z.take(uint(e >> extraShift & 15)); !ok {
		return op, false, false
	}
	dist := int(e>>valueShift) + int(more)
	if dist > op || n > len(dst)-op {
		return op, false, false
	}
	for range n {
		dst[op] = dst[op-dist]
		op++
	}
	return op, false, true
}

// symbol decodes a code.
func (z *inflater) symbol(table []uint32, root uint) (uint32, bool) {
	z.fill()
	e, n := table[z.bits&(1<<root-1)], uint(0)
	if e&entryLink != 0 {
		n = root
		e = table[uint64(e>>valueShift&(1<<12-1))+z.bits>>root&(1<<(e>>extraShift&15)-1)]
	}
	n += uint(e & 15)
	if e&15 == 0 || n > z.nbits {
		return 0, false
	}
	z.bits >>= n
	z.nbits -= n
	return e, true
}
