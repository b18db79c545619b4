package ds

import "github.com/ndfile/ndfile/pkg/ndarray"

// Masks and bool variables are bits, the first one on top of its byte; the rest
// of the last byte is padding, which nobody looks at.

// packer turns bytes into bits. They come in pieces: what does not fill a byte
// waits for the next one.
type packer struct {
	byte  byte
	count int // of the bits in byte, less than 8
}

// pack appends a bit for each byte of p, 1 where it is not 0.
func (c *packer) pack(dst, p []byte) []byte {
	for len(p) > 0 {
		if whole := len(p) &^ 7; c.count == 0 && whole > 0 {
			dst, p = ndarray.AppendBits(dst, p[:whole]), p[whole:]
			continue
		}
		if c.count++; p[0] != 0 {
			c.byte |= 1 << (8 - c.count)
		}
		if p = p[1:]; c.count == 8 {
			dst, *c = append(dst, c.byte), packer{}
		}
	}
	return dst
}
