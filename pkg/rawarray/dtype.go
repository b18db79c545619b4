package rawarray

import (
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The element type codes.
const (
	eltUser    = iota // any bytes
	eltInt            // two's complement
	eltUint           // also text and, in what we write, bool
	eltFloat          // IEEE 754
	eltComplex        // two floats; elbyte counts both
	eltBrain          // bfloat16
)

// eltypes describes the element type codes. Which widths a kind has is known to
// package ndarray; the text is for messages.
var eltypes = [...]struct {
	kind   ndarray.Kind
	name   string
	widths string
}{
	eltUser:    {ndarray.Raw, "user-defined", "1 or more"},
	eltInt:     {ndarray.Int, "signed integer", "1, 2, 4, 8 or 16"},
	eltUint:    {ndarray.Uint, "unsigned integer", "1, 2, 4, 8 or 16"},
	eltFloat:   {ndarray.Float, "float", "2, 4 or 8"},
	eltComplex: {ndarray.Complex, "complex float", "4, 8 or 16"},
	eltBrain:   {ndarray.BFloat, "brain float", "2"},
}

// extended are element types that writers use beyond the published list, with
// their label in Spec.Extra. The content of a long double depends on the machine
// that wrote it, so it is bytes to us.
var extended = [...]struct {
	eltype, elbyte uint64
	kind           ndarray.Kind
	label          string
}{
	{eltBrain, 1, ndarray.Bool, "RawArray.jl Boolean"},
	{eltFloat, 16, ndarray.Raw, "C long double"},
	{eltComplex, 32, ndarray.Raw, "C long double complex"},
}

// dtypeOf gives the dtype of elements of a type code and a width in bytes, and
// the label of an extension, else "".
func dtypeOf(eltype, elbyte uint64, big bool) (d ndarray.DType, label string, err error) {
	if eltype >= uint64(len(eltypes)) {
		return d, "", flat.Wrong(ndfile.ErrNotSupported, atEltype, "eltype", "0 to 5", decimal(eltype))
	}
	if elbyte > ndarray.MaxItemSize {
		return d, "", flat.Wrong(ndfile.ErrLimit, atElbyte, "elbyte", "at most "+decimal(ndarray.MaxItemSize), decimal(elbyte))
	}
	t := &eltypes[eltype]
	d = ndarray.DType{Kind: t.kind, Size: int(elbyte)}
	for i := range extended {
		if x := &extended[i]; x.eltype == eltype && x.elbyte == elbyte {
			d.Kind, label = x.kind, x.label
		}
	}
	if elbyte == 0 || d.Check() != nil {
		return d, "", flat.Wrong(ndfile.ErrCorrupt, atElbyte, "elbyte", t.widths+" for eltype "+decimal(eltype)+" ("+t.name+")", decimal(elbyte))
	}
	if big {
		return d.WithOrder(ndarray.Big), label, nil
	}
	return d.WithOrder(ndarray.Little), label, nil
}

// orderless reports whether byte order makes no difference to a dtype.
func orderless(d ndarray.DType) bool {
	return d.Kind == ndarray.Record || d.WithOrder(ndarray.Little).Equal(d.WithOrder(ndarray.Big))
}

// The keys of Spec.Extra: words of the header that the dtype does not tell.
const (
	extraFlags    = "flags"     // 1: big endian, where the dtype has no byte order
	extraEltype   = "eltype"    // of an extension
	extraLabel    = "extension" // says what eltype means here; not needed for writing
	extraEncoding = "encoding"  // of elements that are compressed or packed
)

// extra is Spec.Extra of an array that was read, nil when its dtype tells all.
func (h *header) extra() *ndfile.Attrs {
	big := h.big && orderless(h.dtype)
	if !big && h.label == "" && h.encoding == plain {
		return nil
	}
	x := ndfile.NewAttrs()
	if big {
		x.Set(extraFlags, pyjson.Int(flagBig))
	}
	if h.label != "" && h.encoding != bitset {
		x.Set(extraEltype, pyjson.Uint(h.eltype))
		x.Set(extraLabel, pyjson.String(h.label))
	}
	if h.encoding != plain {
		x.Set(extraEncoding, pyjson.String(string(h.encoding)))
	}
	return x
}

// fill finds the words of a header for a dtype. Raw and record elements are
// stored as they are; a bool becomes an unsigned byte. asked is Spec.Extra and
// may hold what extra gives. What the format cannot store is ndfile.ErrDType.
func (h *header) fill(d ndarray.DType, asked *ndfile.Attrs) (err error) {
	if err := d.Check(); err != nil {
		return err
	}
	h.big = !orderless(d) && d.WithOrder(ndarray.Big).Equal(d)
	switch d.Kind {
	case ndarray.Bool:
		h.eltype = eltUint
	case ndarray.Record:
		h.eltype = eltUser
	default:
		for h.eltype = 0; h.eltype < uint64(len(eltypes)) && eltypes[h.eltype].kind != d.Kind; h.eltype++ {
		}
	}
	if err := h.ask(asked); err != nil {
		return err
	}
	if h.encoding == bitset {
		h.eltype = eltBrain
	}
	if h.encoding == leb128 { // numbers of no byte order
		h.big, d = false, d.WithOrder(ndarray.Little)
	}
	if err := h.canEncode(d, h.eltype); err != nil {
		return err
	}
	h.dtype, h.label, err = dtypeOf(h.eltype, uint64(d.Size), h.big)
	switch {
	case err == nil && h.dtype.Equal(d):
	case err == nil && d.Kind == ndarray.Bool && h.dtype.Kind == ndarray.Uint:
	case err == nil && d.Kind == ndarray.Record && h.dtype.Kind == ndarray.Raw:
		h.dtype = d
	default:
		return ndfile.NewError(ndfile.ErrDType, "RawArray cannot store elements of dtype "+d.String()+"; it has bool, integers, floats and complex "+
			"numbers of IEEE widths, bfloat16, and |V or records of at least one byte")
	}
	return nil
}

// ask takes over what extra gave.
func (h *header) ask(asked *ndfile.Attrs) error {
	if asked == nil {
		return nil
	}
	for i := range asked.Len() {
		key, v := asked.At(i)
		n, ok := v.Uint64()
		switch {
		case key == extraFlags && ok && n <= flagBig:
			h.big = n == flagBig
		case key == extraEltype && ok:
			h.eltype = n
		case key == extraLabel:
		case key == extraEncoding && v.Kind() == pyjson.KindString:
			text, _ := v.Str()
			h.encoding = encoding(text)
		default:
			return ndfile.NewError(ndfile.ErrArgument, "extra: RawArray has no "+strconv.Quote(key)+" of "+string(ndfile.AppendJSONValue(nil, v)))
		}
	}
	return nil
}
