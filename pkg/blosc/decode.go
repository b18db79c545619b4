package blosc

import "encoding/binary"

// Decoder holds the choices of a reader. The zero value is ready for use.
type Decoder struct {
	// MaxBytes is the most data that a chunk may declare; 0 is MaxNBytes.
	// Memory beside dst is bounded by three blocks for each thread, and a
	// block is no larger than this.
	MaxBytes int
	// Threads is the most goroutines to use, with the caller's; 0 is 1, and
	// the limit 256. Small chunks are decoded by one.
	Threads int
}

// Decode decodes a whole chunk into dst and gives the size of the data. The
// chunk must be complete and without trailing bytes: a caller that reads it
// from a longer buffer cuts it to Info's CBytes. dst may be longer than the
// data.
//
// Errors: ErrCorrupt, ErrNotSupported, ErrBuffer where dst is shorter than the
// data.
func Decode(dst, chunk []byte) (int, error) { return Decoder{}.Decode(dst, chunk) }

// DecodeRange fills dst with the data from byte offset on. Only the blocks
// touched are decoded.
//
// Errors: as Decode, and ErrBounds.
func DecodeRange(dst, chunk []byte, offset int) error {
	return Decoder{}.DecodeRange(dst, chunk, offset)
}

// DecodeItems decodes count elements (of TypeSize bytes each) from element
// start on and gives the number of bytes written.
//
// Errors: as Decode, and ErrBounds.
func DecodeItems(dst, chunk []byte, start, count int) (int, error) {
	return Decoder{}.DecodeItems(dst, chunk, start, count)
}

// Decode is the function Decode with the Decoder's choices; also ErrLimit.
func (d Decoder) Decode(dst, chunk []byte) (int, error) {
	c, err := d.open(chunk)
	if err != nil {
		return 0, err
	}
	if len(dst) < c.NBytes {
		return 0, errorf(ErrBuffer, "%d bytes, the data have %d", len(dst), c.NBytes)
	}
	return c.NBytes, d.decode(&c, dst[:c.NBytes], chunk, 0)
}

// DecodeRange is the function DecodeRange with the Decoder's choices; also
// ErrLimit.
func (d Decoder) DecodeRange(dst, chunk []byte, offset int) error {
	c, err := d.open(chunk)
	if err != nil {
		return err
	}
	if offset < 0 || offset > c.NBytes || len(dst) > c.NBytes-offset {
		return errorf(ErrBounds, "bytes from %d on, %d of them, the data have %d", offset, len(dst), c.NBytes)
	}
	return d.decode(&c, dst, chunk, offset)
}

// DecodeItems is the function DecodeItems with the Decoder's choices; also
// ErrLimit.
func (d Decoder) DecodeItems(dst, chunk []byte, start, count int) (int, error) {
	c, err := d.open(chunk)
	if err != nil {
		return 0, err
	}
	items := c.NBytes / c.TypeSize
	if start < 0 || count < 0 || start > items || count > items-start {
		return 0, errorf(ErrBounds, "elements from %d on, %d of them, the chunk has %d", start, count, items)
	}
	n := count * c.TypeSize
	if len(dst) < n {
		return 0, errorf(ErrBuffer, "%d bytes, the elements have %d", len(dst), n)
	}
	return n, d.decode(&c, dst[:n], chunk, start*c.TypeSize)
}

// open checks the header against the chunk and the limit.
func (d Decoder) open(chunk []byte) (ChunkInfo, error) {
	c, err := Info(chunk)
	switch {
	case err != nil:
	case c.CBytes != len(chunk):
		err = errorAt(ErrCorrupt, 12, "chunk size %d, but there are %d bytes", c.CBytes, len(chunk))
	case d.MaxBytes > 0 && c.NBytes > d.MaxBytes:
		err = errorAt(ErrLimit, 4, "data size %d, the limit is %d", c.NBytes, d.MaxBytes)
	}
	return c, err
}

// decode fills dst with the data from offset on, which are within the chunk.
func (d Decoder) decode(c *ChunkInfo, dst, chunk []byte, offset int) error {
	if len(dst) == 0 {
		return nil
	}
	if c.Memcpyed {
		copyData(dst, chunk[HeaderSize+offset:], d.Threads)
		return nil
	}
	first, last := offset/c.BlockSize, (offset+len(dst)-1)/c.BlockSize
	job := decodeJob{*c, dst, chunk, offset}
	if n := min(workers(d.Threads, len(dst)), max(1, parallelBytes/c.BlockSize)); n > 1 {
		return job.parallel(first, last+1, n)
	}
	return serialBlocks(first, last+1, func(st *state, k int) error { return job.block(st, k) })
}

// decodeJob fills dst with the data from offset on.
type decodeJob struct {
	c          ChunkInfo
	dst, chunk []byte
	offset     int
}

// parallel has its own copy of the job, so that the others stay on the stack.
func (job decodeJob) parallel(first, end, n int) error {
	return parallelBlocks(first, end, n, job.block)
}

// block decodes block k, or the part of it that is in dst.
func (job *decodeJob) block(st *state, k int) error {
	begin, size := k*job.c.BlockSize-job.offset, job.c.blockLen(k) // of the block, in dst
	if begin >= 0 && begin+size <= len(job.dst) {
		return decodeBlock(st, &job.c, job.dst[begin:begin+size], job.chunk, k, size)
	}
	// Of the block nothing is decoded that lies behind what is wanted.
	whole := st.partial.sized(size)
	if err := decodeBlock(st, &job.c, whole, job.chunk, k, min(size, len(job.dst)-begin)); err != nil {
		return err
	}
	copy(job.dst[max(begin, 0):], whole[max(-begin, 0):])
	return nil
}

// decodeBlock decodes block k into dst, which has its length. Only the first want
// bytes of it are needed: where the codec can stop early, it does.
func decodeBlock(st *state, c *ChunkInfo, dst, chunk []byte, k, want int) error {
	entry := HeaderSize + 4*k
	start := int64(int32(binary.LittleEndian.Uint32(chunk[entry:])))
	if start < c.tableEnd() || start > int64(len(chunk))-4 {
		return errorAt(ErrCorrupt, entry, "block %d starts at %d, outside the chunk's streams", k, start)
	}
	splits := c.splits(k)
	if len(dst)%splits != 0 {
		return errorAt(ErrCorrupt, 8, "block size %d is no multiple of the element size %d", len(dst), c.TypeSize)
	}
	var (
		streamLen = len(dst) / splits
		shape     = newShape(c.Shuffle, c.TypeSize, len(dst))
		pos       = int(start)
		prefix    = codecs[c.Codec].prefix
		scratch   []byte // memory for the decoded streams; filters read raw ones in place
	)
	if !shape.filtered() {
		scratch = dst
	}
	// What is needed of each stream. The filter of all elements leaves garbage behind
	// those that are wanted; of bits it needs all.
	need := streamLen
	if splits > 1 && shape.filter == ByteShuffle {
		need = min((want-1)/splits+1, streamLen)
		shape.items = need
	} else if splits == 1 && !shape.filtered() {
		need = want
	}
	for j := range splits {
		if len(chunk)-pos < 4 {
			return errorAt(ErrCorrupt, pos, "block %d, stream %d: no room for its size", k, j)
		}
		size := int(int32(binary.LittleEndian.Uint32(chunk[pos:])))
		if size <= 0 || size > len(chunk)-pos-4 {
			return errorAt(ErrCorrupt, pos, "block %d, stream %d: size %d, %d bytes are left", k, j, size, len(chunk)-pos-4)
		}
		pos += 4
		stream := chunk[pos : pos+size]
		if size != streamLen {
			if int64(streamLen) > codecs[c.Codec].maxDecoded(int64(size)) {
				return errorAt(ErrCorrupt, pos, "block %d, stream %d: %d bytes of %v cannot hold %d", k, j, size, c.Codec, streamLen)
			}
			if scratch == nil {
				scratch = st.filtered.sized(len(dst))
			}
			out, whole := scratch[j*streamLen:(j+1)*streamLen], true
			if need < streamLen && prefix != nil {
				done, ok := prefix(out[:need], stream)
				if done && !ok {
					return errorAt(ErrCorrupt, pos, "block %d, stream %d: not a %v stream of %d bytes", k, j, c.Codec, streamLen)
				}
				whole = !done
			}
			if whole && !codecs[c.Codec].decode(st, out, stream) {
				return errorAt(ErrCorrupt, pos, "block %d, stream %d: not a %v stream of %d bytes", k, j, c.Codec, streamLen)
			}
			stream = out
		} else if !shape.filtered() {
			copyPieces(dst[j*streamLen:], stream)
		}
		st.setStream(&shape, j, splits, stream)
		pos += size
	}
	if shape.filtered() {
		shape.undo(st, dst)
	}
	return nil
}
