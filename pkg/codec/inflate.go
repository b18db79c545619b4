package codec

import (
	"errors"

	"github.com/ndfile/ndfile/pkg/blosc"
)

// inflate appends what the Deflate stream at the beginning of src decodes to, which is
// at most limit bytes and perhaps guess, and gives the bytes of src that it has. What
// is allocated beyond guess grows with what is decoded.
func inflate(codec string, dst, src []byte, guess, limit int64) (_ []byte, read int, err error) {
	const expands = 1032 // bytes that one byte of a stream can stand for
	at := len(dst)
	most := min(limit, expands*int64(len(src)))
	for room := max(guess, 1<<16); ; room *= 4 {
		room = min(max(room, int64(cap(dst)-at)), most)
		dst = grow(dst[:at], int(room))
		n, read, err := blosc.Inflate(dst[at:], src)
		switch {
		case err == nil:
			return dst[:at+n], read, nil
		case !errors.Is(err, blosc.ErrBuffer):
			return dst[:at], 0, corrupt(codec, "a damaged stream, or its end is missing: %d bytes were decoded", n)
		case room == most:
			return dst[:at], 0, corrupt(codec, "a damaged stream, or one that decodes to more than %d bytes", limit)
		}
	}
}
