package blosc

import "encoding/binary"

// planes are a filtered block, byte j of each element in planes[j]: for the
// byte shuffle in the order of the elements, for the bit shuffle as 8 runs of
// bits, lowest first. Their memory may be a stream inside the chunk, so that
// stored streams are filtered without a copy.
type planes [MaxTypeSize][]byte

// shape is how the filter of a chunk sees one block.
type shape struct {
	filter   Shuffle // NoShuffle also where the rules make the filter do nothing
	typeSize int
	items    int    // whole elements in the block
	tail     []byte // the bytes after them, which no filter changes
}

// newShape applies the rules of when a filter does nothing.
func newShape(filter Shuffle, typeSize, blockLen int) shape {
	items := blockLen / typeSize
	if items == 0 || filter == ByteShuffle && typeSize == 1 || filter == BitShuffle && items%8 != 0 {
		filter = NoShuffle
	}
	return shape{filter: filter, typeSize: typeSize, items: items}
}

func (s *shape) filtered() bool { return s.filter != NoShuffle }

// setStream makes stream j of a block the planes that it holds: one plane if
// the block is split, all of them and the tail if not.
func (st *state) setStream(s *shape, j, splits int, stream []byte) {
	if splits > 1 {
		st.planes[j] = stream
		return
	}
	for j := range s.typeSize {
		st.planes[j] = stream[j*s.items : (j+1)*s.items]
	}
	s.tail = stream[s.typeSize*s.items:]
}

// apply filters src into the planes and the tail.
func (s *shape) apply(st *state, src []byte) {
	p := st.planes[:s.typeSize]
	if s.filter == ByteShuffle {
		shuffle(p, src, s.items)
	} else {
		bitShuffle(&st.tile, p, src, s.items)
	}
	copy(s.tail, src[s.typeSize*s.items:])
}

// undo makes dst, a block, of the planes and the tail.
func (s *shape) undo(st *state, dst []byte) {
	p := st.planes[:s.typeSize]
	if s.filter == ByteShuffle {
		unshuffle(dst, p, s.items)
	} else {
		bitUnshuffle(&st.tile, dst, p, s.items)
	}
	copy(dst[s.typeSize*s.items:], s.tail)
}

// shuffle copies byte j of the n elements of src to p[j].
func shuffle(p [][]byte, src []byte, n int) {
	done := shuffleFast(p, src, n)
	shufflePortable(p, src, done, n)
}

// unshuffle is the inverse of shuffle.
func unshuffle(dst []byte, p [][]byte, n int) {
	done := unshuffleFast(dst, p, n)
	unshufflePortable(dst, p, done, n)
}

// portableTile is the elements that the portable kernels handle at once, so
// that they stay in the first-level cache.
const portableTile = 64

func shufflePortable(p [][]byte, src []byte, from, n int) {
	size := len(p)
	for ; from < n; from += portableTile {
		end := min(from+portableTile, n)
		for j := range p {
			at := from*size + j
			out := p[j][from:end]
			for i := range out {
				out[i] = src[at]
				at += size
			}
		}
	}
}

func unshufflePortable(dst []byte, p [][]byte, from, n int) {
	size := len(p)
	for ; from < n; from += portableTile {
		end := min(from+portableTile, n)
		for j := range p {
			at := from*size + j
			for _, b := range p[j][from:end] {
				dst[at] = b
				at += size
			}
		}
	}
}

// The bit shuffle is a byte shuffle followed by a transposition of the bits of
// each plane. Both run tile by tile, so that the bytes between the two steps
// stay in the first-level cache.
const (
	bitTileBytes = 16 << 10
	bitTileStep  = 256 // tiles but the last are multiples of what the kernels take
)

// bitTile is the memory between the two steps.
type bitTile struct {
	bytes [bitTileBytes + MaxTypeSize*bitTileStep]byte
	p     planes
}

// tileItems gives the elements in a tile.
func tileItems(typeSize int) int { return max(bitTileBytes/typeSize&^(bitTileStep-1), bitTileStep) }

// planesFor gives planes of n elements in the tile.
func (t *bitTile) planesFor(typeSize, n int) [][]byte {
	for j := range typeSize {
		t.p[j] = t.bytes[j*n : (j+1)*n]
	}
	return t.p[:typeSize]
}

// bitShuffle is for n a multiple of 8.
func bitShuffle(t *bitTile, p [][]byte, src []byte, n int) {
	size := len(p)
	step := tileItems(size)
	for from := 0; from < n; from += step {
		m := min(step, n-from)
		tile := t.planesFor(size, m)
		shuffle(tile, src[from*size:], m)
		for j := range p {
			bitsOut(p[j][from/8:], n/8, tile[j])
		}
	}
}

// bitUnshuffle is the inverse of bitShuffle.
func bitUnshuffle(t *bitTile, dst []byte, p [][]byte, n int) {
	size := len(p)
	step := tileItems(size)
	for from := 0; from < n; from += step {
		m := min(step, n-from)
		tile := t.planesFor(size, m)
		for j := range p {
			bitsIn(tile[j], p[j][from/8:], n/8)
		}
		unshuffle(dst[from*size:], tile, m)
	}
}

// bitsOut writes bit k of the bytes of src to dst[k*stride:], 8 to a byte,
// lowest first. len(src) is a multiple of 8.
func bitsOut(dst []byte, stride int, src []byte) {
	done := bitsOutFast(dst, stride, src)
	bitsOutPortable(dst, stride, src, done)
}

// bitsIn is the inverse of bitsOut; it fills dst.
func bitsIn(dst, src []byte, stride int) {
	done := bitsInFast(dst, src, stride)
	bitsInPortable(dst, src, stride, done)
}

func bitsOutPortable(dst []byte, stride int, src []byte, from int) {
	for i := from / 8; i < len(src)/8; i++ {
		x := transpose8x8(binary.LittleEndian.Uint64(src[8*i:]))
		for k := range 8 {
			dst[k*stride+i] = byte(x >> (8 * k))
		}
	}
}

func bitsInPortable(dst, src []byte, stride, from int) {
	for i := from / 8; i < len(dst)/8; i++ {
		var x uint64
		for k := range 8 {
			x |= uint64(src[k*stride+i]) << (8 * k)
		}
		binary.LittleEndian.PutUint64(dst[8*i:], transpose8x8(x))
	}
}

// transpose8x8 transposes a matrix of bits whose rows are the bytes of x.
func transpose8x8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
