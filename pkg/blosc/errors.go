package blosc

import (
	"errors"
	"fmt"
)

// The kinds of errors; test with errors.Is.
var (
	// ErrCorrupt: not a chunk, or a damaged one.
	ErrCorrupt = errors.New("corrupt Blosc chunk")
	// ErrNotSupported: a chunk of another generation (Blosc2) or with flags or
	// codecs that Blosc1 does not define.
	ErrNotSupported = errors.New("not supported")
	// ErrLimit: larger than Decoder.MaxBytes, or than a Blosc1 chunk can be.
	ErrLimit = errors.New("over the limit")
	// ErrBuffer: dst is too small for the result.
	ErrBuffer = errors.New("destination buffer too small")
	// ErrBounds: a range that is not within the chunk's data.
	ErrBounds = errors.New("range outside the chunk")
	// ErrParams: Params that no chunk can be written with.
	ErrParams = errors.New("bad parameter")
	// ErrInternal: a defect of this package.
	ErrInternal = errors.New("internal error; please report it")
)

// Error is an error with its place.
type Error struct {
	// Kind is one of the Err variables of this package.
	Kind error
	// Offset is the byte position in the chunk, or -1.
	Offset int64
	// Msg says what is wrong: expected and found.
	Msg string
}

// Error gives "blosc: at byte 12: message: kind".
func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("blosc: %s: %v", e.Msg, e.Kind)
	}
	return fmt.Sprintf("blosc: at byte %d: %s: %v", e.Offset, e.Msg, e.Kind)
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

func errorAt(kind error, offset int, format string, args ...any) error {
	return &Error{Kind: kind, Offset: int64(offset), Msg: fmt.Sprintf(format, args...)}
}

func errorf(kind error, format string, args ...any) error {
	return errorAt(kind, -1, format, args...)
}
