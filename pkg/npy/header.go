package npy

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyliteral"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// magic begins every file; two bytes of the version follow.
const magic = "\x93NUMPY"

// The places of what comes before the text of a header, in bytes.
const (
	atVersion = len(magic)
	atLength  = atVersion + 2
	atText1   = atLength + 2 // in version 1.0
	atText2   = atLength + 4 // in versions 2.0 and 3.0
)

// What numpy.save fills up with spaces, so that a header can be changed in place.
const (
	alignment    = 64 // of the data in a file
	growthDigits = 21 // for the extent that grows
)

// header is what a file says about its array.
type header struct {
	dtype   ndarray.DType
	shape   []int64 // as NumPy shows it
	fortran bool    // the first axis varies fastest, and there are several
	offset  int64   // of the data, which follows the header
	size    int64   // of the data in bytes
}

// readHeader reads the header of a file of size bytes.
func readHeader(ctx context.Context, in vfs.File, size int64, limits ndfile.Limits) (*header, error) {
	head := make([]byte, min(size, 512)) // enough for most
	if err := flat.ReadFull(ctx, in, head, 0); err != nil {
		return nil, err
	}
	n, err := headerLength(head, size, limits)
	if err != nil {
		return nil, err
	}
	if have := len(head); n > have {
		head = append(head, make([]byte, n-have)...)
		if err := flat.ReadFull(ctx, in, head[have:], int64(have)); err != nil {
			return nil, err
		}
	}
	return parseHeader(head[:n], size)
}

// headerLength is the number of bytes up to the data, from the first bytes of a
// file: all of them, or at least 12. It is at most size.
func headerLength(head []byte, size int64, limits ndfile.Limits) (int, error) {
	switch {
	case len(head) < atVersion || string(head[:atVersion]) != magic:
		return 0, wrong(ndfile.ErrFormat, 0, "magic", strconv.Quote(magic), strconv.Quote(string(head[:min(len(head), atVersion)])))
	case len(head) < atText1:
		return 0, wrong(ndfile.ErrCorrupt, size, "header", "at least 10 bytes", "a file of "+decimal(size))
	}
	var start, length int64
	switch major, minor := head[atVersion], head[atVersion+1]; {
	case minor == 0 && major == 1:
		start, length = int64(atText1), int64(binary.LittleEndian.Uint16(head[atLength:]))
	case minor == 0 && (major == 2 || major == 3):
		if len(head) < atText2 {
			return 0, wrong(ndfile.ErrCorrupt, size, "header", "at least 12 bytes", "a file of "+decimal(size))
		}
		start, length = int64(atText2), int64(binary.LittleEndian.Uint32(head[atLength:]))
	default:
		return 0, wrong(ndfile.ErrNotSupported, int64(atVersion), "version", "1.0, 2.0 or 3.0", decimal(int64(major))+"."+decimal(int64(minor)))
	}
	if most := size - start; length > most {
		return 0, wrong(ndfile.ErrCorrupt, int64(atLength), "length of the header", "at most "+decimal(most)+" in a file of "+decimal(size)+" bytes", decimal(length))
	}
	if most := min(limits.Header(), pyliteral.MaxLen); length > most {
		return 0, wrong(ndfile.ErrLimit, int64(atLength), "length of the header", "at most "+decimal(most), decimal(length))
	}
	return int(start + length), nil
}

// parseHeader reads a header, all of which is in head, of a file of size bytes.
// Everything that a header can get wrong is an error, so that afterwards the
// data is known to lie inside the file.
func parseHeader(head []byte, size int64) (*header, error) {
	start, text := int64(atText2), ""
	if head[atVersion] == 1 {
		start = int64(atText1)
	}
	if head[atVersion] == 3 {
		text = string(head[start:])
	} else {
		text = fromLatin1(head[start:])
	}
	v, ok := pyliteral.Parse(text)
	descr, hasDescr := v.Get("descr")
	order, hasOrder := v.Get("fortran_order")
	shape, hasShape := v.Get("shape")
	if !ok || len(v.Keys) != 3 || !hasDescr || !hasOrder || !hasShape || order.Kind != pyliteral.Bool || shape.Kind != pyliteral.Tuple {
		return nil, wrong(ndfile.ErrCorrupt, start, "header", "a Python dict of a dtype 'descr', a bool 'fortran_order' and a tuple 'shape'", short(text))
	}
	h := &header{offset: int64(len(head)), shape: make([]int64, len(shape.Items)), fortran: order.N != 0 && len(shape.Items) > 1}
	if most := ndarray.MaxNDim; len(shape.Items) > most {
		return nil, wrong(ndfile.ErrLimit, start, "shape", "at most "+decimal(int64(most))+" axes", decimal(int64(len(shape.Items))))
	}
	for i := range shape.Items {
		if h.shape[i] = shape.Items[i].N; shape.Items[i].Kind != pyliteral.Int || h.shape[i] < 0 {
			return nil, wrong(ndfile.ErrCorrupt, start, "shape", "extents from 0 to 2^63 - 1", short(text))
		}
	}
	var err error
	if h.dtype, err = dtypeOf(&descr); err != nil {
		return nil, ndfile.NewError(ndfile.KindOf(err), "").At(start).Because(err)
	}
	if h.size, err = ndarray.NBytes(h.shape, h.dtype.Size); err != nil {
		return nil, ndfile.NewError(ndfile.ErrCorrupt, "shape").At(start).Because(err)
	}
	if have := size - h.offset; h.size > have {
		return nil, wrong(ndfile.ErrCorrupt, size, "data", decimal(h.size)+" bytes from byte "+decimal(h.offset)+" on", decimal(have))
	}
	return h, nil
}

// strides are those of the data in memory.
func (h *header) strides() ([]int64, error) {
	if !h.fortran {
		return nil, nil
	}
	strides, err := ndarray.AppendStrides(nil, reversed(h.shape), h.dtype.Size)
	slices.Reverse(strides)
	return strides, err
}

// newHeader makes the header of an array to be written, and its bytes. Errors
// are those of package ndarray for the shape, ErrDType and ErrLimit.
func newHeader(d ndarray.DType, shape []int64) (*header, []byte, error) {
	if err := checkDType(&d); err != nil {
		return nil, nil, err
	}
	h := &header{dtype: d, shape: slices.Clone(shape)}
	var err error
	if h.size, err = ndarray.NBytes(shape, d.Size); err != nil {
		return nil, nil, err
	}
	head, err := appendHeader(nil, h)
	if err != nil {
		return nil, nil, err
	}
	h.offset = int64(len(head))
	if _, ok := ndarray.Add(h.offset, h.size); !ok {
		return nil, nil, ndfile.NewError(ndfile.ErrLimit, "expected a file of less than 2^63 bytes, found "+decimal(h.size)+" bytes of data")
	}
	return h, head, nil
}

// appendHeader writes what numpy.save writes, in the oldest version that can
// hold it.
func appendHeader(dst []byte, h *header) ([]byte, error) {
	text := appendDescr([]byte("{'descr': "), &h.dtype)
	text = append(text, ", 'fortran_order': False, 'shape': "...)
	text = append(pyliteral.AppendInts(text, h.shape), ", }"...)
	if len(h.shape) > 0 {
		for n := len(decimal(h.shape[0])); n < growthDigits; n++ {
			text = append(text, ' ')
		}
	}
	version, start := byte(3), atText2
	if latin, ok := toLatin1(text); ok {
		text, version = latin, 2
		if padded(atText1, len(text))-atText1 < 1<<16 {
			version, start = 1, atText1
		}
	}
	length := padded(start, len(text)) - start
	if length > pyliteral.MaxLen {
		return nil, ndfile.NewError(ndfile.ErrLimit, "expected a header of at most "+decimal(int64(pyliteral.MaxLen))+" bytes, found "+decimal(int64(length)))
	}
	dst = append(append(dst, magic...), version, 0)
	if version == 1 {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(length))
	} else {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(length))
	}
	dst = append(dst, text...)
	for range length - len(text) - 1 {
		dst = append(dst, ' ')
	}
	return append(dst, '\n'), nil
}

// padded is where the data begins: behind a text of n bytes, at least one space
// and a newline.
func padded(start, n int) int {
	end := start + n + 1
	return end + alignment - end%alignment
}

func fromLatin1(text []byte) string {
	s := make([]byte, 0, len(text))
	for _, c := range text {
		s = utf8.AppendRune(s, rune(c))
	}
	return string(s)
}

// toLatin1 fails where there are other characters.
func toLatin1(text []byte) (latin []byte, ok bool) {
	for _, r := range string(text) {
		if r > 0xff {
			return nil, false
		}
		latin = append(latin, byte(r))
	}
	return latin, true
}

// wrong is an error of a header: what it is about, what was expected there, and
// what was found.
func wrong(kind *ndfile.ErrorKind, at int64, what, expected, found string) error {
	return ndfile.NewError(kind, what+": expected "+expected+", found "+found).At(at)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func reversed(s []int64) []int64 {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}
