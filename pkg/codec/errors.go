package codec

import (
	"errors"
	"fmt"
)

// The kinds of errors; test with errors.Is.
var (
	// ErrCorrupt: the encoded bytes are damaged, or not what the codec writes.
	ErrCorrupt = errors.New("corrupt chunk")
	// ErrNotSupported: a codec or an option that this package does not have, or a
	// codec that cannot take the elements that it is given.
	ErrNotSupported = errors.New("codec not supported")
	// ErrConfig: a configuration that the codec does not allow.
	ErrConfig = errors.New("wrong configuration of a codec")
	// ErrValue: an element that the codec cannot encode.
	ErrValue = errors.New("value cannot be encoded")
	// ErrLimit: larger than a chunk can be.
	ErrLimit = errors.New("over the limit")
)

// Error is an error with its place.
type Error struct {
	// Kind is one of the Err variables of this package.
	Kind error
	// Codec is the name of the codec, "" where it is none's.
	Codec string
	// Offset is the byte position in what the codec was to decode, or -1. Only for
	// the last codec of a chain is that a position in the stored chunk.
	Offset int64
	// Msg says what is wrong: expected and found.
	Msg string

	tooMuch bool // it decodes to more than the limit
}

// Error gives "NAME: message: kind".
func (e *Error) Error() string {
	s := e.Msg
	if e.Offset >= 0 {
		s = fmt.Sprintf("at byte %d: %s", e.Offset, s)
	}
	if e.Codec != "" {
		s = e.Codec + ": " + s
	}
	return s + ": " + e.Kind.Error()
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

func errorf(kind error, codec, format string, args ...any) error {
	return &Error{Kind: kind, Codec: codec, Offset: -1, Msg: fmt.Sprintf(format, args...)}
}

func corrupt(codec, format string, args ...any) error {
	return errorf(ErrCorrupt, codec, format, args...)
}

// tooMuch is the error of what decodes to more than a limit.
func tooMuch(codec string, limit int64) error {
	return &Error{Kind: ErrCorrupt, Codec: codec, Offset: -1, Msg: fmt.Sprintf("decodes to more than %d bytes", limit), tooMuch: true}
}

func corruptAt(codec string, offset int, format string, args ...any) error {
	return &Error{Kind: ErrCorrupt, Codec: codec, Offset: int64(offset), Msg: fmt.Sprintf(format, args...)}
}
