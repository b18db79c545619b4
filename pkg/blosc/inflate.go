package blosc

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// inflater decodes a Deflate stream (RFC 1951) from one buffer to another: the whole output is its window, and nothing is copied
// twice. Tables of up to 11 and 8 bits decode most codes in one step, a second
// table those that are longer; two short literals may be one step. The loop that
// does the work is written twice, here and in asm/inflate.go, which knows where
// the tables lie.
type inflater struct {
	litlen [litlenSize]uint32
	dist   [distSize]uint32
	// The bits by which the tables are entered.
	litlenRoot, distRoot uint
	fixed                bool // the tables are those of a fixed block

	src   []byte
	at    int    // the next byte of src
	bits  uint64 // the next bits of the stream, lowest first
	nbits uint
	long  bool // a block that is not compressed did not fit into the output
	lens  [320]uint8
	tail  [2 * inflateRead]byte // the end of src, and zeros
}

// A table entry is, from the lowest bit: 8 bits length of the code with its extra
// bits, 4 bits length of the code without them, 4 flags, 16 bits value. Of a link:
// bits of the first table, bits of the second, flags, its place. The value of a
// pair is two literals.
const (
	litlenBits, litlenSize = 11, 2400 // 2342 are used at most (zlib's enough.c)
	distBits, distSize     = 8, 420   // 402

	lengthShift = 8
	valueShift  = 16

	entryLiteral = 1 << 15
	entryPair    = 1 << 13 // of a literal
	entrySpecial = 1 << 14 // with one of the next two; else there is no such code
	entryLink    = 1 << 13 // to a second table
	entryEnd     = 1 << 12 // of a block
	entryBad     = entrySpecial
)

// litlenValues and distValues are the entries of the symbols, without the
// lengths of the codes: extra bits are where those of both go.
var litlenValues, distValues = func() (l [288]uint32, d [32]uint32) {
	for i := range 256 {
		l[i] = entryLiteral | uint32(i)<<valueShift
	}
	l[256] = entrySpecial | entryEnd
	for i, base := uint32(0), uint32(3); i < 28; i++ {
		extra := uint32(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		l[257+i] = base<<valueShift | extra
		base += 1 << extra
	}
	l[285] = 258 << valueShift
	l[286], l[287] = entryBad, entryBad
	for i, base := uint32(0), uint32(1); i < 30; i++ {
		extra := uint32(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		d[i] = base<<valueShift | extra
		base += 1 << extra
	}
	d[30], d[31] = entryBad, entryBad
	return l, d
}()

// value is that of a length or a distance, with the extra bits of what was hold
// before the code.
func value(e uint32, hold uint64) int {
	return int(e>>valueShift) + int(hold&(1<<(e&63)-1)>>(e>>lengthShift&15))
}

// inflate decodes the stream at the beginning of src to dst. It gives the bytes of
// both that the stream has; where ok is false, those that were written.
func (z *inflater) inflate(dst, src []byte) (n, read int, ok bool) {
	z.src, z.at, z.bits, z.nbits, z.long = src, 0, 0, 0, false
	defer func() { z.src = nil }()
	op := 0
	for last := false; !last; {
		head, ok := z.take(3)
		if !ok {
			return op, 0, false
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
			return op, 0, false
		}
	}
	return op, z.at - int(z.nbits/8), true
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
	if n > len(z.src)-z.at {
		return op, false
	}
	if n > len(dst)-op {
		z.long = true
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
	z.litlenRoot = buildTable(z.litlen[:], litlenBits, z.lens[:288], litlenValues[:], false)
	for i := range 32 {
		z.lens[i] = 5
	}
	z.distRoot = buildTable(z.dist[:], distBits, z.lens[:32], distValues[:], false)
	z.fixed = true
	return true
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
	root := buildTable(table[:], 7, lens[:], codeValues[:], false)
	if root == 0 {
		return false
	}
	for i := 0; i < nlit+ndist; {
		z.fill()
		e := table[z.bits&(1<<root-1)]
		n := uint(e & 15)
		if e == entryBad || n > z.nbits {
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
	z.litlenRoot = buildTable(z.litlen[:], litlenBits, z.lens[:nlit], litlenValues[:], true)
	z.distRoot = buildTable(z.dist[:], distBits, z.lens[nlit:nlit+ndist], distValues[:], true)
	return z.litlenRoot > 0 && z.distRoot > 0
}

// buildTable makes the decoding table of a canonical code, of up to most bits and
// with second tables behind, and gives the bits by which it is entered: as few as
// the code needs, because filling it takes longer than decoding a short stream. 0
// refuses codes that overlap, and, as zlib does, incomplete ones but for a single
// code of one bit where single is set, and no code at all.
func buildTable(table []uint32, most int, lens []uint8, values []uint32, single bool) uint {
	var order [288]uint16 // symbols in the order of their codes
	count, longest, left := orderCodes(&order, lens)
	switch {
	case longest == 0 && !single, left < 0, left > 0 && longest > 0 && (!single || longest != 1):
		return 0
	case longest == 0:
		table[0], table[1] = entryBad, entryBad
		return 1
	}
	used := order[:len(lens)-count[0]]
	root := min(most, longest)
	// The table of the codes of up to n bits, made twice as large with each bit
	// more: what is shorter is there twice. Codes are counted up by their highest
	// bit, places by their lowest.
	code, size := 0, 1
	for n := 1; n <= root; n++ {
		copy(table[size:2*size], table[:size])
		size *= 2
		code <<= 1
		for range count[n] {
			sym := used[0]
			used = used[1:]
			at := int(bits.Reverse16(uint16(code)) >> (16 - n))
			table[at] = values[sym] + uint32(n<<lengthShift|n)
			code++
		}
	}
	if left > 0 {
		table[1] = entryBad
	}
	next := size // where a second table may begin
	sub, subBits, prefix := 0, 0, -1
	for n := root + 1; n <= longest; n++ {
		code <<= 1
		for k := count[n]; k > 0; k-- {
			sym := used[0]
			used = used[1:]
			reversed := int(bits.Reverse16(uint16(code)) >> (16 - n))
			code++
			if p := reversed & (size - 1); p != prefix {
				// As many bits as the codes with this prefix need.
				prefix, sub, subBits = p, next, n-root
				for room, codes := 1<<subBits, k; subBits+root < longest; {
					if room -= codes; room <= 0 {
						break
					}
					room <<= 1
					subBits++
					codes = count[subBits+root]
				}
				next += 1 << subBits
				if next > len(table) {
					return 0
				}
				table[p] = entrySpecial | entryLink | uint32(sub)<<valueShift | uint32(subBits)<<lengthShift | uint32(root)
			}
			entry := values[sym] + uint32((n-root)<<lengthShift|(n-root))
			for i := reversed >> root; i < 1<<subBits; i += 1 << (n - root) {
				table[sub+i] = entry
			}
		}
	}
	return uint(root)
}

// orderCodes counts the codes of each length, gives the longest and how many codes
// of that length are left over (negative: too many are used), and puts the symbols
// into the order of their codes.
func orderCodes(order *[288]uint16, lens []uint8) (count [16]int, longest, left int) {
	for _, n := range lens {
		count[n&15]++
	}
	longest = 15
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	left = 1
	for n := 1; n <= 15; n++ {
		if left = left<<1 - count[n]; left < 0 {
			return count, longest, left
		}
	}
	var offset [16]int
	for n := 1; n < 15; n++ {
		offset[n+1] = offset[n] + count[n]
	}
	for sym, n := range lens {
		if n != 0 {
			order[offset[n]] = uint16(sym)
			offset[n]++
		}
	}
	return count, longest, left
}

// pairs makes one entry of two literals whose codes are short enough. That takes
// as long as decoding some thousand bytes.
func (z *inflater) pairs() {
	table := z.litlen[:1<<z.litlenRoot]
	for i := len(table) - 1; i >= 0; i-- { // second ones are in front: they are single yet
		e := table[i]
		n := uint(e & 63)
		if e&entryLiteral == 0 || n >= z.litlenRoot {
			continue
		}
		second := table[i>>n]
		if m := uint(second & 63); second&entryLiteral != 0 && n+m <= z.litlenRoot {
			table[i] = entryLiteral | entryPair | (second>>valueShift<<8|e>>valueShift)<<valueShift | uint32(n+m)
		}
	}
}

// Where a turn of the fast loop may begin: it reads up to three times 8 bytes, 7
// apart, and writes up to three entries of 2 literals.
const (
	inflateRead  = 24
	inflateWrite = 8
)

// inflatePairs is the output from which on pairs are worth while.
const inflatePairs = 16 << 10

// block decodes one block by the tables.
func (z *inflater) block(dst []byte, op int) (int, bool) {
	if len(dst)-op >= inflatePairs && !z.fixed {
		z.pairs()
	}
	op, done, ok := z.fastBlock(dst, op)
	for ok && !done {
		op, done, ok = z.slowSymbol(dst, op)
	}
	return op, ok
}

// fastBlock decodes while there is room for any symbol at both ends.
func (z *inflater) fastBlock(dst []byte, start int) (op int, done, ok bool) {
	op = start
	lastAt, lastOp := len(z.src)-inflateRead, len(dst)-inflateWrite
	if op > lastOp {
		return op, false, true
	}
	if op, done, ok, all := z.fastBlockKernel(dst, op, lastOp); all {
		return op, done, ok
	}
	if z.at > lastAt {
		return op, false, true
	}
	var (
		at, hold, nbits = z.at, z.bits, z.nbits
		litlen          = uint64(1)<<z.litlenRoot - 1
		dists           = uint64(1)<<z.distRoot - 1
		p               = unsafe.Pointer(unsafe.SliceData(z.src))
	)
	for at <= lastAt && op <= lastOp {
		hold |= load64(p, at) << (nbits & 63)
		at += int((63 - nbits) / 8)
		nbits |= 56
		// Up to two literals and a length: 11+11+15+5 bits and, after another
		// fill, 15+13.
		e := z.litlen[hold&litlen&(1<<litlenBits-1)]
		for range 2 {
			if e&entryLiteral == 0 {
				break
			}
			hold >>= e & 63
			nbits -= uint(e & 63)
			binary.LittleEndian.PutUint16(dst[op:], uint16(e>>valueShift))
			op += 1 + int(e/entryPair&1)
			e = z.litlen[hold&litlen&(1<<litlenBits-1)]
		}
		if e&(entryLiteral|entrySpecial|entryLink) == entrySpecial|entryLink {
			hold >>= e & 63
			nbits -= uint(e & 63)
			e = z.litlen[uint64(e>>valueShift&(1<<12-1))+hold&(1<<(e>>lengthShift&15)-1)]
		}
		if e&entryLiteral != 0 {
			hold >>= e & 63
			nbits -= uint(e & 63)
			binary.LittleEndian.PutUint16(dst[op:], uint16(e>>valueShift))
			op += 1 + int(e/entryPair&1)
			continue
		}
		n := value(e, hold)
		hold >>= e & 63
		nbits -= uint(e & 63)
		if e&entrySpecial != 0 {
			z.at, z.bits, z.nbits = at, hold&(1<<nbits-1), nbits
			return op, e&entryEnd != 0, e&entryEnd != 0
		}
		hold |= load64(p, at) << (nbits & 63)
		at += int((63 - nbits) / 8)
		nbits |= 56
		e = z.dist[hold&dists&(1<<distBits-1)]
		if e&entrySpecial != 0 {
			if e&entryLink == 0 {
				return op, false, false
			}
			hold >>= e & 63
			nbits -= uint(e & 63)
			if e = z.dist[uint64(e>>valueShift&(1<<9-1))+hold&(1<<(e>>lengthShift&15)-1)]; e&entrySpecial != 0 {
				return op, false, false
			}
		}
		dist := value(e, hold)
		hold >>= e & 63
		nbits -= uint(e & 63)
		if dist > op || n > len(dst)-op {
			return op, false, false
		}
		copyWithin(dst, op, dist, n)
		op += n
	}
	z.at, z.bits, z.nbits = at, hold&(1<<nbits-1), nbits
	return op, false, true
}

// copyWithin repeats n bytes of dst from dist before op, which are there.
func copyWithin(dst []byte, op, dist, n int) {
	for end := op + n; op < end; { // doubling what is there to copy
		m := copy(dst[op:end], dst[op-dist:op])
		op += m
		dist += m
	}
}

// slowSymbol decodes one entry with every check.
func (z *inflater) slowSymbol(dst []byte, op int) (_ int, done, ok bool) {
	e, hold, ok := z.symbol(z.litlen[:], z.litlenRoot)
	switch {
	case !ok:
		return op, false, false
	case e&entryLiteral != 0:
		n := 1 + int(e/entryPair&1)
		if n > len(dst)-op {
			return op, false, false
		}
		dst[op] = byte(e >> valueShift)
		if n == 2 {
			dst[op+1] = byte(e >> (valueShift + 8))
		}
		return op + n, false, true
	case e&entrySpecial != 0:
		return op, true, e&entryEnd != 0
	}
	n := value(e, hold)
	if e, hold, ok = z.symbol(z.dist[:], z.distRoot); !ok || e&entrySpecial != 0 {
		return op, false, false
	}
	dist := value(e, hold)
	if dist > op || n > len(dst)-op {
		return op, false, false
	}
	copyWithin(dst, op, dist, n)
	return op + n, false, true
}

// symbol decodes a code with its extra bits, and gives the bits that it began with.
func (z *inflater) symbol(table []uint32, root uint) (e uint32, hold uint64, ok bool) {
	z.fill()
	e = table[z.bits&(1<<root-1)]
	if e&(entryLiteral|entrySpecial|entryLink) == entrySpecial|entryLink {
		if uint(e&63) > z.nbits {
			return 0, 0, false
		}
		z.bits >>= e & 63
		z.nbits -= uint(e & 63)
		e = table[uint64(e>>valueShift)+z.bits&(1<<(e>>lengthShift&15)-1)]
	}
	if uint(e&63) > z.nbits {
		// Of a pair at the very end only the first one may be there: that is not so,
		// as the end of the block comes behind it.
		return 0, 0, false
	}
	hold = z.bits
	z.bits >>= e & 63
	z.nbits -= uint(e & 63)
	return e, hold, true
}
