package rawarray

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/pierrec/lz4/v4"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// encoding is how the elements of a file with flagEncoded or flagBits lie there.
// The texts are those of Spec.Extra.
type encoding string

const (
	plain  encoding = ""
	lz4One encoding = "lz4"    // one LZ4 block: the C library
	leb128 encoding = "leb128" // numbers of 7 bits a byte, zigzag where signed: RawArray.jl
	bitset encoding = "bits"   // a bit an element in 64-bit words, lowest first: RawArray.jl
)

// The most bytes that a byte of an LZ4 block stands for, and the longest
// data that the C library compresses.
const (
	mostExpanded = 255
	mostLZ4      = 0x7e000000
)

// coded is flat.Encoding.
type coded struct {
	encoding
	eltype, elbyte uint64
	count          int64
	size           int64 // the word of the header
	rest           int64 // bytes behind the header, to the end of the file
}

// bytes are those of the elements when decoded.
func (c *coded) bytes() int64 {
	if c.encoding == bitset {
		return c.count
	}
	return c.count * int64(c.elbyte)
}

// bitBytes are the words of a BitArray of n elements, in bytes.
func bitBytes(n int64) int64 { return (n/64 + (n%64+63)/64) * 8 }

// leb128Of tells whether RawArray.jl writes elements as LEB128 numbers.
func leb128Of(eltype, elbyte uint64, big bool) bool {
	return !big && (eltype == eltInt || eltype == eltUint || eltype == eltBrain && elbyte == 1)
}

// leb128Most is the longest number of some bytes.
func leb128Most(elbyte uint64) int64 { return int64(8*elbyte+6) / 7 }

// newCoded checks what the header says about elements that are encoded, from offset
// to the end of the file at most. It gives how many bytes they take, or the most.
func newCoded(flags, eltype, elbyte, size uint64, count, offset, end int64) (c *coded, stored int64, err error) {
	rest := end - offset
	c = &coded{eltype: eltype, elbyte: elbyte, count: count, rest: rest}
	if size > math.MaxInt64 {
		return nil, 0, flat.Wrong(ndfile.ErrCorrupt, atSize, "size", "less than 2^63", decimal(size))
	}
	c.size = int64(size)
	big := flags&flagBig != 0
	switch {
	case flags&flagBits != 0:
		if c.encoding = bitset; c.size != bitBytes(count) {
			return nil, 0, flat.Wrong(ndfile.ErrCorrupt, atSize, "size", decimal(count)+" bits in words of 64: "+decimal(bitBytes(count)), decimal(size))
		}
		return c, c.size, nil
	case c.size == c.bytes() && leb128Of(eltype, elbyte, big):
		// It can be an LZ4 block nevertheless: Decode sees.
		if c.encoding = leb128; rest < count {
			return nil, 0, flat.Wrong(ndfile.ErrCorrupt, end, "data", "at least "+decimal(count)+" bytes, one a number", decimal(rest))
		}
		most := rest
		if longest := leb128Most(elbyte); count < rest/longest {
			most = count * longest
		}
		return c, min(rest, max(most, c.size)), nil
	case c.size == c.bytes() && !big && (eltype == eltFloat || eltype == eltComplex):
		return c, c.size, nil // plain, or an LZ4 block: Decode sees
	}
	c.encoding = lz4One
	if c.size == 0 || c.bytes() > c.size && c.bytes()/mostExpanded > c.size {
		return nil, 0, flat.Wrong(ndfile.ErrCorrupt, atSize, "size", "an LZ4 block for "+decimal(c.bytes())+" bytes", decimal(size))
	}
	return c, c.size, nil
}

// Decode is flat.Encoding.Decode.
func (c *coded) Decode(dst, src []byte, at int64) (n int, err error) {
	switch c.encoding {
	case bitset:
		for i := range dst {
			dst[i] = src[i/8] >> (i % 8) & 1
		}
		return len(src), nil
	case plain:
		// RawArray.jl sets the flag for floats that it is asked to compress, and writes
		// them as they are. The C library compresses them, to this size by chance.
		if !unpackLZ4(dst, src) {
			copy(dst, src)
		}
		return len(src), nil
	case leb128:
		return c.decodeNumbers(dst, src, at)
	}
	if !unpackLZ4(dst, src) {
		return 0, flat.Wrong(ndfile.ErrCorrupt, at, "data", "an LZ4 block for "+decimal(len(dst))+" bytes", "something else in its "+decimal(len(src))+" bytes")
	}
	return len(src), nil
}

// decodeNumbers reads LEB128 numbers. They can also be an LZ4 block whose size
// happens to be that of the elements.
func (c *coded) decodeNumbers(dst, src []byte, at int64) (n int, err error) {
	isBlock := c.rest >= c.size && unpackLZ4(dst, src[:c.size])
	n, err = c.unpackLEB128(dst, src, at)
	wholeNumbers, wholeBlock := err == nil && int64(n) == c.rest, c.size == c.rest
	switch {
	case !isBlock:
		return n, err
	case err != nil || wholeBlock && !wholeNumbers:
		unpackLZ4(dst, src[:c.size])
		return int(c.size), nil
	case wholeNumbers && !wholeBlock:
		return n, nil
	}
	return 0, flat.Wrong(ndfile.ErrNotSupported, at, "data", "either an LZ4 block or LEB128 numbers", "what can be both, by chance: the file does not tell its values")
}

// unpackLZ4 fills dst from an LZ4 block, or says false where src is not exactly
// one of that length. Of nothing the C library makes a block of one zero.
func unpackLZ4(dst, src []byte) bool {
	if len(dst) == 0 {
		return len(src) == 1 && src[0] == 0
	}
	if len(src) == 0 {
		return false
	}
	n, err := lz4.UncompressBlock(src, dst)
	return err == nil && n == len(dst)
}

// unpackLEB128 fills dst with numbers and gives the bytes that they take.
func (c *coded) unpackLEB128(dst, src []byte, at int64) (n int, err error) {
	size := int(c.elbyte)
	top := uint(8 * size)
	for ; len(dst) > 0; dst = dst[size:] {
		var lo, hi uint64
		first := n
		for shift := uint(0); ; shift += 7 {
			if n == len(src) {
				return 0, flat.Wrong(ndfile.ErrCorrupt, at+int64(n), "data", decimal(c.count)+" LEB128 numbers", "the end after "+decimal(c.count-int64(len(dst)/size)))
			}
			b := src[n]
			n++
			v := uint64(b & 0x7f)
			if shift >= top || top-shift < 7 && v>>(top-shift) != 0 {
				return 0, flat.Wrong(ndfile.ErrCorrupt, at+int64(first), "data", "LEB128 numbers of "+decimal(int(top))+" bits", "a larger one")
			}
			if shift < 64 {
				lo |= v << shift
				hi |= v >> (64 - shift)
			} else {
				hi |= v << (shift - 64)
			}
			if b < 0x80 {
				break
			}
		}
		if c.eltype == eltInt {
			lo, hi = unzigzag(lo, hi, size)
		}
		if size <= 8 {
			putWord(dst[:size], lo)
		} else {
			putWord(dst[:8], lo)
			putWord(dst[8:16], hi)
		}
	}
	return n, nil
}

// putWord stores the low bytes of v.
func putWord(dst []byte, v uint64) {
	for i := range dst {
		dst[i] = byte(v >> (8 * i))
	}
}

// unzigzag undoes 2n for numbers that are not negative and -2n-1 for others. Of 16
// bytes RawArray.jl 0.1.1 mixes the bits from 63 on with the others, for numbers
// beyond 64 bits; it is undone as it was done, and the same for those within.
func unzigzag(lo, hi uint64, size int) (uint64, uint64) {
	if size <= 8 {
		return lo>>1 ^ -(lo & 1), 0
	}
	// y is n<<1 ^ n>>63, the second shift arithmetic: its upper word is w ^ sign and its
	// lower one lower(n<<1) ^ w, where w is bits 63 to 126 of n.
	sign := -((lo ^ hi) & 1)
	w := hi ^ sign
	return (lo^w)>>1 | w<<63, w>>1 | sign<<63
}

// Encode is flat.Encoding.Encode.
func (c *coded) Encode(head, data []byte) ([]byte, error) {
	switch c.encoding {
	case bitset:
		out := make([]byte, bitBytes(int64(len(data))))
		for i, b := range data {
			if b != 0 {
				out[i/8] |= 1 << (i % 8)
			}
		}
		return out, nil
	case leb128:
		out, err := c.packLEB128(data)
		if err == nil && len(out) == len(data) && unpackLZ4(slices.Clone(data), out) {
			err = ndfile.NewError(ndfile.ErrValue, "these LEB128 numbers would be an LZ4 block, too: save them without an encoding")
		}
		return out, err
	}
	out := make([]byte, lz4.CompressBlockBound(len(data))+1)
	n := 0
	var err error
	if len(data) > 0 {
		if n, err = lz4.CompressBlock(data, out, nil); err != nil {
			return nil, err
		}
	}
	if n == 0 || n == len(data) { // of the size of the data it could be taken for something else
		n = len(literals(out[:0], data))
	}
	binary.LittleEndian.PutUint64(head[atSize:], uint64(n))
	return out[:n], nil
}

// literals is an LZ4 block without matches.
func literals(dst, data []byte) []byte {
	n := len(data)
	dst = append(dst, byte(min(n, 15)<<4))
	if n >= 15 {
		for n -= 15; n >= 255; n -= 255 {
			dst = append(dst, 255)
		}
		dst = append(dst, byte(n))
	}
	return append(dst, data...)
}

// packLEB128 is what RawArray.jl writes.
func (c *coded) packLEB128(data []byte) ([]byte, error) {
	size := int(c.elbyte)
	out := make([]byte, 0, len(data)+len(data)/4)
	for i := 0; i < len(data); i += size {
		var lo, hi uint64
		for k, b := range data[i : i+size] {
			if k < 8 {
				lo |= uint64(b) << (8 * k)
			} else {
				hi |= uint64(b) << (8 * (k - 8))
			}
		}
		if c.eltype == eltInt {
			if size > 8 {
				if hi != -(lo >> 63) {
					return nil, ndfile.NewError(ndfile.ErrValue, "element "+decimal(i/size)+" is beyond 64 bits: RawArray.jl does not read back such a "+
						"number that it encodes; save without an encoding")
				}
				hi = 0
			}
			shift := uint(64 - 8*min(size, 8))
			n := int64(lo<<shift) >> shift
			lo = uint64(n<<1 ^ n>>63)
			if size < 8 {
				lo &= 1<<(8*size) - 1
			}
		}
		for lo|hi >= 0x80 || hi != 0 {
			out = append(out, byte(lo)|0x80)
			lo, hi = lo>>7|hi<<57, hi>>7
		}
		out = append(out, byte(lo))
	}
	return out, nil
}

// canEncode reports whether elements of a dtype and a type code can be encoded.
func (e encoding) canEncode(d ndarray.DType, eltype uint64) error {
	switch {
	case e == plain || e == lz4One:
		return nil
	case e == leb128 && (d.Kind == ndarray.Bool || leb128Of(eltype, uint64(d.Size), false)):
		return nil
	case e == bitset && d.Kind == ndarray.Bool:
		return nil
	case e != leb128 && e != bitset:
		return ndfile.NewError(ndfile.ErrArgument, `extra: "encoding": expected "lz4", "leb128" or "bits", found "`+string(e)+`"`)
	}
	return ndfile.NewError(ndfile.ErrDType, `encoding "`+string(e)+`" is not for elements of dtype `+d.String())
}
