package strip

import (
	"encoding/binary"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The places in a header; README.md has the table.
const (
	magic   = "STRIP\n"
	atType  = 6
	atNDim  = 7
	atShape = 8
)

// types are the dtypes by their code.
var types = []ndarray.DType{ndarray.MustParse("|u1"), ndarray.MustParse("<i4"), ndarray.MustParse("<f8")}

// parse is flat.Format.Parse.
func parse(h *flat.Header, head []byte, size int64, _ ndfile.Limits) (int, error) {
	if len(head) < atShape {
		return 0, flat.Wrong(ndfile.ErrCorrupt, size, "header", "8 bytes", strconv.Itoa(len(head)))
	}
	code, ndim := int(head[atType]), int(head[atNDim])
	if code >= len(types) {
		return 0, flat.Wrong(ndfile.ErrCorrupt, atType, "type", "0 to "+strconv.Itoa(len(types)-1), strconv.Itoa(code))
	}
	if ndim > ndarray.MaxNDim {
		return 0, flat.Wrong(ndfile.ErrCorrupt, atNDim, "axes", "at most "+strconv.Itoa(ndarray.MaxNDim), strconv.Itoa(ndim))
	}
	end := atShape + 8*ndim
	if len(head) < end { // head is all of a small file, or the first flat.HeadSize bytes, which are more
		return 0, flat.Wrong(ndfile.ErrCorrupt, size, "header", strconv.Itoa(end)+" bytes", strconv.Itoa(len(head)))
	}
	for i := range ndim {
		h.Shape = append(h.Shape, int64(binary.LittleEndian.Uint64(head[atShape+8*i:])))
	}
	h.DType, h.Offset = types[code], int64(end)
	if _, err := ndarray.NBytes(h.Shape, h.DType.Size); err != nil {
		return 0, flat.Wrong(ndfile.ErrCorrupt, atShape, "shape", "a number of bytes below 2^63", "another")
	}
	return end, nil
}

// appendHeader is flat.Format.Append.
func appendHeader(h *flat.Header, dst []byte, spec ndfile.Spec) ([]byte, error) {
	if spec.Extra.Len() > 0 {
		return nil, ndfile.NewError(ndfile.ErrArgument, "a strip file has no metadata of its own")
	}
	for code, t := range types {
		if spec.DType.WithOrder(ndarray.Little).Equal(t) { // flat turns the bytes of the other order
			h.DType = t
			dst = append(append(dst, magic...), byte(code), byte(len(spec.Shape)))
			for _, n := range spec.Shape {
				dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
			}
			return dst, nil
		}
	}
	return nil, ndfile.NewError(ndfile.ErrDType, "a strip file has elements of |u1, <i4 or <f8, found "+spec.DType.String())
}
