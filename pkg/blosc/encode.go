package blosc

import (
	"encoding/binary"
	"errors"
	"sync"
)

// Params say how to encode. The zero value makes a plain copy.
type Params struct {
	// Codec is the compressor.
	Codec Codec
	// Level is the effort, 0 (copy only) to MaxLevel.
	Level int
	// Shuffle is the filter.
	Shuffle Shuffle
	// TypeSize is the size of an element in bytes; 0 is 1, and more than
	// MaxTypeSize is stored as 1, as the C API does.
	TypeSize int
	// BlockSize asks for a block size in bytes; 0 chooses one as C-Blosc does.
	// It is raised to the least size of the format and lowered to the data's
	// and to whole elements. Smaller blocks make DecodeRange cheaper.
	BlockSize int
	// Threads is the most goroutines to use, with the caller's; 0 is 1, and
	// the limit 256. The chunk is the same for any number.
	Threads int
	// Compat18 leaves out the flag 0x10, which C-Blosc 1.8 (zarr 0.4, bcolz)
	// does not know. Readers derive from the sizes what the flag would say.
	// Zstd chunks keep it, since they would be misread without; 1.8 has no
	// Zstd.
	Compat18 bool
}

// EncodeBound is the most bytes that Encode makes of n.
func EncodeBound(n int) int { return n + HeaderSize }

// Encode makes a chunk of src in dst and gives its size. It always fits if
// len(dst) >= EncodeBound(len(src)).
//
// Errors: ErrParams, ErrLimit where src is longer than MaxNBytes, ErrBuffer.
func Encode(dst, src []byte, p Params) (int, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	if len(src) > MaxNBytes {
		return 0, errorf(ErrLimit, "%d bytes, a chunk holds %d", len(src), MaxNBytes)
	}
	dst = dst[:len(dst):len(dst)] // codecs may use what lies behind a stream, but not more
	if len(dst) < HeaderSize {
		return 0, errorf(ErrBuffer, "%d bytes, a header has %d", len(dst), HeaderSize)
	}
	c := p.plan(len(src))
	if !c.Memcpyed {
		n, err := p.encodeBlocks(&c, dst[:min(len(dst), EncodeBound(len(src)))], src)
		if err == nil {
			c.CBytes = n
			c.write(dst)
			return n, nil
		}
		if !errors.Is(err, errNoGain) {
			return 0, err
		}
		c.Flags |= flagMemcpyed
	}
	if len(dst) < c.CBytes {
		return 0, errorf(ErrBuffer, "%d bytes, the chunk has %d", len(dst), c.CBytes)
	}
	c.write(dst)
	copyData(dst[HeaderSize:], src, p.Threads)
	return c.CBytes, nil
}

// check refuses what no chunk can be written with.
func (p *Params) check() error {
	switch {
	case int(p.Codec) >= len(codecs):
		return errorf(ErrParams, "codec number %d", p.Codec)
	case p.Level < 0 || p.Level > MaxLevel:
		return errorf(ErrParams, "level %d, expected 0 to %d", p.Level, MaxLevel)
	case p.Shuffle > BitShuffle:
		return errorf(ErrParams, "shuffle %d, expected 0 to %d", p.Shuffle, BitShuffle)
	case p.TypeSize < 0:
		return errorf(ErrParams, "element size %d", p.TypeSize)
	case p.BlockSize < 0:
		return errorf(ErrParams, "block size %d", p.BlockSize)
	case p.Threads < 0:
		return errorf(ErrParams, "%d threads", p.Threads)
	}
	return nil
}

// plan decides everything of a chunk but the sizes of its streams. CBytes is
// that of a plain copy.
func (p *Params) plan(n int) ChunkInfo {
	c := ChunkInfo{
		NBytes:   n,
		CBytes:   EncodeBound(n),
		TypeSize: max(p.TypeSize, 1),
		Codec:    p.Codec,
		Shuffle:  p.Shuffle,
		Memcpyed: p.Level == 0 || n < minCompress,
		Flags:    codecs[p.Codec].format << codecShift,
	}
	if c.TypeSize > MaxTypeSize {
		c.TypeSize = 1
	}
	c.BlockSize = p.blockSize(n, c.TypeSize)
	if n > 0 {
		c.Blocks = (n-1)/c.BlockSize + 1
	}
	switch p.Shuffle {
	case ByteShuffle:
		c.Flags |= flagShuffle
	case BitShuffle:
		c.Flags |= flagBitShuffle
	}
	if c.Memcpyed {
		c.Flags |= flagMemcpyed
	}
	if !p.split(c.TypeSize, c.BlockSize) && (p.Codec == Zstd || !p.Compat18) {
		c.Flags |= flagDontSplit
	}
	return c
}

// split is the writer's rule for splitting blocks: Zstd never does.
func (p *Params) split(typeSize, blockSize int) bool {
	return p.Codec != Zstd && splittable(typeSize, blockSize)
}

// blockSize is C-Blosc's rule: about the first-level cache for low levels and
// the second-level one for high levels, times the element size if streams are
// split.
func (p *Params) blockSize(n, typeSize int) int {
	const (
		cache    = 32 << 10
		maxPlane = 256 << 10
		minTotal = 64 << 10
		maxTotal = 1 << 20
	)
	if n < typeSize || n == 0 {
		return 1
	}
	size := n
	switch {
	case p.BlockSize > 0:
		size = max(p.BlockSize, minSplit)
	case n >= cache:
		size = cache
		thorough := p.Codec == LZ4HC || p.Codec == Zlib || p.Codec == Zstd
		if thorough {
			size *= 2
		}
		switch p.Level {
		case 0:
			size /= 4
		case 1:
			size /= 2
		case 2:
		case 3:
			size *= 2
		case 4, 5:
			size *= 4
		case 6, 7, 8:
			size *= 8
		default:
			size *= 8
			if thorough {
				size *= 2
			}
		}
	}
	if p.Level > 0 && p.split(typeSize, size) {
		size = min(max(min(size, maxPlane)*typeSize, minTotal), maxTotal)
	}
	size = min(size, n)
	if size > typeSize {
		size -= size % typeSize
	}
	return size
}

// write puts the header at the front of a chunk.
func (c *ChunkInfo) write(chunk []byte) {
	chunk[0], chunk[1], chunk[2], chunk[3] = formatVersion, codecVersion, c.Flags, byte(c.TypeSize)
	binary.LittleEndian.PutUint32(chunk[4:], uint32(c.NBytes))
	binary.LittleEndian.PutUint32(chunk[8:], uint32(c.BlockSize))
	binary.LittleEndian.PutUint32(chunk[12:], uint32(c.CBytes))
}

// errNoGain says that the blocks take more room than a plain copy, or than dst
// has.
var errNoGain = errors.New("no gain")

// encodeJob makes the blocks of src behind the table of their starts in dst.
type encodeJob struct {
	p        *Params
	c        *ChunkInfo
	dst, src []byte
	pos      int // in dst
}

// encodeBlocks writes the table of block starts and the blocks, and gives the
// size of the chunk, or errNoGain.
func (p *Params) encodeBlocks(c *ChunkInfo, dst, src []byte) (int, error) {
	job := encodeJob{p, c, dst, src, int(c.tableEnd())}
	if job.pos > len(dst) {
		return 0, errNoGain
	}
	if n := min(workers(p.Threads, len(src)), max(1, parallelBytes/c.BlockSize)); n > 1 && c.Blocks > 1 {
		return encodeParallel(job, n)
	}
	err := serialBlocks(0, c.Blocks, func(st *state, k int) error { return job.block(st, k) })
	return job.pos, err
}

// block encodes block k at its place.
func (job *encodeJob) block(st *state, k int) error {
	size := job.p.encodeBlock(st, job.c, job.dst[job.pos:], job.data(k), k)
	if size == 0 {
		return errNoGain
	}
	job.add(k, size)
	return nil
}

// data gives the data of block k.
func (job *encodeJob) data(k int) []byte {
	return job.src[k*job.c.BlockSize:][:job.c.blockLen(k)]
}

// add enters block k, of the given size, at the end of the chunk.
func (job *encodeJob) add(k, size int) {
	binary.LittleEndian.PutUint32(job.dst[HeaderSize+4*k:], uint32(job.pos))
	job.pos += size
}

// batchBytes is about the data that a worker encodes before it waits for its
// turn.
const batchBytes = 512 << 10

// encodeParallel encodes batches of blocks aside: the place of one is known
// when those before it are done.
func encodeParallel(job encodeJob, n int) (int, error) {
	turn := turns{cond: sync.NewCond(new(sync.Mutex))}
	perBatch := max(batchBytes/job.c.BlockSize, 1)
	err := parallelBlocks(0, (job.c.Blocks-1)/perBatch+1, n, func(st *state, batch int) error {
		ok := false
		defer func() { turn.pass(batch, ok) }() // also when panicking: others wait
		first := batch * perBatch
		end := min(first+perBatch, job.c.Blocks)
		aside := st.encoded.sized((end - first) * (job.c.BlockSize + 4*maxSplits))
		st.sizes = st.sizes[:0]
		total := 0
		for k := first; k < end; k++ {
			size := job.p.encodeBlock(st, job.c, aside[total:], job.data(k), k)
			if size == 0 {
				return errNoGain
			}
			st.sizes = append(st.sizes, size)
			total += size
		}
		if !turn.await(batch) || total > len(job.dst)-job.pos {
			return errNoGain
		}
		copy(job.dst[job.pos:], aside[:total])
		for i, size := range st.sizes {
			job.add(first+i, size)
		}
		ok = true
		return nil
	})
	return job.pos, err
}

// encodeBlock makes the streams of block k of src in dst and gives their size,
// 0 where they do not fit.
func (p *Params) encodeBlock(st *state, c *ChunkInfo, dst, src []byte, k int) int {
	var (
		splits    = c.splits(k)
		streamLen = len(src) / splits
		shape     = newShape(c.Shuffle, c.TypeSize, len(src))
		filtered  = src
		encode    = codecs[c.Codec].encode
		pos       = 0
	)
	if shape.filtered() {
		filtered = st.filtered.sized(len(src))
		st.setStream(&shape, 0, 1, filtered)
		shape.apply(st, src)
	}
	for j := range splits {
		room := len(dst) - pos - 4
		if room < 0 {
			return 0
		}
		stream := filtered[j*streamLen : (j+1)*streamLen]
		// A stream as long as its data would be taken for stored data.
		size := encode(st, dst[pos+4:][:min(room, streamLen-1)], stream, p.Level)
		if size == 0 {
			if room < streamLen {
				return 0
			}
			size = copyPieces(dst[pos+4:], stream)
		}
		binary.LittleEndian.PutUint32(dst[pos:], uint32(size))
		pos += 4 + size
	}
	return pos
}

// turns lets workers go one after another in the order of the batches.
type turns struct {
	cond   *sync.Cond
	next   int
	failed bool
}

// await waits until it is batch k's turn, or says false because one failed.
func (t *turns) await(k int) bool {
	t.cond.L.Lock()
	defer t.cond.L.Unlock()
	for t.next != k && !t.failed {
		t.cond.Wait()
	}
	return !t.failed
}

// pass ends batch k's turn.
func (t *turns) pass(k int, ok bool) {
	t.cond.L.Lock()
	defer t.cond.L.Unlock()
	if ok {
		t.next = k + 1
	} else {
		t.failed = true
	}
	t.cond.Broadcast()
}
