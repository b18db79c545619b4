package ndfile

import (
	"errors"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/codec"
)

// codecKinds are the rows of the error table for the errors of packages codec and
// blosc. What is not here is a defect of one of them.
var codecKinds = []struct {
	of  error
	row *ErrorKind
}{
	{codec.ErrCorrupt, ErrCorrupt},
	{codec.ErrNotSupported, ErrNotSupported},
	{codec.ErrLimit, ErrLimit},
	{codec.ErrConfig, ErrArgument},
	{codec.ErrValue, ErrValue},
	{blosc.ErrCorrupt, ErrCorrupt},
	{blosc.ErrNotSupported, ErrNotSupported},
	{blosc.ErrLimit, ErrLimit},
	{blosc.ErrParams, ErrArgument},
	{blosc.ErrBuffer, ErrBuffer},
	{blosc.ErrBounds, ErrBounds},
}

// CodecError gives an error of package codec or blosc its row of the error table.
// from is where the chunk begins in its file: offsets count from the start of the
// file then. Errors that have a row stay as they are, but for the offset, and so do
// those of other packages.
func CodecError(err error, from int64) error {
	var own *Error
	var chained *codec.Error
	var plain *blosc.Error
	var located *Error
	offset := int64(-1)
	switch {
	case errors.As(err, &own):
		located, offset = own, own.Offset
	case errors.As(err, &chained):
		msg := chained.Msg
		if chained.Codec != "" {
			msg = "codec " + chained.Codec + ": " + msg
		}
		located, offset = NewError(codecKind(chained.Kind), msg), chained.Offset
	case errors.As(err, &plain):
		located, offset = NewError(codecKind(plain.Kind), "Blosc chunk: "+plain.Msg), plain.Offset
	default:
		return err
	}
	if offset >= 0 {
		located.At(offset + from)
	}
	return located
}

func codecKind(kind error) *ErrorKind {
	for _, k := range codecKinds {
		if k.of == kind {
			return k.row
		}
	}
	return ErrInternal
}
