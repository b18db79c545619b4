package blosc

import "sync"

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// maxMatch is the longest match of a Deflate stream.
const maxMatch = 258

// Inflate decodes the Deflate stream (RFC 1951) at the beginning of src to dst, and
// gives how many bytes of both it has. It is safe for any src, and writes nowhere but
// to dst. Errors: ErrCorrupt; ErrBuffer where dst may be too small: what is damaged
// close to its end looks like that too.
func Inflate(dst, src []byte) (n, read int, err error) {
	z := inflaters.Get().(*inflater)
	defer inflaters.Put(z)
	n, read, ok := z.inflate(dst, src)
	switch {
	case ok:
		return n, read, nil
	case len(dst)-n < maxMatch || z.long:
		return n, 0, errorf(ErrBuffer, "a Deflate stream of more than %d bytes", n)
	}
	return n, 0, errorf(ErrCorrupt, "not a Deflate stream, or the end of it is missing")
}

// Adler32 is the checksum of a zlib stream (RFC 1950).
func Adler32(p []byte) uint32 { return adler32Sum(p) }
