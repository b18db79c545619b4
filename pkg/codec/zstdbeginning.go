package codec

import (
	"encoding/binary"
	"math/bits"
)

// zstdBlock is the most that a block of a frame decodes to.
const zstdBlock = 128 << 10

// beginning decodes the first blocks of a single frame that says its size and has no
// checksum: as a frame of its own, whose last block is the last one that is wanted. How
// many those are is guessed from what the blocks take.
func (z zstdCodec) beginning(dst, src []byte, size int64) (done bool, err error) {
	if have, known := zstdSize(src, size); !known || have != size {
		return false, nil // all of it is decoded, which tells what is wrong
	}
	window, at, ok := zstdFrame(src)
	if !ok {
		return false, nil
	}
	n, last, end := zstdBlocks(src, at, int64(len(dst))*int64(len(src)-at)/size)
	if end == len(src) {
		return false, nil
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	frame, plain := &s.buf[0], &s.buf[1]
	frame.Reset()
	plain.Reset()
	head := [6]byte{5: window}
	binary.LittleEndian.PutUint32(head[:], zstdMagic)
	if err = frame.Append(head[:]); err == nil {
		err = frame.Append(src[at:end])
	}
	most := int(min(int64(n)*zstdBlock, size))
	if err == nil {
		err = plain.Reserve(most)
	}
	if err != nil {
		return false, err
	}
	frame.B[len(head)+last-at] |= 1
	room := plain.B[:most]
	if n, err = zstdInto(room, frame.B); err != nil || n < len(dst) {
		return false, nil
	}
	copy(dst, room)
	return true, nil
}

// zstdFrame gives the byte that tells the window of the one frame in src, or a larger
// one, and where its blocks begin. ok is false for other frames than beginning decodes.
func zstdFrame(src []byte) (window byte, at int, ok bool) {
	const (
		single                    = 0x20
		sum, reserved, dictionary = 4, 8, 3
	)
	if len(src) < 6 || binary.LittleEndian.Uint32(src) != zstdMagic {
		return 0, 0, false
	}
	flags := src[4]
	if flags&(sum|reserved|dictionary) != 0 {
		return 0, 0, false
	}
	field := 1 << (flags >> 6)
	if at = 5; flags&single == 0 {
		window = src[at]
		if at++; field == 1 {
			field = 0
		}
	}
	if len(src) < at+field {
		return 0, 0, false
	}
	if flags&single != 0 { // the window is as large as the content
		var wide [8]byte
		copy(wide[:], src[at:at+field])
		size := binary.LittleEndian.Uint64(wide[:])
		window = byte(max(0, bits.Len64(size)-10)) << 3
	}
	at += field
	rest, ok := zstdSkip(src, at, false)
	return window, at, ok && len(rest) == 0
}

// zstdBlocks takes blocks from at on until they have so many bytes, and one more: how many,
// where the last one begins and where it ends. What src holds was looked at by zstdSize.
func zstdBlocks(src []byte, at int, want int64) (n, last, end int) {
	end = at
	for enough := false; end < len(src); n++ {
		last = end
		head := int(src[end]) | int(src[end+1])<<8 | int(src[end+2])<<16
		if end += 3 + head>>3; head>>1&3 == 1 {
			end = last + 4 // one byte, repeated
		}
		if enough {
			return n + 1, last, end
		}
		enough = int64(end-at) >= want
	}
	return n, last, end
}
