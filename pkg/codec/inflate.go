package codec

import (
	"errors"

	"github.com/ndfile/ndfile/pkg/blosc"
)

// inflate appends what the Deflate stream at the beginning of src decodes to, which is
// at most limit bytes and perhaps guess, and gives the bytes of src that it has. What
// is allocated beyond guess grows with what is decoded.
func inflate(codec string, dst *Buffer, src []byte, guess, limit int64) (read int, err error) {
	const expands = 1032 // bytes that one byte of a stream can stand for
	at := len(dst.B)
	most := min(limit, expands*int64(len(src)))
	for room := max(guess, 1<<16); ; room *= 4 {
		room = min(max(room, int64(cap(dst.B)-at)), most)
		dst.B = dst.B[:at]
		to, err := dst.Extend(int(room))
		if err != nil {
			return 0, err
		}
		n, read, err := blosc.Inflate(to, src)
		dst.B = dst.B[:at+n]
		switch {
		case err == nil:
			return read, nil
		case !errors.Is(err, blosc.ErrBuffer):
			return 0, corrupt(codec, "a damaged stream, or its end is missing: %d bytes were decoded", n)
		case room == most:
			err := corrupt(codec, "a damaged stream, or one that decodes to more than %d bytes", limit).(*Error)
			err.tooMuch = most == limit
			return 0, err
		}
	}
}
