package chunk

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// Blosc is the Codec of Blosc1 chunks. Decoding goes by the chunk's own header
// and ignores these fields. The fields are as in blosc.Params.
type Blosc struct {
	Codec    blosc.Codec
	Level    int
	Shuffle  blosc.Shuffle
	TypeSize int
	// BlockSize is 0 where C-Blosc's choice is taken.
	BlockSize int
	Compat18  bool
}

// Name is "blosc1".
func (Blosc) Name() string { return "blosc1" }

// Encode makes a chunk.
func (b Blosc) Encode(dst *mem.Buffer, src []byte, threads int) ([]byte, error) {
	out, err := dst.Extend(blosc.EncodeBound(len(src)))
	if err != nil {
		return nil, err
	}
	n, err := blosc.Encode(out, src, blosc.Params{Codec: b.Codec, Level: b.Level, Shuffle: b.Shuffle,
		TypeSize: b.TypeSize, BlockSize: b.BlockSize, Threads: threads, Compat18: b.Compat18})
	return out[:n], err
}

// Open reads the header.
func (Blosc) Open(head []byte, _ int64) (Encoded, error) {
	info, err := blosc.Info(head)
	if err != nil {
		return Encoded{}, err
	}
	return Encoded{Size: info.NBytes, Encoded: info.CBytes, Block: max(info.BlockSize, 1), StopsEarly: info.StopsEarly(), Table: tableEnd(&info),
		Stored: info.Memcpyed, Data: blosc.HeaderSize}, nil
}

// tableEnd is where the starts of the blocks end.
func tableEnd(info *blosc.ChunkInfo) int {
	if info.Memcpyed {
		return blosc.HeaderSize
	}
	return blosc.HeaderSize + 4*info.Blocks
}

// Decode decodes the blocks that are touched.
func (Blosc) Decode(dst, raw []byte, off, threads int) error {
	return blosc.Decoder{Threads: threads}.DecodeRange(dst, raw, off)
}

// Parts are the streams of the blocks that are touched, in the order of the
// file. Blocks may lie in any order: one ends where the next begins.
func (Blosc) Parts(parts []Part, head []byte, off, n int) []Part {
	info, err := blosc.Info(head)
	if err != nil || info.Memcpyed || n == 0 {
		return parts
	}
	first, last := off/info.BlockSize, (off+n-1)/info.BlockSize
	if (last-first+1)*info.Blocks > info.CBytes {
		return parts // looking for the ends would cost more than it saves
	}
	table := head[blosc.HeaderSize:tableEnd(&info)]
	start := func(k int) int { return int(binary.LittleEndian.Uint32(table[4*k:])) }
	for k := first; k <= last; k++ {
		p := Part{start(k), info.CBytes}
		if p.Off < len(head) || p.Off > info.CBytes-4 {
			return parts[:0]
		}
		for i := range info.Blocks {
			if s := start(i); s > p.Off && s < p.End {
				p.End = s
			}
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(p, q Part) int { return p.Off - q.Off })
	return parts
}

var errMore = errors.New("the streams of a block do not end where the next block begins")

// DecodeParts decodes blocks whose streams fill their part exactly, as every
// writer makes them. What is behind a part is memory of whatever was there: four
// zeros see to it that no stream begins in it.
func (b Blosc) DecodeParts(dst, raw []byte, off int, parts []Part) error {
	for i, p := range parts {
		at := p.Off
		for at <= p.End-4 {
			size := int(int32(binary.LittleEndian.Uint32(raw[at:])))
			if size <= 0 || size > p.End-at-4 {
				return errMore
			}
			at += 4 + size
		}
		if at != p.End {
			return errMore
		}
		if behind := min(p.End+4, len(raw)); i+1 == len(parts) || parts[i+1].Off >= behind {
			clear(raw[p.End:behind])
		} else if parts[i+1].Off != p.End {
			return errMore
		}
	}
	return b.Decode(dst, raw, off, 1)
}
