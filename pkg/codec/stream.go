package codec

import (
	"errors"
	"io"
	"syscall"
)

// compressed is the most bytes that n bytes may take when they are compressed:
// more than any encoder needs.
func compressed(n int64) Form { return opaque(n+n/4+1<<16, false) }

// opener is a Stage that can decode from the beginning on, in memory that does not
// depend on how much it decodes to.
type opener interface {
	// open gives what src decodes to, which is at most limit bytes, by at most about
	// most bytes of memory: what needs more is ErrLimit. done is called in the end, if
	// there was no error.
	open(src []byte, limit, most int64) (r io.Reader, done func(), err error)
}

// viewer is a Stage that decodes to a part of what it is given.
type viewer interface {
	view(src []byte, limit int64) ([]byte, error)
}

// piecewise is a Stage that decodes elements one by one.
type piecewise interface {
	// sizes are the bytes of an element.
	sizes() (stored, decoded int)
}

// decodeStream is Decode of an opener.
func decodeStream(codec string, o opener, dst *Buffer, src []byte, limit int64) error {
	r, done, err := o.open(src, limit, MaxSize)
	if err != nil {
		return streamError(codec, err)
	}
	defer done()
	return readAll(codec, dst, r, limit)
}

// readAll appends what r has to dst: at most limit bytes, more is ErrCorrupt. What
// is allocated grows with what is read.
func readAll(codec string, dst *Buffer, r io.Reader, limit int64) error {
	at := len(dst.B)
	for {
		have := int64(len(dst.B) - at)
		if len(dst.B) == cap(dst.B) {
			if have >= limit { // a full buffer: is there more?
				return readEnd(codec, r, limit)
			}
			if err := dst.Reserve(int(min(limit-have, max(have, 64<<10)))); err != nil {
				return err
			}
		}
		room := dst.B[len(dst.B):cap(dst.B)]
		room = room[:min(int64(len(room)), limit-have+1)]
		n, err := r.Read(room)
		dst.B = dst.B[:len(dst.B)+n]
		switch {
		case int64(len(dst.B)-at) > limit:
			return tooMuch(codec, limit)
		case err == io.EOF:
			return nil
		case err != nil:
			return streamError(codec, err)
		}
	}
}

// readEnd fails unless a stream of limit bytes ends.
func readEnd(codec string, r io.Reader, limit int64) error {
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 {
		return tooMuch(codec, limit)
	} else if err != io.EOF {
		return streamError(codec, err)
	}
	return nil
}

// streamError is the error of a decoder of a library.
func streamError(codec string, err error) error {
	var own *Error
	if errors.As(err, &own) || errors.Is(err, syscall.ENOMEM) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return corrupt(codec, "the data end too early")
	}
	return corrupt(codec, "%v", err)
}
