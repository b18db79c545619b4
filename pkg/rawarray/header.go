package rawarray

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// magic is "rawarray" as a little-endian word.
const magic = 0x7961727261776172

// The places of the words of a header, in bytes.
const (
	atMagic  = 0
	atFlags  = 8
	atEltype = 16
	atElbyte = 24
	atSize   = 32
	atNDims  = 40
	atDims   = 48
)

// maxHeader is the length of the longest header that the library reads.
const maxHeader = atDims + 8*ndarray.MaxNDim

// The bits of the flags.
const (
	flagBig     = 1 << iota // the data is big endian; the header never is
	flagEncoded             // the data is compressed, in one of two ways
	flagBits                // the data is a packed BitArray of RawArray.jl
)

// header is what a file says about its array.
type header struct {
	eltype uint64
	big    bool          // flagBig
	dtype  ndarray.DType // of the elements as they are on disk
	label  string        // of an extension, else ""
	ndim   int
	dims   [ndarray.MaxNDim]int64 // the row-major shape: reversed on disk
	size   int64                  // bytes of data
}

func (h *header) shape() []int64 { return h.dims[:h.ndim:h.ndim] }

// dataOffset is where the data begins. It is a multiple of 8.
func (h *header) dataOffset() int64 { return atDims + 8*int64(h.ndim) }

// end is where the data ends and trailing bytes begin.
func (h *header) end() int64 { return h.dataOffset() + h.size }

// parse reads a header from the first bytes of a file of fileSize bytes: all of
// them, or at least maxHeader. Everything that a header can get wrong is an
// error, so that afterwards the data is known to lie inside the file.
func (h *header) parse(head []byte, fileSize int64) error {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	if len(head) < 8 || word(atMagic) != magic {
		return wrong(ndfile.ErrFormat, atMagic, "magic", `"rawarray"`, strconv.Quote(string(head[:min(8, len(head))])))
	}
	if fileSize < atDims {
		return wrong(ndfile.ErrCorrupt, fileSize, "header", "at least 48 bytes", "a file of "+decimal(fileSize))
	}
	flags, eltype, elbyte, size, ndims := word(atFlags), word(atEltype), word(atElbyte), word(atSize), word(atNDims)
	if unknown := flags &^ (flagBig | flagEncoded | flagBits); unknown != 0 {
		return wrong(ndfile.ErrNotSupported, atFlags, "flags", "0 or 1", hexadecimal(flags)+": unknown bits "+hexadecimal(unknown))
	}
	if most := uint64(fileSize-atDims) / 8; ndims > most {
		return wrong(ndfile.ErrCorrupt, atNDims, "ndims", "at most "+decimal(most)+" in a file of "+decimal(fileSize)+" bytes", decimal(ndims))
	}
	if ndims > ndarray.MaxNDim {
		return wrong(ndfile.ErrLimit, atNDims, "ndims", "at most "+decimal(ndarray.MaxNDim), decimal(ndims))
	}
	h.ndim = int(ndims)
	count, err := h.parseDims(head)
	if err != nil {
		return err
	}
	over, need := bits.Mul64(count, elbyte)
	if flags&(flagEncoded|flagBits) != 0 {
		return wrong(ndfile.ErrNotSupported, atFlags, "flags", "0 or 1", encoding(flags, eltype, over == 0 && need == size))
	}
	h.eltype, h.big = eltype, flags&flagBig != 0
	if h.dtype, h.label, err = dtypeOf(eltype, elbyte, h.big); err != nil {
		return err
	}
	if over != 0 || need > math.MaxInt64 {
		return wrong(ndfile.ErrCorrupt, atDims, "dims", "less than 2^63 bytes", decimal(count)+" elements of "+decimal(elbyte)+" bytes")
	}
	if size != need {
		return wrong(ndfile.ErrCorrupt, atSize, "size", decimal(count)+" elements of "+decimal(elbyte)+" bytes: "+decimal(need), decimal(size))
	}
	h.size = int64(need)
	if have := fileSize - h.dataOffset(); h.size > have {
		return wrong(ndfile.ErrCorrupt, fileSize, "data", decimal(need)+" bytes from byte "+decimal(h.dataOffset())+" on", decimal(have))
	}
	return nil
}

// parseDims reads the dims and gives the number of elements. As everywhere in
// the library a zero makes an array empty, however large its other dims are.
func (h *header) parseDims(head []byte) (count uint64, err error) {
	shape, empty := h.shape(), false
	for i := range shape {
		at := atDims + 8*i
		d := binary.LittleEndian.Uint64(head[at:])
		if d > math.MaxInt64 {
			return 0, wrong(ndfile.ErrCorrupt, int64(at), "dim "+decimal(i), "less than 2^63", decimal(d))
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
			return 0, wrong(ndfile.ErrCorrupt, int64(atDims+8*i), "dims", "less than 2^63 elements", decimal(count)+" x "+decimal(d))
		}
		count = product
	}
	return count, nil
}

// encoding says in words what the data of a file with flagEncoded or flagBits is.
// plain tells that size is that of the data before encoding.
func encoding(flags, eltype uint64, plain bool) string {
	text := hexadecimal(flags) + ": "
	switch {
	case flags&flagBits != 0:
		return text + "a packed BitArray of RawArray.jl, which is not supported"
	case plain && (eltype == eltInt || eltype == eltUint || eltype == eltBrain):
		return text + "LEB128 numbers of RawArray.jl, which are not supported"
	}
	return text + "an LZ4 block of the C library, which is not supported"
}

// fill makes the header of an array to be written. extra is ndfile.Spec.Extra.
// Errors are those of package ndarray for the shape, and ndfile.ErrDType.
func (h *header) fill(d ndarray.DType, shape []int64, extra *ndfile.Attrs) error {
	if err := h.fillType(d, extra); err != nil {
		return err
	}
	size, err := ndarray.NBytes(shape, h.dtype.Size)
	if err != nil {
		return err
	}
	h.size, h.ndim = size, copy(h.dims[:], shape)
	if _, ok := ndarray.Add(h.dataOffset(), size); !ok {
		return ndfile.NewError(ndfile.ErrLimit, "expected a file of less than 2^63 bytes, found "+decimal(size)+" bytes of data")
	}
	return nil
}

// append writes the header.
func (h *header) append(dst []byte) []byte {
	le := binary.LittleEndian
	var flags uint64
	if h.big {
		flags = flagBig
	}
	for _, w := range [...]uint64{magic, flags, h.eltype, uint64(h.dtype.Size), uint64(h.size), uint64(h.ndim)} {
		dst = le.AppendUint64(dst, w)
	}
	for i := h.ndim - 1; i >= 0; i-- {
		dst = le.AppendUint64(dst, uint64(h.dims[i]))
	}
	return dst
}

// wrong is an error of a header: the word it is about, what was expected there,
// and what was found.
func wrong(kind *ndfile.ErrorKind, at int64, word, expected, found string) error {
	return ndfile.NewError(kind, word+": expected "+expected+", found "+found).At(at)
}

// decimal writes a number that is not negative.
func decimal[T int | int64 | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }

func hexadecimal(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }
