package blosc

import "encoding/binary"

// Sizes of the format, in bytes.
const (
	// HeaderSize is the length of the header, and the most that a chunk is
	// longer than its data.
	HeaderSize = 16
	// MaxNBytes is the most data that one chunk can hold.
	MaxNBytes = 1<<31 - 1 - HeaderSize
	// MaxTypeSize is the largest element the header can name.
	MaxTypeSize = 255

	maxBlockSize = (1<<31 - 1 - 4*MaxTypeSize) / 3 // as C-Blosc: three blocks and the size words fit in 31 bits
	maxSplits    = 16                              // larger elements are never split
	minSplit     = 128                             // elements in a block, for it to be split
	minCompress  = 128                             // less data is only copied
)

// Values of the header's bytes.
const (
	formatVersion = 2 // byte 0
	codecVersion  = 1 // byte 1, the same for all codecs

	flagShuffle    = 0x01
	flagMemcpyed   = 0x02
	flagBitShuffle = 0x04
	flagReserved   = 0x08
	flagDontSplit  = 0x10
	codecShift     = 5
)

// Shuffle is the filter applied to a block before it is compressed.
type Shuffle uint8

// The filters. Their values are those of the C API.
const (
	NoShuffle   Shuffle = 0
	ByteShuffle Shuffle = 1 // first bytes of all elements, second bytes, ...
	BitShuffle  Shuffle = 2 // first bits of all elements, second bits, ...
)

// ChunkInfo is what the header of a chunk says.
type ChunkInfo struct {
	// NBytes is the size of the data, CBytes that of the chunk with its header.
	NBytes, CBytes int
	// BlockSize is the size of a block of data; the last one may be shorter.
	// Blocks is their number, 0 for an empty chunk.
	BlockSize, Blocks int
	// TypeSize is the size of an element as the filters see it, 1 to 255.
	TypeSize int
	// Codec is the codec. LZ4 stands for LZ4HC too: their streams are alike.
	Codec Codec
	// Shuffle is the filter (ByteShuffle where both flags are set).
	Shuffle Shuffle
	// Memcpyed says that the data are stored plainly, neither filtered nor
	// compressed.
	Memcpyed bool
	// Flags is the third byte of the chunk as it is.
	Flags uint8
}

// Info reads and checks the header of a chunk: at least HeaderSize bytes. The
// rest is not looked at and may be missing, so that a file's first bytes are
// enough to learn CBytes and NBytes. What it accepts is consistent in itself:
// CBytes is large enough for the block table, and NBytes is no more than the
// codec could make of CBytes.
//
// Errors: ErrCorrupt, ErrNotSupported.
func Info(chunk []byte) (ChunkInfo, error) {
	if len(chunk) < HeaderSize {
		return ChunkInfo{}, errorAt(ErrCorrupt, len(chunk), "%d bytes, a header has %d", len(chunk), HeaderSize)
	}
	switch v := chunk[0]; {
	case v == formatVersion:
	case v > formatVersion && v <= 5:
		return ChunkInfo{}, errorAt(ErrNotSupported, 0, "a Blosc2 chunk (version byte %d)", v)
	default:
		return ChunkInfo{}, errorAt(ErrCorrupt, 0, "version byte %d, expected %d", v, formatVersion)
	}
	flags := chunk[2]
	c := ChunkInfo{
		NBytes:    int(int32(binary.LittleEndian.Uint32(chunk[4:]))),
		BlockSize: int(int32(binary.LittleEndian.Uint32(chunk[8:]))),
		CBytes:    int(int32(binary.LittleEndian.Uint32(chunk[12:]))),
		TypeSize:  int(chunk[3]),
		Memcpyed:  flags&flagMemcpyed != 0,
		Flags:     flags,
	}
	switch {
	case flags&flagShuffle != 0:
		c.Shuffle = ByteShuffle
	case flags&flagBitShuffle != 0:
		c.Shuffle = BitShuffle
	}
	if flags&flagReserved != 0 {
		return ChunkInfo{}, errorAt(ErrNotSupported, 2, "reserved flag 0x08 is set (flags 0x%02x)", flags)
	}
	format := int(flags >> codecShift)
	if format >= len(formatCodecs) {
		return ChunkInfo{}, errorAt(ErrNotSupported, 2, "codec number %d, known are 0 to %d", format, len(formatCodecs)-1)
	}
	c.Codec = formatCodecs[format]
	if !c.Memcpyed && chunk[1] != codecVersion {
		return ChunkInfo{}, errorAt(ErrNotSupported, 1, "version %d of the codec's format, expected %d", chunk[1], codecVersion)
	}
	if c.TypeSize == 0 {
		return ChunkInfo{}, errorAt(ErrCorrupt, 3, "element size 0")
	}
	if c.NBytes < 0 || c.NBytes > MaxNBytes {
		return ChunkInfo{}, errorAt(ErrCorrupt, 4, "data size %d, expected 0 to %d", c.NBytes, MaxNBytes)
	}
	if c.CBytes < HeaderSize {
		return ChunkInfo{}, errorAt(ErrCorrupt, 12, "chunk size %d, expected at least %d", c.CBytes, HeaderSize)
	}
	if c.NBytes == 0 {
		return c, nil
	}
	if c.BlockSize <= 0 || c.BlockSize > min(c.NBytes, maxBlockSize) {
		return ChunkInfo{}, errorAt(ErrCorrupt, 8, "block size %d, expected 1 to %d", c.BlockSize, min(c.NBytes, maxBlockSize))
	}
	c.Blocks = (c.NBytes-1)/c.BlockSize + 1
	if c.Memcpyed {
		if c.CBytes-HeaderSize != c.NBytes {
			return ChunkInfo{}, errorAt(ErrCorrupt, 12, "chunk size %d of %d plain bytes, expected %d", c.CBytes, c.NBytes, int64(c.NBytes)+HeaderSize)
		}
		return c, nil
	}
	if streams := int64(c.CBytes) - c.tableEnd(); streams < 0 {
		return ChunkInfo{}, errorAt(ErrCorrupt, 12, "chunk size %d has no room for the starts of %d blocks", c.CBytes, c.Blocks)
	} else if int64(c.NBytes) > codecs[c.Codec].maxDecoded(streams) {
		return ChunkInfo{}, errorAt(ErrCorrupt, 4, "data size %d, more than %d bytes of %v can hold", c.NBytes, streams, c.Codec)
	}
	return c, nil
}

// tableEnd is the offset after the table of block starts.
func (c *ChunkInfo) tableEnd() int64 { return HeaderSize + 4*int64(c.Blocks) }

// blockLen is the size of block k.
func (c *ChunkInfo) blockLen(k int) int { return min(c.BlockSize, c.NBytes-k*c.BlockSize) }

// splits is the number of streams of block k.
func (c *ChunkInfo) splits(k int) int {
	if c.Flags&flagDontSplit != 0 || !splittable(c.TypeSize, c.BlockSize) || c.blockLen(k) != c.BlockSize {
		return 1
	}
	return c.TypeSize
}

// StopsEarly reports whether a range at the beginning of a block is decoded
// without what lies behind it: its codec can, and the filter does not spread the
// elements over all of the stream.
func (c *ChunkInfo) StopsEarly() bool {
	return codecs[c.Codec].prefix != nil && (c.Shuffle == NoShuffle || c.Shuffle == ByteShuffle && c.Blocks > 0 && c.splits(0) > 1)
}

// splittable is the part of the rule that reader and writer share.
func splittable(typeSize, blockSize int) bool {
	return typeSize <= maxSplits && blockSize/typeSize >= minSplit
}
