package npy

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyliteral"
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

// parse is flat.Format.Parse.
func parse(h *flat.Header, head []byte, size int64, limits ndfile.Limits) (need int, err error) {
	if need, err = headerLength(head, size, limits); err != nil || need > len(head) {
		return need, err
	}
	return need, parseHeader(h, head[:need])
}

// headerLength is the number of bytes up to the data, from the first bytes of a
// file: all of them, or at least 12. It is at most size.
func headerLength(head []byte, size int64, limits ndfile.Limits) (int, error) {
	if len(head) < atText1 {
		return 0, flat.Wrong(ndfile.ErrCorrupt, size, "header", "at least 10 bytes", "a file of "+decimal(size))
	}
	var start, length int64
	switch major, minor := head[atVersion], head[atVersion+1]; {
	case minor == 0 && major == 1:
		start, length = int64(atText1), int64(binary.LittleEndian.Uint16(head[atLength:]))
	case minor == 0 && (major == 2 || major == 3):
		if len(head) < atText2 {
			return 0, flat.Wrong(ndfile.ErrCorrupt, size, "header", "at least 12 bytes", "a file of "+decimal(size))
		}
		start, length = int64(atText2), int64(binary.LittleEndian.Uint32(head[atLength:]))
	default:
		return 0, flat.Wrong(ndfile.ErrNotSupported, int64(atVersion), "version", "1.0, 2.0 or 3.0", decimal(int64(major))+"."+decimal(int64(minor)))
	}
	if most := size - start; length > most {
		return 0, flat.Wrong(ndfile.ErrCorrupt, int64(atLength), "length of the header", "at most "+decimal(most)+" in a file of "+decimal(size)+" bytes", decimal(length))
	}
	if most := min(limits.Header(), pyliteral.MaxLen); length > most {
		return 0, flat.Wrong(ndfile.ErrLimit, int64(atLength), "length of the header", "at most "+decimal(most), decimal(length))
	}
	return int(start + length), nil
}

// parseHeader reads a header, which is all of head.
func parseHeader(h *flat.Header, head []byte) error {
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
		return flat.Wrong(ndfile.ErrCorrupt, start, "header", "a Python dict of a dtype 'descr', a bool 'fortran_order' and a tuple 'shape'", short(text))
	}
	if most := ndarray.MaxNDim; len(shape.Items) > most {
		return flat.Wrong(ndfile.ErrLimit, start, "shape", "at most "+decimal(int64(most))+" axes", decimal(int64(len(shape.Items))))
	}
	for i := range shape.Items {
		item := &shape.Items[i]
		if item.Kind != pyliteral.Int || item.N < 0 {
			return flat.Wrong(ndfile.ErrCorrupt, start, "shape", "extents from 0 to 2^63 - 1", short(text))
		}
		h.Shape = append(h.Shape, item.N)
	}
	var err error
	if h.DType, err = dtypeOf(&descr); err != nil {
		return ndfile.NewError(ndfile.KindOf(err), "").At(start).Because(err)
	}
	if _, err := ndarray.NBytes(h.Shape, h.DType.Size); err != nil {
		return ndfile.NewError(ndfile.ErrCorrupt, "shape").At(start).Because(err)
	}
	h.Offset, h.Fortran = int64(len(head)), order.N != 0 && len(h.Shape) > 1
	return nil
}

// appendHeader is flat.Format.Append. It writes what numpy.save writes, in the
// oldest version that can hold it.
func appendHeader(h *flat.Header, dst []byte, spec ndfile.Spec) ([]byte, error) {
	if spec.Extra.Len() > 0 {
		return nil, ndfile.NewError(ndfile.ErrArgument, "extra: a .npy file has no metadata of its own, found "+string(ndfile.AppendJSON(nil, spec.Extra)))
	}
	if err := checkDType(&spec.DType); err != nil {
		return nil, err
	}
	h.DType = spec.DType
	text := appendDescr([]byte("{'descr': "), &h.DType)
	text = append(text, ", 'fortran_order': False, 'shape': "...)
	text = append(pyliteral.AppendInts(text, h.Shape), ", }"...)
	if len(h.Shape) > 0 {
		for n := len(decimal(h.Shape[0])); n < growthDigits; n++ {
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

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
