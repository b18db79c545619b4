package ndfile

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/store"
)

// Code is the stable number of an error: the status of the C library. Values
// are frozen; new ones are added at the end.
type Code int32

// ErrorKind is one row of the error table: a Go sentinel with its number and
// its names in the other languages. It is itself the sentinel, so
// errors.Is(err, ndfile.ErrMasked) works on every error of this package.
type ErrorKind struct {
	Code Code
	// C is the name of the status constant.
	C string
	// Python is the exception class, Base the builtin that it also inherits
	// ("" for none).
	Python, Base string
	// Text says what it means, in one line.
	Text string
}

// Error gives the meaning.
func (k *ErrorKind) Error() string { return k.Text }

// The kinds of errors.
var (
	ErrInternal     = &ErrorKind{-1, "NDF_ERR_INTERNAL", "InternalError", "RuntimeError", "internal error; please report it"}
	ErrArgument     = &ErrorKind{-2, "NDF_ERR_ARGUMENT", "ArgumentError", "ValueError", "bad argument"}
	ErrHandle       = &ErrorKind{-3, "NDF_ERR_HANDLE", "HandleError", "ValueError", "not a handle of that kind, or closed"}
	ErrForked       = &ErrorKind{-4, "NDF_ERR_FORKED", "ForkedError", "RuntimeError", "handle from before a fork"}
	ErrBuffer       = &ErrorKind{-5, "NDF_ERR_BUFFER", "BufferTooSmallError", "BufferError", "the caller's buffer is too small"}
	ErrNotFound     = &ErrorKind{-6, "NDF_ERR_NOT_FOUND", "NotFoundError", "FileNotFoundError", "no such file or folder"}
	ErrExists       = &ErrorKind{-7, "NDF_ERR_EXISTS", "ExistsError", "FileExistsError", "the path exists already"}
	ErrPermission   = &ErrorKind{-8, "NDF_ERR_PERMISSION", "AccessError", "PermissionError", "permission denied"}
	ErrIO           = &ErrorKind{-9, "NDF_ERR_IO", "IoError", "OSError", "input or output failed"}
	ErrFormat       = &ErrorKind{-10, "NDF_ERR_FORMAT", "FormatError", "ValueError", "not a file of a known format"}
	ErrCorrupt      = &ErrorKind{-11, "NDF_ERR_CORRUPT", "CorruptError", "ValueError", "the file is damaged or malformed"}
	ErrNotSupported = &ErrorKind{-12, "NDF_ERR_NOT_SUPPORTED", "NotSupportedError", "NotImplementedError", "not supported"}
	ErrLimit        = &ErrorKind{-13, "NDF_ERR_LIMIT", "LimitError", "ValueError", "larger than a limit of the library"}
	ErrName         = &ErrorKind{-14, "NDF_ERR_NAME", "NameNotFoundError", "KeyError", "no array of that name"}
	ErrNameExists   = &ErrorKind{-15, "NDF_ERR_NAME_EXISTS", "NameExistsError", "ValueError", "an array of that name exists already"}
	ErrDType        = &ErrorKind{-16, "NDF_ERR_DTYPE", "DTypeError", "TypeError", "unknown dtype, or one that cannot be converted"}
	ErrShape        = &ErrorKind{-17, "NDF_ERR_SHAPE", "ShapeError", "ValueError", "wrong shape or strides"}
	ErrBounds       = &ErrorKind{-18, "NDF_ERR_BOUNDS", "BoundsError", "IndexError", "outside the array"}
	ErrMasked       = &ErrorKind{-19, "NDF_ERR_MASKED", "MaskedError", "ValueError", "missing elements, and no mask to report them"}
	ErrNoData       = &ErrorKind{-20, "NDF_ERR_NO_DATA", "NoDataError", "ValueError", "the array has metadata but no data"}
	ErrOrder        = &ErrorKind{-21, "NDF_ERR_ORDER", "WriteOrderError", "ValueError", "written out of order"}
	ErrReadOnly     = &ErrorKind{-22, "NDF_ERR_READ_ONLY", "ReadOnlyError", "ValueError", "open for reading only"}
	ErrValue        = &ErrorKind{-23, "NDF_ERR_VALUE", "ValueNotRepresentableError", "ValueError", "a value that the format cannot represent"}
	ErrLoss         = &ErrorKind{-24, "NDF_ERR_LOSS", "LossError", "ValueError", "something would be lost"}
	ErrCanceled     = &ErrorKind{-25, "NDF_ERR_CANCELED", "CanceledError", "RuntimeError", "canceled"}
	ErrNoMemory     = &ErrorKind{-26, "NDF_ERR_NO_MEMORY", "NoMemoryError", "MemoryError", "out of memory"}
	ErrBusy         = &ErrorKind{-27, "NDF_ERR_BUSY", "BusyError", "BlockingIOError", "in use by another writer"}
)

// ErrorKinds is the error table, in the order of the codes. The C header, the
// Python exceptions and the Julia constants are generated from it.
var ErrorKinds = []*ErrorKind{
	ErrInternal, ErrArgument, ErrHandle, ErrForked, ErrBuffer, ErrNotFound, ErrExists, ErrPermission, ErrIO,
	ErrFormat, ErrCorrupt, ErrNotSupported, ErrLimit, ErrName, ErrNameExists, ErrDType, ErrShape, ErrBounds,
	ErrMasked, ErrNoData, ErrOrder, ErrReadOnly, ErrValue, ErrLoss, ErrCanceled, ErrNoMemory, ErrBusy,
}

// Error is an error with its place. Zero fields are left out of the text.
type Error struct {
	Kind *ErrorKind
	// Path is the file, Array the name of the array within it.
	Path, Array string
	// HasArray says that Array is meant, since "" is a name too.
	HasArray bool
	// Offset is the byte position in the file, or -1.
	Offset int64
	// Msg says what is wrong: expected and found.
	Msg string
	// Cause is the error below, may be nil.
	Cause error
}

// NewError makes an error of a kind with a message and no place yet.
func NewError(kind *ErrorKind, msg string) *Error {
	return &Error{Kind: kind, Offset: -1, Msg: msg}
}

// ErrClosed is the error of every call on a file that was closed.
func ErrClosed() *Error { return NewError(ErrHandle, "the file is closed") }

// At sets the byte offset in the file.
func (e *Error) At(offset int64) *Error { e.Offset = offset; return e }

// In sets the name of the array.
func (e *Error) In(array string) *Error { e.Array, e.HasArray = array, true; return e }

// On sets the path, unless one is set. The string is copied: paths may lie in
// memory of the caller.
func (e *Error) On(path string) *Error {
	if e.Path == "" {
		e.Path = string([]byte(path))
	}
	return e
}

// Because sets the error below.
func (e *Error) Because(cause error) *Error { e.Cause = cause; return e }

// Error gives "path: array "x": at byte 12: message: cause".
func (e *Error) Error() string {
	var b []byte
	if e.Path != "" {
		b = append(append(b, e.Path...), ": "...)
	}
	if e.HasArray {
		b = append(strconv.AppendQuote(append(b, "array "...), e.Array), ": "...)
	}
	if e.Offset >= 0 {
		b = append(strconv.AppendInt(append(b, "at byte "...), e.Offset, 10), ": "...)
	}
	if e.Msg != "" {
		b = append(b, e.Msg...)
	} else if e.Cause == nil {
		b = append(b, e.Kind.Text...)
	}
	if e.Cause != nil {
		if e.Msg != "" {
			b = append(b, ": "...)
		}
		b = append(b, e.Cause.Error()...)
	}
	return string(b)
}

// Unwrap gives the kind and the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Locate gives err a path and, when hasArray, an array name, where it has
// none, and a kind when it comes from a lower layer. Nil stays nil.
func Locate(err error, path, array string, hasArray bool) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = NewError(KindOf(err), "").Because(err)
		var pe *vfs.PathError
		if errors.As(err, &pe) && strings.HasPrefix(pe.Path, path) {
			// it names the path itself
			e.Cause = inWords(pe, path, err)
			hasArray = false
			path = ""
		}
	}
	if path != "" {
		e.On(path)
	}
	if hasArray && !e.HasArray {
		e.In(string([]byte(array)))
	}
	return e
}

// worded is an error of the operating system in the words of a user.
type worded struct {
	error
	text string
}

func (w *worded) Error() string { return w.text }
func (w *worded) Unwrap() error { return w.error }

// inWords says what it means when the path that a caller gave is not there:
// which system call found out tells nobody anything.
func inWords(pe *vfs.PathError, path string, err error) error {
	if pe.Path != path || pe.To != "" {
		return err
	}
	folder := filepath.Dir(path)
	switch {
	case pe.Errno == syscall.ENOTDIR && folder != path:
		return &worded{err, path + ": " + folder + " is not a folder"}
	case pe.Errno != syscall.ENOENT:
		return err
	case pe.Op == "create" || pe.Op == "mkdir" || pe.Op == "write":
		return &worded{err, path + ": there is no folder " + folder}
	}
	return &worded{err, "no file " + path}
}

// KindOf finds the row of the error table that err belongs to. Errors of the
// operating system, of JSON texts, of package ndarray and of contexts have
// rows; what is left is ErrInternal.
func KindOf(err error) *ErrorKind {
	var k *ErrorKind
	if errors.As(err, &k) {
		return k
	}
	var se *pyjson.SyntaxError
	var le *pyjson.LimitError
	var sl *store.LimitError
	var no syscall.Errno
	switch {
	case errors.As(err, &se), errors.Is(err, store.ErrCorrupt):
		return ErrCorrupt
	case errors.As(err, &sl):
		return ErrLimit
	case errors.As(err, &le):
		return ErrLimit
	case errors.Is(err, ndarray.ErrDType):
		return ErrDType
	case errors.Is(err, ndarray.ErrBounds):
		return ErrBounds
	case errors.Is(err, ndarray.ErrShape), errors.Is(err, ndarray.ErrOverflow):
		return ErrShape
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ErrCanceled
	case errors.Is(err, fs.ErrClosed): // by another goroutine, during the call
		return ErrHandle
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	case errors.As(err, &no):
		switch no {
		case syscall.ENOMEM:
			return ErrNoMemory
		case syscall.ENOTSUP: // what a store cannot do
			return ErrNotSupported
		}
		return ErrIO
	}
	return ErrInternal
}

// Errno gives the error number of the operating system behind err, or 0.
func Errno(err error) syscall.Errno {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return 0
}

// reason is the text of err without its place.
func reason(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	bare := *e
	bare.Path, bare.HasArray, bare.Offset = "", false, -1
	return bare.Error()
}

// Offset gives the byte position that err names, or -1.
func Offset(err error) int64 {
	var e *Error
	if errors.As(err, &e) {
		return e.Offset
	}
	return -1
}
