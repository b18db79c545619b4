package codec

import (
	"errors"
	"io"
	"slices"
)

// compressed is the most bytes that n bytes may take when they are compressed:
// more than any encoder needs.
func compressed(n int64) Form { return opaque(n+n/4+1<<16, false) }

// readAll appends what r has to dst: at most limit bytes, more is ErrCorrupt. What
// is allocated grows with what is read.
func readAll(codec string, dst []byte, r io.Reader, limit int64) ([]byte, error) {
	at := len(dst)
	for {
		if len(dst) == cap(dst) {
			if int64(len(dst)-at) >= limit { // a full buffer: is there more?
				var more [1]byte
				if n, err := io.ReadFull(r, more[:]); n > 0 {
					return dst, corrupt(codec, "decodes to more than %d bytes", limit)
				} else if err != io.EOF {
					return dst, streamError(codec, err)
				}
				return dst, nil
			}
			dst = slices.Grow(dst, int(min(limit-int64(len(dst)-at), int64(max(len(dst)-at, 64<<10)))))
		}
		room := dst[len(dst):cap(dst)]
		room = room[:min(int64(len(room)), limit-int64(len(dst)-at)+1)]
		n, err := r.Read(room)
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)-at) > limit:
			return dst, corrupt(codec, "decodes to more than %d bytes", limit)
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, streamError(codec, err)
		}
	}
}

// streamError is the error of a decoder of a library.
func streamError(codec string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return corrupt(codec, "the data end too early")
	}
	return corrupt(codec, "%v", err)
}

// appender is an io.Writer that appends.
type appender struct{ buf []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.buf = append(a.buf, p...)
	return len(p), nil
}
