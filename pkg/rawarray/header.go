package rawarray

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// magic begins every file.
const magic = "rawarray"

// The places of the words of a header, in bytes.
const (
	atFlags  = 8
	atEltype = 16
	atElbyte = 24
	atSize   = 32
	atNDims  = 40
	atDims   = 48
)

// The longest header is what flat.Format.Parse sees at least.
const _ = uint(flat.HeadSize - (atDims + 8*ndarray.MaxNDim))

// The bits of the flags.
const (
	flagBig     = 1 << iota // the data is big endian; the header never is
	flagEncoded             // the data is compressed, in one of two ways
	flagBits                // the data is a packed BitArray of RawArray.jl
)

// header is what the words of a header say about the elements.
type header struct {
	eltype uint64
	big    bool          // flagBig
	dtype  ndarray.DType // of the elements as they are on disk
	label  string        // of an extension, else ""
	encoding
}

// parse is flat.Format.Parse.
func parse(f *flat.Header, head []byte, fileSize int64, _ ndfile.Limits) (need int, err error) {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	if fileSize < atDims {
		return 0, flat.Wrong(ndfile.ErrCorrupt, fileSize, "header", "at least 48 bytes", "a file of "+decimal(fileSize))
	}
	flags, eltype, elbyte, size, ndims := word(atFlags), word(atEltype), word(atElbyte), word(atSize), word(atNDims)
	if unknown := flags &^ (flagBig | flagEncoded | flagBits); unknown != 0 {
		return 0, flat.Wrong(ndfile.ErrNotSupported, atFlags, "flags", "0 to 7", hexadecimal(flags)+": unknown bits "+hexadecimal(unknown))
	}
	if most := uint64(fileSize-atDims) / 8; ndims > most {
		return 0, flat.Wrong(ndfile.ErrCorrupt, atNDims, "ndims", "at most "+decimal(most)+" in a file of "+decimal(fileSize)+" bytes", decimal(ndims))
	}
	if ndims > ndarray.MaxNDim {
		return 0, flat.Wrong(ndfile.ErrLimit, atNDims, "ndims", "at most "+decimal(ndarray.MaxNDim), decimal(ndims))
	}
	f.Offset = atDims + 8*int64(ndims)
	f.Shape = append(f.Shape, make([]int64, ndims)...)
	count, err := parseDims(f.Shape, head)
	if err != nil {
		return 0, err
	}
	h := header{eltype: eltype, big: flags&flagBig != 0}
	if flags&flagBits != 0 {
		switch {
		case h.big:
			return 0, flat.Wrong(ndfile.ErrNotSupported, atFlags, "flags", "6 for a BitArray", hexadecimal(flags)+": a big endian one")
		case eltype != eltBrain:
			return 0, flat.Wrong(ndfile.ErrCorrupt, atEltype, "eltype", "5 for a BitArray", decimal(eltype))
		case elbyte != 8:
			return 0, flat.Wrong(ndfile.ErrCorrupt, atElbyte, "elbyte", "8 for a BitArray", decimal(elbyte))
		}
		elbyte = 1
	}
	over, bytes := bits.Mul64(count, elbyte)
	if h.dtype, h.label, err = dtypeOf(eltype, elbyte, h.big); err != nil {
		return 0, err
	}
	if over != 0 || bytes > math.MaxInt64 {
		return 0, flat.Wrong(ndfile.ErrCorrupt, atDims, "dims", "less than 2^63 bytes", decimal(count)+" elements of "+decimal(elbyte)+" bytes")
	}
	if flags&(flagEncoded|flagBits) != 0 {
		c, stored, err := newCoded(flags, eltype, elbyte, size, int64(count), f.Offset, fileSize)
		if err != nil {
			return 0, err
		}
		f.Encoding, f.Stored, h.encoding = c, stored, c.encoding
	} else if size != bytes {
		return 0, flat.Wrong(ndfile.ErrCorrupt, atSize, "size", decimal(count)+" elements of "+decimal(elbyte)+" bytes: "+decimal(bytes), decimal(size))
	}
	h.tell(f)
	return int(f.Offset), nil
}

// tell says to package flat what the header says.
func (h *header) tell(f *flat.Header) {
	f.DType, f.Opaque, f.Extra = h.dtype, true, h.extra()
}

// parseDims reads the dims into shape, which is row-major: they are reversed on
// disk. It gives the number of elements. As everywhere in the library a zero makes
// an array empty, however large its other dims are.
func parseDims(shape []int64, head []byte) (count uint64, err error) {
	empty := false
	for i := range shape {
		at := atDims + 8*i
		d := binary.LittleEndian.Uint64(head[at:])
		if d > math.MaxInt64 {
			return 0, flat.Wrong(ndfile.ErrCorrupt, int64(at), "dim "+decimal(i), "less than 2^63", decimal(d))
		}
		shape[len(shape)-1-i] = int64(d)
		empty = empty || d == 0
	}
	if empty {
		return 0, nil
	}
	count = 1
	for i := range shape {
		d := uint64(shape[len(shape)-1-i])
		over, product := bits.Mul64(count, d)
		if over != 0 || product > math.MaxInt64 {
			return 0, flat.Wrong(ndfile.ErrCorrupt, int64(atDims+8*i), "dims", "less than 2^63 elements", decimal(count)+" x "+decimal(d))
		}
		count = product
	}
	return count, nil
}

// appendHeader is flat.Format.Append.
func appendHeader(f *flat.Header, dst []byte, spec ndfile.Spec) ([]byte, error) {
	var h header
	if err := h.fill(spec.DType, spec.Extra); err != nil {
		return nil, err
	}
	size, err := ndarray.NBytes(spec.Shape, h.dtype.Size)
	if err != nil {
		return nil, err
	}
	var flags uint64
	elbyte := uint64(h.dtype.Size)
	if h.big {
		flags = flagBig
	}
	if h.encoding != plain {
		flags |= flagEncoded
		count := int64(0)
		if size > 0 {
			count = size / int64(h.dtype.Size)
		}
		f.Encoding = &coded{encoding: h.encoding, eltype: h.eltype, elbyte: elbyte, count: count}
	}
	switch {
	case h.encoding == bitset:
		flags |= flagBits
		elbyte, size = 8, bitBytes(size)
	case h.encoding == lz4One && size > mostLZ4:
		return nil, ndfile.NewError(ndfile.ErrLimit, "an LZ4 block holds at most "+decimal(mostLZ4)+" bytes, found "+decimal(size))
	}
	le := binary.LittleEndian
	dst = append(dst, magic...)
	for _, w := range [...]uint64{flags, h.eltype, elbyte, uint64(size), uint64(len(spec.Shape))} {
		dst = le.AppendUint64(dst, w)
	}
	for _, n := range slices.Backward(spec.Shape) {
		dst = le.AppendUint64(dst, uint64(n))
	}
	h.tell(f)
	return dst, nil
}

// decimal writes a number that is not negative.
func decimal[T int | int64 | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }

func hexadecimal(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }
