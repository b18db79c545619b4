package blosc

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zlib"
)

// zlibLevels are the encoder's levels for the levels of Blosc: those that
// compress about as zlib's level of that number does, in less time.
var zlibLevels = [MaxLevel + 1]int{0, 4, 4, 5, 7, 7, 7, 8, 8, 8}

// zlibState holds an encoder for each level that was used, and the decoder.
type zlibState struct {
	writers  [MaxLevel + 1]*zlib.Writer
	out      boundedWriter
	inflater inflater
}

// zlibDecode wants one RFC 1950 stream without a dictionary, and nothing behind.
func zlibDecode(st *state, dst, src []byte) bool {
	if len(src) < 6 || src[0]&15 != 8 || src[0]>>4 > 7 || src[1]&0x20 != 0 || binary.BigEndian.Uint16(src)%31 != 0 {
		return false
	}
	body := src[2 : len(src)-4]
	n, read, ok := st.zlib.inflater.inflate(dst, body)
	return ok && n == len(dst) && read == len(body) && adler32Sum(dst) == binary.BigEndian.Uint32(src[len(src)-4:])
}

// adler32Sum is the checksum at the end of a stream.
func adler32Sum(p []byte) uint32 {
	a, b, done := adlerFast(1, 0, p)
	for p = p[done:]; len(p) > 0; {
		piece := p[:min(len(p), 5552)] // as many as do not overflow
		for _, x := range piece {
			a += uint32(x)
			b += a
		}
		a, b, p = a%65521, b%65521, p[len(piece):]
	}
	return b<<16 | a
}

func zlibEncode(st *state, dst, src []byte, level int) int {
	z := &st.zlib
	w := z.writers[level]
	if w == nil { // the levels are ones that it has
		w, _ = zlib.NewWriterLevel(nil, zlibLevels[level])
		z.writers[level] = w
	}
	z.out = boundedWriter{dst: dst}
	w.Reset(&z.out)
	_, err := w.Write(src)
	if e := w.Close(); err != nil || e != nil {
		return 0
	}
	n := z.out.n
	z.out.dst = nil
	return n
}

// boundedWriter fills dst and refuses more.
type boundedWriter struct {
	dst []byte
	n   int
}

func (w *boundedWriter) Write(b []byte) (int, error) {
	if len(b) > len(w.dst)-w.n {
		return 0, io.ErrShortWrite
	}
	w.n += copy(w.dst[w.n:], b)
	return len(b), nil
}
