package chunk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// WriteBox is ndfile.Array.WriteBox. Chunks that the box covers as far as they
// lie in the array are written without being read; the part of an edge chunk
// that lies outside is filled. An empty box writes nothing. After an error some
// chunks may have been written, each of them whole.
func (a *Array) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if err := a.check(&box, &src, &src.DType, &a.DType); err != nil {
		return err
	}
	if a.tail.rows > 0 {
		return a.splitTail(box, src, func(box ndarray.Box, src ndarray.Buffer) error {
			return a.writeStored(ctx, box, src)
		}, a.writeTail)
	}
	return a.writeStored(ctx, box, src)
}

// writeStored is WriteBox to what the files hold. Everything has been checked.
func (a *Array) writeStored(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	s := a.newSelection(box, src)
	defer s.release()
	if a.Shards != nil && s.n > 0 {
		return a.writeShards(ctx, s)
	}
	switch s.n {
	case 0:
		return nil
	case 1:
		return one(ctx, func(w *worker, _ int64) error { return w.writePiece(ctx, s, 0) })
	}
	return each(ctx, s.n, 2*a.size, func(w *worker, j int64) error { return w.writePiece(ctx, s, j) })
}

// writePiece writes piece j of a selection.
func (w *worker) writePiece(ctx context.Context, s *selection, j int64) error {
	a := s.a
	w.locate(s, j)
	size := a.sizeIn(a.stored, w.index)
	return a.exclusively(ctx, w.index, func() error {
		opt, full := a.Write, w.items*int64(a.DType.Size) == int64(size)
		if full && w.dense && a.Order == nil && s.match == equal {
			return w.store(a, w.index, w.memory(), opt)
		}
		plain, err := w.whole(size, int(w.items)*a.DType.Size)
		if err != nil {
			return err
		}
		switch {
		case full:
		case w.inside:
			a.fill(plain)
		default:
			opt.Commit = vfs.CommitAtomic
			if err := w.load(ctx, a, w.index, plain); err != nil {
				return err
			}
		}
		if err := ndarray.Copy(w.in(a, plain, 0), w.buf); err != nil {
			return err
		}
		return w.store(a, w.index, plain, opt)
	})
}

// checkWhole refuses to hold a chunk of size bytes in memory that is larger than
// the limit, unless much of it is the caller's, given to be written.
func checkWhole(size, given int) error {
	if most := ndfile.MaxChunk(); int64(size) > most && given < size/2 {
		return ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("a change needs the whole chunk of %d bytes in memory, expected at most %d; "+
			"set the limit max_chunk to allow it", size, most))
	}
	return nil
}

// whole gives memory for all elements of a chunk, of which so many bytes were given
// to be written.
func (w *worker) whole(size, given int) ([]byte, error) {
	if err := checkWhole(size, given); err != nil {
		return nil, err
	}
	return w.plain.Sized(size)
}

// load reads the first bytes of a chunk, which has at least that many.
func (w *worker) load(ctx context.Context, a *Array, index []int64, plain []byte) error {
	found, err := w.open(ctx, a, index, len(plain), true)
	if err != nil {
		return err
	}
	if !found {
		a.fill(plain)
		return nil
	}
	defer w.close()
	return w.decode(ctx, a, plain, 0)
}

// store encodes a chunk and writes its file. The chunk's lock is held.
func (w *worker) store(a *Array, index []int64, plain []byte, opt vfs.WriteOptions) error {
	w.rawMem.Reset()
	raw, err := a.Codec.Encode(&w.rawMem, plain, w.threads())
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	return w.storeRaw(a, index, raw, opt)
}

// storeRaw writes the file of an encoded chunk.
func (w *worker) storeRaw(a *Array, index []int64, raw []byte, opt vfs.WriteOptions) error {
	path := w.setPath(a, index)
	w.files = [2][]byte{nil, raw}
	if a.Header != nil {
		w.files[0] = a.Header.Append(w.header[:0], len(raw))
	}
	return a.storeFile(path, opt, w.files[:])
}

// storeFile writes a file, and makes its folders where they are missing.
func (a *Array) storeFile(path string, opt vfs.WriteOptions, parts [][]byte) error {
	if err := a.checkFolders(path); err != nil {
		return err
	}
	opt.OnlyFile = true
	err := a.fs.WriteFile(path, parts, opt)
	if errors.Is(err, fs.ErrNotExist) {
		if err := a.makeFolders(path); err != nil {
			return err
		}
		err = a.fs.WriteFile(path, parts, opt)
	}
	return a.fileError(err, path)
}

// checkPlace refuses to write where something else than a file is: opening a
// FIFO could last for ever.
func (a *Array) checkPlace(path string) error {
	if err := a.checkFolders(path); err != nil {
		return err
	}
	stat := a.FS.Lstat
	if a.FollowSymlinks {
		stat = a.FS.Stat
	}
	info, err := stat(path)
	if err != nil || info.Mode == vfs.Regular || info.Mode == vfs.Symlink {
		return nil // writing tells what is wrong
	}
	return notAFile(path)
}

// makeFolders makes the folders between Folder and a chunk's file.
func (a *Array) makeFolders(path string) error {
	for at := len(a.Folder) + 1; ; at++ {
		slash := strings.IndexByte(path[at:], '/')
		if slash < 0 {
			return nil
		}
		at += slash
		if err := a.makeFolder(path[:at]); err != nil {
			return err
		}
	}
}

// makeFolder makes a folder if there is none.
func (a *Array) makeFolder(path string) error {
	err := a.FS.Mkdir(path)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	if a.Write.Sync {
		return a.FS.SyncDir(path[:strings.LastIndexByte(path, '/')+1] + ".")
	}
	return nil
}

// WriteChunk stores an encoded chunk as it is, after checking its header: one
// that does not decode to the size of a chunk is ErrNotSupported. Errors for the
// index are those of ReadChunk.
func (a *Array) WriteChunk(ctx context.Context, index []int64, raw []byte) error {
	if err := a.checkIndex(index); err != nil {
		return err
	}
	if err := a.checkRaw(index, raw); err != nil {
		return err
	}
	return one(ctx, func(w *worker, _ int64) error {
		return a.exclusively(ctx, index, func() error { return w.storeRaw(a, index, raw, a.Write) })
	})
}

// checkRaw checks the header of an encoded chunk.
func (a *Array) checkRaw(index []int64, raw []byte) error {
	chunk, err := a.Codec.Open(raw, int64(len(raw)))
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	if chunk.Encoded != len(raw) {
		return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("a chunk of %d bytes, but there are %d", chunk.Encoded, len(raw)))
	}
	if wrong := a.wrongSize(chunk.Size, a.sizeIn(a.stored, index)); wrong != "" {
		return ndfile.NewError(ndfile.ErrNotSupported, wrong)
	}
	return nil
}
