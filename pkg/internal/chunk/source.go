package chunk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/store"
)

const (
	// firstRead is how many bytes of a file are read at once when not all of
	// them may be needed, and maxFirstRead the most when they are.
	firstRead    = 64 << 10
	maxFirstRead = 2 << 20
	// The same for stores, where another read is another request: in the time of one
	// about a MiB travels.
	firstGet    = 1 << 20
	maxFirstGet = 64 << 20
	// maxGap is the largest hole between two parts of a file that is read
	// rather than skipped: reading it costs less than another system call.
	maxGap = 32 << 10
)

// source is the file of a chunk while it is read. It is part of a worker.
type source struct {
	Encoded
	decoding *codec.Stream // from the beginning of the chunk on
	name     string        // the path
	rest     vfs.File      // nil when raw holds the whole file
	have     int           // bytes of the file in raw
	from     int           // where the encoded chunk begins
	base     int64         // what is added to offsets in errors
}

// open reads the beginning of a chunk's file; all tells that the rest will be
// needed too. The chunk must decode to least bytes, or as many as a whole chunk
// has. found is false for a chunk that is missing where it may be. The caller
// closes.
func (w *worker) open(ctx context.Context, a *Array, index []int64, least int, all bool) (found bool, err error) {
	if a.Shards != nil {
		return w.openInner(ctx, a, index, least, all)
	}
	path := w.setPath(a, index)
	n, most := firstRead, maxFirstRead
	if a.remote {
		n, most = min(firstGet, a.size+128), maxFirstGet
	}
	if all { // few chunks are larger than what they decode to
		n = min(max(n, a.size+128), most)
	}
	w.source = source{name: path}
	if err := a.checkFoldersOnce(path); err != nil {
		return false, err
	}
	if a.direct {
		w.rest, err = a.fs.Open(path)
	} else {
		if err := w.room(n, 0); err != nil {
			return false, err
		}
		w.have, w.rest, err = a.fs.ReadSmall(ctx, path, w.raw)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if a.Sparse {
			return false, nil
		}
		return false, ndfile.NewError(ndfile.ErrCorrupt, "the chunk is missing").On(path).Because(err)
	}
	if err != nil {
		return false, a.fileError(err, path)
	}
	if err := w.readHeader(a, least); err != nil {
		w.close()
		return false, located(err, path)
	}
	return true, nil
}

func (w *worker) readHeader(a *Array, least int) (err error) {
	size := int64(w.have)
	if w.rest != nil {
		if size, err = w.rest.Size(); err != nil {
			return err
		}
		if size < int64(w.have) {
			return corrupt(int(size), "the file ends, but %d bytes were read", w.have) // a device, or it shrank
		}
	}
	if a.Header != nil {
		if w.from = a.Header.Size(); w.have < w.from {
			return corrupt(w.have, "the file ends in its header of %d bytes", w.from)
		}
		if err := a.Header.Check(w.raw[:w.from]); err != nil {
			return ndfile.CodecError(err, 0)
		}
	}
	if w.Encoded, err = a.Codec.Open(w.raw[w.from:w.have], size-int64(w.from)); err != nil {
		return ndfile.CodecError(err, int64(w.from))
	}
	if int64(w.Encoded.Encoded) > size-int64(w.from) {
		return corrupt(w.from, "a chunk of %d bytes, but there are %d", w.Encoded.Encoded, size-int64(w.from))
	}
	if wrong := a.wrongSize(w.Size, least); wrong != "" {
		return corrupt(w.from, "%s", wrong)
	}
	return nil
}

// wrongSize says what is wrong with the size of a chunk that is to have least
// bytes or more; "" is nothing.
func (a *Array) wrongSize(size, least int) string {
	switch {
	case size == a.size:
	case !a.ShortLast || least == a.size:
		return fmt.Sprintf("a chunk of %d bytes, expected %d", size, a.size)
	case size < least || size > a.size || int64(size)%a.strides[0] != 0:
		return fmt.Sprintf("a chunk of %d bytes, expected %d to %d rows of %d bytes", size, int64(least)/a.strides[0], a.Chunks[0], a.strides[0])
	}
	return ""
}

// close ends reading.
func (w *worker) close() {
	w.endStream()
	if w.rest != nil {
		w.rest.Close()
		w.rest = nil
	}
}

// decodeWhole is the most that is decoded by one call of a codec, which does not look at
// ctx. It is quicker than a stream, by as much as half.
const decodeWhole = 256 << 20

// decodePiece is how many bytes are decoded at a time, about: ctx is looked at
// between them.
const decodePiece = 16 << 20

// decode fills dst with the elements from byte off on. They are within Size.
func (w *worker) decode(ctx context.Context, a *Array, dst []byte, off int) error {
	if w.Stored {
		return located(w.copyStored(ctx, dst, off), w.name)
	}
	whole := off == 0 && len(dst) == w.Size
	if w.Stream && (!whole || w.Scratch > freeBlock || w.Size > decodeWhole) {
		return located(w.decodeStream(ctx, a, dst, off), w.name)
	}
	if err := w.checkBlock(whole); err != nil {
		return located(err, w.name)
	}
	if w.have < w.end() {
		if err := w.decodeParts(ctx, a, dst, off); err != errMore {
			return located(err, w.name)
		}
		if err := w.readAll(ctx); err != nil {
			return located(err, w.name)
		}
	}
	for len(dst) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := len(dst)
		if n > decodePiece+w.Block && !w.Stream { // of a stream this is all
			n = decodePiece - (off+decodePiece)%w.Block // up to the end of a block
			n = max(n, w.Block-off%w.Block)
		}
		if err := a.Codec.Decode(dst[:n], w.raw[w.from:w.end()], off, w.threads()); err != nil {
			return located(ndfile.CodecError(err, int64(w.from)), w.name)
		}
		dst, off = dst[n:], off+n
	}
	return nil
}

// end is where the encoded chunk ends in the file.
func (w *worker) end() int { return w.from + w.Encoded.Encoded }

// readAll reads what is missing of the encoded chunk.
func (w *worker) readAll(ctx context.Context) error {
	if w.have >= w.end() {
		return nil
	}
	if err := w.room(w.end(), w.have); err != nil {
		return err
	}
	if err := flat.ReadFull(ctx, w.rest, w.raw[w.have:], int64(w.have)); err != nil {
		return err
	}
	w.have = w.end()
	return nil
}

// copyStored is decode for elements that are in the file as they are.
func (w *worker) copyStored(ctx context.Context, dst []byte, off int) error {
	at := w.from + w.Data + off
	n := 0
	if at < w.have {
		n = copy(dst, w.raw[at:w.have])
	}
	return flat.ReadFull(ctx, w.rest, dst[n:], int64(at+n))
}

// freeBlock is the size of blocks that are decoded whatever the limits are.
const freeBlock = 16 << 20

// mostMemory is how much decoding may take: twice what the chunk takes in its file, more
// where that was allowed, and so much in any case.
func (w *worker) mostMemory() int64 {
	return max(2*freeBlock, 2*int64(w.Encoded.Encoded), ndfile.MaxBlock())
}

// checkBlock refuses blocks that take much memory, more than the chunk takes in
// its file and more than was allowed. Blosc itself makes blocks of up to 2 MiB; other
// codecs that decode all of a chunk take memory for it, unless the caller has that
// (whole), and for what lies between them.
func (w *worker) checkBlock(whole bool) error {
	most, need := max(freeBlock, int64(w.Encoded.Encoded), ndfile.MaxBlock()), int64(w.Block)
	if w.Whole || w.Stream {
		if most, need = w.mostMemory(), w.Scratch; !whole {
			need += int64(w.Size)
		}
	}
	if need > most {
		return ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("a compressed block has to be decoded as a whole, which takes %d bytes, expected at most %d; "+
			"set the limit max_chunk to allow it", need, most)).At(int64(w.from))
	}
	return nil
}

// decodeStream is decode of a chunk that is a stream: it goes on where the last call
// ended, or begins again.
func (w *worker) decodeStream(ctx context.Context, a *Array, dst []byte, off int) error {
	if err := w.readAll(ctx); err != nil {
		return err
	}
	if w.decoding != nil && w.decoding.Offset() > int64(off) {
		w.endStream()
	}
	if w.decoding == nil {
		s, err := a.Codec.(streaming).stream(w.raw[w.from:w.end()], w.mostMemory())
		if err != nil {
			return ndfile.CodecError(err, int64(w.from))
		}
		w.decoding = s
	}
	for skip := off - int(w.decoding.Offset()); skip > 0; skip = off - int(w.decoding.Offset()) {
		var waste [32 << 10]byte
		if err := w.fromStream(ctx, waste[:min(skip, len(waste))]); err != nil {
			return err
		}
	}
	for len(dst) > 0 {
		n := min(len(dst), streamBlock)
		if err := w.fromStream(ctx, dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

// fromStream fills p with what comes next.
func (w *worker) fromStream(ctx context.Context, p []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := io.ReadFull(w.decoding, p); err == io.EOF || err == io.ErrUnexpectedEOF {
		return corrupt(w.from, "a chunk that decodes to %d bytes, expected %d", w.decoding.Offset(), w.Size)
	} else if err != nil {
		return ndfile.CodecError(err, int64(w.from))
	}
	return nil
}

// endStream forgets a stream.
func (w *worker) endStream() {
	if w.decoding != nil {
		w.decoding.Close()
		w.decoding = nil
	}
}

// decodeParts is decode that reads only what it needs. errMore: it is better to
// read all.
func (w *worker) decodeParts(ctx context.Context, a *Array, dst []byte, off int) error {
	if 2*len(dst) > w.Size || 2*w.Table > w.Encoded.Encoded {
		return errMore
	}
	table, end := w.from+w.Table, w.end()
	if w.have < table {
		if err := w.room(table, w.have); err != nil {
			return err
		}
		if err := flat.ReadFull(ctx, w.rest, w.raw[w.have:], int64(w.have)); err != nil {
			return err
		}
		w.have = table
	}
	parts := a.Codec.Parts(w.parts[:0], w.raw[w.from:table], off, len(dst))
	w.parts = parts[:0]
	total := 0
	for _, p := range parts {
		total += p.End - p.Off
	}
	if total == 0 || 2*total > w.Encoded.Encoded {
		return errMore
	}
	if err := w.room(end, w.have); err != nil {
		return err
	}
	w.ranges = w.ranges[:0]
	for i := 0; i < len(parts); {
		lo, hi := parts[i].Off, parts[i].End
		for i++; i < len(parts) && parts[i].Off-hi <= maxGap; i++ {
			hi = max(hi, parts[i].End)
		}
		if lo, hi = max(w.from+lo, w.have), w.from+hi; lo < hi {
			w.ranges = append(w.ranges, store.Part{Off: int64(lo), Dst: w.raw[lo:hi]})
		}
	}
	if err := flat.ReadParts(ctx, w.rest, w.ranges); err != nil {
		return err
	}
	w.have = 0 // what DecodeParts may change is not the file's any more
	if a.Codec.DecodeParts(dst, w.raw[w.from:end], off, parts) != nil {
		return errMore
	}
	return nil
}

// checkFoldersOnce is checkFolders for reading: of several chunks in one folder the
// first one has it looked at.
func (a *Array) checkFoldersOnce(path string) error {
	if a.FollowSymlinks || a.remote {
		return nil
	}
	folder := path[:strings.LastIndexByte(path, '/')]
	if len(folder) <= len(a.Folder) {
		return nil
	}
	if last := a.checked.Load(); last != nil && *last == folder {
		return nil
	}
	if err := a.checkFolders(path); err != nil {
		return err
	}
	folder = strings.Clone(folder)
	a.checked.Store(&folder)
	return nil
}

// checkFolders refuses symbolic links among the folders between Folder and a
// chunk's file, if any.
func (a *Array) checkFolders(path string) error {
	if a.FollowSymlinks {
		return nil
	}
	for at := len(a.Folder) + 1; at < len(path); {
		slash := strings.IndexByte(path[at:], '/')
		if slash < 0 {
			return nil
		}
		at += slash
		if info, err := a.FS.Lstat(path[:at]); err == nil && info.Mode == vfs.Symlink {
			return a.fileError(syscall.ELOOP, path[:at])
		}
		at++
	}
	return nil
}
