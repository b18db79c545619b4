package codec

import (
	"bytes"
	"encoding/binary"

	"github.com/ulikunitz/xz/lzma"
)

// xzMagic begins a stream of xz.
var xzMagic = []byte("\xfd7zXZ\x00")

// checkXZ looks at what streams of xz say of themselves before a decoder allocates
// what they ask for: the size of all blocks, and the dictionary of each, which
// dictionary checks.
func checkXZ(src []byte, limit int64, dictionary func(n int64) error) error {
	damaged := func() error { return corrupt("lzma", "a damaged stream of xz") }
	total := uint64(0)
	for len(src) > 0 {
		for len(src) >= 4 && bytes.Equal(src[len(src)-4:], []byte{0, 0, 0, 0}) {
			src = src[:len(src)-4] // padding
		}
		const header = 12 // of a stream; the footer has as many
		if len(src) < 2*header || string(src[len(src)-2:]) != "YZ" {
			return damaged()
		}
		size := (uint64(binary.LittleEndian.Uint32(src[len(src)-8:])) + 1) * 4
		if size > uint64(len(src)-2*header) {
			return damaged()
		}
		index := src[uint64(len(src)-header)-size : len(src)-header]
		blocks := src[:uint64(len(src)-header)-size]
		starts, sum, ok := xzIndex(index, uint64(len(blocks)))
		if !ok {
			return damaged()
		}
		if total += sum; total > uint64(limit) {
			return tooMuch("lzma", limit)
		}
		used := starts[len(starts)-1]
		if uint64(len(blocks)) < used+header || !bytes.HasPrefix(blocks[uint64(len(blocks))-used-header:], xzMagic) {
			return damaged()
		}
		first := uint64(len(blocks)) - used
		for i := range len(starts) - 1 {
			dict, ok := xzDict(blocks[first+starts[i] : first+starts[i+1]])
			if !ok {
				return damaged()
			}
			if err := dictionary(dict); err != nil {
				return err
			}
		}
		src = blocks[:first-header]
	}
	return nil
}

// xzIndex reads where blocks begin and the last one ends, counted from the first
// one, and how many bytes they decode to.
func xzIndex(p []byte, room uint64) (starts []uint64, total uint64, ok bool) {
	if p[0] != 0 {
		return nil, 0, false
	}
	n, p, ok := xzNumber(p[1:])
	if !ok || n > uint64(len(p))/2 {
		return nil, 0, false
	}
	starts = append(starts, 0)
	for at := uint64(0); n > 0; n-- {
		var unpadded, size uint64
		if unpadded, p, ok = xzNumber(p); ok {
			size, p, ok = xzNumber(p)
		}
		if !ok || unpadded > room || size > MaxSize || total > MaxSize {
			return nil, 0, false
		}
		at += (unpadded + 3) &^ 3
		if total += size; at > room {
			return nil, 0, false
		}
		starts = append(starts, at)
	}
	return starts, total, true
}

// xzDict is the dictionary of the LZMA2 filter of a block.
func xzDict(block []byte) (dict int64, ok bool) {
	if len(block) < 8 {
		return 0, false
	}
	size := 4*int(block[0]) + 4
	if block[0] == 0 || size > len(block) {
		return 0, false
	}
	flags, p := block[1], block[2:size]
	for _, bit := range [...]byte{0x40, 0x80} { // both sizes may stand there
		if flags&bit != 0 {
			if _, p, ok = xzNumber(p); !ok {
				return 0, false
			}
		}
	}
	for range int(flags&3) + 1 {
		var id, n uint64
		if id, p, ok = xzNumber(p); ok {
			n, p, ok = xzNumber(p)
		}
		if !ok || n > uint64(len(p)) {
			return 0, false
		}
		if id == 0x21 && n == 1 {
			d, err := lzma.DecodeDictCap(p[0])
			if err != nil {
				return 0, false
			}
			dict = max(dict, d)
		}
		p = p[n:]
	}
	return dict, true
}

// xzNumber reads a number of seven bits a byte, the lowest first.
func xzNumber(p []byte) (n uint64, rest []byte, ok bool) {
	for i := 0; i < 9 && i < len(p); i++ {
		n |= uint64(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return n, p[i+1:], true
		}
	}
	return 0, nil, false
}
